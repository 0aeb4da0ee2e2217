"""The local search: beside a rewrite in matrices, where it begins and ends, and what it leaves behind."""

from __future__ import annotations

import copy
import math
from collections.abc import Generator
from typing import Any

import numpy as np
import pytest
from numba import njit
from scipy.optimize import NonlinearConstraint

from deddqn import Optimizer, minimize
from deddqn.de import DEConfig
from deddqn.de.local_state import Local, Phase
from deddqn.de.state import Counter
from deddqn.engine.extension import extend_run
from deddqn.engine.memory_check import check_arena
from deddqn.engine.run import Run
from deddqn.engine.run_spec import RunSpec
from deddqn.policies import load_policy
from deddqn.problems import Problem

SHRINKS: dict[str, Any] = {"population_size": 30, "final_population": 7}


@njit
def ellipsoid(x):
    """Half axes from 1 to 1000, turned by Householder's reflection in the diagonal; the optimum is at 1."""
    share = 2.0 * (x.mean() - 1.0)
    total = 0.0
    for d in range(x.size):
        total += 10.0 ** (6.0 * d / (x.size - 1)) * (x[d] - 1.0 - share) ** 2
    return total


@njit
def rosenbrock(x):
    total = 0.0
    for d in range(x.size - 1):
        total += 100.0 * (x[d + 1] - x[d] * x[d]) ** 2 + (1.0 - x[d]) ** 2
    return total


@njit
def rastrigin(x):
    total = 0.0
    for value in x:
        total += value * value + 10.0 * (1.0 - math.cos(2.0 * math.pi * value))
    return total


@njit
def corner(x):
    """The lowest point is where the first coordinate has its upper and the second its lower bound."""
    total = 3.0 * x[1] - x[0]
    for d in range(2, x.size):
        total += (x[d] - 0.1 * d) ** 2
    return total


@njit
def stairs(x):
    """No slope anywhere."""
    total = 0.0
    for value in x:
        total += math.floor(4.0 * abs(value - 0.3))
    return total


@njit
def kink(x):
    total = 0.0
    for d in range(x.size):
        total += (d + 1.0) * abs(x[d] - 0.3)
    return total


def run_of(function: Any, dimension: int, *, policy: str = "random", seed: int = 0, **config: Any) -> Run:
    problem, loaded = Problem.from_function(function, [(-5.0, 5.0)] * dimension), load_policy(policy)
    operators = {} if loaded.portfolio is None else {"portfolio": loaded.portfolio}
    return Run(RunSpec(problem=problem, policy=loaded, config=DEConfig(**config), seed=seed, **operators))


def plain_search(x: np.ndarray, value: float, low: float, high: float) -> Generator[np.ndarray, np.ndarray, None]:
    """The local search in a box of one width, in matrices: yields points, is sent their values."""
    width, spacing, fresh, moved = high - low, 1e-7, True, None
    metric, gradient, direction = width**2 * np.eye(x.size), np.zeros(x.size), np.zeros(x.size)
    while True:
        signs = np.where(x + width * spacing > high, -1.0, 1.0)
        beside = x + np.diag(signs * width * spacing)
        newest = ((yield beside) - value) / (np.diag(beside) - x)
        if moved is not None:
            change = np.where(direction == 0.0, 0.0, newest - gradient)
            curvature = float(moved @ change)
            if curvature > 1e-12 * np.linalg.norm(moved) * np.linalg.norm(change):
                metric *= curvature / (change @ metric @ change) if fresh else 1.0
                left = np.eye(x.size) - np.outer(moved, change) / curvature
                metric, fresh = left @ metric @ left.T + np.outer(moved, moved) / curvature, False
        gradient = newest
        free = np.where(((x <= low) & (gradient > 0.0)) | ((x >= high) & (gradient < 0.0)), 0.0, gradient)
        direction = np.where(free == 0.0, 0.0, -metric @ free)
        slope = float(free @ direction)
        if fresh:
            scale = 1e4 * spacing * math.sqrt(x.size) / math.sqrt(-slope)
            direction, slope = scale * direction, scale * slope
        step, best, lowest = 1.0, None, value
        for _ in range(10):
            point = np.clip(x + step * direction, low, high)
            found = float((yield point[None])[0])
            bent = found - value - step * slope
            farther = -0.5 * step * slope / bent if bent > 0.0 else math.inf  # of the parabola, in steps
            farther = min(max(farther, 0.05), 10.0)
            better = found < lowest and (best is not None or found <= value + 1e-4 * step * slope)
            if better:
                best, lowest = point, found
            if (not better and best is not None) or (better and abs(farther - 1.0) <= 0.25):
                break
            step *= farther
        gained = value - lowest
        if best is not None:
            moved, x, value = best - x, best, lowest
        if gained <= 1e-14 * abs(value):
            if moved is None:
                metric, fresh = width**2 * np.eye(x.size), True
            moved, spacing = None, 0.01 * spacing


def advanced_to_local_search(run: Run) -> None:
    while not run.de_state.counters[Counter.LOCAL_PHASE]:
        assert not run.ended
        run.advance(run.evaluations + 1)


@pytest.mark.parametrize(
    ("function", "dimension", "points"), [(ellipsoid, 6, 120), (rosenbrock, 4, 120), (corner, 5, 25), (kink, 3, 40)]
)
def test_every_point_is_that_of_the_rewrite(function: Any, dimension: int, points: int) -> None:
    """As long as rounding does not count: differences of differences lose half of the digits."""
    run = run_of(function, dimension, budget=1000 + 4 * points, local_share=0.4, target_value=-math.inf, **SHRINKS)
    advanced_to_local_search(run)
    plain = plain_search(run.de_state.best_point.copy(), run.best_value, -5.0, 5.0)
    expected, compared = next(plain), 0
    while compared < points:
        found = run.population.copy()
        assert found.shape == expected.shape
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6)
        expected = plain.send(np.array([function(point) for point in found]))
        compared += len(found)
        run.advance(run.evaluations + len(found))
        assert run.de_state.counters[Counter.LOCAL_PHASE]


@pytest.mark.parametrize(("function", "dimension"), [(ellipsoid, 10), (rosenbrock, 10)])
def test_smooth_valleys_are_followed_to_the_end(function: Any, dimension: int) -> None:
    """Of the evaluations that would have been DE's, which alone gets nowhere near."""
    config = {"policy": "softmax", "budget": 4000, "target_value": 1e-8, **SHRINKS}
    alone, with_share = run_of(function, dimension, **config), run_of(function, dimension, local_share=0.4, **config)
    for run in (alone, with_share):
        run.advance(4000)
    assert with_share.best_value <= 1e-8 < 1e-2 < alone.best_value


def test_bounds_hold_points_and_do_not_stop_the_search() -> None:
    run = run_of(corner, 6, budget=1500, local_share=0.3, **SHRINKS)
    advanced_to_local_search(run)
    while run.de_state.counters[Counter.LOCAL_PHASE]:
        assert np.abs(run.population).max() <= 5.0
        run.advance(run.evaluations + len(run.population))
    np.testing.assert_array_equal(run.de_state.best_point[:2], [5.0, -5.0])
    np.testing.assert_allclose(run.de_state.best_point[2:], [0.2, 0.3, 0.4, 0.5], atol=1e-6)


def test_de_is_the_same_until_the_share_begins_and_resumes_when_nothing_slopes() -> None:
    """Its population waits, and no more of it is removed than the schedule says."""
    config = {"policy": "softmax", "budget": 2000, **SHRINKS}
    whole, alone = run_of(stairs, 4, local_share=0.3, **config), run_of(stairs, 4, **config)
    while not whole.de_state.counters[Counter.LOCAL_PHASE]:
        np.testing.assert_array_equal(whole.population, alone.population)
        np.testing.assert_array_equal(whole.fitness, alone.fitness)
        for run in (whole, alone):
            run.advance(run.evaluations + int(run.de_state.counters[Counter.GENERATION_SIZE]))
    assert 1400 <= whole.evaluations < 1400 + 30 and not alone.ended
    waiting = whole.de_state.best_population[: whole.individuals].copy()
    np.testing.assert_array_equal(waiting, alone.population)
    whole.advance(whole.evaluations + 12)  # three gradients: there is no slope
    assert whole.de_state.counters[Counter.LOCAL_PHASE] == Phase.NONE and whole.initialised
    assert all((waiting == point).all(axis=1).any() for point in whole.population)
    whole.advance(2000)
    assert whole.evaluations == 2000 and len(whole.population) == 7


def test_cma_es_resumes_too() -> None:
    run = run_of(stairs, 3, budget=3000, cma_share=1.0, local_share=0.3)
    advanced_to_local_search(run)
    sigma = run.de_state.model[0]
    run.advance(run.evaluations + 9)
    counters = run.de_state.counters
    assert counters[Counter.SAMPLING] and not counters[Counter.LOCAL_PHASE] and run.de_state.model[0] == sigma
    run.advance(3000)
    assert run.evaluations == 3000


def test_it_comes_after_the_decision_about_cma_es() -> None:
    assert DEConfig(budget=1000, cma_share=0.1, local_share=0.3).local_from == 900
    assert DEConfig(budget=1000, cma_share=0.25, local_share=0.2).local_from == 800
    assert DEConfig(budget=1000, cma_share=1.0, local_share=0.3).local_from == 700
    assert DEConfig(budget=1000).local_from == 1000


def test_it_leaves_what_is_too_little_for_a_gradient() -> None:
    """With 20 coordinates and 15 evaluations left nobody else could use them either, so DE does."""
    run = run_of(ellipsoid, 20, budget=300, local_share=0.05, **SHRINKS)
    run.advance(300)
    assert run.evaluations == 300 and run.initialised and not run.de_state.counters[Counter.LOCAL_DONE]


@pytest.mark.parametrize("share", [0.0, 0.25, 1.0])
def test_the_population_that_is_shown_at_the_end(share: float) -> None:
    """That of DE, and the best point is one of it; where CMA-ES searched alone the best point."""
    run = run_of(ellipsoid, 8, policy="softmax", budget=3000, local_share=0.2, cma_share=share, **SHRINKS)
    run.advance(3000)
    assert run.ended and run.fitness.min() == run.best_value and np.isfinite(run.fitness).all()
    best = int(run.fitness.argmin())
    np.testing.assert_array_equal(run.population[best], run.de_state.best_point)
    assert len(run.population) == (7 if share == 0.0 else len(run.fitness))


def test_what_is_shown_while_points_are_asked_for() -> None:
    """The population of DE with the best point, and no convergence: at a stop by hand, too."""
    measures = []

    def callback(x: np.ndarray, convergence: float) -> bool:
        measures.append(convergence)
        return convergence >= 1.0

    settings: dict[str, Any] = {"bounds": [(-5, 5)] * 8, "maxfun": 4000, "rng": 1, "local_share": 0.2}
    assert minimize(ellipsoid, callback=callback, **settings).nfev == 4000 and max(measures) == 0.0
    search = Optimizer([(-5, 5)] * 8, maxfun=1500, rng=1, local_share=0.2)
    seen = set()
    while not search.stop():
        points = search.ask()
        search.tell(points, [ellipsoid(point) for point in points])
        if search._run.searches_locally:
            seen.add(int(search._run.de_state.counters[Counter.LOCAL_PHASE]))
            shown = search.result
            assert len(shown.population) > 8 and np.isfinite(shown.population_energies).all()
            assert shown.population_energies.min() == shown.fun
            best = int(shown.population_energies.argmin())
            np.testing.assert_array_equal(shown.population[best], shown.x)
    assert seen == {Phase.GRADIENT, Phase.LINE}


@pytest.mark.parametrize("updating", ["sequential", "deferred"])
def test_asking_and_telling_is_the_same_search(updating: str) -> None:
    config = {"population_size": 15, "budget": 900, "local_share": 0.3, "updating": updating}
    inside, outside = run_of(rosenbrock, 3, seed=3, **config), run_of(rosenbrock, 3, seed=3, **config)
    inside.advance(900)
    while not outside.ended:
        first, last = outside.ask()
        for i in range(first, last):
            outside.tell(i, rosenbrock(outside.points[i]))
    assert outside.evaluations == inside.evaluations
    assert outside.best_value == inside.best_value


@pytest.mark.parametrize("share", [0.0, 0.25, 1.0])
def test_every_generation_can_be_loaded(share: float) -> None:
    """Before, while and after the local search; more coordinates than individuals."""
    for function, dimension in ((rastrigin, 3), (ellipsoid, 40)):
        config = {"budget": 1500, "cma_share": share, "local_share": 0.25, **SHRINKS}
        run = run_of(function, dimension, policy="softmax", **config)
        phases = set()
        while not run.ended:
            phases.add(int(run.de_state.counters[Counter.LOCAL_PHASE]))
            check_arena(run.spec, run.arena)
            run.advance(run.evaluations + 1)
        check_arena(run.spec, run.arena)
        assert phases == {Phase.NONE, Phase.GRADIENT, Phase.LINE}


def test_memory_that_no_run_has_is_refused() -> None:
    run = run_of(ellipsoid, 4, budget=1500, local_share=0.3, **SHRINKS)
    advanced_to_local_search(run)
    check_arena(run.spec, run.arena)
    wrong: list[dict[int, int]] = [
        {Counter.LOCAL_PHASE: Phase.LINE},
        {Counter.LOCAL_PHASE: 3},
        {Counter.LOCAL_DONE: 0},
        {Counter.INITIALISED: 1},
        {Counter.POPULATION: 5},
        {Counter.BEST_POPULATION_SIZE: 0},
        {Counter.LOCAL_FROM: 0},
        {Counter.SAMPLING: 1},
    ]
    for values in wrong:
        broken = Run.resume(run.spec, run.arena)
        broken.de_state.counters[list(values)] = list(values.values())
        with pytest.raises(ValueError, match="the memory of the search|must hold"):
            check_arena(run.spec, broken.arena)
    broken = Run.resume(run.spec, run.arena)
    broken.de_state.local[Local.SPACING] = math.nan
    with pytest.raises(ValueError, match="local"):
        check_arena(run.spec, broken.arena)


def test_a_run_without_the_share_cannot_be_made_to_search_locally() -> None:
    """There is no room for its points."""
    run = run_of(ellipsoid, 4, budget=1500, **SHRINKS)
    run.advance(1000)
    for values in ({Counter.LOCAL_FROM: 900, Counter.LOCAL_DONE: 0}, {Counter.LOCAL_DONE: 0}, {Counter.LOCAL_PHASE: 1}):
        broken = Run.resume(run.spec, run.arena)
        broken.de_state.counters[list(values)] = list(values.values())
        with pytest.raises(ValueError, match="the memory of the search|must hold"):
            check_arena(run.spec, broken.arena)


def test_a_saved_search_goes_on_within_the_local_search(tmp_path: Any) -> None:
    def ask_and_tell(search: Optimizer, count: int) -> None:
        for _ in range(count):
            points = search.ask()
            search.tell(points, [ellipsoid(point) for point in points])

    settings: dict[str, Any] = {"maxfun": 900, "local_share": 0.4, "rng": 5, "population_size": 20}
    straight, stopped = (Optimizer([(-5, 5)] * 5, **settings) for _ in range(2))
    ask_and_tell(straight, 900)
    ask_and_tell(stopped, 650)
    assert stopped._run.de_state.counters[Counter.LOCAL_PHASE]
    stopped.save(tmp_path / "search")
    again = Optimizer.load(tmp_path / "search")
    ask_and_tell(again, 250)
    assert again.result.fun == straight.result.fun and again.result.nfev == 900


@pytest.mark.parametrize("evaluations", [300, 1300, 1500])
@pytest.mark.parametrize("share", [0.0, 1.0])
def test_an_extension_gives_the_population_back_and_searches_locally_again(evaluations: int, share: float) -> None:
    config = {"cma_share": share, "local_share": 0.25, **SHRINKS}
    run = run_of(ellipsoid, 12, policy="softmax", budget=1500, **config)
    run.advance(evaluations)
    while not run.between_generations:
        run.advance(run.evaluations + 1)
    before, individuals = run.best_value, run.individuals
    extend_run(run, DEConfig(budget=4000, **config))
    counters = run.de_state.counters
    assert run.individuals >= individuals and counters[Counter.LOCAL_PHASE] == Phase.NONE
    assert not counters[Counter.LOCAL_DONE] and counters[Counter.LOCAL_FROM] == 3000
    check_arena(run.spec, run.arena)
    advanced_to_local_search(run)
    assert run.evaluations >= 3000 and run.best_value <= before
    run.advance(4000)
    assert run.evaluations == 4000


def test_an_extension_that_ends_a_run_within_cma_es_shows_the_best_point(tmp_path: Any) -> None:
    """More coordinates than samples: a gradient waits when the last evaluation has been made."""
    search = Optimizer([(-5, 5)] * 30, maxfun=4000, cma_share=1.0, local_share=0.2, rng=1)
    run, ended = search._run, 0
    while not search.stop() and ended < 2:
        points = np.atleast_2d(search.ask())
        if run.de_state.counters[Counter.LOCAL_PHASE] == Phase.LINE:
            other = copy.deepcopy(search)
            other.extend(maxfun=run.evaluations + 1)
            other.tell(points, [ellipsoid(point) for point in points])
            if other._run.ended:
                ended += 1
                result = other.result
                assert result.population_energies.min() == result.fun and np.isfinite(result.population_energies).all()
                other.save(tmp_path / "search")
                assert Optimizer.load(tmp_path / "search").result.fun == result.fun
        search.tell(points, [ellipsoid(point) for point in points])
    assert ended == 2


def test_an_extension_may_come_too_late() -> None:
    run = run_of(ellipsoid, 4, budget=1000, local_share=0.2, **SHRINKS)
    run.advance(1000)
    extend_run(run, DEConfig(budget=1100, local_share=0.2, **SHRINKS))
    run.advance(1100)
    assert run.evaluations == 1100 and run.de_state.counters[Counter.LOCAL_DONE]
    extend_run(run, DEConfig(budget=3000, local_share=0.2, **SHRINKS))
    advanced_to_local_search(run)
    assert run.evaluations >= 2400


@pytest.mark.parametrize(
    ("settings", "rule"),
    [
        ({"constraints": NonlinearConstraint(lambda x: x[0], 0.0, np.inf)}, "with constraints"),
        ({"integrality": True}, "with integer coordinates"),
        ({"updating": "asynchronous"}, "with updating 'asynchronous'"),
        ({"restart_tolerance": 0.01}, "with restarts"),
    ],
)
def test_where_it_cannot_search(settings: dict[str, Any], rule: str) -> None:
    with pytest.raises(ValueError, match=f"local_share must be 0 {rule}"):
        minimize(lambda x: float(np.sum(x**2)), [(-5, 5)] * 2, maxfun=500, local_share=0.2, **settings)


def test_a_wrong_share_is_refused() -> None:
    for share in (-0.1, 0.5, 1.0, math.nan):
        with pytest.raises(ValueError, match="local_share must"):
            minimize(lambda x: 0.0, [(0, 1)], maxfun=100, local_share=share)
    with pytest.raises(ValueError, match="local_share must be 0 without maxfun"):
        Optimizer([(-5, 5)] * 2, local_share=0.25)


def test_values_that_are_not_finite_do_not_stop_it() -> None:
    def broken(x: np.ndarray) -> float:
        return math.nan if x[0] > 0.0 else float(np.sum((x + 2.0) ** 2))

    found = minimize(broken, [(-5, 5)] * 3, maxfun=1000, local_share=0.4, rng=1)
    assert found.nfev == 1000 and found.fun < 1e-10
    nothing = minimize(lambda x: math.inf, [(-5, 5)] * 3, maxfun=600, local_share=0.4, rng=1)
    assert nothing.nfev == 600 and not nothing.success


def test_uneven_and_fixed_widths() -> None:
    """Coordinates are measured in widths of the box; one that cannot move stays where it is."""
    scales = np.array([1e-6, 1.0, 1e6])
    found = minimize(
        lambda x: float(np.sum((x / scales - 0.3) ** 2)), [(-s, s) for s in scales], maxfun=700, local_share=0.4, rng=2
    )
    assert found.fun < 1e-12
    fixed = minimize(lambda x: float(np.sum((x - 0.3) ** 2)), [(-1, 1), (0.5, 0.5)], maxfun=400, local_share=0.4, rng=2)
    assert fixed.x[1] == 0.5 and fixed.fun == pytest.approx(0.04, abs=1e-10)


def test_a_polished_search_has_none_of_its_own() -> None:
    seen: list[int] = []

    def counted(x: np.ndarray) -> float:
        seen.append(1)
        return float(rosenbrock(x))

    found = minimize(counted, [(-5, 5)] * 4, maxfun=2000, polish=True, rng=1)
    assert found.nfev == len(seen) <= 2000 and "Polishing took" in found.message


# -- what a review found


def told_until(search: Optimizer, function: Any, done: Any) -> None:
    while not done() and not search.stop():
        points = search.ask()
        search.tell(points, [float(function(point)) for point in points])


@pytest.mark.parametrize("evaluations", [500, 1060, 1300, 1500])
@pytest.mark.parametrize("maxfun", [1520, 1600, 4000])
@pytest.mark.parametrize("share", [0.0, 0.25])
def test_an_extension_keeps_the_individuals_that_a_policy_knows(evaluations: int, maxfun: int, share: float) -> None:
    class Counts:
        name, needs_features, portfolio = "counts", False, None

        def reset(self, n_ops: int, n_pop: int, rng: np.random.Generator) -> None:
            self.known = n_pop

        def choose(self, features: np.ndarray, i: int) -> int:
            assert i < self.known
            return 0

        def learn(self, *_: Any) -> None: ...

        def end_generation(self) -> None: ...

        def renumber(self, origin: np.ndarray) -> None:
            assert origin.max() < self.known
            self.known = origin.size

    policy: Any = Counts()
    shares = {"cma_share": share, "local_share": 0.3}
    search = Optimizer([(-5, 5)] * 6, maxfun=1500, policy=policy, rng=1, **shares, **SHRINKS)
    run = search._run
    told_until(search, ellipsoid, lambda: search.result.nfev >= evaluations and run.between_generations)
    search.extend(maxfun=max(maxfun, search.result.nfev + 10))
    while not search.stop():
        assert policy.known == search._run.individuals
        check_arena(search._run.spec, search._run.arena)
        told_until(search, ellipsoid, lambda n=search.result.nfev: search.result.nfev > n + 20)


def test_a_run_that_ends_within_a_gradient_can_be_loaded(tmp_path: Any) -> None:
    """CMA-ES waits; the best point of the gradient is not the first one."""
    search = Optimizer([(-5, 5)] * 6, maxfun=2000, cma_share=1.0, local_share=0.2, rng=1, ftarget=-1)
    counters = search._run.de_state.counters

    def falls(x: np.ndarray) -> float:
        in_gradient = counters[Counter.LOCAL_PHASE] == Phase.GRADIENT and counters[Counter.TOLD] == 3
        return -2.0 if in_gradient else float(ellipsoid(x))

    told_until(search, falls, lambda: False)
    search.save(tmp_path / "search")
    assert Optimizer.load(tmp_path / "search").result.fun == -2.0


def test_cma_es_cannot_hand_back_to_too_few_individuals() -> None:
    run = run_of(rosenbrock, 6, budget=4000, cma_share=0.25, local_share=0.2, **SHRINKS)
    while not (run.de_state.counters[Counter.LOCAL_PHASE] and run.de_state.counters[Counter.SAMPLING]):
        assert not run.ended
        run.advance(run.evaluations + 1)
    check_arena(run.spec, run.arena)
    run.de_state.counters[Counter.BEST_POPULATION_SIZE] = 1
    with pytest.raises(ValueError, match="population has a size that DE may have"):
        check_arena(run.spec, run.arena)


def test_an_extension_without_the_share_can_be_saved() -> None:
    """With fewer rows than there were points of a gradient."""
    config = {"population_size": 11, "final_population": 6}
    for seed in range(10):
        run = run_of(ellipsoid, 24, budget=144, local_share=0.3, seed=seed, **config)
        run.advance(144)
        extend_run(run, DEConfig(budget=200, **config))
        while not run.ended:
            check_arena(run.spec, run.arena)
            run.advance(run.evaluations + 1)


def test_many_coordinates_take_no_room_for_a_search_that_cannot_begin() -> None:
    for maxfun, dimension, possible in ((500, 2000, False), (12_000, 2000, False), (10_000, 100, True)):
        search = Optimizer([(-5, 5)] * dimension, maxfun=maxfun, rng=1)
        assert (search._run.de_state.local_point.size > 0) == possible


def test_points_on_a_line_are_no_generations() -> None:
    """Who limits generations means those of a population."""
    found = minimize(rosenbrock, [(-5, 5)] * 5, maxfun=3000, maxiter=1000, local_share=0.4, rng=1, **SHRINKS)
    alone = minimize(rosenbrock, [(-5, 5)] * 5, maxfun=3000, local_share=0, rng=1, **SHRINKS)
    assert found.nfev == 3000 and found.nit < alone.nit
