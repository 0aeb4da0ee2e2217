"""Whole runs of the real loop (Algorithm 2), compared with the slow reference after every step: the state of Sect. 4.1
(Table 1 rows 1-99), the metrics OM_1..OM_4 and the rewards R1, R2 and R3.

The reference is handed what is random: the initial population, donors and crossover masks, drawn again from numpy's
SFC64 (never read from the engine, so a draw too many or too few is seen), and the policy's choices. What it computes
from them (features, trial, rewards, window, marks, population) must be the engine's to 1e-12. Trials and values then
enter the reference as the engine has them, so that rounding does not add up over a run: a trial may differ in its
last digit (sums in another order), and a value near a kink of the objective by much more.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numba import njit

from deddqn.de import DEConfig, Portfolio
from deddqn.de.state import Counter, End, Scalar
from deddqn.engine import RunSpec, VectorizedRuns
from deddqn.engine.loop import start
from deddqn.engine.run_memory import Episode, view_run
from deddqn.engine.run_spec import write_run
from deddqn.engine.stepping import ask_points, finish_if_over, hold_value_of, observe, record_next, tell_value
from deddqn.policies import load_policy
from deddqn.problems import Problem
from deddqn.rng import Stream
from tests.reference.de_reference import ReferenceRun
from tests.reference.engine_adapter import rewards_of, window_by_age
from tests.reference.raw_stream import RawStream

TOLERANCE = 1e-12

Objective = Callable[[np.ndarray], float]
Entries = list[tuple[str, float, float]]

ONE: Entries = [("rand-to-best/2", 0.5, 1.0)]
FOUR: Entries = [(name, 0.5, 1.0) for name in ("rand/1", "rand/2", "rand-to-best/2", "curr-to-rand/1")]
CROSSED: Entries = [
    ("rand/1", 0.9, 0.2),
    ("rand/2", 0.4, 0.9),
    ("rand-to-best/2", 0.7, 0.0),
    ("curr-to-rand/1", 0.5, 1),
]
TWELVE: Entries = [
    (name, scale, rate)
    for name in ("rand/1", "rand/2", "rand-to-best/2", "curr-to-rand/1")
    for scale, rate in ((0.5, 1.0), (0.9, 0.5), (1.6, 0.1))
]


def sphere(x: np.ndarray) -> float:
    return float(np.sum((x - 0.3) ** 2))


def rastrigin(x: np.ndarray) -> float:
    return float(np.sum(x * x - 10.0 * np.cos(2.0 * math.pi * x) + 10.0)) - 330.0


def terraces(x: np.ndarray) -> float:
    """Few different values: ties everywhere."""
    return float(np.floor(np.sum(np.abs(x))))


def constant(x: np.ndarray) -> float:
    return 7.0


def holes(x: np.ndarray) -> float:
    """NaN, +inf and -inf in parts of the box."""
    if x[0] > 2.0:
        return math.nan
    if x[0] < -4.0:
        return math.inf
    if 0.5 < x[-1] < 1.0:
        return -math.inf
    return sphere(x)


def never_finite(x: np.ndarray) -> float:
    return math.nan


def rarely_finite(x: np.ndarray) -> float:
    """Finite in a few places only: whole populations without a value come first."""
    return float(x[0]) if 0.0 < x[0] < 0.4 else math.nan


def huge(x: np.ndarray) -> float:
    return 1e300 * (float(np.sum(x)) + 0.01 * float(np.sum(x * x)))


def widest(x: np.ndarray) -> float:
    """Between -1.7e308 and 1.7e308: the range of the values itself is not a double."""
    return 1.7e308 * math.cos(float(np.sum(x)))


def tiny(x: np.ndarray) -> float:
    return 1e-300 * sphere(x)


@dataclass(frozen=True)
class Scenario:
    """One run to compare."""

    objective: Objective
    population: int
    dimension: int
    portfolio: Entries
    budget: int
    deferred: bool = False
    repair: str = "clip"
    optimum: float | None = None
    target_error: float = 1e-8
    window: int = 50
    generations: int = 10
    policy: str = "random"
    reward: str = "R2"
    seed: int = 1
    max_dimension: int = 30
    box: tuple[float, float] = (-5.0, 5.0)
    bounded: bool = True
    ends: End = End.BUDGET

    def __str__(self) -> str:
        mode = "deferred" if self.deferred else "sequential"
        sizes = f"NP{self.population}-D{self.dimension}-K{len(self.portfolio)}"
        return f"{self.objective.__name__}-{sizes}-{mode}-{self.repair}"


SCENARIOS = [
    # sizes, both modes
    Scenario(sphere, 6, 1, ONE, 150, optimum=0.0, reward="R3", target_error=0.0),
    Scenario(sphere, 7, 2, FOUR, 300, optimum=-1.0, reward="R3", window=9),
    Scenario(rastrigin, 7, 10, TWELVE, 290, window=13, repair="reflect", reward="R1"),
    Scenario(rastrigin, 100, 10, FOUR, 345, optimum=-330.0, reward="R3"),
    Scenario(rastrigin, 100, 2, CROSSED, 330, deferred=True, repair="midpoint"),
    Scenario(sphere, 100, 1, TWELVE, 250, seed=5, window=30),
    Scenario(sphere, 6, 2, FOUR, 300, deferred=True, window=7, generations=3, optimum=-3.5),
    Scenario(rastrigin, 7, 10, CROSSED, 250, deferred=True, repair="reflect", window=5, generations=2),
    Scenario(rastrigin, 6, 1, TWELVE, 220, deferred=True, repair="midpoint", max_dimension=1),
    # values that are no numbers, equal, huge and tiny
    Scenario(holes, 6, 2, FOUR, 300, window=6, optimum=-1.0),
    Scenario(holes, 7, 10, CROSSED, 250, deferred=True, window=10),
    Scenario(holes, 100, 2, TWELVE, 240, repair="midpoint"),
    Scenario(never_finite, 6, 1, FOUR, 60, optimum=0.0),
    Scenario(never_finite, 7, 2, ONE, 60, deferred=True),
    Scenario(rarely_finite, 6, 1, FOUR, 200, seed=8, repair="reflect"),
    Scenario(rarely_finite, 6, 2, CROSSED, 200, seed=8, deferred=True),
    Scenario(constant, 6, 2, FOUR, 120, optimum=0.0, reward="R1"),
    Scenario(constant, 7, 1, TWELVE, 100, deferred=True),
    Scenario(terraces, 7, 2, FOUR, 300, window=4, seed=3),
    Scenario(terraces, 100, 2, CROSSED, 260, deferred=True, window=20),
    Scenario(huge, 6, 2, FOUR, 250, window=8, optimum=-2e301, reward="R3"),
    Scenario(huge, 7, 10, CROSSED, 200, deferred=True, reward="R1"),
    Scenario(huge, 100, 1, FOUR, 230, reward="R1"),
    Scenario(widest, 6, 2, TWELVE, 250, window=8, reward="R1"),
    Scenario(widest, 7, 1, FOUR, 200, deferred=True, optimum=-1.7e308, reward="R3", target_error=1e290),
    Scenario(tiny, 6, 2, FOUR, 200, window=8),
    # ends: a truncated generation of one evaluation, a budget below NP, the target in the middle and at the start
    Scenario(sphere, 7, 2, FOUR, 22, deferred=True),
    Scenario(sphere, 7, 2, CROSSED, 22, repair="reflect"),
    Scenario(sphere, 6, 2, FOUR, 4),
    Scenario(sphere, 6, 2, FOUR, 6, deferred=True),
    Scenario(sphere, 7, 2, FOUR, 2000, optimum=0.0, target_error=0.05, ends=End.TARGET),
    Scenario(sphere, 7, 2, FOUR, 2000, optimum=0.0, target_error=0.05, deferred=True, ends=End.TARGET),
    Scenario(sphere, 7, 2, FOUR, 2000, optimum=0.0, target_error=20.0, ends=End.TARGET),
    Scenario(sphere, 7, 2, FOUR, 2000, optimum=0.0, target_error=20.0, deferred=True, ends=End.TARGET),
    # other boxes: no bounds beyond the initial range, no extent at all; and policies that play some operators only
    Scenario(rastrigin, 6, 2, [("rand/2", 1.9, 1.0), ("rand/1", 1.5, 0.5)], 250, bounded=False, window=6),
    Scenario(sphere, 6, 2, FOUR, 60, box=(1.5, 1.5)),
    Scenario(sphere, 6, 2, TWELVE, 250, policy="de3", window=5),
    Scenario(rastrigin, 6, 2, FOUR, 250, policy="mixture:0.9,0,0.1,0", window=6, generations=2),
]


def make_spec(scenario: Scenario, problem: Problem | None = None) -> RunSpec:
    low, high = scenario.box
    if problem is None:
        pairs = [(low - 0.25 * d, high + 0.5 * d) if low < high else (low, high) for d in range(scenario.dimension)]
        problem = Problem.from_function(scenario.objective, pairs, optimum=scenario.optimum)
        problem.bounded = scenario.bounded
    policy = load_policy(scenario.policy)
    policy.max_dimension = scenario.max_dimension
    return RunSpec(
        problem=problem,
        policy=policy,
        portfolio=Portfolio(scenario.portfolio),
        config=DEConfig(
            population_size=scenario.population,
            budget=scenario.budget,
            repair=scenario.repair,
            updating="deferred" if scenario.deferred else "sequential",
            target_error=scenario.target_error,
        ),
        seed=scenario.seed,
        reward=scenario.reward,
        observe=True,
        generations=scenario.generations,
        window=scenario.window,
    )


def make_reference(scenario: Scenario, spec: RunSpec) -> ReferenceRun:
    problem = spec.problem
    open_side = np.full(problem.dimension, math.inf)
    return ReferenceRun(
        lower=problem.lower,
        upper=problem.upper,
        search_lower=problem.lower if problem.bounded else -open_side,
        search_upper=problem.upper if problem.bounded else open_side,
        portfolio=scenario.portfolio,
        population_size=scenario.population,
        budget=scenario.budget,
        max_dimension=scenario.max_dimension,
        optimum=scenario.optimum,
        target_error=scenario.target_error,
        window_size=scenario.window,
        generations=scenario.generations,
        repair=scenario.repair,
        deferred=scenario.deferred,
    )


def near(actual: Any, expected: Any, what: str, *, absolute: float = 0.0) -> None:
    """Relative to 1e-12; features and trials also absolute, for they are differences that may cancel to almost 0."""
    np.testing.assert_allclose(actual, expected, rtol=TOLERANCE, atol=absolute, err_msg=what)


def equal(actual: Any, expected: Any, what: str) -> None:
    np.testing.assert_array_equal(actual, expected, err_msg=what)


def compare_marks(episode: Episode, reference: ReferenceRun, where: str) -> None:
    """All that an evaluation changes; these numbers are copies of values, so they are equal, not near."""
    de_state = episode.de_state
    equal(de_state.scalars[Scalar.F_BSF], reference.f_bsf, f"{where}: f_bsf")
    equal(de_state.scalars[Scalar.F_WSF], reference.f_wsf, f"{where}: f_wsf")
    equal(de_state.best_point, reference.x_bsf, f"{where}: x_bsf")
    equal(de_state.counters[Counter.EVALUATIONS], reference.evaluations, f"{where}: evaluations")
    equal(de_state.counters[Counter.NON_FINITE], reference.non_finite, f"{where}: non_finite")


def compare_after_settling(episode: Episode, reference: ReferenceRun, where: str) -> None:
    compare_marks(episode, reference, where)
    equal(episode.de_state.counters[Counter.STAGNATION], reference.stagnation, f"{where}: stagnation")
    equal(episode.de_state.applications, reference.counters, f"{where}: applications")
    window = window_by_age(episode)
    assert len(window) == len(reference.window), where
    if window:
        near(window, reference.window, f"{where}: window")


def compare_generation(episode: Episode, reference: ReferenceRun, where: str) -> None:
    de_state = episode.de_state
    equal(de_state.parents, reference.population, f"{where}: population")
    equal(de_state.fitness, reference.fitness, f"{where}: fitness")
    equal(de_state.counters[Counter.GENERATION], reference.generation, f"{where}: generation")
    equal(de_state.counters[Counter.ENDED] != End.NOT_YET, reference.ended, f"{where}: ended")
    equal(de_state.counters[Counter.BEST], reference.best_index, f"{where}: best parent")


def compare_rewards(episode: Episode, i: int, name: str, expected: dict[str, float | None], where: str) -> None:
    for reward, actual in rewards_of(episode).items():
        if expected[reward] is None:
            assert actual is None, where
        else:
            near(actual, expected[reward], f"{where}: {reward}")
    near(episode.core.rewards[i], expected[name], f"{where}: the reward of the run")


class Comparison:
    """The engine and the reference side by side through one run."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self.spec = make_spec(scenario)
        self.arena = np.full(self.spec.size, np.nan)
        write_run(self.spec, self.arena)
        self.episode = view_run(self.arena)
        self.de_state = self.episode.de_state
        self.stream = RawStream(self.de_state.streams[Stream.SEARCH])
        self.reference = make_reference(scenario, self.spec)
        self.total_reward = 0.0
        self.order = np.random.default_rng(scenario.seed)

    def initialise(self) -> None:
        problem = self.spec.problem
        drawn = RawStream(self.de_state.streams[Stream.INIT])
        population = drawn.population(self.scenario.population, problem.lower, problem.upper)
        start(self.arena.ctypes.data, True)
        equal(self.de_state.parents, population, "initial population")
        values = [self.scenario.objective(point) for point in population]
        self.reference.initialise(population, values)
        while not self.de_state.counters[Counter.INITIALISED]:
            i = int(self.de_state.counters[Counter.TOLD])
            assert ask_points(self.arena.ctypes.data) > i
            tell_value(self.arena.ctypes.data, i, values[i])
        compare_marks(self.episode, self.reference, "initial")
        compare_generation(self.episode, self.reference, "initial")

    def decide(self, i: int) -> np.ndarray:
        """Compare the features and the trial that the engine has for individual `i`; returns the trial."""
        where = f"generation {self.reference.generation}, individual {i}"
        de_state, rows = self.de_state, self.episode.observer
        donors = self.stream.donors(i, self.scenario.population)
        equal(de_state.donors[i], donors, f"{where}: donors")
        features = rows.states[i] if self.scenario.deferred else rows.features
        near(features, self.reference.features(i, donors), f"{where}: features", absolute=TOLERANCE)
        op = int(de_state.choices[i])
        mask = self.stream.mask(self.scenario.portfolio[op][2], self.spec.problem.dimension)
        expected = self.reference.trial(i, donors, op, mask)
        near(de_state.trials[i], expected, f"{where}: trial", absolute=TOLERANCE)
        return de_state.trials[i].copy()

    def check_settled(self, i: int, point: np.ndarray, value: float) -> None:
        """Hand the same value to the reference and compare what the engine made of it."""
        where = f"generation {self.reference.generation}, individual {i}, follow_budget"
        rewards = self.reference.commit(i, int(self.de_state.choices[i]), point, value)
        compare_rewards(self.episode, i, self.scenario.reward, rewards, where)
        self.total_reward += rewards[self.scenario.reward] or 0.0
        compare_after_settling(self.episode, self.reference, where)

    def step_sequential(self) -> None:
        i = observe(self.arena.ctypes.data)
        assert ask_points(self.arena.ctypes.data) == i + 1
        point = self.decide(i)
        value = self.scenario.objective(point)
        tell_value(self.arena.ctypes.data, i, value)
        self.check_settled(i, point, value)
        compare_generation(self.episode, self.reference, f"after individual {i}")

    def step_deferred(self) -> None:
        """One generation; its values come in any order and are follow_budget in the order of the individuals."""
        size = ask_points(self.arena.ctypes.data)
        assert size == self.reference.decisions_left
        points = [self.decide(i) for i in range(size)]
        values = [self.scenario.objective(point) for point in points]
        for i in self.order.permutation(size):
            assert record_next(self.arena.ctypes.data) == -1
            hold_value_of(self.arena.ctypes.data, i, values[i])
        for i in range(size):
            compare_generation(self.episode, self.reference, "before the end of the generation")
            assert record_next(self.arena.ctypes.data) == i
            self.check_settled(i, points[i], values[i])
        assert finish_if_over(self.arena.ctypes.data)
        compare_generation(self.episode, self.reference, "after the generation")

    def run(self) -> None:
        self.initialise()
        while not self.de_state.counters[Counter.ENDED]:
            if self.scenario.deferred:
                self.step_deferred()
            else:
                self.step_sequential()
            assert [int(word) for word in self.de_state.streams[Stream.SEARCH]] == self.stream.words
        assert self.reference.ended
        assert self.de_state.counters[Counter.ENDED] == self.scenario.ends
        near(self.episode.core.total_reward[0], self.total_reward, "sum of the rewards")


@pytest.mark.parametrize("scenario", SCENARIOS, ids=str)
def test_every_step_of_a_run(scenario: Scenario) -> None:
    Comparison(scenario).run()


def test_the_scenarios_cover_the_matrix() -> None:
    for deferred in (False, True):
        chosen = [s for s in SCENARIOS if s.deferred == deferred]
        assert {s.population for s in chosen} == {6, 7, 100}
        assert {s.dimension for s in chosen} == {1, 2, 10}
        assert {len(s.portfolio) for s in chosen} >= {1, 4, 12}
        assert {s.repair for s in chosen} == {"clip", "reflect", "midpoint"}
        assert {s.ends for s in chosen} == {End.BUDGET, End.TARGET}
        assert {s.objective for s in chosen} >= {sphere, rastrigin, holes, constant, huge, widest, terraces}


# -- the fused loop is the stepped one


@njit
def compiled_holes(x):
    if x[0] > 2.0:
        return np.nan
    total = 0.0
    for value in x:
        total += (value - 0.3) ** 2
    return total


@pytest.mark.parametrize("deferred", [False, True])
def test_the_fused_loop_is_the_stepped_one(deferred: bool) -> None:
    """`advance` and the steps that were compared above leave the same memory behind, bit for bit.

    Values of a deferred generation may come in any order: nothing is follow_budget before the last one.
    """
    scenario = Scenario(compiled_holes, 7, 3, CROSSED, 150, deferred=deferred, window=6)
    problem = Problem.from_function(compiled_holes, [(-5.0, 5.0)] * 3)
    spec = make_spec(scenario, problem)
    lanes = VectorizedRuns([spec], threads=1)
    arena = np.zeros(spec.size)
    write_run(spec, arena)
    start(arena.ctypes.data, True)
    de_state = view_run(arena).de_state
    while size := ask_points(arena.ctypes.data):
        told, follow_budget = int(de_state.counters[Counter.TOLD]), int(de_state.counters[Counter.EVALUATIONS])
        points = de_state.trials if de_state.counters[Counter.INITIALISED] else de_state.parents
        for i in reversed(range(told, size)):  # one point, or a generation from its last to its first
            assert de_state.counters[Counter.EVALUATIONS] == follow_budget
            tell_value(arena.ctypes.data, i, problem(points[i]))
        lanes.advance(int(de_state.counters[Counter.EVALUATIONS]))
        assert lanes.evaluations[0] == de_state.counters[Counter.EVALUATIONS] == follow_budget + size - told
    lanes.advance()
    assert lanes.arenas[0].tobytes() == arena.tobytes()
    assert lanes.evaluations[0] == 150
