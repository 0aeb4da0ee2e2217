"""Keys of constrained points: numbers worked out by hand, and selection against a second, slow implementation."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from deddqn import Optimizer, ReturnedConstraint
from deddqn.de.constraint_handling import (
    LEVEL_END,
    LEVEL_POWER,
    LEVEL_SHARE,
    is_better,
    key_of,
    note_extremes,
    update_level,
)
from deddqn.de.constraint_state import Pair
from deddqn.de.state import Counter, Scalar

INF = math.inf


def scalars(level: float = 0.0, best: float = INF, worst: float = 0.0, spread: float = 1.0) -> np.ndarray:
    made = np.zeros(len(Scalar))
    made[Scalar.LEVEL], made[Scalar.BEST_VALUE], made[Scalar.WORST_VALUE] = level, best, worst
    made[Scalar.SPREAD] = spread
    return made


@pytest.mark.parametrize(
    ("state", "pair", "key"),
    [
        (scalars(), (5.0, 0.0), 5.0),
        (scalars(), (5.0, 3.0), 0.75),  # nothing feasible is known: v / (1 + v)
        (scalars(0.0, -1.0, 7.0, 8.0), (5.0, 1.0), 11.0),  # 7 + 8 / 2
        (scalars(0.0, -1.0, 7.0, 8.0), (INF, 1.0), 11.0),  # a value is not needed there
        (scalars(1.0, -1.0, 7.0, 8.0), (5.0, 1.0), 5.0),
        (scalars(1.0, -1.0, 7.0, 8.0), (INF, 1.0), INF),
        (scalars(0.0, -1.0, 7.0, 8.0), (5.0, INF), INF),
        (scalars(), (1e308, 0.0), 1e307),
    ],
)
def test_keys(state: np.ndarray, pair: tuple[float, float], key: float) -> None:
    assert key_of(state, np.array(pair)) == key


def test_order_without_a_level() -> None:
    order = [(-3.0, 0.0), (2.0, 0.0), (9.0, 1e-12), (-9.0, 0.5), (-10.0, 2.0), (0.0, INF)]
    pairs = [np.array(pair) for pair in order]
    for i, one in enumerate(pairs):
        assert [bool(is_better(one, other)) for other in pairs] == [i < j for j in range(len(pairs))]


def test_extremes() -> None:
    state = scalars()
    assert not note_extremes(state, np.array([3.0, 2.0]))  # violates
    assert note_extremes(state, np.array([-4.0, 0.0]))  # the first one
    assert list(state[[Scalar.BEST_VALUE, Scalar.WORST_VALUE, Scalar.SPREAD]]) == [-4.0, -4.0, 4.0]
    assert not note_extremes(state, np.array([-6.0, 0.0]))  # a better one changes no order
    assert note_extremes(state, np.array([1.0, 0.0]))
    assert list(state[[Scalar.BEST_VALUE, Scalar.WORST_VALUE]]) == [-6.0, 1.0]
    assert not note_extremes(state, np.array([INF, 0.0])) and not note_extremes(state, np.array([0.0, INF]))
    assert state[Scalar.WORST_VIOLATION] == 2.0


# -- a second implementation: plain numpy, lists and tuples, everything computed again at every step


class Reference:
    """The order of a population of (f, c) pairs, by the definitions."""

    def __init__(self, lower: np.ndarray, upper: np.ndarray, first: np.ndarray, budget: int) -> None:
        self.lower, self.upper, self.budget = lower, upper, budget
        self.slack = np.where(lower == upper, 1e-4, 0.0)
        beyond = self.excess(first[:, 1:])
        means = np.where(np.isfinite(beyond), beyond, 0.0).sum(axis=0) / len(first)
        self.scale = np.where(means > 0.0, means, 1.0)
        order = sorted(self.violation(row) for row in first)
        at = int(LEVEL_SHARE * len(order))
        while at > 0 and order[at] == INF:
            at -= 1
        self.first_level = order[at] if (lower == upper).any() and order[at] < INF else 0.0

    def excess(self, values: np.ndarray) -> np.ndarray:
        beyond = np.maximum(np.maximum(self.lower - self.slack - values, values - self.upper - self.slack), 0.0)
        return np.where(np.isnan(values), INF, beyond)

    def violation(self, row: np.ndarray) -> float:
        total = float((self.excess(row[1:]) / self.scale).sum())
        return INF if total == 0.0 and not math.isfinite(row[0]) else total

    def level(self, evaluations: int) -> float:
        spent = evaluations / (LEVEL_END * self.budget)
        return self.first_level * (1.0 - spent) ** LEVEL_POWER if spent < 1.0 else 0.0

    def rank(self, row: np.ndarray, evaluations: int) -> tuple[int, float]:
        amount = self.violation(row)
        if amount == INF or (amount <= self.level(evaluations) and not math.isfinite(row[0])):
            return 2, 0.0
        return (0, float(row[0])) if amount <= self.level(evaluations) else (1, amount)


def tape(rng: np.random.Generator, points: np.ndarray, share: float) -> np.ndarray:
    """Values and two constraint values of points, of which some satisfy all, some none, and some are NaN."""
    rows = np.column_stack([points.sum(axis=1), points[:, 0], (points**2).sum(axis=1)])
    rows[rng.uniform(size=rows.shape) < 0.03] = np.nan
    rows[rng.uniform(size=len(rows)) < share, 2] = 4.0
    return rows


@pytest.mark.parametrize("equality", [False, True])
@pytest.mark.parametrize("updating", ["sequential", "deferred"])
@pytest.mark.parametrize("share", [0.0, 0.4])
def test_selection_against_the_definitions(equality: bool, updating: str, share: float) -> None:
    size, budget, rng = 12, 300, np.random.default_rng(8)
    lower, upper = np.array([0.5, 4.0 if equality else -INF]), np.array([INF, 4.0])
    optimizer = Optimizer(
        [(-3.0, 3.0)] * 3, policy="random", portfolio="paper", constraints=ReturnedConstraint(lower, upper),
        population_size=size, maxfun=budget, rng=2, updating=updating,
    )  # fmt: skip
    de_state = optimizer._run.de_state

    def generation() -> np.ndarray:
        rows: list[np.ndarray] = []
        while len(rows) < size:
            points = optimizer.ask()
            told = tape(rng, points, share)
            optimizer.tell(points, told[:, 0], constraints=told[:, 1:])
            rows.extend(told)
        return np.array(rows)

    parents = generation()
    reference = Reference(lower, upper, parents, budget)
    seen = list(parents.copy())
    for made in range(size, budget, size):
        assert de_state.scalars[Scalar.LEVEL] == pytest.approx(reference.level(made), rel=1e-12)
        ranks = [reference.rank(row, made) for row in parents]
        assert [ranks[i] for i in de_state.order] == sorted(ranks)
        trials = generation()
        seen.extend(trials)
        for i, trial in enumerate(trials):
            if reference.rank(trial, made) <= ranks[i]:
                parents[i] = trial
        found = de_state.parent_pairs[:, Pair.VIOLATION]
        np.testing.assert_allclose(found, [reference.violation(row) for row in parents], rtol=1e-9)
        compare_answer(optimizer.result, reference, seen, made)


def compare_answer(result: Any, reference: Reference, seen: list[np.ndarray], made: int) -> None:
    """The answer is the best point at level 0 of all that were evaluated."""
    at_zero = Reference.__new__(Reference)
    at_zero.__dict__.update(reference.__dict__, first_level=0.0)
    best = min((at_zero.rank(row, made) for row in seen), default=(2, 0.0))
    if best[0] == 0:
        assert result.fun == best[1]
    elif best[0] == 1:
        values = np.concatenate(result.constr_values)
        assert reference.violation(np.append(0.0, values)) == pytest.approx(best[1], rel=1e-9)


def test_keys_follow_the_level() -> None:
    """When the level falls, stored keys are those of their pairs, and the best so far is a point of the new order."""
    optimizer = Optimizer([(-3.0, 3.0)] * 3, constraints=ReturnedConstraint(4.0, 4.0), maxfun=400, rng=2)
    levels = []
    while not optimizer.stop():
        points = optimizer.ask()
        optimizer.tell(points, points.sum(axis=1), constraints=(points**2).sum(axis=1))
        run = optimizer._run
        de_state, size = run.de_state, len(run.population)
        levels.append(float(de_state.scalars[Scalar.LEVEL]))
        if run.between_generations and de_state.counters[Counter.INITIALISED]:
            expected = [key_of(de_state.scalars, pair) for pair in de_state.parent_pairs[:size]]
            np.testing.assert_array_equal(de_state.fitness[:size], expected)
            recent = min(int(de_state.counters[Counter.RECENT_POINTS]), len(de_state.recent_values))
            expected = [key_of(de_state.scalars, pair) for pair in de_state.recent_pairs[:recent]]
            np.testing.assert_array_equal(de_state.recent_values[:recent], expected)
            assert de_state.scalars[Scalar.F_BSF] == key_of(de_state.scalars, de_state.best_pair[0])
            assert de_state.scalars[Scalar.F_BSF] <= de_state.fitness[:size].min()
            assert np.isfinite(de_state.scalars[[Scalar.MEAN, Scalar.DEVIATION, Scalar.F_WSF]]).all()
    begun = np.array(levels[levels.index(max(levels)) :])
    assert begun[0] > 0.0 and np.all(np.diff(begun) <= 0.0) and begun[-1] == 0.0
    assert optimizer.result.success


def test_the_best_population_stays_sorted() -> None:
    optimizer = Optimizer(
        [(-3.0, 3.0)] * 2, constraints=ReturnedConstraint(0.0, 0.0), maxfun=300, population_size=8, rng=2,
        final_population=8, restart_tolerance=0.5, restart_final_fraction=0.5,
    )  # fmt: skip
    points = optimizer.ask()
    for _ in range(8):
        optimizer.tell(points, points.sum(axis=1), constraints=points[:, 0])
        points = optimizer.ask()
    de_state = optimizer._run.de_state
    de_state.counters[Counter.BEST_POPULATION_SIZE] = 3
    de_state.best_population[:3] = [[1, 1], [2, 2], [3, 3]]
    de_state.best_population_pairs[:3] = [[5.0, 9.0], [6.0, 0.0], [1.0, 0.5]]
    de_state.counters[Counter.EVALUATIONS] = 299  # the level is 0 there
    update_level(de_state.address)
    assert de_state.best_population[:3, 0].tolist() == [2, 3, 1]
    assert de_state.best_population_pairs[:3, Pair.VALUE].tolist() == [6.0, 1.0, 5.0]
    assert np.all(np.diff(de_state.best_population_fitness[:3]) > 0.0)
