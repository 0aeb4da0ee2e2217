"""Integers and categories in the engine: the lattice, forced steps, and points that are evaluated once."""

from __future__ import annotations

import itertools
from collections import Counter as Tally

import numpy as np
import pytest
from scipy.stats import rankdata

from deddqn import DEConfig, Portfolio, Problem, RunSpec
from deddqn.de.discrete import enter_given_population
from deddqn.de.discrete_state import visited_slots
from deddqn.de.state import Counter, End, de_state_sizes
from deddqn.engine import stepping
from deddqn.engine.run import Run
from deddqn.policies import load_policy
from deddqn.problems.integrality import check_integrality, lattice_bounds, lattice_points, on_lattice, spread_on_lattice
from tests.de.test_prescreening import score_at


def run_on(bounds, integrality, *, strategies=("rand/1",), seed=1, population=None, **config):
    """A run that has not begun, without a function."""
    pairs = np.asarray(bounds, dtype=float)
    spec = RunSpec(
        problem=Problem.box(pairs[:, 0], pairs[:, 1], integrality=integrality),
        policy=load_policy("random"),
        portfolio=Portfolio(strategies),
        config=DEConfig(**{"population_size": 10, "budget": 500, **config}),
        seed=seed,
    )
    return Run(spec, population)


def points_of(run, value):
    """Run to the end from outside; all points in their order."""
    points = []
    while not run.ended:
        first, last = run.ask()
        for i in range(first, last):
            points.append(run.points[i].copy())
            run.tell(i, value(points[-1]))
    return np.array(points)


# What Python computes at the border


def test_bounds_become_integers():
    lower, upper, kinds = np.array([-1.5, 0.2, 0.2, -0.4]), np.array([2.5, 3.0, 3.0, 0.4]), np.array([1, 2, 0, 1])
    low, high = lattice_bounds(lower, upper, kinds)
    assert low.tolist() == [-1.0, 1.0, 0.2, 0.0] and high.tolist() == [2.0, 3.0, 3.0, 0.0]
    assert not np.signbit(low[3])
    assert lattice_points(low[:2], high[:2], kinds[:2]) == 4 * 3
    assert lattice_points(low, high, kinds) == np.inf


@pytest.mark.parametrize(
    ("given", "codes"),
    [(None, [0, 0, 0]), (True, [1, 1, 1]), ([True, False, True], [1, 0, 1]), ([0, 1, 2], [0, 1, 2]), (2.0, [2, 2, 2])],
)
def test_codes(given, codes):
    assert check_integrality(given, 3).tolist() == codes


@pytest.mark.parametrize("given", ["yes", 4, -1, 0.5, [1, 1], [[1, 1, 1]], ["a"] * 3, [1, np.nan, 1]])
def test_wrong_codes(given):
    with pytest.raises(ValueError, match=r"integrality must be .* got"):
        check_integrality(given, 3)


def test_no_integer_between_the_bounds():
    with pytest.raises(
        ValueError, match=r"bounds must have an integer between them .*got \(0.2, 0.8\) at coordinate 1"
    ):
        lattice_bounds(np.array([0.2, 0.2]), np.array([0.8, 0.8]), np.array([0, 1]))
    with pytest.raises(ValueError, match=r"within 2\*\*53"):
        lattice_bounds(np.array([0.0]), np.array([1e17]), np.array([1]))


def test_rounding_of_given_points_by_hand():
    lower, upper, kinds = np.array([1.0, 1.0, 0.0]), np.array([3.0, 3.0, 9.0]), np.array([1, 2, 0])
    points = np.array([[0.7, 3.4, 0.7], [1.5, 2.5, 1.5], [2.6, 0.9, 2.6]])
    expected = [[1.0, 3.0, 0.7], [2.0, 2.0, 1.5], [3.0, 1.0, 2.6]]  # halves to even, as numpy does
    assert on_lattice(points, lower, upper, kinds).tolist() == expected


def test_designs_give_every_integer_an_equal_part():
    design = np.linspace(0.0, 1.0, 13)[:, None]
    points = spread_on_lattice(design, np.array([2.0]), np.array([5.0]), np.array([1]))[:, 0]
    assert points.tolist() == [2, 2, 2, 3, 3, 3, 4, 4, 4, 5, 5, 5, 5]


# Memory


def test_runs_without_integers_have_no_room_for_them():
    portfolio, config = Portfolio(["rand/1"]), DEConfig()
    sizes = de_state_sizes(portfolio, config, 3)
    assert sizes["integrality"] == sizes["visited"] == 0
    mixed = de_state_sizes(portfolio, config, 3, points=np.inf)
    assert (mixed["integrality"], mixed["visited"]) == (3, 0)
    assert de_state_sizes(portfolio, config, 3, points=1000.0)["visited"] == 2048
    assert [visited_slots(points) for points in (1, 4, 5, 1e30)] == [8, 8, 16, 2**17]


# The first population


def test_all_integers_are_equally_likely_at_first():
    counts = Tally()
    for seed in range(40):
        run = run_on([(-0.9, 3.9)] + [(0, 1)], [1, 0], seed=seed, population_size=100)
        counts.update(run.population[:, 0].tolist())
    assert sorted(counts) == [0.0, 1.0, 2.0, 3.0]
    assert max(abs(count - 1000) for count in counts.values()) < 5 * np.sqrt(4000 * 0.25 * 0.75)


def test_the_first_population_has_no_point_twice():
    run = run_on([(0, 9), (0, 9)], True, population_size=90)
    assert len({tuple(x) for x in run.population}) == 90
    assert run.de_state.counters[Counter.VISITED] == 90


def test_given_populations_have_no_point_twice_either():
    given = np.zeros((10, 2))
    run = run_on([(0, 3), (0, 3)], [1, 2], population=given)
    assert run.population[0].tolist() == [0.0, 0.0]
    assert len({tuple(x) for x in run.population}) == 10
    run.de_state.parents[0] = run.de_state.parents[4]
    enter_given_population(run.de_state.address)
    assert len({tuple(x) for x in run.population}) == 10 == run.de_state.counters[Counter.VISITED]


# Trials


@pytest.mark.parametrize("repair", ["clip", "reflect", "midpoint"])
@pytest.mark.parametrize("updating", ["sequential", "deferred"])
def test_points_lie_on_the_lattice(repair, updating):
    bounds, kinds = [(-2.5, 2.5), (0, 6), (1.5, 3.5), (-1, 1)], [1, 2, 1, 0]
    run = run_on(bounds, kinds, repair=repair, updating=updating, strategies=("rand/2", "best/1"))
    points = points_of(run, lambda x: float(np.sum(np.sin(9.0 * x))))
    assert set(points[:, 0]) == {-2, -1, 0, 1, 2}
    assert set(points[:, 1]) == set(range(7))
    assert set(points[:, 2]) == {2, 3}
    assert len(set(points[:, 3])) > 400


def trial_of(run, i, strategy_population):
    """The trial of individual `i` after the given population was evaluated; parents are set by hand."""
    run.de_state.parents[: len(strategy_population)] = strategy_population
    for k in range(len(strategy_population)):
        run.tell(k, 1.0)
    stepping.ask_points(run.address)
    return run.points[i].copy()


def test_trials_are_rounded_mutants_but_for_rare_steps():
    """rand/1 with F = 0.37, worked out from the donors: rounded to the nearest, or that and a power of 2."""
    rng, exact, off = np.random.default_rng(1), 0, []
    for seed in range(40):
        population = rng.integers(-50, 50, size=(10, 4)).astype(float)
        run = run_on(
            [(-300, 300)] * 4, [1, 1, 1, 0], strategies=[("rand/1", 0.37, 1.0)], seed=seed, updating="deferred"
        )
        trials = trial_of(run, slice(None), population)
        r1, r2, r3 = run.de_state.donors[:, :3].T
        mutants = population[r1] + 0.37 * (population[r2] - population[r3])
        assert (trials[:, 3] == mutants[:, 3]).all()
        difference = (trials - np.floor(mutants + 0.5))[:, :3]
        exact += int((difference == 0.0).sum())
        off.extend(abs(difference[difference != 0.0]))
    assert exact + len(off) == 1200
    assert np.log2(off).tolist() == np.round(np.log2(off)).tolist()
    assert 30 < len(off) < 100  # 1200 * 0.2 / 4 = 60


def test_a_trial_that_equals_its_parent_takes_a_step():
    """All parents are one point: differences are 0, and yet no trial is that point."""
    population = np.full((10, 3), 4.0)
    for kinds in ([1, 1, 0], [2, 2, 0], [1, 2, 0]):
        run = run_on([(0, 8), (0, 8), (0, 8)], kinds, updating="deferred")
        trials = trial_of(run, slice(None), population)
        moved = trials != population
        assert (moved.sum(axis=1) >= 1).all()
        assert not moved[:, 2].any()


def test_where_nothing_can_move_the_parent_is_evaluated_again():
    run = run_on([(2, 2), (0.0, 0.0)], [1, 0], budget=40)
    assert len(points_of(run, lambda x: 1.0)) == 40


def test_categories_come_from_the_population_or_are_any():
    """Of 1000 categories the population has two; a mutant's number would be anywhere between and beyond."""
    population = np.column_stack([[100.0, 900.0] * 5, np.linspace(0.0, 1.0, 10) ** 2])
    seen = Tally()
    for seed in range(60):
        run = run_on([(0, 999), (-9, 9)], [2, 0], seed=seed, updating="deferred")
        seen.update(trial_of(run, slice(None), population)[:, 0].tolist())
    known = (seen[100.0] + seen[900.0]) / sum(seen.values())
    assert 0.75 < known < 0.95


# Points that were evaluated


@pytest.mark.parametrize("updating", ["sequential", "deferred"])
@pytest.mark.parametrize("kinds", [1, 2, [1, 2, 1]])
def test_no_point_is_evaluated_twice(updating, kinds):
    bounds = [(0, 11), (0, 4), (-3, 3)]
    run = run_on(bounds, kinds, updating=updating, strategies=("rand/1", "best/1", "curr-to-pbest/1"), budget=400)
    points = points_of(run, lambda x: float(x @ x))
    assert len(points) == 400 == len(set(map(tuple, points)))
    assert run.ended == End.BUDGET


@pytest.mark.parametrize("updating", ["sequential", "deferred"])
@pytest.mark.parametrize("more", [{}, {"restart_tolerance": 0.9}, {"final_population": 6}])
def test_a_search_ends_when_all_points_are_evaluated(updating, more):
    bounds = [(0, 3), (0, 4), (-3, 3)]
    run = run_on(bounds, [1, 2, 1], updating=updating, **more)
    points = points_of(run, lambda x: float(abs(x).sum()))
    assert sorted(map(tuple, points)) == sorted(itertools.product(range(4), range(5), range(-3, 4)))
    assert run.ended == End.EXHAUSTED


def test_a_space_smaller_than_the_population():
    run = run_on([(0, 1), (0, 1)], [1, 2])
    points = points_of(run, lambda x: float(x.sum()))
    assert sorted(map(tuple, points)) == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert run.best_value == 0.0 and run.ended == End.EXHAUSTED


def test_restarts_begin_at_new_points():
    run = run_on([(0, 30), (0, 30)], True, restart_tolerance=0.5, budget=700)
    points = points_of(run, lambda x: float(x @ x))
    assert run.de_state.counters[Counter.RESTARTS] > 0
    assert len(points) == 700 == len(set(map(tuple, points)))


def test_large_spaces_have_no_number_of_points_to_reach():
    run = run_on([(-1e15, 1e15)] * 20, True)
    points = points_of(run, lambda x: float(abs(x).sum()))
    assert len(set(map(tuple, points))) == 500
    assert (points == np.round(points)).all()


def test_pre_screening_remembers_the_candidate_that_is_taken():
    pairs = np.array([(0.0, 15.0)] * 3)
    policy = load_policy("softmax-x")
    config = DEConfig(population_size=20, budget=600, n_candidates=3, final_population=8, restart_tolerance=0.1)
    problem = Problem.box(pairs[:, 0], pairs[:, 1], integrality=[1, 2, 1])
    run = Run(RunSpec(problem=problem, policy=policy, portfolio=policy.portfolio, config=config, seed=2))
    points = points_of(run, lambda x: float(x @ x))
    assert len(points) == 600 == len(set(map(tuple, points)))
    assert run.de_state.counters[Counter.VISITED] == 600


def test_categories_are_equally_far_apart_for_the_surrogate():
    """The score by linear algebra, where another category adds 1 to a squared distance, whatever its number is."""
    rng = np.random.default_rng(3)
    known = np.column_stack([rng.integers(0, 5, 8), rng.random(8)])
    values, new = rng.random(8), np.array([[0.0, 0.5], [3.0, 0.5], [4.0, 0.1]])
    policy, config = load_policy("softmax-x"), DEConfig(population_size=8, budget=100, n_candidates=2)
    box = Problem.box([0.0, 0.0], [4.0, 1.0], integrality=[2, 0])
    run = Run(RunSpec(problem=box, policy=policy, portfolio=policy.portfolio, config=config))
    run.de_state.parents[:8], run.de_state.fitness[:] = known, values
    run.de_state.order[:] = np.argsort(values)
    found = np.empty(3)
    score_at(run.address, new, found)

    def squares(one, other):
        return 1.0 * (one[:, None, 0] != other[None, :, 0]) + (one[:, None, 1] - other[None, :, 1]) ** 2

    scaled = known / [4.0, 1.0]
    length = 20.0 * ((scaled - scaled.mean(axis=0)) ** 2).sum(axis=1).mean()
    ranks = 1.0 - 2.0 * (rankdata(values) - 1.0) / 7.0
    weights = np.linalg.solve(length / (length + squares(known, known)) + 0.001 * np.eye(8), ranks)
    away = squares(new, known)
    expected = 0.5 + 0.5 * (length / (length + away)) @ weights + away.min(axis=1) / length
    np.testing.assert_allclose(found, expected, atol=1e-9)
