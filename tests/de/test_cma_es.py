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
from deddqn.de.cma_state import Model, fewest_samples
from deddqn.de.config import config_for
from deddqn.de.state import Counter, Scalar
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


@njit
def valleys(x):
    """Deep and narrow ones, far apart along every axis: DE exchanges coordinates, and CMA-ES ends in one of them."""
    total = 0.0
    for value in x:
        total += 0.01 * abs(value) + 10.0 * math.sin(math.pi * value) ** 2
    return total


SHRINKS: dict[str, Any] = {"population_size": 40, "final_population": 7}


def run_of(function: Any, dimension: int, *, policy: str = "random", seed: int = 0, **config: Any) -> Run:
    problem, loaded = Problem.from_function(function, [(-5.0, 5.0)] * dimension), load_policy(policy)
    operators = {} if loaded.portfolio is None else {"portfolio": loaded.portfolio}
    return Run(RunSpec(problem=problem, policy=loaded, config=DEConfig(**config), seed=seed, **operators))


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
    run = run_of(function, dimension, budget=3000, cma_share=1.0)
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
    run = run_of(ellipsoid, 3, budget=20_000, cma_share=1.0)
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
    found = run_of(ellipsoid, 20, budget=20_000, cma_share=1.0, target_value=1e-8)
    found.advance(20_000)
    assert found.best_value <= 1e-8 and found.evaluations < 15_000


def test_samples_fall_to_the_fewest() -> None:
    """From a thousandth of the evaluations, linearly, whatever restarts there are."""
    run = run_of(rastrigin, 4, budget=60_000, cma_share=1.0)
    while not run.ended:
        spent, samples = run.evaluations / 60_000, run.de_state.model[Model.LAMBDA]
        assert samples == math.floor(60 + (int(fewest_samples(4)) - 60) * spent + 0.5)
        before = run.evaluations
        run.advance(before + int(samples))
    assert run.evaluations == 60_000 and run.de_state.counters[Counter.RESTARTS] > 3
    assert len(run.fitness) == 60_000 - before and np.isfinite(run.fitness).all()  # no point without a value is left


# -- the hand-over


def test_de_plans_without_the_share_until_cma_es_is_tried() -> None:
    """Up to there it is the run with a smaller budget, bit for bit."""
    config = {"population_size": 20, "final_population": 7}
    whole = run_of(rastrigin, 5, policy="softmax", budget=4000, cma_share=0.25, **config)
    alone = run_of(rastrigin, 5, policy="softmax", budget=3000, **config)
    while not whole.de_state.counters[Counter.SAMPLING]:
        assert whole.best_value == alone.best_value and not whole.ended
        np.testing.assert_array_equal(whole.de_state.applications, alone.de_state.applications)
        for run in (whole, alone):
            run.advance(run.evaluations + 1)
    assert 2000 <= whole.evaluations < 2020


def at_hand_over(**settings: Any) -> tuple[Run, np.ndarray]:
    """A run when CMA-ES is, or is not, tried, and the population of DE."""
    run = run_of(rastrigin, 5, policy="softmax", budget=4000, cma_share=0.25, population_size=20, **settings)
    while not run.de_state.counters[Counter.TRIED]:
        run.advance(run.evaluations + 1)
    assert 2000 <= run.evaluations < 2020 and not run.ended
    waiting = run.de_state.best_population[: int(run.de_state.counters[Counter.BEST_POPULATION_SIZE])]
    return run, (waiting if len(waiting) else run.population).copy()


def test_a_wide_population_goes_on_alone() -> None:
    """The extent is the mean distance from the mean, in widths of the box; up to it CMA-ES is tried."""
    _, population = at_hand_over()
    extent = float(np.abs(population - population.mean(axis=0)).mean()) / 10.0
    assert 1e-6 < extent < 0.5
    tried, _ = at_hand_over(cma_extent=1.0001 * extent)
    assert tried.de_state.counters[Counter.SAMPLING]
    run, same = at_hand_over(cma_extent=0.9999 * extent)
    counters = run.de_state.counters
    assert not counters[Counter.SAMPLING] and counters[Counter.BUDGET] == counters[Counter.HORIZON] == 4000
    np.testing.assert_array_equal(same, population)
    while not run.ended:
        check_arena(run.spec, run.arena)
        run.advance(run.evaluations + 1)
        assert not counters[Counter.SAMPLING]
    assert run.evaluations == 4000 and run.de_state.applications.sum() == 4000 - 20


def test_a_search_that_goes_on_alone_can_be_saved_and_extended(tmp_path: Any) -> None:
    search = Optimizer([(-5, 5)] * 12, maxfun=36_001, rng=1)
    told_to(search, 20_000)
    counters = search._run.de_state.counters
    assert counters[Counter.TRIED] and not counters[Counter.SAMPLING]
    search.save(tmp_path / "search")
    again = Optimizer.load(tmp_path / "search")
    told_to(search, 25_000)
    told_to(again, 25_000)
    assert search.result.fun == again.result.fun
    again.extend(maxfun=40_000)
    told_to(again, 26_000)
    check_arena(again._run.spec, again._run.arena)


def test_a_longer_search_considers_cma_es_again() -> None:
    """Before it would be tried in the longer search; after that there is none."""
    shrinking = {"population_size": 20, "final_population": 7, "cma_share": 0.25}
    for budget, again in ((9000, True), (4200, False)):
        run = run_of(rastrigin, 5, policy="softmax", budget=4000, cma_extent=0.0, **shrinking)
        run.advance(2500)
        while not run.between_generations:
            run.advance(run.evaluations + 1)
        assert run.de_state.counters[Counter.TRIED] and not run.de_state.counters[Counter.SAMPLING]
        extend_run(run, DEConfig(budget=budget, **shrinking))
        check_arena(run.spec, run.arena)
        assert not run.de_state.counters[Counter.TRIED]
        run.advance(budget)
        assert run.evaluations == budget and run.de_state.counters[Counter.TRIED] == again


@pytest.mark.parametrize("wrong", [-0.1, math.nan])
def test_a_wrong_extent_is_refused(wrong: float) -> None:
    with pytest.raises(ValueError, match="cma_extent must be 0 or more, got"):
        DEConfig(cma_extent=wrong)


@pytest.mark.parametrize(("function", "ahead"), [(ellipsoid, True), (valleys, False)])
def test_who_is_ahead_has_the_last_part(function: Any, ahead: bool) -> None:
    run = run_of(function, 8, policy="softmax-x", budget=8000, cma_share=0.25, restart_tolerance=0.0, **SHRINKS)
    counters, searchers = run.de_state.counters, []
    while not run.ended:
        searchers.append(bool(counters[Counter.SAMPLING]))
        if not searchers[-1] and not counters[Counter.TRIED]:
            generation, lowest = run.population.copy(), run.best_value
        if searchers[-1]:
            size = int(counters[Counter.BEST_POPULATION_SIZE])
            kept, values = (
                run.de_state.best_population[:size].copy(),
                run.de_state.best_population_fitness[:size].copy(),
            )
            assert np.mean([(generation == point).all(axis=1).any() for point in kept]) > 0.5  # few are one younger
            assert values.min() == run.de_state.scalars[Scalar.TO_BEAT] <= lowest
        if not searchers[-1] and searchers[-2:-1] == [True]:  # the best of DE's last population are back
            assert 6000 <= run.evaluations < 6000 + 2 * int(fewest_samples(8))
            best = np.sort(values)[: len(run.fitness)]
            size = SHRINKS["population_size"] - 33 * run.evaluations / 8000
            assert len(run.fitness) == math.floor(size + 0.5) < len(values)
            np.testing.assert_array_equal(np.sort(run.fitness), best)
            assert all((kept == point).all(axis=1).any() for point in run.population)
        run.advance(run.evaluations + int(counters[Counter.GENERATION_SIZE]))
    assert searchers[-1] == ahead and searchers.count(True) > 3 and not searchers[0]
    assert run.evaluations == 8000 or run.best_value <= 1e-8


@pytest.mark.parametrize("updating", ["sequential", "deferred"])
def test_asking_and_telling_is_the_same_search(updating: str) -> None:
    config = {"population_size": 15, "budget": 1500, "cma_share": 0.3, "updating": updating}
    inside, outside = run_of(rastrigin, 3, seed=3, **config), run_of(rastrigin, 3, seed=3, **config)
    inside.advance(1500)
    while not outside.ended:
        first, last = outside.ask()
        for i in range(first, last):
            outside.tell(i, rastrigin(outside.points[i]))
    assert outside.evaluations == inside.evaluations == 1500
    assert outside.best_value == inside.best_value


def test_python_policies_hand_over_and_get_their_individuals_back() -> None:
    class First:
        name, needs_features, portfolio = "first", True, None

        def reset(self, n_ops: int, n_pop: int, rng: np.random.Generator) -> None:
            self.known, self.renumbered, self.asked = n_pop, 0, []

        def choose(self, features: np.ndarray, i: int) -> int:
            assert i < self.known
            self.asked.append(run.evaluations)
            return 0

        def learn(self, *_: Any) -> None: ...

        def end_generation(self) -> None: ...

        def renumber(self, origin: np.ndarray) -> None:
            assert origin.max() < self.known and np.all(np.diff(origin) > 0)
            self.known, self.renumbered = origin.size, self.renumbered + 1

    problem, policy = Problem.from_function(valleys, [(-5.0, 5.0)] * 3), First()
    config = DEConfig(budget=2000, cma_share=0.25, **SHRINKS)
    run = Run(RunSpec(problem=problem, policy=policy, config=config))
    run.advance(2000)
    asked = np.array(policy.asked)
    assert run.evaluations == 2000 and policy.renumbered > 10
    assert not np.any((asked >= 1040) & (asked < 1500)) and np.any(asked < 1000) and np.any(asked > 1600)


def test_a_saved_search_goes_on_within_cma_es(tmp_path: Any) -> None:
    def ask_and_tell(search: Optimizer, count: int) -> None:
        for _ in range(count):
            points = search.ask()
            search.tell(points, [rastrigin(point) for point in points])

    settings: dict[str, Any] = {"maxfun": 900, "cma_share": 0.3, "rng": 5, "population_size": 20}
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
        [(-5, 5)] * 6, maxfun=40_000, cma_share=0.45, population_size=population_size, rng=1, updating="deferred"
    )
    while not search.stop():
        points = search.ask()[::-1]
        for point in points:
            search.tell([point], [100.0 + rastrigin(point)])
    assert search.result.fun == 100.0 + rastrigin(search.result.x) and search.result.nfev == 40_000


@pytest.mark.parametrize("share", [0.2, 1.0])
def test_every_generation_can_be_loaded(share: float) -> None:
    """Before, while and after CMA-ES is tried."""
    run = run_of(valleys, 3, policy="softmax", budget=1500, cma_share=share, **SHRINKS)
    while not run.ended:
        check_arena(run.spec, run.arena)
        run.advance(run.evaluations + 1)
    assert run.de_state.counters[Counter.SAMPLING] == (share == 1.0)


@pytest.mark.parametrize("evaluations", [100, 700, 1400])
def test_memory_that_no_run_has_is_refused(evaluations: int) -> None:
    """Before, while and after CMA-ES is tried; what compiled code would read is not there, or not of that size."""
    run = run_of(valleys, 3, budget=1500, cma_share=0.3, **SHRINKS)
    run.advance(evaluations)
    check_arena(run.spec, run.arena)
    counters = run.de_state.counters
    assert counters[Counter.SAMPLING] == (evaluations == 700) and counters[Counter.TRIED] == (evaluations > 100)
    wrong = {Counter.TRIED: int(evaluations == 100), Counter.BUDGET: 1200}
    wrong |= {Counter.BEST_POPULATION_SIZE: 0} if evaluations == 700 else {Counter.SAMPLING: 1}
    for counter, value in wrong.items():
        broken = Run.resume(run.spec, run.arena)
        broken.de_state.counters[counter] = value
        with pytest.raises(ValueError, match="population has a size that DE may have|counters"):
            check_arena(run.spec, broken.arena)


def test_a_run_of_de_alone_cannot_be_made_to_hand_over() -> None:
    """Memory with a smaller budget than the settings have would lead to CMA-ES, for which there is no room."""
    run = run_of(rastrigin, 3, budget=900, population_size=20)
    run.advance(100)
    check_arena(run.spec, run.arena)
    for tampered in ({Counter.BUDGET: 200}, {Counter.HAND_OVER: 200}, {Counter.TRIED: 1}):
        broken = Run.resume(run.spec, run.arena)
        broken.de_state.counters[list(tampered)] = list(tampered.values())
        with pytest.raises(ValueError, match="the memory of the search|counters"):
            check_arena(run.spec, broken.arena)


@pytest.mark.parametrize("evaluations", [300, 900, 1490])
def test_an_extension_keeps_who_searches(evaluations: int) -> None:
    """Before, while and after CMA-ES is tried; the settings of the extension cannot take that back."""
    run = run_of(valleys, 3, budget=1500, cma_share=0.25, **SHRINKS)
    run.advance(evaluations)
    while not run.between_generations:
        run.advance(run.evaluations + 1)
    state = run.de_state.counters[[Counter.SAMPLING, Counter.TRIED, Counter.RESTARTS]].copy()
    sigma, before = run.de_state.model[Model.SIGMA], run.best_value
    extend_run(run, DEConfig(budget=4000, cma_share=0.0, **SHRINKS))
    assert (run.de_state.counters[[Counter.SAMPLING, Counter.TRIED, Counter.RESTARTS]] == state).all()
    assert run.de_state.model[Model.SIGMA] == sigma
    check_arena(run.spec, run.arena)
    run.advance(4000)
    assert run.evaluations == 4000 and run.best_value <= before


def test_an_extension_may_come_too_late_for_a_trial() -> None:
    run = run_of(rastrigin, 3, budget=1000, population_size=20)
    run.advance(1000)
    extend_run(run, DEConfig(budget=1500, cma_share=0.25, population_size=20))
    run.advance(1500)
    assert run.evaluations == 1500 and not run.de_state.counters[Counter.TRIED]
    extend_run(run, DEConfig(budget=4000, cma_share=0.25, population_size=20))
    run.advance(4000)
    assert run.evaluations == 4000 and run.de_state.counters[Counter.TRIED]


@pytest.mark.parametrize(
    ("settings", "rule"),
    [
        ({"constraints": NonlinearConstraint(lambda x: x[0], 0.0, np.inf)}, "with constraints"),
        ({"integrality": True}, "with integer coordinates"),
        ({"updating": "asynchronous"}, "with updating 'asynchronous'"),
        ({"restart_tolerance": 0.01}, "with restarts"),
    ],
)
def test_where_it_cannot_take_over(settings: dict[str, Any], rule: str) -> None:
    with pytest.raises(ValueError, match=rule):
        minimize(lambda x: float(np.sum(x**2)), [(-5, 5)] * 2, maxfun=500, cma_share=0.3, **settings)


def test_points_that_are_given_need_de() -> None:
    for given in ({"x0": [1.0, 1.0]}, {"init": np.zeros((10, 2))}):
        with pytest.raises(ValueError, match="cma_share must be below 1"):
            minimize(lambda x: 0.0, [(-5, 5)] * 2, maxfun=100, cma_share=1.0, **given)


def test_a_wrong_share_is_refused() -> None:
    for share in (-0.1, 0.5, 0.7, 1.5, math.nan):
        with pytest.raises(ValueError, match="cma_share must"):
            minimize(lambda x: 0.0, [(0, 1)], maxfun=100, cma_share=share)


def test_values_that_are_not_finite_do_not_stop_it() -> None:
    def broken(x: np.ndarray) -> float:
        return math.nan if x[0] > 0.0 else float(np.sum((x + 2.0) ** 2))

    found = minimize(broken, [(-5, 5)] * 3, maxfun=2000, cma_share=0.4, rng=1)
    assert found.nfev == 2000 and found.fun < 1e-6
    nothing = minimize(lambda x: math.inf, [(-5, 5)] * 3, maxfun=600, cma_share=0.4, rng=1)
    assert nothing.nfev == 600 and not nothing.success


def test_uneven_and_fixed_widths() -> None:
    """Coordinates are measured in widths of the box; one that cannot move does no harm."""
    scales = np.array([1e-6, 1.0, 1e6])
    found = minimize(
        lambda x: float(np.sum((x / scales - 0.3) ** 2)), [(-s, s) for s in scales], maxfun=3000, cma_share=0.45, rng=2
    )
    assert found.fun < 1e-9


# -- what a review found


def told_to(search: Optimizer, evaluations: int) -> None:
    while search.result.nfev < evaluations or not search._run.between_generations:
        points = search.ask()
        search.tell(points, [rastrigin(point) for point in points])


def test_an_extension_has_no_more_samples_than_rows() -> None:
    """The strategy cma has room for more samples than the population has individuals."""
    settings: dict[str, Any] = {"policy": "random", "portfolio": ["cma", "rand/1"], "population_size": 10}
    search = Optimizer([(-5, 5)] * 10, maxfun=10_000, cma_share=0.25, rng=1, **settings)
    told_to(search, 5100)
    search.extend(maxfun=100_000)
    assert search._run.de_state.model[Model.LAMBDA] <= search._run.de_state.fitness.size
    check_arena(search._run.spec, search._run.arena)


def test_a_trial_from_the_start_still_has_a_first_population() -> None:
    found = minimize(lambda x: math.inf, [(-5, 5)] * 2, maxfun=100, cma_share=0.499, population_size=10, rng=1)
    assert found.nfev == 100
    given = np.full((10, 2), 0.5) + np.arange(20).reshape(10, 2) / 100
    seen: list[np.ndarray] = []
    minimize(lambda x: seen.append(x) or 1.0, [(-5, 5)] * 2, maxfun=100, cma_share=0.499, init=given)
    np.testing.assert_array_equal(seen[:10], given)


def test_an_extension_to_the_same_budget_has_ended() -> None:
    search = Optimizer([(-5, 5)] * 2, maxfun=100, cma_share=1.0, rng=1)
    told_to(search, 100)
    search.extend(maxfun=100)
    assert search.stop() and search.result.nfev == 100


def test_the_strategy_cma_and_a_trial_can_be_saved(tmp_path: Any) -> None:
    settings: dict[str, Any] = {"policy": "random", "portfolio": ["cma", "rand/1"], "population_size": 30}
    search = Optimizer([(-5, 5)] * 10, maxfun=3000, cma_share=0.25, rng=1, **settings)
    told_to(search, 1600)
    assert search._run.de_state.counters[Counter.SAMPLING]
    search.save(tmp_path / "search")
    again = Optimizer.load(tmp_path / "search")
    told_to(again, 3000)
    assert again.result.nfev == 3000


def test_an_extension_keeps_the_individuals_that_wait() -> None:
    search = Optimizer([(-5, 5)] * 2, maxfun=20_000, policy="softmax-budget", cma_share=0.45, rng=1)
    told_to(search, 2060)
    assert search._run.de_state.counters[Counter.SAMPLING]
    waiting = search._run.individuals
    lowest = search._run.de_state.best_population_fitness[:waiting].min()
    search.extend(maxfun=search.result.nfev + 50)
    assert search._run.individuals == waiting
    assert search._run.de_state.best_population_fitness[:waiting].min() == lowest


def test_a_surrogate_that_is_no_longer_needed(tmp_path: Any) -> None:
    """Above 10 D^3 evaluations there is one candidate."""
    search = Optimizer([(-5, 5)] * 2, maxfun=70, policy="softmax-budget", population_size=10, rng=1)
    told_to(search, 62)
    search.extend(maxfun=500)
    told_to(search, 90)
    search.save(tmp_path / "search")
    again = Optimizer.load(tmp_path / "search")
    told_to(again, 500)
    assert again.result.nfev == 500


def test_rules_give_way_where_cma_es_cannot_search() -> None:
    policy = load_policy("softmax-budget")
    whole = Problem(
        "whole", np.zeros(2), np.full(2, 9.0), Problem.from_function(slope, [(0, 9)] * 2).objective, integrality=1
    )
    config = config_for(policy.de, budget=20_000)
    assert RunSpec(problem=whole, policy=policy, portfolio=policy.portfolio, config=config).config.cma_share == 0.0


def test_a_share_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="cma_share must be 0 without maxfun"):
        Optimizer([(-5, 5)] * 2, cma_share=0.25)
