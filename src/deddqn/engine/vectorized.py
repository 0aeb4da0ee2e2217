"""Lanes: many independent runs side by side, in compiled code on all cores, without the GIL.

Lanes may differ in problem, dimension, policy, portfolio and settings. Results do not depend on the number of
threads: a lane is a run of its own, with its own random streams.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from deddqn._utils.validation import check_whole_number
from deddqn.de.state import End
from deddqn.engine.loop import start
from deddqn.engine.run_memory import Episode, view_run
from deddqn.engine.run_spec import RunSpec, Template, write_run
from deddqn.engine.vectorized_kernels import act_lanes, advance_runs, observe_lanes, record_runs, summarise_runs
from deddqn.features.layout import n_features
from deddqn.policies.policy import CompiledPolicy


@dataclass(frozen=True)
class Record:
    """Decisions of all lanes, in order; lane k made ``made[k]`` of them."""

    states: np.ndarray  # (lanes, n, features) float32: the state before each decision; a row n has what follows
    actions: np.ndarray  # (lanes, n) int64
    rewards: np.ndarray  # (lanes, n)
    ends: np.ndarray  # (lanes, n) bool: the run ended with this decision
    made: np.ndarray  # (lanes,) int64

    @classmethod
    def empty(cls, lanes: int, decisions: int, width: int, *, ahead: bool = False) -> Record:
        """Room for `decisions` decisions; `ahead` adds the state that follows them."""
        shape = (lanes, decisions)
        return cls(
            states=np.zeros((lanes, decisions + ahead, width), dtype=np.float32),
            actions=np.zeros(shape, dtype=np.int64),
            rewards=np.zeros(shape),
            ends=np.zeros(shape, dtype=np.bool_),
            made=np.zeros(lanes, dtype=np.int64),
        )


class VectorizedRuns:
    """A batch of runs that advance together.

    Parameters
    ----------
    specs : one run per lane, each with a compiled policy (see `EpisodeSpec`).
    threads : how many threads work on them; all cores by default.
    room : float64 per lane if later runs need more than the first ones (see `EpisodeSpec.size`).
    """

    def __init__(self, specs: Iterable[RunSpec], *, threads: int | None = None, room: int = 0) -> None:
        self.specs = list(specs)
        if not self.specs:
            raise ValueError("specs must hold at least one run, got none")
        for spec in self.specs:
            _check_policy(spec)
        self.threads = threads if threads is not None else len(os.sched_getaffinity(0))
        if self.threads < 1:
            raise ValueError(f"threads must be at least 1, got {self.threads}")
        self._pool = ThreadPoolExecutor(self.threads) if self.threads > 1 else None
        self.arenas = np.zeros((len(self.specs), max(room, max(spec.size for spec in self.specs))))
        self._episodes: list[Episode | None] = [None] * len(self.specs)
        self._width: int | None = None
        for lane in range(len(self)):
            write_run(self.specs[lane], self.arenas[lane])
            start(self.arenas[lane].ctypes.data, True)

    def __len__(self) -> int:
        return len(self.specs)

    def restart(self, lane: int, spec: RunSpec | Template, repeat: int | None = None) -> None:
        """Begin another run in a lane: of a spec, or (four times cheaper) repeat number `repeat` of a template."""
        new = spec.spec if isinstance(spec, Template) else spec
        _check_policy(new)
        size = spec.arena.size if isinstance(spec, Template) else spec.size
        if size > self.arenas.shape[1]:
            raise ValueError(f"the run needs {size} numbers, a lane has room for {self.arenas.shape[1]}")
        old = self.specs[lane]
        if (len(old.portfolio), old.remembers, old.config) != (len(new.portfolio), new.remembers, new.config):
            self._width = None
        if isinstance(spec, Template):
            new = spec.write(self.arenas[lane], new.repeat if repeat is None else repeat)
        else:
            write_run(new, self.arenas[lane])
        self.specs[lane], self._episodes[lane] = new, None
        start(self.arenas[lane].ctypes.data, True)

    def each(self, kernel: Callable[..., Any], *arguments: Any) -> None:
        """Call a lane kernel, ``kernel(arenas, turn, ...)``, on all threads; the first error of a lane comes out."""
        turn = np.zeros(1, dtype=np.int64)
        errors: list[BaseException] = []

        def work() -> None:
            while turn[0] < len(self):
                begun = turn[0]
                try:
                    kernel(self.arenas, turn, *arguments)
                except Exception as error:  # the other lanes still get their turn
                    errors.append(error)
                    if turn[0] == begun:  # no lane was to blame
                        return

        if self._pool is None or len(self) == 1:
            work()
        else:
            jobs = [self._pool.submit(work) for _ in range(min(self.threads, len(self)))]
            errors.extend(error for job in jobs if (error := job.exception()) is not None)
        if errors:
            raise errors[0]

    def advance(self, until: int | np.ndarray | None = None) -> None:
        """Run every lane until it made `until` evaluations in all (one number, or one per lane; or until it ends)."""
        limit = max(spec.config.budget for spec in self.specs) if until is None else until
        self.each(advance_runs, np.broadcast_to(np.asarray(limit, dtype=np.int64), (len(self),)).copy())

    def record(self, decisions: int, *, out: Record | None = None) -> Record:
        """Run every lane for `decisions` decisions (fewer where it ends) and write down what happened.

        `out` is written instead of a new record; its states may be wider than the features, and a row longer.
        """
        check_whole_number("decisions", decisions, 0)
        if self._width is None:
            self._width = self._recorded_width()
        record = Record.empty(len(self), decisions, self._width) if out is None else out
        if record.actions.shape != (len(self), decisions) or record.states.shape[2] < self._width:
            raise ValueError(f"out must hold {(len(self), decisions)} decisions, got {record.actions.shape}")
        self.each(record_runs, record.states, record.actions, record.rewards, record.ends, record.made)
        return record

    def _recorded_width(self) -> int:
        self._check_sequential()
        return self._common_width()

    def summary(self) -> np.ndarray:
        """(lanes, 4): best value so far, summed reward, evaluations, and why the run ended (see `End`)."""
        summary = np.zeros((len(self), 4))
        self.each(summarise_runs, summary)
        return summary

    def observe(self) -> np.ndarray:
        """The states (lanes, features) of the decisions that are due; for policies outside (see `act`)."""
        states = np.zeros((len(self), self._common_width()))
        self.each(observe_lanes, states)
        return states

    def act(self, actions: Sequence[int] | np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Apply one operator per lane; return next states, rewards and ends. Ended lanes stay."""
        chosen = np.ascontiguousarray(actions)
        operators = np.array([len(spec.portfolio) for spec in self.specs])
        whole = chosen.dtype.kind in "iu"
        if not whole or chosen.shape != (len(self),) or np.any(chosen < 0) or np.any(chosen >= operators):
            raise ValueError(f"actions must be one operator number per lane ({len(self)} lanes), got {actions}")
        self._check_sequential()
        states = np.zeros((len(self), self._common_width()))
        rewards, ends = np.zeros(len(self)), np.zeros(len(self), dtype=np.bool_)
        self.each(act_lanes, chosen.astype(np.int64), rewards, ends, states)
        return states, rewards, ends

    def _check_sequential(self) -> None:
        for spec in self.specs:
            if spec.config.updating != "sequential":
                raise ValueError(
                    f"updating must be 'sequential' to hand out decisions and rewards one by one, "
                    f"got {spec.config.updating!r}"
                )

    def _common_width(self) -> int:
        widths = {n_features(len(spec.portfolio)) for spec in self.specs}
        if len(widths) > 1:
            raise ValueError(f"all lanes must have portfolios of one size to share states, got widths {widths}")
        if not all(spec.remembers for spec in self.specs):
            raise ValueError("all lanes must be observed to give states: pass observe=True in their specs")
        return widths.pop()

    @property
    def episodes(self) -> list[Episode]:
        """The runs' memory as named NumPy views, one per lane."""
        self._episodes = [e or view_run(arena) for e, arena in zip(self._episodes, self.arenas, strict=True)]
        return [e for e in self._episodes if e is not None]

    @property
    def ended(self) -> np.ndarray:
        """(lanes,) bool: which runs are over."""
        return self.summary()[:, 3] != End.NOT_YET

    @property
    def evaluations(self) -> np.ndarray:
        """(lanes,) evaluations made."""
        return self.summary()[:, 2].astype(np.int64)

    @property
    def best_values(self) -> np.ndarray:
        """(lanes,) best value so far."""
        return self.summary()[:, 0]

    @property
    def errors(self) -> np.ndarray:
        """(lanes,) best value so far minus the optimum; NaN where that is unknown."""
        optima = [spec.problem.optimum for spec in self.specs]
        return self.best_values - np.array([np.nan if optimum is None else optimum for optimum in optima])

    @property
    def total_rewards(self) -> np.ndarray:
        """(lanes,) sum of the rewards of each run so far."""
        return self.summary()[:, 1]

    @property
    def strategy_counts(self) -> list[np.ndarray]:
        """Per lane: how often each operator was applied."""
        return [e.de_state.applications.copy() for e in self.episodes]


def _check_policy(spec: RunSpec) -> None:
    if not isinstance(spec.policy, CompiledPolicy):
        raise ValueError(f"policy must be a compiled one to run in lanes, got {spec.policy!r}")
