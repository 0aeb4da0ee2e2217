"""Whole runs beyond the paper, compared with the slow reference after every step (see `test_against_reference`)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest

from deddqn.de import EXTENDED, DEConfig, Portfolio
from deddqn.de.cma_state import Model
from deddqn.de.mutation import STRATEGIES
from deddqn.de.state import Counter, End, Scalar
from deddqn.engine import RunSpec
from deddqn.engine.loop import start
from deddqn.engine.run_memory import view_run
from deddqn.engine.run_spec import write_run
from deddqn.engine.stepping import ask_points, finish_if_over, hold_value_of, observe, record_next, tell_value
from deddqn.policies import CompiledPolicy, load_policy, softmax_policy
from deddqn.policies.softmax import N_INPUTS
from deddqn.problems import Problem
from deddqn.rng import Stream
from tests.reference.extended_reference import Entries, ExtendedReference
from tests.reference.raw_stream import RawStream
from tests.reference.test_against_reference import (
    TOLERANCE,
    Objective,
    compare_after_settling,
    compare_marks,
    compare_rewards,
    constant,
    equal,
    holes,
    huge,
    near,
    never_finite,
    rarely_finite,
    rastrigin,
    sphere,
    terraces,
    tiny,
    widest,
)

CONSTANT: Entries = [(name, 0.7, rate) for name in STRATEGIES[4:] for rate in (1.0, 0.4)]
PBEST: Entries = [("curr-to-pbest/1", 0.6, 0.9, "CR"), ("rand-to-pbest/1", 0.8, 0.0, "F"), ("rand/1", 0.5, 1.0)]
GAUSS: Entries = [("gauss", 1.3, 1.0), ("gauss", 0.9, 0.5, "F+CR"), ("curr-to-best/1", 0.5, 0.5, "F+CR")]
BOLD: Entries = [("best/1", 1.0, 1.0, "F"), ("best/1", 0.4, 0.2, "F+CR")]
TWELVE: Entries = list(EXTENDED.values)
CMA: Entries = [("cma", 1.0, 1.0)]
CMA_BESIDE: Entries = [
    ("rand/1", 0.5, 0.9),
    ("cma", 1.0, 1.0),
    ("curr-to-pbest/1", 0.5, 0.5, "F+CR"),
    ("cma", 0.8, 0.6, "F+CR"),
    ("gauss", 1.0, 1.0),
]
PAPER_TWO: Entries = [("rand/1", 0.5, 0.9), ("rand-to-best/2", 0.5, 1.0)]


def slanting(x: np.ndarray) -> float:
    """An ellipsoid that is not parallel to the axes, with its optimum where small numbers keep their digits: at 0."""
    return float(np.sum(4.0 ** np.arange(x.size) * np.cumsum(x) ** 2))


def slope(x: np.ndarray) -> float:
    return float(np.sum(x))


def noise(x: np.ndarray) -> float:
    """Nothing to learn, and seldom anything better."""
    return math.sin(1e6 * float(np.sum(x)))


@dataclass(frozen=True)
class Scenario:
    """One run to compare; `more` are settings of `DEConfig` that only this engine has."""

    objective: Objective
    population: int
    dimension: int
    portfolio: Entries
    budget: int
    more: dict[str, Any] = field(default_factory=dict)
    deferred: bool = False
    repair: str = "clip"
    optimum: float | None = None
    target_error: float = 1e-8
    seed: int = 1
    window: int = 12
    bounded: bool = True
    ends: End = End.BUDGET

    def __str__(self) -> str:
        mode = "deferred" if self.deferred else "sequential"
        more = "-".join(f"{key}{value}" for key, value in self.more.items())
        sizes = f"NP{self.population}-D{self.dimension}-K{len(self.portfolio)}"
        return f"{self.objective.__name__}-{sizes}-{mode}-{more}"


FEATURES_EVERY = 7
SCORE_TOLERANCE = 1e-8  # the equations of the model cost some digits
SHRINK = {"final_population": 6}
RESTARTING = {"restart_tolerance": 0.2}
RETURNING = {"restart_tolerance": 0.3, "restart_final_fraction": 0.3}
TWO, FOUR = {"n_candidates": 2}, {"n_candidates": 4}
SCENARIOS = [
    Scenario(sphere, 20, 3, CONSTANT, 400),
    Scenario(rastrigin, 12, 10, CONSTANT, 300, SHRINK, repair="reflect"),
    Scenario(sphere, 6, 1, CONSTANT, 200, {"archive": 2.6}, deferred=True),
    Scenario(sphere, 20, 2, PBEST, 600, {"archive": 0.3, "pbest": 0.4}),
    Scenario(rastrigin, 30, 10, PBEST, 700, {**SHRINK, "archive": 2.6}, repair="midpoint"),
    Scenario(rastrigin, 30, 2, PBEST, 500, {**SHRINK, "archive": 0.0}, deferred=True),
    Scenario(sphere, 15, 1, GAUSS, 400, SHRINK),
    Scenario(rastrigin, 16, 10, GAUSS, 300, deferred=True, repair="reflect"),
    Scenario(sphere, 9, 2, BOLD, 400, {"final_population": 9}),
    Scenario(sphere, 100, 10, TWELVE, 500, {"final_population": 10}),
    Scenario(rastrigin, 40, 2, TWELVE, 900, {"final_population": 10, "pbest": 1.0}),
    Scenario(rastrigin, 40, 1, TWELVE, 600, SHRINK, deferred=True, repair="midpoint"),
    # values that are no numbers, equal, huge and tiny
    Scenario(holes, 14, 2, TWELVE, 400, SHRINK),
    Scenario(holes, 14, 10, TWELVE, 300, SHRINK, deferred=True),
    Scenario(never_finite, 10, 2, TWELVE, 150, {**SHRINK, **RESTARTING}),
    Scenario(never_finite, 10, 1, PBEST, 100, SHRINK, deferred=True),
    Scenario(rarely_finite, 10, 1, TWELVE, 300, SHRINK, seed=8),
    Scenario(constant, 12, 2, TWELVE, 200, {**SHRINK, **RESTARTING}),
    Scenario(terraces, 15, 2, TWELVE, 400, SHRINK, deferred=True),
    Scenario(huge, 12, 2, TWELVE, 300, SHRINK),
    Scenario(widest, 12, 2, TWELVE, 300, SHRINK, deferred=True),
    Scenario(tiny, 12, 2, TWELVE, 300, SHRINK),
    # new populations
    Scenario(sphere, 10, 1, BOLD, 800, RESTARTING),
    Scenario(sphere, 12, 2, TWELVE, 900, {**SHRINK, **RESTARTING}, seed=3),
    Scenario(terraces, 12, 1, PBEST, 800, RESTARTING, deferred=True),
    Scenario(holes, 12, 2, TWELVE, 900, {**SHRINK, **RESTARTING}, deferred=True, seed=3),
    # ... and the return to the best of them
    Scenario(rastrigin, 10, 1, BOLD, 900, RETURNING, seed=1),
    Scenario(rastrigin, 20, 2, TWELVE, 2000, {**SHRINK, **RETURNING}, seed=2),
    Scenario(terraces, 12, 1, PBEST, 800, RETURNING, deferred=True),
    Scenario(holes, 12, 2, TWELVE, 900, {**SHRINK, **RETURNING}, deferred=True, seed=3),
    Scenario(rastrigin, 12, 1, CMA_BESIDE, 600, {**SHRINK, **RETURNING}, deferred=True),
    Scenario(rastrigin, 10, 1, PBEST, 400, {**TWO, **SHRINK, **RETURNING}, seed=2),
    Scenario(never_finite, 10, 2, TWELVE, 150, {**SHRINK, **RETURNING}),
    Scenario(constant, 12, 2, TWELVE, 200, {**SHRINK, **RETURNING}),
    # ends: a truncated generation, a budget below NP, the target
    Scenario(sphere, 12, 2, TWELVE, 33, SHRINK),
    Scenario(sphere, 12, 2, TWELVE, 7, SHRINK, deferred=True),
    Scenario(sphere, 20, 2, TWELVE, 3000, SHRINK, optimum=0.0, target_error=1e-4, ends=End.TARGET),
    Scenario(sphere, 20, 2, TWELVE, 3000, SHRINK, optimum=0.0, target_error=1e-4, deferred=True, ends=End.TARGET),
    Scenario(rastrigin, 8, 2, BOLD, 3000, RESTARTING, optimum=-330.0, target_error=0.9, seed=2, ends=End.TARGET),
    # F that follows the success rate
    Scenario(sphere, 12, 3, TWELVE, 300, {**SHRINK, "rate_share": 0.5}),
    Scenario(rastrigin, 15, 4, PBEST, 400, {"rate_share": 1.0, "archive": 2.6}, deferred=True, repair="midpoint"),
    Scenario(holes, 14, 2, GAUSS, 200, {**SHRINK, "rate_share": 0.3}),
    Scenario(sphere, 10, 2, CMA_BESIDE, 300, {**RESTARTING, "rate_share": 0.5}, seed=4),
    Scenario(never_finite, 10, 2, TWELVE, 120, {**SHRINK, "rate_share": 0.5}, deferred=True),
    # a distribution that learns, alone and beside others
    Scenario(slanting, 8, 1, CMA, 600, deferred=True),
    Scenario(slanting, 10, 3, CMA, 300),
    Scenario(slope, 10, 3, CMA, 200, bounded=False),
    Scenario(slope, 10, 10, CMA, 120, bounded=False, deferred=True, seed=3),
    Scenario(noise, 9, 1, CMA, 400, deferred=True),
    Scenario(slanting, 20, 10, CMA, 400, deferred=True),
    Scenario(slanting, 12, 2, CMA_BESIDE, 200, bounded=False),
    Scenario(sphere, 30, 2, CMA, 300, SHRINK, deferred=True, repair="midpoint"),
    Scenario(rastrigin, 12, 3, CMA, 300, SHRINK, repair="midpoint"),
    Scenario(slanting, 20, 10, CMA_BESIDE, 400, SHRINK),
    Scenario(rastrigin, 15, 3, CMA_BESIDE, 300, {**SHRINK, "archive": 2.6}, deferred=True, repair="reflect"),
    Scenario(holes, 14, 2, CMA_BESIDE, 200, SHRINK),
    Scenario(holes, 14, 10, CMA, 200, deferred=True),
    Scenario(never_finite, 10, 2, CMA_BESIDE, 150, SHRINK),
    Scenario(rarely_finite, 10, 1, CMA, 200, SHRINK, seed=8),
    Scenario(constant, 12, 2, CMA, 200, SHRINK),
    Scenario(terraces, 9, 1, CMA_BESIDE, 500, deferred=True),
    Scenario(huge, 12, 2, CMA, 150, SHRINK),
    Scenario(widest, 12, 3, CMA_BESIDE, 200, SHRINK, deferred=True),
    Scenario(sphere, 10, 2, CMA_BESIDE, 300, RESTARTING),
    Scenario(holes, 12, 3, CMA, 400, {**SHRINK, **RESTARTING}, deferred=True, seed=3),
    Scenario(sphere, 20, 2, CMA_BESIDE, 2000, SHRINK, optimum=0.0, target_error=1e-3, ends=End.TARGET),
    # several trials of a move, of which one is picked
    Scenario(sphere, 20, 2, PAPER_TWO, 150, TWO),
    Scenario(rastrigin, 12, 3, PAPER_TWO, 150, {**FOUR, **SHRINK}, deferred=True, repair="midpoint"),
    Scenario(slanting, 20, 10, CMA_BESIDE, 200, {**FOUR, **SHRINK}),
    Scenario(rastrigin, 15, 3, PBEST, 250, {**TWO, **SHRINK, "archive": 0.4}, deferred=True, repair="reflect"),
    Scenario(rastrigin, 15, 2, CMA_BESIDE, 200, {**TWO, **SHRINK}, repair="midpoint"),
    Scenario(sphere, 12, 1, GAUSS, 120, FOUR, deferred=True),
    Scenario(slanting, 10, 3, CMA, 200, TWO, bounded=False),
    Scenario(sphere, 10, 2, TWELVE, 150, {**FOUR, **SHRINK}, repair="reflect"),
    Scenario(sphere, 10, 10, CONSTANT, 100, {**TWO, "pbest": 0.5}, deferred=True),
    Scenario(holes, 14, 2, CMA_BESIDE, 200, {**FOUR, **SHRINK}),
    Scenario(holes, 12, 3, CMA_BESIDE, 250, {**TWO, **SHRINK, **RESTARTING}, deferred=True, seed=3),
    Scenario(rarely_finite, 10, 1, PBEST, 200, {**FOUR, **SHRINK}, seed=8),
    Scenario(never_finite, 10, 10, PBEST, 100, {**TWO, **SHRINK}, deferred=True),
    Scenario(never_finite, 10, 2, CONSTANT, 100, FOUR),
    Scenario(constant, 12, 2, CMA_BESIDE, 150, {**TWO, **SHRINK}),
    Scenario(terraces, 10, 1, PBEST, 300, {**FOUR, **RESTARTING}),
    Scenario(huge, 12, 2, CMA_BESIDE, 120, TWO, deferred=True),
    Scenario(sphere, 12, 2, TWELVE, 33, {**FOUR, **SHRINK}, deferred=True),
    Scenario(sphere, 12, 2, PBEST, 2000, {**FOUR, **SHRINK}, optimum=0.0, target_error=1e-2, ends=End.TARGET),
    Scenario(sphere, 12, 2, TWELVE, 2000, TWO, deferred=True, optimum=0.0, target_error=1e-2, ends=End.TARGET),
]


def policy_for(scenario: Scenario) -> CompiledPolicy:
    """Where several trials are made, one that picks; how it chooses is taken from it."""
    if "n_candidates" not in scenario.more:
        return load_policy("random")
    weights = np.random.default_rng(scenario.seed).normal(size=(len(scenario.portfolio), N_INPUTS))
    return softmax_policy(weights, portfolio=Portfolio(scenario.portfolio))


class Comparison:
    """The engine and the reference side by side through one run."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        box = [(-5.0 - 0.25 * d, 5.0 + 0.5 * d) for d in range(scenario.dimension)]
        problem = Problem.from_function(scenario.objective, box, optimum=scenario.optimum)
        problem.bounded = scenario.bounded
        config = DEConfig(
            population_size=scenario.population,
            budget=scenario.budget,
            repair=scenario.repair,
            updating="deferred" if scenario.deferred else "sequential",
            target_error=scenario.target_error,
            **scenario.more,
        )
        self.spec = RunSpec(
            problem=problem,
            policy=policy_for(scenario),
            portfolio=Portfolio(scenario.portfolio),
            config=config,
            seed=scenario.seed,
            observe=True,
            window=scenario.window,
            generations=4,
        )
        self.arena = np.full(self.spec.size, np.nan)
        write_run(self.spec, self.arena)
        self.episode = view_run(self.arena)
        self.de_state = self.episode.de_state
        self.stream = RawStream(self.de_state.streams[Stream.SEARCH])
        self.initial_stream = RawStream(self.de_state.streams[Stream.INIT])
        self.order = np.random.default_rng(scenario.seed)
        self.picked: list[int] = []
        self.blind = False  # the policy knows that no value was finite: it picks the first trial
        open_side = None if scenario.bounded else np.full(scenario.dimension, np.inf)
        self.reference = ExtendedReference(
            lower=problem.lower,
            upper=problem.upper,
            search_lower=None if open_side is None else -open_side,
            search_upper=open_side,
            portfolio=scenario.portfolio,
            source=self.stream,
            initial_source=self.initial_stream,
            population_size=scenario.population,
            budget=scenario.budget,
            optimum=scenario.optimum,
            target_error=scenario.target_error,
            window_size=scenario.window,
            generations=4,
            repair=scenario.repair,
            deferred=scenario.deferred,
            **scenario.more,
        )

    def count(self, which: Counter) -> int:
        return int(self.de_state.counters[which])

    def initialise(self) -> None:
        problem = self.spec.problem
        population = self.initial_stream.population(self.scenario.population, problem.lower, problem.upper)
        start(self.arena.ctypes.data, True)
        equal(self.de_state.parents[: len(population)], population, "initial population")
        values = [self.scenario.objective(point) for point in population]
        self.reference.initialise(population, values)
        while not self.count(Counter.INITIALISED):
            tell_value(self.arena.ctypes.data, self.count(Counter.TOLD), values[self.count(Counter.TOLD)])
        self.compare_generation("initial")

    def compare_generation(self, where: str) -> None:
        de_state, reference, size = self.de_state, self.reference, self.reference.population_size
        compare_marks(self.episode, reference, where)
        equal(self.count(Counter.POPULATION), size, f"{where}: NP")
        equal(de_state.parents[:size], reference.population, f"{where}: population")
        equal(de_state.fitness[:size], reference.fitness, f"{where}: fitness")
        equal(self.count(Counter.GENERATION), reference.generation, f"{where}: generation")
        equal(self.count(Counter.ENDED) != End.NOT_YET, reference.ended, f"{where}: ended")
        equal(self.count(Counter.STAGNATION), reference.stagnation, f"{where}: stagnation")
        equal(self.count(Counter.RESTARTS), reference.restarts, f"{where}: restarts")
        equal(self.count(Counter.INITIALISED), not reference.waiting, f"{where}: initialised")
        if reference.current_generation:
            return
        self.compare_learned(where)
        self.compare_distribution(where)
        if reference.origin is not None:
            assert self.count(Counter.RENUMBERED), where
            equal(de_state.origin[:size], reference.origin, f"{where}: origin")

    def compare_learned(self, where: str) -> None:
        de_state, reference = self.de_state, self.reference
        members, first = self.count(Counter.ARCHIVED), self.count(Counter.ALLOCATED)
        equal(members, len(reference.archive), f"{where}: archived")
        equal(self.count(Counter.ARCHIVE_ROOM), reference.archive_room, f"{where}: room of the archive")
        if members:
            equal(de_state.parents[first : first + members], reference.archive, f"{where}: archive")
        if de_state.memory_f.size:
            scales, rates = zip(*reference.means, strict=True)
            near(de_state.memory_f, scales, f"{where}: means of F")
            near(de_state.memory_cr, rates, f"{where}: means of CR", absolute=TOLERANCE)
        if reference.rate_share:
            near(de_state.scalars[Scalar.SUCCESS_RATE], reference.success_rate, f"{where}: success rate")

    def compare_distribution(self, where: str) -> None:
        de_state, reference = self.de_state, self.reference.distribution
        model = de_state.model
        equal(model[Model.BEGUN], reference.begun, f"{where}: beginnings")
        if reference.begun == 0:
            return
        equal(model[Model.SIGMA] > 0.0, reference.alive, f"{where}: alive")
        equal(model[Model.LAMBDA], reference.sample_size, f"{where}: lambda")
        equal(model[Model.UPDATES], reference.updates, f"{where}: updates")
        equal(model[Model.STALE], reference.stale, f"{where}: stale")
        equal(model[Model.BEST], reference.best, f"{where}: best value of the distribution")
        equal(model[Model.SAMPLES], len(reference.waiting), f"{where}: samples")
        for k, (value, point) in enumerate(reference.waiting):
            equal(de_state.model_values[k], value, f"{where}: value of sample {k}")
            equal(de_state.model_points[k], point, f"{where}: sample {k}")
        deviations = np.sqrt(np.diag(reference.covariance))
        if reference.alive:
            near(model[Model.SIGMA], reference.sigma, f"{where}: sigma")
            near(
                np.triu(de_state.model_factor).T, reference.factor, f"{where}: A", absolute=TOLERANCE * deviations.max()
            )
        means = (each / (reference.sigma * deviations) for each in (de_state.model_mean, reference.mean))
        near(*means, f"{where}: mean in deviations", absolute=TOLERANCE)
        covariances = (
            np.tril(each / np.outer(deviations, deviations))
            for each in (de_state.model_covariance, reference.covariance)
        )
        near(*covariances, f"{where}: C as correlations", absolute=TOLERANCE)
        near(de_state.path_sigma, reference.path_sigma, f"{where}: path of sigma", absolute=TOLERANCE)
        paths = (each / deviations for each in (de_state.path_covariance, reference.path_covariance))
        near(*paths, f"{where}: path of C in deviations", absolute=TOLERANCE)

    def decide(self, i: int) -> np.ndarray:
        where = f"generation {self.reference.generation}, individual {i}"
        de_state, reference, rows = self.de_state, self.reference, self.episode.observer
        op, donors = int(de_state.choices[i]), self.stream.donors(i, reference.population_size)
        if (reference.evaluations + i) % FEATURES_EVERY == 0:  # the reference takes its time for them
            features = rows.states[i] if self.scenario.deferred else rows.features
            near(features, reference.features(i, donors), f"{where}: features", absolute=TOLERANCE)
        if self.spec.prescreens:
            expected, donors = self.pick(i, op, donors, where)
        else:
            expected = reference.drawn_trial(i, donors, op)
        equal(de_state.donors[i], donors, f"{where}: donors")
        near(de_state.trials[i], expected, f"{where}: trial", absolute=TOLERANCE)
        return de_state.trials[i].copy()

    def pick(self, i: int, op: int, donors: list[int], where: str) -> tuple[np.ndarray, list[int]]:
        """The trial with the highest score, and the donors that were drawn last."""
        de_state, reference = self.de_state, self.reference
        candidates = reference.make_candidates(i, donors, op)
        scores = [reference.candidate_scores(trial.point) for trial in candidates]
        if not self.scenario.deferred:
            near(de_state.candidates, [trial.point for trial in candidates], f"{where}: foreseen", absolute=TOLERANCE)
            np.testing.assert_allclose(de_state.candidate_scores, scores, rtol=0.0, atol=SCORE_TOLERANCE, err_msg=where)
        highest = [k for k, candidate_scores in enumerate(scores) if candidate_scores >= max(scores) - SCORE_TOLERANCE]
        if self.blind:
            highest = [0]
        elif not self.scenario.deferred:
            highest = [int(np.argmax(de_state.candidate_scores))]
        away = [float(np.abs(candidates[k].point - de_state.trials[i]).max()) for k in highest]
        picked = highest[int(np.argmin(away))]  # digits may decide where scores are equal
        self.picked.append(picked)
        return reference.take_candidate(i, picked), list(candidates[-1].donors)

    def check_settled(self, i: int, point: np.ndarray, value: float) -> None:
        where = f"generation {self.reference.generation}, individual {i}, follow_budget"
        rewards = self.reference.commit(i, int(self.de_state.choices[i]), point, value)
        self.blind = self.reference.f_bsf == math.inf
        compare_rewards(self.episode, i, "R2", rewards, where)
        compare_after_settling(self.episode, self.reference, where)

    def step_sequential(self) -> None:
        i = observe(self.arena.ctypes.data)
        assert ask_points(self.arena.ctypes.data) == i + 1
        point = self.decide(i)
        value = self.scenario.objective(point)
        tell_value(self.arena.ctypes.data, i, value)
        self.check_settled(i, point, value)
        self.compare_generation(f"after individual {i}")

    def step_deferred(self) -> None:
        size = ask_points(self.arena.ctypes.data)
        assert size == self.reference.decisions_left
        points = [self.decide(i) for i in range(size)]
        values = [self.scenario.objective(point) for point in points]
        for i in self.order.permutation(size):
            hold_value_of(self.arena.ctypes.data, i, values[i])
        for i in range(size):
            assert record_next(self.arena.ctypes.data) == i
            if i < size - 1:
                self.check_settled(i, points[i], values[i])
        assert finish_if_over(self.arena.ctypes.data)
        self.reference.commit(size - 1, int(self.de_state.choices[size - 1]), points[-1], values[-1])
        self.blind = self.reference.f_bsf == math.inf
        self.compare_generation("after the generation")

    def new_population(self) -> None:
        """Values of a population after a restart: the engine asks for them as for the first ones."""
        size = ask_points(self.arena.ctypes.data)
        first = self.count(Counter.TOLD)
        assert observe(self.arena.ctypes.data) == -1
        points = self.de_state.parents[:size].copy()
        values = [self.scenario.objective(point) for point in points]
        for i in self.order.permutation(range(first, size)):
            tell_value(self.arena.ctypes.data, i, values[i])
        for i in range(first, size):
            self.reference.take_value(i, values[i])
            if self.reference.ended:
                break
        self.compare_generation("a new population")

    def run(self) -> None:
        self.initialise()
        while not self.count(Counter.ENDED):
            if self.reference.waiting:
                self.new_population()
            elif self.scenario.deferred:
                self.step_deferred()
            else:
                self.step_sequential()
            assert [int(word) for word in self.de_state.streams[Stream.SEARCH]] == self.stream.words
            assert [int(word) for word in self.de_state.streams[Stream.INIT]] == self.initial_stream.words
        assert self.reference.ended
        assert self.count(Counter.ENDED) == self.scenario.ends


@pytest.mark.parametrize("scenario", SCENARIOS, ids=str)
def test_every_step_of_a_run(scenario: Scenario) -> None:
    comparison = Comparison(scenario)
    comparison.run()
    reference, final = comparison.reference, scenario.more.get("final_population", scenario.population)
    if scenario.ends == End.BUDGET and scenario.budget > scenario.population:
        assert reference.population_size == final
    if "restart_tolerance" in scenario.more and scenario.objective in (sphere, rastrigin, terraces, holes):
        assert reference.restarts > 0
    if "restart_final_fraction" in scenario.more and scenario.objective in (rastrigin, holes):
        assert reference.returns > 0
    if scenario.more.get("archive") == 0.3:
        assert len(reference.archive) == 6
    if scenario.portfolio is CMA and scenario.objective in (constant, noise):
        assert reference.distribution.begun > 1
    if scenario.more.get("n_candidates", 1) > 1 and scenario.objective is not never_finite:
        assert set(comparison.picked) == set(range(scenario.more["n_candidates"]))


def test_the_scenarios_cover_the_matrix() -> None:
    for deferred in (False, True):
        chosen = [s for s in SCENARIOS if s.deferred == deferred]
        assert {entry[0] for s in chosen for entry in s.portfolio} == set(STRATEGIES)
        assert {s.dimension for s in chosen} >= {1, 2, 10}
        assert {s.ends for s in chosen} == {End.BUDGET, End.TARGET}
        foreseeing = [s for s in chosen if "n_candidates" in s.more]
        sampling = [s for s in chosen if any(entry[0] == "cma" for entry in s.portfolio)]
        for special in (foreseeing, sampling):
            assert {s.dimension for s in special} >= {1, 2, 3, 10}
            assert {s.repair for s in special} == {"clip", "reflect", "midpoint"}
            assert {"restart_tolerance", "final_population"} <= {name for s in special for name in s.more}
        assert {s.more["n_candidates"] for s in foreseeing} == {2, 4}
        assert {entry[0] for s in foreseeing for entry in s.portfolio} == set(STRATEGIES)


def test_the_paper_is_a_special_case() -> None:
    """Settings that change nothing leave the same run behind as none."""
    base = Scenario(rastrigin, 12, 3, [("rand/1", 0.5, 0.9), ("rand-to-best/2", 0.5, 1.0)], 200)
    plain, same = (Comparison(replace(base, more=more)) for more in ({}, {"final_population": 12, "archive": 3.0}))
    plain.run()
    same.run()
    assert plain.arena.size == same.arena.size
    equal(plain.de_state.parents, same.de_state.parents, "population")
