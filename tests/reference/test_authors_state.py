"""Whole runs with the authors' state, compared at every decision with the plain rewrite.

Operators are chosen unevenly, and for a while one of them not at all: operators leave the window and come back.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from deddqn.de import DEConfig
from deddqn.engine import RunSpec
from deddqn.engine.run import Run
from deddqn.problems import Problem, get, suite
from tests.reference.authors_reference import AuthorsReference

TOLERANCE = 1e-12


class Watcher:
    """A policy that chooses at random and compares what it is shown."""

    name, needs_features, max_dimension = "watcher", True, 50

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.compared = 0
        self.largest = 0.0

    def watch(self, run: Run) -> None:
        self.run = run
        self.reference: AuthorsReference | None = None

    def reset(self, n_ops: int, n_pop: int, rng: np.random.Generator) -> None:
        self.n_ops = n_ops

    def choose(self, features: np.ndarray, i: int) -> int:
        if self.reference is None:
            self.reference = self.make_reference()
        expected = self.reference.observe(i, self.run.de_state.donors[i])
        difference = np.abs(features - expected)
        self.largest = max(self.largest, float(difference.max()))
        assert difference.max() <= TOLERANCE, (
            f"decision {self.compared}, rows {np.flatnonzero(difference > TOLERANCE) + 1}"
        )
        self.compared += 1
        resting = (self.run.generation // 7) % (self.n_ops + 1)
        shares = np.arange(1.0, self.n_ops + 1) ** 2
        if resting < self.n_ops and self.n_ops > 1:
            shares[resting] = 0.0
        return int(self.random.choice(self.n_ops, p=shares / shares.sum()))

    def make_reference(self) -> AuthorsReference:
        spec = self.run.spec
        return AuthorsReference(
            self.run.population,
            self.run.fitness,
            lower=spec.problem.lower,
            upper=spec.problem.upper,
            budget=spec.config.budget,
            n_ops=self.n_ops,
            generations=spec.generations,
            window_size=spec.window,
        )

    def learn(
        self, i: int, op: int, f_parent: float, f_trial: float, f_bsf: float, f_wsf: float, reward: float
    ) -> None:
        assert self.reference is not None
        self.reference.commit(i, op, self.run.de_state.trials[i], f_trial)

    def end_generation(self) -> None:
        pass


def compare(problem: Problem, *, seed: int = 0, generations: int = 10, window: int = 50, **config: float) -> Watcher:
    watcher = Watcher(seed)
    settings = {"population_size": 100, "budget": 10_000, "target_error": 0.0, **config}
    spec = RunSpec(
        problem=problem,
        policy=watcher,
        state="authors",
        config=DEConfig(**settings),  # type: ignore[arg-type]
        seed=seed,
        generations=generations,
        window=window,
    )
    run = Run(spec)
    watcher.watch(run)
    run.advance(spec.config.budget)
    assert watcher.compared == run.evaluations - spec.config.population_size
    return watcher


@pytest.mark.parametrize("name", ["F1/d10", "F6/d10", "F12/d30", "F15/d10", "F24/d10"])
def test_training_functions(name: str) -> None:
    watcher = compare(get(f"cec2005:{name}"), budget=3000)
    assert watcher.compared == 2900


@pytest.mark.slow
@pytest.mark.parametrize("problem", suite("cec2005-train"), ids=lambda problem: problem.name)
def test_whole_training_suite(problem: Problem) -> None:
    assert compare(problem).compared == 9900


def terraces(x: np.ndarray) -> float:
    """Few different values: ties everywhere, successes without an improvement among them."""
    return float(np.floor(np.sum(np.abs(x))))


def constant(x: np.ndarray) -> float:
    return 7.0


def steep(x: np.ndarray) -> float:
    return math.exp(float(np.sum(np.abs(x))))


@pytest.mark.parametrize("function", [terraces, constant, steep])
@pytest.mark.parametrize(("window", "generations"), [(50, 10), (7, 3), (1, 2)])
def test_small_populations(function: object, window: int, generations: int) -> None:
    problem = Problem.from_function(function, np.array([[-5.0, 5.0]] * 3))  # type: ignore[arg-type]
    compare(problem, population_size=12, budget=600, window=window, generations=generations)


def test_deferred_and_sequential_differ_only_in_when() -> None:
    """In deferred mode the states of a generation are those of its start, the first of the run still 0."""
    seen: list[np.ndarray] = []

    class Collector(Watcher):
        def choose(self, features: np.ndarray, i: int) -> int:
            seen.append(features)
            return 0

        def learn(self, *arguments: object) -> None:  # type: ignore[override]
            pass

    watcher = Collector(0)
    problem = get("cec2005:F1/d10")
    config = DEConfig(population_size=20, budget=60, updating="deferred")
    run = Run(RunSpec(problem=problem, policy=watcher, state="authors", config=config))
    watcher.watch(run)
    run.advance(60)
    assert len(seen) == 40 and not seen[0].any()
    assert all(state[:19].any() for state in seen[1:])
    assert len({state[3] for state in seen[1:20]}) == 1
