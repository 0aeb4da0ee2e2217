"""The compiled engine with the methods of the reference: donors, masks and values are handed in.

Everything between them is the engine's own: the kernels of features, mutation, repair, settling and replacement.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from deddqn._jit import kernel
from deddqn.de import DEConfig, Portfolio
from deddqn.de.bounds import repair
from deddqn.de.generation import generation_is_over
from deddqn.de.mutation import mutate
from deddqn.de.state import Counter, End, Scalar
from deddqn.engine import RunSpec
from deddqn.engine.loop import finish, hold_value, record_evaluation, start
from deddqn.engine.run_memory import Episode, open_run, view_run
from deddqn.engine.run_spec import write_run
from deddqn.engine.stepping import tell_value
from deddqn.features.buffers import Tally
from deddqn.features.landscape import write_landscape
from deddqn.policies import fixed
from deddqn.problems import Problem
from deddqn.rewards import r1, r2, r3

_NO_SETUP = np.zeros(0)


@kernel
def write_state_of(run, i):
    """The features of individual `i`, whose donors are already written."""
    _, de_state, observer = open_run(run)
    write_landscape(de_state, observer, i)


@kernel
def mutate_as(run, i, op):
    """Write the mutant of individual `i`."""
    de_state = open_run(run).de_state
    best = de_state.counters[Counter.BEST]
    mutate(de_state.strategy[op], de_state.parents, i, de_state.donors[i], best, de_state.scale[op], de_state.trials[i])


@kernel
def repair_trial(run, i):
    """Bring the trial of individual `i` into the bounds."""
    de_state = open_run(run).de_state
    how = de_state.counters[Counter.REPAIR]
    repair(how, de_state.trials[i], de_state.parents[i], de_state.search_lower, de_state.search_upper)


@kernel
def settle_now(run, i, value):
    """Settle a trial at once, also in deferred mode, where the loop waits for the whole generation."""
    episode = open_run(run)
    hold_value(episode.de_state, i, value)
    record_evaluation(episode, i)
    if generation_is_over(episode.de_state):
        finish(episode)


def window_by_age(episode: Episode) -> list[tuple[float, ...]]:
    """The elements of the window as the reference lists them: operator, OM_1..OM_4, f(u); the oldest first."""
    observer = episode.observer
    filled = int(observer.tallies[Tally.IN_WINDOW])
    places = np.argsort(observer.window_entry[:filled])
    return [
        (int(observer.window_op[w]), *observer.window_metrics[w].tolist(), float(observer.window_value[w]))
        for w in places
    ]


def rewards_of(episode: Episode) -> dict[str, float | None]:
    """R1, R2 and R3 (None where the optimum is unknown) of the trial follow_budget last."""
    de_state = episode.de_state
    known = not math.isnan(de_state.scalars[Scalar.OPTIMUM])
    return {
        "R1": r1(de_state.outcome, _NO_SETUP),
        "R2": r2(de_state.outcome, _NO_SETUP),
        "R3": r3(de_state.outcome, _NO_SETUP) if known else None,
    }


class EngineRun:
    """One run of the compiled engine in one arena, with the methods and attributes of ``ReferenceRun``."""

    def __init__(
        self,
        *,
        lower: Any,
        upper: Any,
        portfolio: list[tuple[str, float, float]],
        population_size: int,
        budget: int,
        search_lower: Any = None,
        search_upper: Any = None,
        max_dimension: int = 30,
        optimum: float | None = None,
        target_error: float = 1e-8,
        window_size: int = 50,
        generations: int = 10,
        repair: str = "clip",
        deferred: bool = False,
    ) -> None:
        policy = fixed(0)
        policy.max_dimension = max_dimension
        self.spec = RunSpec(
            problem=Problem.from_function(_never, np.column_stack([lower, upper]), optimum=optimum),
            policy=policy,
            portfolio=Portfolio(portfolio),
            config=DEConfig(
                population_size=population_size,
                budget=budget,
                repair=repair,
                updating="deferred" if deferred else "sequential",
                target_error=target_error,
            ),
            observe=True,
            generations=generations,
            window=window_size,
        )
        self.arena = np.full(self.spec.size, np.nan)
        write_run(self.spec, self.arena)
        self.episode = view_run(self.arena)
        self.de_state = self.episode.de_state
        if search_lower is not None:
            self.de_state.search_lower[:] = search_lower
        if search_upper is not None:
            self.de_state.search_upper[:] = search_upper

    def initialise(self, population: Any, values: Any) -> None:
        self.de_state.parents[:] = population
        start(self.arena.ctypes.data, False)
        for i, value in enumerate(values):
            if self.ended:
                break
            tell_value(self.arena.ctypes.data, i, float(value))

    def features(self, i: int, donors: Any) -> np.ndarray:
        self.de_state.donors[i] = donors
        write_state_of(self.arena.ctypes.data, i)
        return self.episode.observer.features.copy()

    def trial(self, i: int, donors: Any, op: int, crossover_mask: Any) -> np.ndarray:
        self.de_state.donors[i] = donors
        mutate_as(self.arena.ctypes.data, i, op)
        best_population = ~np.asarray(crossover_mask)
        self.de_state.trials[i, best_population] = self.de_state.parents[i, best_population]
        repair_trial(self.arena.ctypes.data, i)
        return self.de_state.trials[i].copy()

    def commit(self, i: int, op: int, trial_point: Any, value: float) -> dict[str, float | None]:
        self.de_state.trials[i] = trial_point
        self.de_state.choices[i] = op
        settle_now(self.arena.ctypes.data, i, value)
        return rewards_of(self.episode)

    def _count(self, which: Counter) -> int:
        return int(self.de_state.counters[which])

    @property
    def population(self) -> np.ndarray:
        return self.de_state.parents

    @property
    def fitness(self) -> np.ndarray:
        return self.de_state.fitness

    @property
    def x_bsf(self) -> np.ndarray:
        return self.de_state.best_point

    @property
    def f_bsf(self) -> float:
        return float(self.de_state.scalars[Scalar.F_BSF])

    @property
    def f_wsf(self) -> float:
        return float(self.de_state.scalars[Scalar.F_WSF])

    @property
    def evaluations(self) -> int:
        return self._count(Counter.EVALUATIONS)

    @property
    def stagnation(self) -> int:
        return self._count(Counter.STAGNATION)

    @property
    def generation(self) -> int:
        return self._count(Counter.GENERATION)

    @property
    def non_finite(self) -> int:
        return self._count(Counter.NON_FINITE)

    @property
    def best_index(self) -> int:
        return self._count(Counter.BEST)

    @property
    def ended(self) -> bool:
        return self._count(Counter.ENDED) != End.NOT_YET

    @property
    def counters(self) -> list[int]:
        return [int(times) for times in self.de_state.applications]

    @property
    def window(self) -> list[tuple[float, ...]]:
        return window_by_age(self.episode)


def _never(x: np.ndarray) -> float:
    raise AssertionError("the objective is not called: its values are handed in")
