"""Vectorised runs: many independent runs side by side, in compiled code on all cores, without the GIL.

They may differ in problem, dimension, policy, portfolio and settings. Results do not depend on the number of
threads: each has its own random streams.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from deddqn._utils.validation import check_whole_number
from deddqn.de.state import End
from deddqn.engine.loop import start
from deddqn.engine.run_memory import Episode, view_run
from deddqn.engine.run_spec import RunSpec, Template, write_run
from deddqn.engine.vectorized_kernels import advance_runs, record_runs, summarise_runs
from deddqn.features.layout import n_features
from deddqn.policies.policy import CompiledPolicy


@dataclass(frozen=True)
class Record:
    """Decisions of all runs, in order; run k made ``made[k]`` of them."""

    states: np.ndarray  # (runs, n, features) float32: the state before each decision; a row n has what follows
    actions: np.ndarray  # (runs, n) int64
    rewards: np.ndarray  # (runs, n)
    ends: np.ndarray  # (runs, n) bool: the run ended with this decision
    made: np.ndarray  # (runs,) int64

    @classmethod
    def empty(cls, runs: int, decisions: int, width: int, *, ahead: bool = False) -> Record:
        """Room for `decisions` decisions; `ahead` adds the state that follows them."""
        shape = (runs, decisions)
        return cls(
            states=np.zeros((runs, decisions + ahead, width), dtype=np.float32),
            actions=np.zeros(shape, dtype=np.int64),
            rewards=np.zeros(shape),
            ends=np.zeros(shape, dtype=np.bool_),
            made=np.zeros(runs, dtype=np.int64),
        )


class VectorizedRuns:
    """A batch of runs that advance together.

    Parameters
    ----------
    specs : one run per run, each with a compiled policy (see `RunSpec`).
    threads : how many threads work on them; all cores by default.
    room : float64 per run if later runs need more than the first ones (see `RunSpec.size`).
    """

    def __init__(self, specs: Iterable[RunSpec], *, threads: int | None = None, room: int = 0) -> None:
        self.specs = list(specs)
        if not self.specs:
            raise ValueError("specs must hold at least one run, got none")
        for spec in self.specs:
            _check_spec(spec)
        self.threads = threads if threads is not None else len(os.sched_getaffinity(0))
        if self.threads < 1:
            raise ValueError(f"threads must be at least 1, got {self.threads}")
        self._pool = ThreadPoolExecutor(self.threads) if self.threads > 1 else None
        self.arenas = np.zeros((len(self.specs), max(room, max(spec.size for spec in self.specs))))
        self._episodes: list[Episode | None] = [None] * len(self.specs)
        self._width: int | None = None
        for index in range(len(self)):
            write_run(self.specs[index], self.arenas[index])
            start(self.arenas[index].ctypes.data, True)

    def __len__(self) -> int:
        return len(self.specs)

    def restart(self, index: int, spec: RunSpec | Template, repeat: int | None = None) -> None:
        """Begin another run in a run: of a spec, or (four times cheaper) repeat number `repeat` of a template."""
        new = spec.spec if isinstance(spec, Template) else spec
        _check_spec(new)
        size = spec.arena.size if isinstance(spec, Template) else spec.size
        if size > self.arenas.shape[1]:
            raise ValueError(f"the run needs {size} numbers, a run has room for {self.arenas.shape[1]}")
        old = self.specs[index]
        if (len(old.portfolio), old.remembers, old.config) != (len(new.portfolio), new.remembers, new.config):
            self._width = None
        if isinstance(spec, Template):
            new = spec.write(self.arenas[index], new.repeat if repeat is None else repeat)
        else:
            write_run(new, self.arenas[index])
        self.specs[index], self._episodes[index] = new, None
        start(self.arenas[index].ctypes.data, True)

    def each(self, kernel: Callable[..., Any], *arguments: Any) -> None:
        """Call a kernel over runs, ``kernel(arenas, turn, ...)``, on all threads; raise the first error of a run."""
        turn = np.zeros(1, dtype=np.int64)
        errors: list[BaseException] = []

        def work() -> None:
            while turn[0] < len(self):
                begun = turn[0]
                try:
                    kernel(self.arenas, turn, *arguments)
                except Exception as error:  # the other runs still get their turn
                    errors.append(error)
                    if turn[0] == begun:  # no run was to blame
                        return

        if self._pool is None or len(self) == 1:
            work()
        else:
            jobs = [self._pool.submit(work) for _ in range(min(self.threads, len(self)))]
            errors.extend(error for job in jobs if (error := job.exception()) is not None)
        if errors:
            raise errors[0]

    def advance(self, until: int | np.ndarray | None = None) -> None:
        """Advance every run until it made `until` evaluations in all (one number, or one per run; or until it ends)."""
        limit = max(spec.config.budget for spec in self.specs) if until is None else until
        self.each(advance_runs, np.broadcast_to(np.asarray(limit, dtype=np.int64), (len(self),)).copy())

    def record(self, decisions: int, *, out: Record | None = None) -> Record:
        """Advance every run for `decisions` decisions (fewer where it ends) and write down what happened.

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
        """(runs, 4): best value so far, summed reward, evaluations, and why the run ended (see `End`)."""
        summary = np.zeros((len(self), 4))
        self.each(summarise_runs, summary)
        return summary

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
            raise ValueError(f"all runs must have portfolios of one size to share states, got widths {widths}")
        if not all(spec.remembers for spec in self.specs):
            raise ValueError("all runs must be observed to give states: pass observe=True in their specs")
        return widths.pop()

    @property
    def episodes(self) -> list[Episode]:
        """The runs' memory as named NumPy views, one per run."""
        self._episodes = [e or view_run(arena) for e, arena in zip(self._episodes, self.arenas, strict=True)]
        return [e for e in self._episodes if e is not None]

    @property
    def ended(self) -> np.ndarray:
        """(runs,) bool: which runs are over."""
        return self.summary()[:, 3] != End.NOT_YET

    @property
    def evaluations(self) -> np.ndarray:
        """(runs,) evaluations made."""
        return self.summary()[:, 2].astype(np.int64)

    @property
    def best_values(self) -> np.ndarray:
        """(runs,) best value so far."""
        return self.summary()[:, 0]

    @property
    def errors(self) -> np.ndarray:
        """(runs,) best value so far minus the optimum; NaN where that is unknown."""
        optima = [spec.problem.optimum for spec in self.specs]
        return self.best_values - np.array([np.nan if optimum is None else optimum for optimum in optima])

    @property
    def total_rewards(self) -> np.ndarray:
        """(runs,) sum of the rewards of each run so far."""
        return self.summary()[:, 1]

    @property
    def strategy_counts(self) -> list[np.ndarray]:
        """Per run: how often each operator was applied."""
        return [e.de_state.applications.copy() for e in self.episodes]


def _check_spec(spec: RunSpec) -> None:
    if not isinstance(spec.policy, CompiledPolicy):
        raise ValueError(f"policy must be a compiled one to be vectorised, got {spec.policy!r}")
    if spec.asynchronous:
        raise ValueError("updating must be 'sequential' or 'deferred' to be vectorised, got 'asynchronous'")
