"""When a search stops: exactly at maxfun, and for every other reason that can be given."""

import time

import numpy as np
import pytest

from deddqn import Optimizer, Problem, load_policy, minimize
from deddqn.problems import get
from tests.optimize.objectives import BOX, SMALL, Learner, bowl, jitted_bowl, many_bowls, random_network


class Counted:
    """A function that knows how often it was called."""

    def __init__(self, function=bowl):
        self.function, self.calls = function, 0

    def __call__(self, x):
        self.calls += 1 if x.ndim == 1 else x.shape[1]
        return self.function(x)


@pytest.mark.parametrize("maxfun", [20, 21, 39, 40, 41, 130])
@pytest.mark.parametrize("way", ["sequential", "deferred", "vectorized", "map", "python policy", "polish"])
def test_maxfun_is_exact(maxfun, way):
    options = {
        "sequential": {},
        "deferred": {"updating": "deferred"},
        "vectorized": {"vectorized": True},
        "map": {"workers": map},
        "python policy": {"policy": Learner()},
        "polish": {"polish": True},
    }[way]
    counted = Counted(many_bowls if way == "vectorized" else bowl)
    settings = {"policy": "random", "maxfun": maxfun, "population_size": 20, "rng": 1, **options}
    result = minimize(counted, BOX, **settings)
    assert counted.calls == result.nfev
    assert result.nfev == maxfun if way != "polish" else result.nfev <= maxfun
    assert result.nit == -(-(maxfun - 20) // 20) if way != "polish" else True


def test_maxfun_is_exact_with_a_shrinking_population():
    final = load_policy("softmax-x").de["final_population"]
    for way, function in (({}, bowl), ({"updating": "deferred"}, bowl), ({"vectorized": True}, many_bowls)):
        for maxfun in (20, 21, 57, 130, 201):
            counted = Counted(function)
            result = minimize(counted, BOX, policy="softmax-x", maxfun=maxfun, rng=1, **way)
            assert counted.calls == result.nfev == maxfun
            assert final <= len(result.population) <= 2 * final
            assert result.strategy_counts.sum() == maxfun - 2 * final


def test_a_truncated_generation_replaces_parents_too():
    result = minimize(bowl, BOX, maxfun=45, population_size=20, local_share=0, rng=1)
    assert result.nit == 2 and result.fun == result.population_energies.min() == bowl(result.x)


def test_maxiter():
    result = minimize(bowl, BOX, policy="softmax", maxiter=3, **SMALL)
    assert result.nit == 3 and result.nfev == 80 and result.message == "All 3 generations are done."


@pytest.mark.parametrize("updating", ["sequential", "deferred"])
def test_ftarget(updating):
    result = minimize(bowl, BOX, ftarget=4.0, maxfun=5000, population_size=20, rng=1, updating=updating)
    assert result.fun <= 4.0 and result.success and result.message == "The target value 4 is reached."
    values = []
    minimize(lambda x: values.append(bowl(x)) or values[-1], BOX, ftarget=4.0, maxfun=5000, population_size=20, rng=1)
    assert values[-1] <= 4.0 < min(values[:-1])  # not one evaluation more


def test_ftarget_in_the_initial_population():
    result = minimize(bowl, BOX, ftarget=1e9, **SMALL)
    assert result.nfev == 1 and result.nit == 0 and np.isinf(result.population_energies[1:]).all()
    assert minimize(bowl, BOX, ftarget=1e9, updating="deferred", **SMALL).nfev == 20
    assert "0 is reached" in minimize(lambda x: 0.0, BOX, ftarget=0, **SMALL).message


def test_known_optimum():
    problem = Problem.from_function(lambda x: float(abs(x).sum()), BOX, optimum=0.0)
    result = minimize(problem, maxfun=100_000, population_size=20, policy="de3", rng=1)
    assert result.message == "The known optimum is reached." and result.fun < 1e-8
    assert minimize(get("cec2005:F1/d2"), maxfun=50_000, rng=1).message == "The known optimum is reached."


def test_tolerances():
    options = {"maxfun": 100_000, "population_size": 20, "rng": 1, "policy": "de3"}
    for limits in ({"tol": 0.01}, {"atol": 1e-3}):
        result = minimize(bowl, BOX, **limits, **options)
        energies = result.population_energies
        assert energies.std() <= limits.get("atol", 0) + limits.get("tol", 0) * abs(energies.mean())
        assert result.message == "The population has converged." and result.nfev < 100_000
    flat = minimize(lambda x: 1.0, BOX, **SMALL)
    assert flat.nfev == 130  # tolerances of 0 are off
    assert minimize(lambda x: 1.0, BOX, atol=0.0, tol=1e-12, **SMALL).nfev == 20


def test_who_wants_to_stop_at_convergence_does_not_begin_anew():
    """The default policy restarts; with tolerances only where it is asked to."""
    options = {"maxfun": 4000, "atol": 1e-9, "rng": 1, "population_size": 40}
    stopped = minimize(bowl, BOX, **options)
    assert stopped.message == "The population has converged."
    asked = minimize(bowl, BOX, restart_tolerance=0.3, **options)
    assert asked.nfev > stopped.nfev


def test_population_with_nan_has_not_converged():
    result = minimize(lambda x: 1.0 if x[0] > 0 else np.nan, BOX, tol=1.0, maxiter=1, **SMALL)
    assert "converged" not in result.message or np.isfinite(result.population_energies).all()


@pytest.mark.parametrize("way", [{}, {"workers": 2}, {"workers": map}, {"updating": "deferred"}])
def test_maxtime(way):
    def slow(x):
        time.sleep(0.01)
        return bowl(x)

    started = time.monotonic()
    result = minimize(slow, BOX, maxfun=10**6, population_size=60, maxtime=0.25, rng=1, **way)
    assert result.message.startswith("The time is up.") and time.monotonic() - started < 10
    if way != {"workers": map}:
        assert result.nfev < 60 * 3


def test_maxtime_stops_inside_of_a_generation_and_the_search_can_go_on():
    optimizer = Optimizer(BOX, maxfun=200, population_size=100, rng=1)
    calls = 0

    def slow(x):
        nonlocal calls
        calls += 1
        time.sleep(0.004)
        return bowl(x)

    optimizer.optimize(slow, maxtime=0.05)
    assert 0 < optimizer.result.nfev == calls < 100 and "maxtime" in optimizer.stop()
    result = optimizer.optimize(bowl)
    assert np.array_equal(result.x, minimize(bowl, BOX, maxfun=200, population_size=100, rng=1).x)


def test_jitted_functions_are_timed_too():
    result = minimize(jitted_bowl, BOX, maxfun=10**9, maxtime=0.2, rng=1)
    assert "time is up" in result.message and result.nfev > 100


def test_no_time_at_all():
    result = minimize(bowl, [(1, 2)] * 3, maxtime=0, maxfun=100, rng=1)
    assert result.nfev == 0 and not result.success and np.isinf(result.fun)
    assert np.all(result.x >= 1) and np.all(result.x <= 2)
    assert result.message == "The time is up. No finite value was found."


def test_several_reasons_at_once():
    result = minimize(bowl, BOX, policy="softmax", maxiter=6, **SMALL)
    assert result.message == "All 130 evaluations are used. All 6 generations are done."


def test_polish_stays_in_the_box_and_in_the_budget():
    seen = []

    def slope(x):
        seen.append(np.array(x))
        return float(((x - 7) ** 2).sum())

    result = minimize(slope, BOX, polish=True, maxfun=300, population_size=20, rng=1)
    assert np.all(np.array(seen) >= -5) and np.all(np.array(seen) <= 5)
    assert np.allclose(result.x, 5) and result.nfev == len(seen) <= 300
    assert "Polishing took" in result.message and result.fun == slope(result.x)
    plain = minimize(slope, BOX, maxfun=270, population_size=20, rng=1)
    assert result.fun <= plain.fun
    for maxfun in (20, 21, 25):
        seen.clear()
        assert minimize(slope, BOX, polish=True, maxfun=maxfun, population_size=20, rng=1).nfev == len(seen) <= maxfun


def test_polish_of_a_vectorized_and_of_a_jitted_function():
    smooth = {"polish": True, "maxfun": 400, "population_size": 20, "rng": 1}
    one = minimize(lambda x: float(((x - 1) ** 2).sum()), BOX, updating="deferred", **smooth)
    many = minimize(lambda x: ((x - 1) ** 2).sum(axis=0), BOX, vectorized=True, **smooth)
    assert many.fun == pytest.approx(one.fun, abs=1e-9) and many.nfev <= 400
    assert minimize(jitted_bowl, BOX, **smooth).nfev <= 400
    assert minimize(get("cec2005:F1/d10"), polish=True, maxfun=3000, rng=1).fun < -449.99
    assert minimize(get("cec2005:F7/d10"), polish=True, maxfun=3000, rng=1).nfev <= 3000  # an unbounded problem


def test_polish_meets_no_bad_values():
    def hole(x):
        return -np.inf if x[0] < 0.4 else float((x**2).sum())

    result = minimize(hole, BOX, polish=True, maxfun=400, population_size=20, rng=1)
    assert np.isfinite(result.fun) and result.non_finite > 0

    def cliff(x):
        if cliff.calls > 350:
            raise ZeroDivisionError("over the edge")
        cliff.calls += 1
        return bowl(x)

    cliff.calls = 0
    with pytest.raises(ZeroDivisionError, match="over the edge"):
        minimize(cliff, BOX, polish=True, maxfun=400, population_size=20, rng=1)


def test_polish_keeps_to_maxtime():
    def slow(x):
        if slow.calls > 360:
            time.sleep(0.02)
        slow.calls += 1
        return bowl(x)

    slow.calls = 0
    started = time.monotonic()
    minimize(slow, [(-5, 5)] * 30, polish=True, maxfun=400, maxtime=0.3, population_size=20, rng=1)
    assert time.monotonic() - started < 10 and slow.calls <= 400


def test_a_network_runs_out_of_budget_like_everybody():
    assert minimize(bowl, BOX, policy=random_network(), **SMALL).nfev == 130
