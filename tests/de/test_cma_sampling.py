"""The strategy ``cma``: its matrices, its samples, how it begins and ends, and what it is good for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numba import njit

from deddqn.de import DEConfig, Portfolio
from deddqn.de.cma_sampling import factorise, raw_weight, whiten
from deddqn.de.cma_state import Model, fewest_samples
from deddqn.de.state import Counter
from deddqn.engine import RunSpec, VectorizedRuns
from deddqn.policies import load_policy
from deddqn.problems import Problem

CMA = Portfolio([("cma", 1.0, 1.0)])
RAND_1 = Portfolio([("rand/1", 0.5, 0.9)])


@njit
def ellipsoid(x):
    """Half axes from 1 to 1000, turned by Householder's reflection in the diagonal."""
    share = 2.0 * x.mean()
    total = 0.0
    for d in range(x.size):
        total += 10.0 ** (6.0 * d / (x.size - 1)) * (x[d] - share) ** 2
    return total


@njit
def flat(x):
    return 7.0


@njit
def bowl(x):
    total = 0.0
    for value in x:
        total += value * value
    return total


def lanes_of(
    function: Any, dimension: int, portfolio: Portfolio = CMA, repeats: int = 1, **config: Any
) -> VectorizedRuns:
    """Runs that differ in their repeat."""
    problem = Problem.from_function(function, [(-5.0, 5.0)] * dimension)
    specs = [
        RunSpec(
            problem=problem, policy=load_policy("random"), portfolio=portfolio, config=DEConfig(**config), repeat=repeat
        )
        for repeat in range(repeats)
    ]
    return VectorizedRuns(specs, threads=1)


# -- matrices


def covariance_like(dimension: int, condition: float, seed: int = 0) -> np.ndarray:
    turned = np.linalg.qr(np.random.default_rng(seed).standard_normal((dimension, dimension)))[0]
    return turned @ np.diag(np.geomspace(1.0, condition, dimension)) @ turned.T


@pytest.mark.parametrize("condition", [1.0, 1e4, 1e10])
@pytest.mark.parametrize("dimension", [1, 2, 3, 10, 30])
@pytest.mark.parametrize("unit", [1e-140, 1.0, 1e140])
def test_the_factor_is_that_of_cholesky(dimension: int, condition: float, unit: float) -> None:
    """Only the lower half is read, and only the upper half is written."""
    covariance = unit * covariance_like(dimension, condition)
    lower = np.tril(covariance) + np.triu(np.full_like(covariance, np.nan), 1)
    factor = np.full_like(covariance, 3.0)
    assert factorise(lower, factor)
    assert np.all(factor[np.tril_indices(dimension, -1)] == 3.0)
    factor = np.triu(factor).T
    np.testing.assert_allclose(factor @ factor.T, covariance, rtol=1e-13, atol=1e-14 * covariance.max())
    expected = np.linalg.cholesky(covariance)
    np.testing.assert_allclose(factor, expected, rtol=1e-14 * condition, atol=1e-14 * condition * expected.max())


@pytest.mark.parametrize(
    "covariance",
    [
        [[0.0]],
        [[-1.0]],
        [[np.nan]],
        [[np.inf]],
        [[1.0, 0.0], [0.0, -1e-9]],
        [[1.0, 2.0], [2.0, 1.0]],
        [[4.0, 6.0], [6.0, 9.0]],  # one is the other, times 1.5
        [[1.0, 1.0 - 1e-15], [1.0 - 1e-15, 1.0]],  # almost
        [[1.0, np.nan], [np.nan, 1.0]],
        [[1.0, 0.9, -0.9], [0.9, 1.0, 0.9], [-0.9, 0.9, 1.0]],
    ],
    ids=str,
)
def test_what_is_no_covariance_has_no_factor(covariance: list[list[float]]) -> None:
    matrix = np.array(covariance)
    assert not factorise(matrix, np.zeros_like(matrix))


@pytest.mark.parametrize("dimension", [1, 2, 10])
def test_whitening_undoes_the_factor(dimension: int) -> None:
    rng = np.random.default_rng(dimension)
    factor = np.linalg.cholesky(covariance_like(dimension, 1e4))
    numbers, white = rng.standard_normal(dimension), np.empty(dimension)
    length = whiten(factor.T + np.tril(np.full_like(factor, np.nan), -1), factor @ numbers, white)
    np.testing.assert_allclose(white, numbers, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(length, np.linalg.norm(numbers), rtol=1e-10)


def test_weights_fall_from_the_best_on_and_stay_positive() -> None:
    for samples in range(4, 200):
        weights = [raw_weight(rank, samples) for rank in range(samples // 2)]
        assert np.all(np.diff(weights) < 0.0) and weights[-1] > 0.0


# -- the run


def test_an_ill_conditioned_ellipsoid() -> None:
    """What differences of parents cannot do, samples of a distribution that turns and stretches can."""
    reached = {}
    for name, portfolio in (("cma", CMA), ("rand/1", RAND_1)):
        lanes = lanes_of(ellipsoid, 10, portfolio, repeats=5, population_size=30, budget=10_000)
        lanes.advance()
        reached[name] = lanes.best_values
    assert reached["cma"].max() < 1e-8
    assert reached["rand/1"].min() > 1e-2


def test_a_spent_distribution_begins_anew_with_twice_as_many_samples() -> None:
    """On a plain every update is the last one: lambda doubles three times, and no further."""
    lanes = lanes_of(flat, 2, population_size=10, budget=10_000)
    model, first, evaluations = lanes.episodes[0].de_state.model, fewest_samples(2), 10
    lanes.advance(evaluations)
    assert model[Model.BEGUN] == 0
    for begun, samples in enumerate([first, 2 * first, 4 * first, 8 * first, 8 * first, 8 * first], start=1):
        for made in range(1, samples + 1):
            lanes.advance(evaluations + made)
            assert model[Model.BEGUN] == begun and model[Model.LAMBDA] == samples
        evaluations += samples


def test_a_distribution_that_has_converged_begins_anew() -> None:
    """In the end its extent is below the digits that count, and its samples come from the parents again."""
    lanes = lanes_of(bowl, 2, population_size=8, budget=5000)
    de_state = lanes.episodes[0].de_state
    while de_state.model[Model.BEGUN] < 2:
        extent = de_state.model[Model.SIGMA] * np.sqrt(np.diag(de_state.model_covariance))
        lanes.advance(int(lanes.evaluations[0]) + 1)
        assert not lanes.ended[0]
    assert extent.max() < 1e-10 and lanes.best_values[0] < 1e-20
    assert de_state.model[Model.LAMBDA] == 2 * fewest_samples(2)


def test_a_covariance_without_a_factor_begins_anew() -> None:
    lanes = lanes_of(bowl, 3, population_size=8, budget=500)
    de_state = lanes.episodes[0].de_state
    lanes.advance(20)
    assert de_state.model[Model.BEGUN] == 1
    de_state.model_covariance[2, 1] = 1e6  # more than the variances allow
    lanes.advance(30)
    assert de_state.model[Model.BEGUN] == 2 and np.abs(de_state.model_covariance).max() < 100.0
    lanes.advance()
    assert lanes.best_values[0] < 1e-3


def test_after_a_restart_it_begins_anew() -> None:
    """With the new parents, as often as there are restarts."""
    lanes = lanes_of(bowl, 2, population_size=8, budget=800, restart_tolerance=0.3)
    de_state, seen = lanes.episodes[0].de_state, 0
    while not lanes.ended[0]:
        lanes.advance(int(lanes.evaluations[0]) + 1)
        if de_state.counters[Counter.RESTARTS] > seen:
            seen += 1
            assert de_state.model[Model.SIGMA] == 0.0 and de_state.model[Model.BEGUN] == seen
            lanes.advance(int(lanes.evaluations[0]) + 9)
            assert de_state.model[Model.SIGMA] == 1.0 and de_state.model[Model.BEGUN] == seen + 1
            better = de_state.parents[de_state.order[:4]]
            np.testing.assert_allclose(de_state.model_mean, better.mean(axis=0), rtol=1e-12)
    assert seen > 3


def test_nobody_else_pays_for_it() -> None:
    de_state = lanes_of(bowl, 10, RAND_1, population_size=8, budget=50).episodes[0].de_state
    assert de_state.model_points.size == de_state.model_covariance.size == de_state.model_mean.size == 0
