"""CMA-ES as the second searcher: its updates beside a rewrite in matrices, its restarts, and how DE hands over."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numba import njit
from scipy.optimize import NonlinearConstraint

from deddqn import Optimizer, minimize
from deddqn.de import DEConfig
from deddqn.de.cma_state import Model
from deddqn.de.state import Counter, fewest_samples, largest_lambda
from deddqn.engine.extension import extend_run
from deddqn.engine.memory_check import check_arena
from deddqn.engine.run import Run
from deddqn.engine.run_spec import RunSpec
from deddqn.policies import load_policy
from deddqn.problems import Problem


@njit
def ellipsoid(x):
    """Half axes from 1 to 1000, turned by Householder's reflection in the diagonal; the optimum is at 1."""
    share = 2.0 * (x.mean() - 1.0)
    total = 0.0
    for d in range(x.size):
        total += 10.0 ** (6.0 * d / (x.size - 1)) * (x[d] - 1.0 - share) ** 2
    return total


@njit
def rastrigin(x):
    total = 0.0
    for value in x:
        total += value * value + 10.0 * (1.0 - math.cos(2.0 * math.pi * value))
    return total


@njit
def nothing(x):
    return math.inf


@njit
def slope(x):
    """The best point is a corner of the box."""
    return x.sum()


def run_of(function: Any, dimension: int, *, policy: str = "random", seed: int = 0, **config: Any) -> Run:
    problem = Problem.from_function(function, [(-5.0, 5.0)] * dimension)
    return Run(RunSpec(problem=problem, policy=load_policy(policy), config=DEConfig(**config), seed=seed))


class Plain:
    """One update of the tutorial's CMA-ES with all weights, in matrices, from what a run has before it."""

    def __init__(self, run: Run) -> None:
        de_state = run.de_state
        self.count = int(de_state.model[Model.LAMBDA])
        self.mean, self.sigma = de_state.model_mean.copy(), float(de_state.model[Model.SIGMA])
        half = np.tril(de_state.model_covariance)
        self.covariance = half + np.tril(half, -1).T
        self.factor = np.triu(de_state.model_factor)
        self.path_sigma, self.path_covariance = de_state.path_sigma.copy(), de_state.path_covariance.copy()
        self.points = de_state.parents[: self.count].copy()
        self.squares = de_state.model_values[: self.count].copy()
        self.updates = int(de_state.model[Model.UPDATES])

    def update(self, values: np.ndarray) -> None:
        n, count = len(self.mean), self.count
        mu = count // 2
        raw = math.log((count + 1) / 2) - np.log(np.arange(1, count + 1))
        better = raw[:mu] / raw[:mu].sum()
        mass = 1.0 / float(np.sum(better**2))
        mass_worse = float(raw[mu:].sum() ** 2 / np.sum(raw[mu:] ** 2))
        c_sigma = (mass + 2.0) / (n + mass + 5.0)
        d_sigma = 1.0 + 2.0 * max(0.0, math.sqrt((mass - 1.0) / (n + 1.0)) - 1.0) + c_sigma
        c_c = (4.0 + mass / n) / (n + 4.0 + 2.0 * mass / n)
        c_1 = 2.0 / ((n + 1.3) ** 2 + mass)
        c_mu = min(1.0 - c_1, 2.0 * (0.25 + mass - 2.0 + 1.0 / mass) / ((n + 2.0) ** 2 + mass))
        alpha = min(1.0 + c_1 / c_mu, 1.0 + 2.0 * mass_worse / (mass + 2.0), (1.0 - c_1 - c_mu) / (n * c_mu))
        weights = np.concatenate([better, raw[mu:] * alpha / abs(raw[mu:].sum())])
        order = np.argsort(values, kind="stable")
        steps = (self.points[order] - self.mean) / self.sigma
        step = better @ steps[:mu]
        self.mean = self.mean + self.sigma * step
        white = np.linalg.solve(self.factor.T, step)
        self.path_sigma = (1.0 - c_sigma) * self.path_sigma + math.sqrt(c_sigma * (2.0 - c_sigma) * mass) * white
        expected = math.sqrt(n) * (1.0 - 1.0 / (4.0 * n) + 1.0 / (21.0 * n**2))
        length = float(np.linalg.norm(self.path_sigma))
        unbiased = length / math.sqrt(1.0 - (1.0 - c_sigma) ** (2 * (self.updates + 1)))
        h_sigma = float(unbiased < (1.4 + 2.0 / (n + 1.0)) * expected)
        self.path_covariance = (1.0 - c_c) * self.path_covariance + h_sigma * math.sqrt(c_c * (2.0 - c_c) * mass) * step
        scaled = np.where(weights < 0.0, weights * n / self.squares[order], weights)
        kept = 1.0 - c_1 - c_mu * weights.sum() + c_1 * (1.0 - h_sigma) * c_c * (2.0 - c_c)
        self.covariance = (
            kept * self.covariance
            + c_1 * np.outer(self.path_covariance, self.path_covariance)
            + c_mu * steps.T @ np.diag(scaled) @ steps
        )
        self.sigma *= math.exp(min(1.0, c_sigma / d_sigma * (length / expected - 1.0)))


@pytest.mark.parametrize(("function", "dimension"), [(ellipsoid, 5), (rastrigin, 2), (slope, 12), (rastrigin, 40)])
def test_every_update_is_that_of_the_tutorial(function: Any, dimension: int) -> None:
    """Until the first restart; points that left the box count as what they became."""
    run = run_of(function, dimension, budget=3000, de_share=0.0)
    compared = 0
    while not run.ended and run.de_state.counters[Counter.RESTARTS] == 0 and compared < 60:
        plain = Plain(run)
        values = np.array([function(point) for point in plain.points])
        run.advance(run.evaluations + plain.count)
        if run.ended or run.de_state.counters[Counter.RESTARTS]:
            break
        plain.update(values)
        compared += 1
        model, deviations = run.de_state.model, np.sqrt(np.diag(plain.covariance))
        np.testing.assert_allclose(model[Model.SIGMA], plain.sigma, rtol=1e-9)
        np.testing.assert_allclose(
            run.de_state.model_mean, plain.mean, rtol=0, atol=1e-9 * plain.sigma * deviations.max()
        )
        found = np.tril(run.de_state.model_covariance) / np.outer(deviations, deviations)
        expected = np.tril(plain.covariance) / np.outer(deviations, deviations)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)
    assert compared > 15


def test_samples_stay_in_the_box_and_have_the_distribution() -> None:
    """In whitened coordinates they are standard normal, where none had to be mirrored."""
    run = run_of(ellipsoid, 3, budget=20_000, de_share=0.0)
    lengths = []
    while run.de_state.counters[Counter.RESTARTS] == 0 and not run.ended:
        de_state, count = run.de_state, int(run.de_state.model[Model.LAMBDA])
        points = de_state.parents[:count]
        assert np.all(np.abs(points) <= 5.0)
        steps = (points - de_state.model_mean) / de_state.model[Model.SIGMA]
        if np.abs(de_state.model_mean).max() < 3.0 and de_state.model[Model.SIGMA] < 0.05:
            lengths.extend(np.linalg.norm(np.linalg.solve(np.triu(de_state.model_factor).T, steps.T), axis=0) ** 2)
        run.advance(run.evaluations + count)
    assert len(lengths) > 300
    assert np.mean(lengths) == pytest.approx(3.0, abs=4.0 * math.sqrt(6.0 / len(lengths)))


def test_an_ill_conditioned_ellipsoid() -> None:
    found = run_of(ellipsoid, 20, budget=20_000, de_share=0.0, target_value=1e-8)
    found.advance(20_000)
    assert found.best_value <= 1e-8 and found.evaluations < 15_000


def test_restarts_double_or_stay_small() -> None:
    """The growing kind doubles its samples every time; the other kind has at most half of the last growing one."""
    run = run_of(rastrigin, 4, budget=60_000, de_share=0.0)
    model, kinds, seen = run.de_state.model, [], 0
    while not run.ended:
        if model[Model.BEGUN] > seen:
            seen = int(model[Model.BEGUN])
            kinds.append((bool(model[Model.IS_GROWING]), int(model[Model.LAMBDA])))
        run.advance(run.evaluations + int(model[Model.LAMBDA]))
    growing = [samples for is_growing, samples in kinds if is_growing]
    small = [samples for is_growing, samples in kinds if not is_growing]
    first, most = int(fewest_samples(4)), largest_lambda(4, 60_000)
    assert len(growing) >= 3 and small
    assert growing == [min(first * 2**k, most) for k in range(len(growing))]
    largest = 0
    for is_growing, samples in kinds:
        largest = samples if is_growing else largest
        assert is_growing or first <= samples <= max(first, largest // 2)
    assert run.evaluations == 60_000


# -- the hand-over


def test_de_plans_with_its_share_and_hands_over_when_it_is_used_up() -> None:
    """Up to there it is the run with that budget, bit for bit; the best point is never lost."""
    config = {"population_size": 20, "final_population": 7, "restart_tolerance": 0.0}
    whole = run_of(rastrigin, 5, policy="softmax", budget=4000, de_share=0.5, **config)
    alone = run_of(rastrigin, 5, policy="softmax", budget=2000, **config)
    whole.advance(2000)
    alone.advance(2000)
    assert alone.ended and not whole.ended
    assert whole.best_value == alone.best_value
    assert whole.de_state.counters[Counter.SAMPLING] == 1
    np.testing.assert_array_equal(whole.de_state.applications, alone.de_state.applications)
    whole.advance(4000)
    assert whole.evaluations == 4000 and whole.ended and whole.best_value <= alone.best_value


def test_a_population_in_one_place_hands_over_at_once() -> None:
    config = {"population_size": 20, "restart_tolerance": 1e-9, "budget": 20_000, "target_error": 0.0}
    run = run_of(rastrigin, 2, policy="softmax", de_share=0.99, **config)
    while not run.de_state.counters[Counter.SAMPLING] and not run.ended:
        run.advance(run.evaluations + 20)
    assert run.evaluations < 0.9 * 20_000
    run.advance(20_000)
    assert run.evaluations == 20_000


@pytest.mark.parametrize("updating", ["sequential", "deferred"])
def test_asking_and_telling_is_the_same_search(updating: str) -> None:
    config = {"population_size": 15, "budget": 1500, "de_share": 0.4, "updating": updating}
    inside, outside = run_of(rastrigin, 3, seed=3, **config), run_of(rastrigin, 3, seed=3, **config)
    inside.advance(1500)
    while not outside.ended:
        first, last = outside.ask()
        for i in range(first, last):
            outside.tell(i, rastrigin(outside.points[i]))
    assert outside.evaluations == inside.evaluations == 1500
    assert outside.best_value == inside.best_value


def test_python_policies_hand_over_too() -> None:
    class First:
        name, needs_features, portfolio = "first", True, None

        def reset(self, n_ops: int, n_pop: int, rng: np.random.Generator) -> None:
            self.decided = 0

        def choose(self, features: np.ndarray, i: int) -> int:
            self.decided += 1
            return 0

        def learn(self, *_: Any) -> None: ...

        def end_generation(self) -> None: ...

    problem, policy = Problem.from_function(rastrigin, [(-5.0, 5.0)] * 3), First()
    run = Run(RunSpec(problem=problem, policy=policy, config=DEConfig(population_size=10, budget=400, de_share=0.5)))
    run.advance(400)
    assert run.evaluations == 400 and policy.decided == 190


def test_a_saved_search_goes_on_within_cma_es(tmp_path: Any) -> None:
    def ask_and_tell(search: Optimizer, count: int) -> None:
        for _ in range(count):
            points = search.ask()
            search.tell(points, [rastrigin(point) for point in points])

    settings: dict[str, Any] = {"maxfun": 900, "de_share": 0.3, "rng": 5, "population_size": 20}
    straight, stopped = (Optimizer([(-5, 5)] * 3, **settings) for _ in range(2))
    ask_and_tell(straight, 900)
    ask_and_tell(stopped, 500)
    stopped.save(tmp_path / "search")
    again = Optimizer.load(tmp_path / "search")
    ask_and_tell(again, 400)
    assert again.result.fun == straight.result.fun and again.result.nfev == 900


@pytest.mark.parametrize("population_size", [7, 40])
def test_a_generation_told_in_any_order(population_size: int) -> None:
    """Also where it has more points than DE has individuals."""
    search = Optimizer(
        [(-5, 5)] * 2, maxfun=4000, de_share=0.05, population_size=population_size, rng=1, updating="deferred"
    )
    while not search.stop():
        points = search.ask()[::-1]
        for point in points:
            search.tell([point], [100.0 + rastrigin(point)])
    assert search.result.fun == 100.0 + rastrigin(search.result.x) and search.result.nfev == 4000


def test_every_generation_can_be_loaded() -> None:
    run = run_of(rastrigin, 3, budget=1500, de_share=0.05, population_size=20)
    while not run.ended:
        check_arena(run.spec, run.arena)
        run.advance(run.evaluations + 1)


def test_memory_that_no_run_has_is_refused() -> None:
    run = run_of(rastrigin, 3, budget=900, de_share=0.3, population_size=20)
    run.advance(500)
    check_arena(run.spec, run.arena)
    for counter, value in ((Counter.INITIALISED, 1), (Counter.SAMPLING, 0)):
        broken = Run.resume(run.spec, run.arena)
        broken.de_state.counters[counter] = value
        with pytest.raises(ValueError, match="population has a size that DE may have"):
            check_arena(run.spec, broken.arena)


def test_a_run_of_de_alone_cannot_be_made_to_hand_over() -> None:
    """Memory with a smaller budget than the settings have would lead to CMA-ES, for which there is no room."""
    run = run_of(rastrigin, 3, budget=900, population_size=20)
    run.advance(100)
    check_arena(run.spec, run.arena)
    run.de_state.counters[[Counter.BUDGET, Counter.HORIZON]] = 200
    with pytest.raises(ValueError, match="population has a size that DE may have"):
        check_arena(run.spec, run.arena)


def test_an_extension_goes_on_with_cma_es() -> None:
    run = run_of(rastrigin, 3, budget=600, de_share=0.5, population_size=20)
    run.advance(600)
    before = run.best_value
    extend_run(run, DEConfig(budget=2000, de_share=0.5, population_size=20))
    run.advance(2000)
    assert run.evaluations == 2000 and run.best_value <= before and run.de_state.counters[Counter.SAMPLING]
    with pytest.raises(ValueError, match="de_share must stay below 1"):
        extend_run(run, DEConfig(budget=3000, population_size=20))


def test_an_extension_keeps_the_distribution() -> None:
    """With less room it begins with fewer samples."""
    run = run_of(rastrigin, 3, budget=600, de_share=0.4, population_size=16, updating="deferred")
    run.advance(401)
    while not run.between_generations:
        run.advance(run.evaluations + 1)
    sigma = run.de_state.model[Model.SIGMA]
    extend_run(run, DEConfig(budget=800, de_share=0.4, population_size=16, updating="deferred"))
    assert run.de_state.model[Model.SIGMA] == sigma and run.de_state.counters[Counter.RESTARTS] == 0
    check_arena(run.spec, run.arena)
    run.advance(800)
    assert run.evaluations == 800
    wide = run_of(nothing, 1, budget=50_000, de_share=0.001, population_size=7)
    while wide.de_state.model[Model.LAMBDA] < 64:
        wide.advance(wide.evaluations + 1)
    while not wide.between_generations:
        wide.advance(wide.evaluations + 1)
    extend_run(wide, DEConfig(budget=wide.evaluations + 300, de_share=0.001, population_size=7))
    wide.advance(10**6)
    assert wide.ended and wide.de_state.model[Model.LAMBDA] <= len(wide.de_state.model_points) < 64


@pytest.mark.parametrize(
    ("settings", "rule"),
    [
        ({"constraints": NonlinearConstraint(lambda x: x[0], 0.0, np.inf)}, "with constraints"),
        ({"integrality": True}, "with integer coordinates"),
        ({"updating": "asynchronous"}, "with updating 'asynchronous'"),
    ],
)
def test_where_it_cannot_take_over(settings: dict[str, Any], rule: str) -> None:
    with pytest.raises(ValueError, match=rule):
        minimize(lambda x: float(np.sum(x**2)), [(-5, 5)] * 2, maxfun=500, de_share=0.5, **settings)


def test_points_that_are_given_need_de() -> None:
    for given in ({"x0": [1.0, 1.0]}, {"init": np.zeros((10, 2))}):
        with pytest.raises(ValueError, match="de_share must be above 0"):
            minimize(lambda x: 0.0, [(-5, 5)] * 2, maxfun=100, de_share=0.0, **given)


def test_a_wrong_share_is_refused() -> None:
    for share in (-0.1, 1.5, math.nan):
        with pytest.raises(ValueError, match="de_share must"):
            minimize(lambda x: 0.0, [(0, 1)], maxfun=100, de_share=share)


def test_values_that_are_not_finite_do_not_stop_it() -> None:
    def broken(x: np.ndarray) -> float:
        return math.nan if x[0] > 0.0 else float(np.sum((x + 2.0) ** 2))

    found = minimize(broken, [(-5, 5)] * 3, maxfun=2000, de_share=0.2, rng=1)
    assert found.nfev == 2000 and found.fun < 1e-6
    nothing = minimize(lambda x: math.inf, [(-5, 5)] * 3, maxfun=600, de_share=0.2, rng=1)
    assert nothing.nfev == 600 and not nothing.success


def test_uneven_and_fixed_widths() -> None:
    """Coordinates are measured in widths of the box; one that cannot move does no harm."""
    scales = np.array([1e-6, 1.0, 1e6])
    found = minimize(
        lambda x: float(np.sum((x / scales - 0.3) ** 2)), [(-s, s) for s in scales], maxfun=3000, de_share=0.1, rng=2
    )
    assert found.fun < 1e-9


def test_the_default_does_not_hand_over() -> None:
    for maxfun in (1000, 100_000):
        assert Optimizer([(-5, 5)] * 30, maxfun=maxfun)._run.spec.config.de_share == 1.0
