"""Rollouts: transitions that compiled, vectorised DE runs collect with a snapshot of the Q-network.

Neither Python nor torch takes part in the inner loop. `Actors` collects in this process; a cluster has its own
`RolloutSource` (`deddqn.distributed.training`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from deddqn._utils.reading import check_arrays, forms_of
from deddqn.engine import Record, RunSpec, VectorizedRuns
from deddqn.engine.memory_check import check_arena
from deddqn.engine.run_spec import Template, bind
from deddqn.features.layout import n_features
from deddqn.policies import network_policy
from deddqn.policies.mlp import EPSILON, GENERATION_EXPLORATION, network_views
from deddqn.problems import Problem
from deddqn.training.config import TrainingConfig
from deddqn.training.dqn.curriculum import Curriculum, FinishedRun
from deddqn.training.dqn.weights import Layers, padded_width


@dataclass
class Rollout:
    """A few decisions of every run, made with the same weights: of all runs, or of a block of them from `first` on."""

    record: Record
    decisions: int = 0
    finished: list[FinishedRun] = field(default_factory=list)
    first: int = 0
    unrecorded: int = 0  # evaluations that are not among the decisions
    truncate: bool = False  # it does not follow the last rollout of these runs in the replay buffer


class RolloutSource(Protocol):
    """What collects the rollouts of a training: actors in this process (`Actors`), or on the nodes of a cluster."""

    def desynchronize(self) -> int:
        """Bring the runs to different parts of their budgets; return the evaluations that took."""

    def set_epsilon(self, epsilon: float) -> None:
        """Explore with this probability from now on."""

    def set_weights(self, layers: Layers, updates: int) -> None:
        """Decide with these weights, which are those after so many updates."""

    def rollouts(self, more: Callable[[], bool], *, overlapped: bool) -> Iterator[Rollout]:
        """Collect rollouts while `more()`."""

    def to_arrays(self) -> dict[str, np.ndarray]:
        """The runs under way."""

    def load_arrays(self, arrays: dict[str, np.ndarray]) -> None:
        """Resume the runs of another process."""

    def metrics(self) -> dict[str, Any]:
        """Numbers about the source itself, for the log."""

    def describe(self) -> str:
        """The same in a few words, for the progress."""

    def close(self) -> None:
        """End it."""


class Actors:
    """Vectorised runs in this process; a run that ends is followed by the next one of the curriculum.

    Parameters
    ----------
    config : number of runs, steps per rollout, exploration, portfolio, budget, seeds.
    problems, reward_setups : the training problems, and the constants of their rewards.
    layers : the weights to begin with.
    pin : moves the buffers of states to where the learner's device reads them fastest.
    """

    def __init__(
        self,
        config: TrainingConfig,
        problems: Sequence[Problem],
        reward_setups: Sequence[np.ndarray],
        layers: Layers,
        *,
        pin: Callable[[np.ndarray], np.ndarray] = np.asarray,
    ) -> None:
        self._pin = pin
        self.config, self.problems = config, list(problems)
        portfolio = config.operators()
        self.width = n_features(len(portfolio))
        self.policy = network_policy(
            [weight for weight, _ in layers],
            [bias for _, bias in layers],
            portfolio=portfolio,
            max_dimension=max(problem.dimension for problem in problems),
        )
        self.policy.setup[GENERATION_EXPLORATION] = config.generation_exploration
        self._views = network_views(self.policy.setup)
        self._newest = self._used = layers
        self.curriculum = Curriculum(len(self.problems), config.seed)
        self._templates = self._templates_of(reward_setups)
        self.numbers = np.arange(config.n_runs)  # of the runs under way
        self.next_number = config.n_runs
        room = max(template.arena.size for template in self._templates)
        first = [self._template(number).spec for number in self.numbers.tolist()]
        self.runs = VectorizedRuns(first, threads=config.threads or None, room=room)
        for slot, number in enumerate(self.numbers.tolist()):
            self.start_run(slot, number)

    def _templates_of(self, reward_setups: Sequence[np.ndarray]) -> list[Template]:
        """One run per problem."""
        return [
            Template(
                RunSpec(
                    problem=problem,
                    policy=self.policy,
                    portfolio=self.config.operators(),
                    config=self.config.de_config(),
                    seed=self.config.seed,
                    reward=self.config.reward,
                    reward_setup=setup,
                    observe=True,
                )
            )
            for problem, setup in zip(self.problems, reward_setups, strict=True)
        ]

    def _template(self, number: int) -> Template:
        return self._templates[self.curriculum.problem_of(number)]

    def start_run(self, slot: int, number: int) -> None:
        """Start run `number` of the curriculum in a slot of the vectorised runs."""
        self.numbers[slot] = number
        self.runs.restart(slot, self._template(number), self.curriculum.cycle_of(number))

    def desynchronize(self) -> int:
        """Bring the runs to different parts of their budgets, without recording; return the evaluations that took.

        Runs that start together stay together, and the replay buffer would hold only one part of a run at a time.
        """
        n_runs, budget = self.config.n_runs, self.config.budget
        before = self.runs.evaluations.sum()
        self.runs.advance((np.arange(n_runs) * budget) // n_runs)
        return int(self.runs.evaluations.sum() - before)

    def set_epsilon(self, epsilon: float) -> None:
        """Algorithm 1 line 9: the probability of a random operator; 1 until learning starts (line 2)."""
        self.policy.setup[EPSILON] = epsilon

    def set_weights(self, layers: Layers, updates: int = 0) -> None:
        """Use these weights from the next rollout on, however many updates made them."""
        self._newest = layers

    @staticmethod
    def empty_record(config: TrainingConfig, n_runs: int, width: int) -> Record:
        """Room for one rollout of so many runs, with padded states and the states that follow."""
        return Record.empty(n_runs, config.rollout_steps, padded_width(width), ahead=True)

    def new_rollout(self) -> Rollout:
        """Room for one rollout of all runs."""
        record = self.empty_record(self.config, self.config.n_runs, self.width)
        return Rollout(replace(record, states=self._pin(record.states)))

    def collect(self, rollout: Rollout) -> Rollout:
        """Algorithm 1 lines 8-14, for all runs: decide, evaluate, and start the next run where one ended."""
        self.step(rollout)
        for run in rollout.finished:
            self.start_run(run.slot, self.next_number)
            self.next_number += 1
        return rollout

    def step(self, rollout: Rollout) -> None:
        """Collect one rollout; runs that end are not followed by others."""
        newest = self._newest
        if newest is not self._used:
            for (weight_view, bias_view), (weight, bias) in zip(self._views, newest, strict=True):
                weight_view[...] = weight
                bias_view[...] = bias
            self._used = newest
        self.runs.record(self.config.rollout_steps, out=rollout.record)
        rollout.decisions = int(rollout.record.made.sum())
        rollout.finished = self._finished(rollout.record)

    def _finished(self, record: Record) -> list[FinishedRun]:
        last = np.maximum(record.made - 1, 0)
        ended = np.flatnonzero((record.made == 0) | record.ends[np.arange(len(last)), last]).tolist()
        if not ended:
            return []
        summary = self.runs.summary()
        finished = []
        for slot in ended:
            number = int(self.numbers[slot])
            value, total, evaluations, _ = summary[slot].tolist()
            problem = self.curriculum.problem_of(number)
            finished.append(FinishedRun(number, problem, total, value, int(evaluations), slot))
        return finished

    def rollouts(self, more: Callable[[], bool], *, overlapped: bool) -> Iterator[Rollout]:
        """Collect rollouts while `more()`; overlapped, the next one is collected while the caller uses the last."""
        if not overlapped:
            rollout = self.new_rollout()
            while more():
                yield self.collect(rollout)
            return
        buffers = [self.new_rollout(), self.new_rollout()]
        with ThreadPoolExecutor(1) as pool:
            turn, coming = 0, None
            while more() or coming is not None:
                collected = coming.result() if coming is not None else None
                coming = None
                if more():
                    coming, turn = pool.submit(self.collect, buffers[turn]), 1 - turn
                if collected is not None:
                    yield collected

    def to_arrays(self) -> dict[str, np.ndarray]:
        """The runs under way."""
        return {"arenas": self.runs.arenas, "numbers": self.numbers, "next_number": np.array([self.next_number])}

    def load_arrays(self, arrays: dict[str, np.ndarray]) -> None:
        """Resume the runs of another process: their memory is taken over and its addresses are made ours."""
        wanted = self.to_arrays()
        arenas, own = arrays.get("arenas"), wanted.pop("arenas")
        check_arrays({name: array for name, array in arrays.items() if name != "arenas"}, forms_of(wanted))
        if min(arrays["numbers"].min(), arrays["next_number"].min()) < 0:
            raise ValueError("numbers of runs must be 0 or more")
        if arenas is not None and (arenas.shape != own.shape or arenas.dtype != own.dtype):
            raise ValueError(f"arenas must have the shape {own.shape}, got {arenas.shape}")
        self.next_number = int(arrays["next_number"][0])
        for slot, number in enumerate(arrays["numbers"].tolist()):
            self.start_run(slot, number)
        if arenas is None:  # a light checkpoint: the runs under way start again
            return
        for spec, arena in zip(self.runs.specs, arenas, strict=True):
            check_arena(spec, arena[: spec.size])
        self.runs.arenas[...] = arenas
        for spec, arena in zip(self.runs.specs, self.runs.arenas, strict=True):
            bind(spec, arena)

    def metrics(self) -> dict[str, Any]:
        """None: runs in this process always have the newest weights."""
        return {}

    def describe(self) -> str:
        """Nothing."""
        return ""

    def close(self) -> None:
        """Nothing to end."""
