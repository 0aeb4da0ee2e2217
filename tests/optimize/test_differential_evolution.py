"""`differential_evolution`: scipy's signature, options and result, with our search or the named strategy."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest
import scipy.optimize
from scipy.optimize import LinearConstraint, OptimizeResult, rosen

import deddqn
from deddqn import differential_evolution
from deddqn.optimize.classical import STRATEGY_NAMES
from deddqn.optimize.scipy_search import ScipySearch

BOX = [(0.0, 2.0)] * 3
FIELDS = {"x", "fun", "nfev", "nit", "message", "success", "population", "population_energies"}


def bowl(x: np.ndarray) -> float:
    return float(((x - 0.3) ** 2).sum())


def test_signature_is_scipys() -> None:
    theirs = inspect.signature(scipy.optimize.differential_evolution).parameters
    ours = inspect.signature(differential_evolution).parameters
    assert list(ours) == list(theirs)
    for name, parameter in theirs.items():
        assert (ours[name].kind, ours[name].default) == (parameter.kind, parameter.default), name
        assert repr(ours[name].default) == repr(parameter.default)


def policy_of(monkeypatch: pytest.MonkeyPatch, **options: Any) -> str:
    """Who chose the operators in a run with these options."""
    seen: list[str] = []
    solve = ScipySearch.solve
    monkeypatch.setattr(ScipySearch, "solve", lambda s, *a: (seen.append(s.optimizer.result.policy), solve(s, *a))[1])
    differential_evolution(bowl, BOX, maxiter=1, polish=False, **options)
    return seen[0]


def test_who_names_something_gets_it(monkeypatch: pytest.MonkeyPatch) -> None:
    ours = deddqn.Optimizer(BOX).result.policy
    assert policy_of(monkeypatch) == ours
    for options in ({"strategy": "best1bin"}, {"mutation": (0.5, 1)}, {"mutation": 0.7}, {"recombination": 0.7}):
        assert policy_of(monkeypatch, **options) == "de1"


@pytest.mark.parametrize("strategy", STRATEGY_NAMES)
@pytest.mark.parametrize("updating", ["immediate", "deferred"])
def test_every_strategy_converges(strategy: str, updating: Any) -> None:
    result = differential_evolution(bowl, BOX, strategy=strategy, updating=updating, rng=1, polish=False)
    assert result.success and result.fun < 1e-12 and result.nfev == 45 * (result.nit + 1)
    assert set(result) == FIELDS and type(result) is OptimizeResult


@pytest.mark.parametrize("options", [{}, {"strategy": "rand1exp"}, {"updating": "deferred"}, {"init": "sobol"}])
@pytest.mark.parametrize(("maxiter", "popsize"), [(0, 15), (1, 15), (7, 4), (40, 2)])
def test_never_more_evaluations_than_in_scipy(options: dict[str, Any], maxiter: int, popsize: int) -> None:
    seen: list[np.ndarray] = []

    def noted(x: np.ndarray) -> float:
        seen.append(x)
        return bowl(x)

    for tol in (0.0, 1e-9):
        seen.clear()
        result = differential_evolution(
            noted, BOX, maxiter=maxiter, popsize=popsize, tol=tol, polish=False, rng=2, **options
        )
        size = popsize * 3 if options != {"init": "sobol"} else 2 ** int(np.ceil(np.log2(popsize * 3)))
        assert len(seen) == result.nfev <= (maxiter + 1) * size
        assert result.nit == maxiter and not result.success
        assert result.message == "Maximum number of iterations has been exceeded."


def test_without_tolerance_all_evaluations_are_used() -> None:
    result = differential_evolution(bowl, BOX, maxiter=20, tol=0, polish=False, rng=1)
    assert result.nfev == 21 * 45


@pytest.mark.parametrize("options", [{}, {"strategy": "best1bin"}, {"updating": "deferred"}])
def test_best_is_first(options: dict[str, Any]) -> None:
    result = differential_evolution(rosen, BOX, maxiter=12, rng=5, polish=False, **options)
    assert np.array_equal(result.x, result.population[0]) and result.fun == result.population_energies[0] == rosen(
        result.x
    )
    assert result.fun == result.population_energies.min()


@pytest.mark.parametrize("options", [{}, {"strategy": "rand2bin"}])
def test_a_longer_search_begins_like_a_shorter_one(options: dict[str, Any]) -> None:
    best: list[float] = []
    differential_evolution(
        rosen, BOX, rng=5, maxiter=25, callback=lambda x, convergence: best.append(rosen(x)), **options
    )
    for maxiter in (1, 4, 11):
        shorter = differential_evolution(rosen, BOX, rng=5, maxiter=maxiter, polish=False, **options)
        assert shorter.fun == best[maxiter - 1]


@pytest.mark.parametrize("updating", ["immediate", "deferred"])
def test_a_strategy_in_python(updating: Any) -> None:
    seen = set()

    def towards_best(candidate: int, population: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        assert bowl(population[0]) == min(map(bowl, population))
        seen.add(candidate)
        return population[candidate] + rng.uniform(0, 1.2) * (population[0] - population[candidate])

    results = [
        differential_evolution(bowl, BOX, strategy=towards_best, updating=updating, maxiter=9, rng=4, polish=False)
        for _ in range(2)
    ]
    assert seen | {0} == set(range(45)) and np.array_equal(results[0].x, results[1].x)
    assert results[0].fun < bowl(results[0].population[-1])


def test_errors_of_a_strategy_come_out() -> None:
    def wrong(candidate: int, population: np.ndarray, rng: Any = None) -> np.ndarray:
        return np.array([1.0, 2.0])

    def broken(candidate: int, population: np.ndarray, rng: Any = None) -> np.ndarray:
        raise KeyError("mine")

    with pytest.raises(RuntimeError, match=r"strategy must have signature f\(candidate: int"):
        differential_evolution(bowl, BOX, strategy=wrong)
    with pytest.raises(KeyError, match="mine"):
        differential_evolution(bowl, BOX, strategy=broken)


@pytest.mark.parametrize("options", [{}, {"strategy": "best2exp"}])
def test_ways_to_evaluate_agree(options: dict[str, Any]) -> None:
    def of_columns(x: np.ndarray) -> np.ndarray:
        return ((x - 0.3) ** 2).sum(axis=0)

    common = {"rng": 3, "maxiter": 15, "updating": "deferred", **options}
    plain = differential_evolution(bowl, BOX, **common)
    for result in (
        differential_evolution(bowl, BOX, workers=map, **common),
        differential_evolution(bowl, BOX, workers=2, **common),
        differential_evolution(of_columns, BOX, vectorized=True, **common),
    ):
        np.testing.assert_allclose(result.x, plain.x, rtol=0, atol=1e-7)
        assert result.nit == plain.nit


def test_fixed_coordinates_are_not_counted() -> None:
    result = differential_evolution(bowl, [(0, 2), (1, 1), (0.5, 0.5)], strategy="best1bin", polish=False, maxiter=3)
    assert result.population.shape == (15, 3) and np.all(result.population[:, 1:] == [1.0, 0.5])
    assert np.array_equal(differential_evolution(bowl, [(2, 2), (3, 3)]).x, [2.0, 3.0])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"strategy": "best1"}, "strategy must be one of 'best1bin', .* got 'best1'"),
        ({"mutation": 2.0}, r"mutation must be a number in \[0, 2\), or \(min, max\) of such numbers, got 2.0"),
        ({"mutation": (0.1, np.nan)}, "mutation must be a number"),
        ({"recombination": 1.5}, r"recombination must lie in \[0, 1\], got 1.5"),
        ({"init": "rubbish"}, "init must be one of latinhypercube, .* got 'rubbish'"),
        ({"init": np.zeros((4, 3))}, r"init must have shape \(S, 3\) with S of at least 5, got \(4, 3\)"),
        ({"updating": "sequential"}, "updating must be 'immediate' or 'deferred', got 'sequential'"),
        ({"popsize": 0}, "popsize must be a whole number of at least 1, got 0"),
        ({"x0": [0, 0, 3]}, "x0 must lie inside of the bounds"),
    ],
)
def test_bad_input(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        differential_evolution(bowl, BOX, **options)


@pytest.mark.parametrize("init", ["latinhypercube", "sobol", "halton", "random", np.linspace(-1, 3, 15).reshape(5, 3)])
@pytest.mark.parametrize("options", [{}, {"strategy": "best1bin"}])
def test_init(init: Any, options: dict[str, Any]) -> None:
    result = differential_evolution(bowl, BOX, init=init, x0=[0.3] * 3, maxiter=2, polish=False, rng=1, **options)
    assert result.fun == 0.0


@pytest.mark.parametrize("rng", [3, np.int64(3), np.random.SeedSequence(3), [3, 4]])
def test_seeds(rng: Any) -> None:
    first, second = (differential_evolution(bowl, BOX, rng=rng, maxiter=2, polish=False) for _ in range(2))
    assert np.array_equal(first.population, second.population)
    by_old_name = differential_evolution(bowl, BOX, seed=rng, maxiter=2, polish=False)
    assert np.array_equal(first.population, by_old_name.population)


def test_old_generators_and_two_seeds() -> None:
    states = [np.random.RandomState(1), np.random.RandomState(1)]
    first, second = (differential_evolution(bowl, BOX, seed=state, maxiter=2, polish=False) for state in states)
    assert np.array_equal(first.population, second.population)
    with pytest.raises(TypeError, match="Specify one of `rng` or `seed`"):
        differential_evolution(bowl, BOX, rng=1, seed=1)


def test_polish_and_disp(capsys: pytest.CaptureFixture[str]) -> None:
    result = differential_evolution(rosen, BOX, maxiter=2, rng=1, disp=True)
    assert set(result) == FIELDS | {"jac"} and result.fun < 1e-8 and result.population_energies[0] == result.fun
    printed = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in printed[:2]] == [f"differential_evolution step {k}" for k in (1, 2)]
    assert printed[2] == "Polishing solution with 'L-BFGS-B'"


def test_a_jitted_function_stays_compiled() -> None:
    numba = pytest.importorskip("numba")
    square = numba.njit(lambda x: (x**2).sum())
    result = differential_evolution(square, [(-1, 1)] * 2, rng=1)
    assert result.success and result.fun < 1e-12


@pytest.mark.parametrize("options", [{}, {"strategy": "rand1bin"}, {"updating": "deferred"}, {"workers": map}])
def test_func_is_not_called_where_a_constraint_is_violated(options: dict[str, Any]) -> None:
    seen: list[np.ndarray] = []

    def only_inside(x: np.ndarray) -> float:
        seen.append(x)
        assert x.sum() <= 1.0 + 1e-12
        return -float(np.log(1.0 + 1e-9 - x.sum()) * 0.01 + x[0])

    limit = LinearConstraint(np.ones((1, 3)), -np.inf, 1.0)
    options = {"updating": "deferred", **options} if "workers" in options else options
    result = differential_evolution(only_inside, BOX, constraints=limit, maxiter=30, rng=1, polish=False, **options)
    assert result.maxcv == 0.0 and len(result.constr) == 1 and result.nfev == len(seen) < 31 * 45
    assert result.x.sum() <= 1.0 and result.fun == result.population_energies[0]


def test_vectorized_func_gets_the_feasible_points() -> None:
    def of_columns(x: np.ndarray) -> np.ndarray:
        assert np.all(x.sum(axis=0) <= 1.0 + 1e-12)
        return -x[0]

    limit = LinearConstraint(np.ones((1, 3)), -np.inf, 1.0)
    common = {"constraints": limit, "maxiter": 20, "rng": 1, "polish": False, "updating": "deferred"}
    at_once = differential_evolution(of_columns, BOX, vectorized=True, **common)
    one_by_one = differential_evolution(lambda x: -x[0], BOX, **common)
    assert np.array_equal(at_once.x, one_by_one.x) and at_once.nit == one_by_one.nit


@pytest.mark.parametrize("options", [{}, {"strategy": "best1exp"}, {"strategy": "rand1bin", "updating": "deferred"}])
def test_integers_and_polishing(options: dict[str, Any]) -> None:
    def cost(x: np.ndarray) -> float:
        assert x[0] == round(x[0])
        return float((x[0] - 2.6) ** 2 + (x[1] - 0.123456) ** 2)

    result = differential_evolution(cost, [(0.2, 5.9), (-1, 1)], integrality=[True, False], rng=1, **options)
    assert result.x[0] == 3 and abs(result.x[1] - 0.123456) < 1e-6 and result.success
    with pytest.raises(ValueError, match="must have an integer between them"):
        differential_evolution(cost, [(0.2, 0.9), (-1, 1)], integrality=[True, False])
