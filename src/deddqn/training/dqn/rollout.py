"""Actors: compiled lanes that run DE with a snapshot of the network, without Python or torch in the loop."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from deddqn.engine import Record, RunSpec, VectorizedRuns
from deddqn.engine.run_spec import Template, bind
from deddqn.features.layout import n_features
from deddqn.policies import network_policy
from deddqn.policies.mlp import COMMITMENT, EPSILON, network_views
from deddqn.problems import Problem
from deddqn.training.config import TrainingConfig
from deddqn.training.dqn.curriculum import Curriculum, Finished
from deddqn.training.dqn.weights import Layers, padded_width


@dataclass
class Tick:
    """What lanes did between two looks at the network: all of them, or a block of them from `first` on."""

    record: Record
    decisions: int = 0
    finished: list[Finished] = field(default_factory=list)
    first: int = 0
    unseen: int = 0  # evaluations that are not recorded
    cut: bool = False  # the runs do not go on where the last tick of these lanes stopped


class TickSource(Protocol):
    """Where the ticks of a training come from: lanes in this process (`Actors`), or on the nodes of a cluster."""

    def stagger(self) -> int:
        """Bring the runs to different parts of their budgets; return the evaluations that took."""

    def set_epsilon(self, epsilon: float) -> None:
        """The share of random decisions from now on."""

    def show(self, layers: Layers, updates: int) -> None:
        """Hand over the weights after so many updates."""

    def ticks(self, more: Callable[[], bool], *, overlapped: bool) -> Iterator[Tick]:
        """Ticks while `more()`."""

    def to_arrays(self) -> dict[str, np.ndarray]:
        """The runs under way."""

    def load_arrays(self, arrays: dict[str, np.ndarray]) -> None:
        """Go on with the runs of another process."""

    def facts(self) -> dict[str, Any]:
        """What the log should know about the source itself."""

    def describe(self) -> str:
        """The same in a few words, for the progress."""

    def close(self) -> None:
        """End it."""


class Actors:
    """The lanes of a training, and the runs that they make one after another.

    Parameters
    ----------
    config : lanes, decisions per tick, epsilon, portfolio, budget, seeds.
    problems, reward_setups : what is run, and the constants of its reward.
    layers : the network to begin with.
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
        self.policy.setup[COMMITMENT] = config.commitment
        self._views = network_views(self.policy.setup)
        self._newest = self._shown = layers
        self.curriculum = Curriculum(len(self.problems), config.seed)
        self._templates = self._templates_of(reward_setups)
        self.numbers = np.arange(config.lanes)
        self.next_number = config.lanes
        room = max(template.arena.size for template in self._templates)
        first = [self._template(number).spec for number in self.numbers.tolist()]
        self.lanes = VectorizedRuns(first, threads=config.threads or None, room=room)
        for lane, number in enumerate(self.numbers.tolist()):
            self.begin(lane, number)

    def _templates_of(self, reward_setups: Sequence[np.ndarray]) -> list[Template]:
        """The runs on all problems."""
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

    def begin(self, lane: int, number: int) -> None:
        """Begin a run in a lane."""
        self.numbers[lane] = number
        self.lanes.restart(lane, self._template(number), self.curriculum.cycle_of(number))

    def stagger(self) -> int:
        """Bring the runs to different parts of their budgets, without recording; return the evaluations that took.

        Lanes that begin together stay together, and the memory would hold only one part of a run at a time.
        """
        lanes, budget = self.config.lanes, self.config.budget
        before = self.lanes.evaluations.sum()
        self.lanes.advance((np.arange(lanes) * budget) // lanes)
        return int(self.lanes.evaluations.sum() - before)

    def set_epsilon(self, epsilon: float) -> None:
        """Algorithm 1 line 9: the share of random decisions; 1 while the memory is warmed up (line 2)."""
        self.policy.setup[EPSILON] = epsilon

    def show(self, layers: Layers, updates: int = 0) -> None:
        """Hand over new weights; they are used from the next tick on, whatever number of updates made them."""
        self._newest = layers

    @staticmethod
    def room(config: TrainingConfig, lanes: int, width: int) -> Record:
        """Room for one tick of so many lanes, with padded states and the states that follow."""
        return Record.empty(lanes, config.decisions, padded_width(width), ahead=True)

    def new_buffer(self) -> Tick:
        """Room for one tick of all lanes."""
        record = self.room(self.config, self.config.lanes, self.width)
        return Tick(replace(record, states=self._pin(record.states)))

    def act(self, tick: Tick) -> Tick:
        """Algorithm 1 lines 8-14, for all lanes: decide, evaluate, and begin the next run where one ended."""
        self.play(tick)
        for run in tick.finished:
            self.begin(run.lane, self.next_number)
            self.next_number += 1
        return tick

    def play(self, tick: Tick) -> None:
        """One tick, in which the runs that end are not followed by others."""
        newest = self._newest
        if newest is not self._shown:
            for (weight_view, bias_view), (weight, bias) in zip(self._views, newest, strict=True):
                weight_view[...] = weight
                bias_view[...] = bias
            self._shown = newest
        self.lanes.record(self.config.decisions, out=tick.record)
        tick.decisions = int(tick.record.made.sum())
        tick.finished = self._ended(tick.record)

    def _ended(self, record: Record) -> list[Finished]:
        last = np.maximum(record.made - 1, 0)
        ended = np.flatnonzero((record.made == 0) | record.ends[np.arange(len(last)), last]).tolist()
        if not ended:
            return []
        summary = self.lanes.summary()
        finished = []
        for lane in ended:
            number = int(self.numbers[lane])
            value, total, evaluations, _ = summary[lane].tolist()
            problem = self.curriculum.problem_of(number)
            finished.append(Finished(number, problem, total, value, int(evaluations), lane))
        return finished

    def ticks(self, more: Callable[[], bool], *, overlapped: bool) -> Iterator[Tick]:
        """Ticks while `more()`; overlapped, the next one is made while the caller works on the last."""
        if not overlapped:
            tick = self.new_buffer()
            while more():
                yield self.act(tick)
            return
        buffers = [self.new_buffer(), self.new_buffer()]
        with ThreadPoolExecutor(1) as pool:
            turn, coming = 0, None
            while more() or coming is not None:
                made = coming.result() if coming is not None else None
                coming = None
                if more():
                    coming, turn = pool.submit(self.act, buffers[turn]), 1 - turn
                if made is not None:
                    yield made

    def to_arrays(self) -> dict[str, np.ndarray]:
        """The runs under way."""
        return {"arenas": self.lanes.arenas, "numbers": self.numbers, "next_number": np.array([self.next_number])}

    def load_arrays(self, arrays: dict[str, np.ndarray]) -> None:
        """Go on with the runs of another process: their memory is taken over and its addresses are made ours."""
        self.next_number = int(arrays["next_number"][0])
        for lane, number in enumerate(arrays["numbers"].tolist()):
            self.begin(lane, number)
        if "arenas" not in arrays:  # a light checkpoint: the runs under way begin again
            return
        self.lanes.arenas[...] = arrays["arenas"]
        for spec, arena in zip(self.lanes.specs, self.lanes.arenas, strict=True):
            bind(spec, arena)

    def facts(self) -> dict[str, Any]:
        """Nothing: lanes in this process do as they are told."""
        return {}

    def describe(self) -> str:
        """Nothing."""
        return ""

    def close(self) -> None:
        """Nothing to end."""
