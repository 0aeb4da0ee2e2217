"""Searches whose end is not known, known by the clock, or moved: schedules by hand, and the same bits everywhere."""

import numpy as np
import pytest

from deddqn import Optimizer, minimize
from deddqn.de.anytime import first_size, slide_horizon
from deddqn.de.state import Counter, Scalar
from deddqn.optimize import function_runner
from tests.optimize.objectives import BOX, Learner, bowl, jitted_bowl, many_bowls

ENDLESS = {"rng": 3, "callback": lambda x, convergence: None}


def rastrigin(x):
    return float((x**2 - 10.0 * np.cos(2.0 * np.pi * x) + 10.0).sum())


def same(a, b):
    keys = ("x", "fun", "nfev", "nit", "population", "population_energies", "strategy_counts", "message")
    return all(np.array_equal(a[key], b[key]) for key in keys)


# Where the end is not known


def test_first_sizes():
    assert [first_size(dimension, 100) for dimension in (1, 4, 10, 30, 100, 1000)] == [10, 10, 16, 27, 50, 100]
    assert first_size(30, 12) == 12


def test_the_horizon_slides_up_to_the_budget():
    counters = Optimizer(BOX)._run.de_state.counters.copy()
    assert counters[Counter.FIRST_POPULATION] == 10 and counters[Counter.BUDGET] == 10_000
    for made, horizon in ((0, 200), (100, 300), (466, 666), (467, 667), (700, 1000), (6999, 9998), (9000, 10_000)):
        counters[Counter.EVALUATIONS] = made
        slide_horizon(counters)
        assert counters[Counter.HORIZON] == horizon, made
    counters[Counter.FIRST_POPULATION] = 0
    counters[Counter.EVALUATIONS] = 10
    slide_horizon(counters)
    assert counters[Counter.HORIZON] == 10_000


def test_restarts_double_the_population():
    """A flat function has converged as soon as the coordinates have; so has one with a narrow minimum."""
    sizes = []
    minimize(rastrigin, [(-5, 5)] * 2, rng=1, callback=lambda intermediate_result: sizes.append(
        len(intermediate_result.population)
    ))  # fmt: skip
    assert sizes[0] == 10 and max(sizes) <= 100 and sizes == sorted(sizes)
    assert set(sizes) <= {10, 20, 40, 80, 100} and len(set(sizes)) >= 3


def test_without_anything_that_could_stop_it_the_search_plans_for_ten_thousand():
    assert same(minimize(bowl, BOX, rng=1), minimize(bowl, BOX, maxfun=10_000, rng=1))
    assert same(minimize(bowl, BOX, rng=1, ftarget=1e-9), minimize(bowl, BOX, maxfun=10_000, ftarget=1e-9, rng=1))


def test_at_most_ten_thousand_evaluations():
    result = minimize(bowl, BOX, **ENDLESS)
    assert result.nfev == 10_000 and result.message == "All 10000 evaluations are used."


def test_a_schedule_that_was_given_is_kept():
    for given in ({"final_population": 8}, {"restart_tolerance": 0.1}, {"restart_final_fraction": 0.2}):
        limits = {"policy": "softmax-x", "rng": 1, "ftarget": 0.5, **given}
        assert same(minimize(bowl, BOX, maxfun=10_000, **limits), Optimizer(BOX, **limits).optimize(bowl))
    assert len(Optimizer(BOX, population_size=30).result.population) == 30


def test_policies_without_a_schedule_are_as_they_were():
    limits = {"policy": "random", "ftarget": 0.5, "rng": 1}
    assert same(minimize(bowl, BOX, maxfun=10_000, **limits), Optimizer(BOX, **limits).optimize(bowl))


def stop_at(n):
    return lambda intermediate_result: intermediate_result.nfev >= n


def test_interfaces_agree():
    stop = {"callback": stop_at(900)}
    expected = minimize(bowl, BOX, rng=2, **stop)
    assert expected.nfev < 950 and same(minimize(jitted_bowl, BOX, rng=2, **stop), expected)
    optimizer = Optimizer(BOX, rng=2)
    while optimizer.result.nfev < expected.nfev:
        points = optimizer.ask()
        optimizer.tell(points, [bowl(x) for x in points])
    assert np.array_equal(optimizer.result.x, expected.x)
    deferred = minimize(bowl, BOX, rng=2, updating="deferred", **stop)
    assert same(minimize(many_bowls, BOX, rng=2, vectorized=True, **stop), deferred)
    assert same(minimize(bowl, BOX, rng=2, workers=map, **stop), deferred)


def test_saved_and_continued(tmp_path):
    whole = Optimizer(BOX, rng=4, history=True)
    whole.optimize(rastrigin, callback=stop_at(2500))
    half = Optimizer(BOX, rng=4, history=True)
    for n in (700, 1900):
        half.optimize(rastrigin, callback=stop_at(n))
        half.save(tmp_path / "half")
        half = Optimizer.load(tmp_path / "half")
    half.optimize(rastrigin, callback=stop_at(2500))
    assert same(whole.result, half.result) and np.array_equal(whole.result.history.fun, half.result.history.fun)


# Extended


def test_the_population_grows_to_the_size_of_the_new_plan():
    """NP is 14 for up to 700 evaluations and 100 from 5000 on; the policy's final size is 7."""
    optimizer = Optimizer(BOX, policy="softmax-x", maxfun=400, rng=1, history=True, restart_tolerance=0.0)
    before = optimizer.optimize(bowl)
    assert len(before.population) == 7 and optimizer.stop()
    optimizer.extend(maxfun=8000)
    run = optimizer._run
    size = round(100 + (7 - 100) * 400 / 8000)
    assert size == 95 == len(run.population) and optimizer.maxfun == 8000 and not optimizer.stop()
    assert np.array_equal(run.population[:7], before.population)
    assert np.array_equal(run.fitness[:7], before.population_energies) and np.isinf(run.fitness[7:]).all()
    new = []
    after = optimizer.optimize(lambda x: new.append(x) or bowl(x))
    assert len(new) == 7600 and after.nfev == 8000 and after.fun <= before.fun and len(after.population) == 7
    assert np.all(np.abs(np.array(new[:88])) <= 5) and len(np.unique(new[:88], axis=0)) == 88
    assert after.strategy_counts.sum() == 8000 - 14 - 88 and after.nit > before.nit
    assert np.array_equal(after.history.nfev[: len(before.history.nfev)], before.history.nfev)
    assert (np.diff(after.history.fun) <= 0).all()


@pytest.mark.parametrize("options", [{}, {"updating": "deferred"}, {"policy": "random", "population_size": 20}])
def test_optimize_with_another_maxfun(options):
    one, two = (Optimizer(BOX, maxfun=300, rng=1, **options) for _ in range(2))
    one.optimize(bowl)
    one.extend(maxfun=900)
    two.optimize(bowl)
    assert same(one.optimize(bowl), two.optimize(bowl, maxfun=900)) and one.result.nfev == 900
    assert same(two.optimize(bowl, maxfun=900), one.result)  # the same number is no extension


def test_a_constant_population_continues_as_if_it_had_been_planned():
    options = {"policy": "de3", "population_size": 20, "rng": 1}
    optimizer = Optimizer(BOX, maxfun=300, **options)
    optimizer.optimize(bowl)
    assert same(optimizer.optimize(bowl, maxfun=600), minimize(bowl, BOX, maxfun=600, **options))


def test_a_policy_in_python_is_extended_too():
    optimizer = Optimizer(BOX, maxfun=300, rng=1, policy=Learner(), population_size=30, final_population=8)
    optimizer.optimize(bowl)
    assert optimizer.optimize(bowl, maxfun=900).nfev == 900


@pytest.mark.parametrize("maxfun", [None, 200])
def test_an_extension_waits_for_the_end_of_a_generation(maxfun, tmp_path):
    def told(optimizer, points):
        optimizer.tell(points, [bowl(x) for x in points])

    optimizer = Optimizer(BOX, policy="softmax-x", maxfun=maxfun, rng=1, updating="deferred")
    told(optimizer, optimizer.ask())
    points = optimizer.ask()
    told(optimizer, points[:4])
    optimizer.extend(maxfun=6000)
    assert optimizer.maxfun == 6000 and len(optimizer._run.population) == len(points)
    optimizer.save(tmp_path / "waiting")
    other = Optimizer.load(tmp_path / "waiting")
    for search in (optimizer, other):
        assert search.maxfun == 6000
        told(search, points[4:])
        assert len(search._run.population) == round(100 + (7 - 100) * search.result.nfev / 6000)
    other.save(tmp_path / "growing")  # while new individuals wait for their values
    assert same(optimizer.optimize(bowl), Optimizer.load(tmp_path / "growing").optimize(bowl))
    assert optimizer.result.nfev == 6000


def test_points_that_were_asked_for_stay_valid():
    optimizer = Optimizer(BOX, maxfun=200, rng=1, updating="deferred")
    points = optimizer.ask()
    optimizer.extend(maxfun=300)
    optimizer.tell(points, [bowl(x) for x in points])
    assert optimizer.optimize(bowl).nfev == 300


@pytest.mark.parametrize(("maxfun", "extended", "share"), [(2000, 19_500, 0.5), (19_500, 2000, 0.0)])
def test_the_share_of_scales_by_the_success_rate_follows_the_new_budget(maxfun, extended, share, tmp_path):
    optimizer = Optimizer([(-5, 5)] * 13, maxfun=maxfun, rng=1, updating="deferred")
    for _ in range(3):
        points = optimizer.ask()
        optimizer.tell(points, [bowl(x) for x in points])
    optimizer.extend(maxfun=extended)
    assert optimizer._run.spec.config.rate_share == optimizer._run.de_state.scalars[Scalar.RATE_SHARE] == share
    optimizer.save(tmp_path / "search")
    assert same(Optimizer.load(tmp_path / "search").optimize(bowl), optimizer.optimize(bowl))


def test_settings_that_follow_the_budget_follow_the_new_one():
    """The roots of half of 400 and of 15,000 evaluations, for four coordinates; CMA-ES may have the other 5000."""
    optimizer = Optimizer(BOX, maxfun=400, rng=1)
    assert len(optimizer._run.population) == 14
    optimizer.optimize(rastrigin)
    result = optimizer.optimize(rastrigin, maxfun=20_000)
    settings = optimizer._run.spec.config
    assert settings.population_size == round(np.sqrt(15_000 * 4 / 8)) == 87 and result.nfev == 20_000
    assert settings.cma_share == 0.25 and optimizer._run.de_state.counters[Counter.TRIED]


def test_the_kept_best_population_may_be_smaller_than_the_extended_one():
    optimizer = Optimizer([(-5, 5)] * 2, policy="softmax-x", maxfun=700, rng=1, restart_tolerance=0.3)
    optimizer.optimize(rastrigin, callback=lambda intermediate_result: optimizer._run.de_state.counters[
        Counter.BEST_POPULATION_SIZE
    ] > 0)  # fmt: skip
    assert optimizer.result.nfev < 700
    result = optimizer.optimize(rastrigin, maxfun=3000)
    assert result.nfev == 3000 and result.fun < 1.0


def test_errors():
    optimizer = Optimizer(BOX, maxfun=200, rng=1)
    optimizer.optimize(bowl)
    for bad, message in ((100, "maxfun must be at least 200, the evaluations made or begun so far, got 100"),
                         ("many", "maxfun must be a whole number"), (0, "whole number of at least 1")):  # fmt: skip
        with pytest.raises(ValueError, match=message):
            optimizer.extend(maxfun=bad)
    assert "maxfun" in optimizer.stop()
    with pytest.raises(ValueError, match="maxfun must be at least 200"):
        optimizer.optimize(bowl, maxfun=10)


# By the clock


class Clock:
    """A clock that only evaluations move."""

    def __init__(self, monkeypatch, cost):
        self.now, self.cost, self.calls = 100.0, cost, 0
        monkeypatch.setattr(function_runner.time, "monotonic", lambda: self.now)

    def __call__(self, x):
        self.calls += 1
        self.now += self.cost(self.calls)
        return bowl(x)


def test_time_alone_plans_by_the_cost_of_an_evaluation(monkeypatch):
    clock = Clock(monkeypatch, lambda n: 0.01)
    optimizer = Optimizer(BOX, rng=1)
    result = optimizer.optimize(clock, maxtime=30.0)
    assert result.message.startswith("The time is up.") and clock.calls == result.nfev
    assert 2990 <= result.nfev <= 3001 and optimizer.maxfun == pytest.approx(3000, rel=0.02)
    assert len(result.population) == 7  # at the end of the plan


def test_a_plan_follows_the_cost(monkeypatch):
    clock = Clock(monkeypatch, lambda n: 0.01 if n <= 1000 else 0.04)
    result = Optimizer(BOX, rng=1).optimize(clock, maxtime=50.0)
    assert 1985 <= result.nfev <= 2001 and len(result.population) <= 8


def test_time_alone_has_no_other_limit(monkeypatch):
    clock = Clock(monkeypatch, lambda n: 0.001)
    optimizer = Optimizer(BOX, rng=1)
    assert optimizer.optimize(clock).nfev == 10_000
    assert 11_900 <= optimizer.optimize(clock, maxtime=2.0).nfev <= 12_001
    assert minimize(clock, BOX, rng=1, maxtime=0.0).nfev == 0


def test_time_beside_maxfun_changes_no_plan(monkeypatch):
    clock = Clock(monkeypatch, lambda n: 0.01)
    expected = minimize(bowl, BOX, maxfun=400, rng=1)
    assert same(minimize(clock, BOX, maxfun=400, maxtime=100.0, rng=1), expected)


def test_a_tenth_of_the_time_is_for_polishing(monkeypatch):
    clock = Clock(monkeypatch, lambda n: 0.01)
    result = minimize(clock, BOX, maxtime=10.0, polish=True, rng=1)
    assert "Polishing took" in result.message and 900 < result.nfev <= 1001


# More generations than evaluations


def test_maxiter_beyond_the_evaluations():
    result = minimize(bowl, BOX, maxfun=400, maxiter=1000, rng=1)
    assert result.message == f"All 400 evaluations are used, after {result.nit} of 1000 generations."
    with pytest.warns(UserWarning, match="maxiter=1000 generations need more evaluations: give maxfun"):
        minimize(bowl, BOX, maxiter=1000, rng=1)
