"""`integrality` of minimize and Optimizer, as in scipy."""

from __future__ import annotations

import numpy as np
import pytest
from numba import njit
from scipy.optimize import Bounds, differential_evolution

import deddqn
from deddqn import Optimizer, Problem, minimize
from tests.optimize.objectives import assert_same, by_ask_and_tell

BOX = [(-6.2, 6.9), (0, 4), (-3.0, 3.0), (-2.5, 9.5)]
KINDS = {"integers": 1, "discrete": [1, 2, 1, 1], "mixed": [1, 2, 0, 0]}
SETTINGS = {
    "paper": {"policy": "random", "population_size": 20},
    "default": {},
    "cma": {
        "portfolio": ["cma", ("curr-to-pbest/1", 0.5, 0.9, "F+CR")],
        "restart_tolerance": 0.2,
        "final_population": 7,
    },
}


def cost(x):
    """Plain float arithmetic, so that jitted and plain calls agree to the bit."""
    total = 0.0
    for k in range(len(x)):
        total += (x[k] - 1.3 * k) * (x[k] - 1.3 * k) + 2.0 * abs(x[k] - x[0])
    return total


jitted_cost = njit(cost)


def costs(x):
    return np.array([cost(column) for column in x.T])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("setting", SETTINGS)
def test_interfaces_agree(kind, setting):
    options = {"integrality": KINDS[kind], "maxfun": 300, "rng": 3, "history": True, **SETTINGS[setting]}
    plain = minimize(cost, BOX, **options)
    assert_same(plain, minimize(jitted_cost, BOX, **options))
    assert_same(plain, by_ask_and_tell(Optimizer(BOX, **options), cost))
    assert_same(plain, minimize(cost, BOX, maxtime=1000, **options))
    options["updating"] = "deferred"
    deferred = minimize(cost, BOX, **options)
    assert_same(deferred, minimize(jitted_cost, BOX, **options))
    assert_same(deferred, minimize(costs, BOX, vectorized=True, **options))
    assert_same(deferred, minimize(cost, BOX, workers=map, **options))
    assert_same(deferred, by_ask_and_tell(Optimizer(BOX, **options), cost))


def test_workers():
    options = {"integrality": KINDS["discrete"], "maxfun": 200, "rng": 3, "updating": "deferred"}
    assert_same(minimize(cost, BOX, **options), minimize(cost, BOX, workers=2, **options))


def test_a_problem_has_its_own():
    problem = Problem.from_function(cost, BOX, integrality=KINDS["mixed"])
    expected = minimize(cost, BOX, integrality=KINDS["mixed"], maxfun=300, rng=3)
    assert_same(expected, minimize(problem, maxfun=300, rng=3))
    assert_same(expected, Optimizer(BOX, integrality=KINDS["mixed"], maxfun=300, rng=3).optimize(problem))
    with pytest.raises(ValueError, match="integrality must be left out for a Problem"):
        minimize(problem, integrality=1)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("updating", ["sequential", "deferred"])
def test_saved_in_the_middle(tmp_path, kind, updating):
    options = {"integrality": KINDS[kind], "maxfun": 400, "rng": 5, "updating": updating}
    optimizer = Optimizer(BOX, **options)
    for _ in range(11 if updating == "deferred" else 130):
        points = optimizer.ask(9)
        optimizer.tell(points, [cost(x) for x in points])
    optimizer.save(tmp_path / "search.npz")
    loaded = Optimizer.load(tmp_path / "search.npz")
    assert loaded.problem.integrality.tolist() == optimizer.problem.integrality.tolist()
    expected = optimizer.optimize(cost)
    assert_same(expected, loaded.optimize(cost))
    assert_same(expected, minimize(cost, BOX, **options))


def test_a_file_whose_table_of_points_is_wrong_is_refused(tmp_path):
    optimizer = Optimizer(BOX, integrality=KINDS["discrete"], maxfun=400, rng=5)
    optimizer._run.de_state.visited[:] = 1
    optimizer.save(tmp_path / "search.npz")
    with pytest.raises(ValueError, match="the table of evaluated points has room"):
        Optimizer.load(tmp_path / "search.npz")


def test_no_duplicates_and_a_message_when_all_is_evaluated():
    seen = []
    result = minimize(lambda x: seen.append(tuple(x)) or cost(x), [(0, 6), (1, 5), (0.5, 4.5)], integrality=True, rng=1)
    assert len(seen) == len(set(seen)) == result.nfev == 7 * 5 * 4
    assert result.success and result.message == "All 140 points of the space are evaluated."
    best = min(seen, key=cost)
    assert result.fun == cost(best)


def test_x0_and_init_are_rounded():
    optimizer = Optimizer(BOX, integrality=[1, 1, 0, 1], x0=[-6.2, 2.6, 0.4, 9.5], maxfun=300, rng=1)
    assert optimizer.ask()[0].tolist() == [-6.0, 3.0, 0.4, 9.0]
    given = np.random.default_rng(1).uniform(*np.transpose(BOX), size=(12, 4))
    optimizer = Optimizer(BOX, integrality=[1, 1, 0, 1], init=given, maxfun=300, updating="deferred", rng=1)
    points = optimizer.ask()
    assert (abs(points - given) <= [0.5 + 0.5, 0.5, 0.0, 0.5 + 0.5]).all()
    assert (points[:, [0, 1, 3]] == np.round(points[:, [0, 1, 3]])).all()
    assert (points[:, 2] == given[:, 2]).all()


@pytest.mark.parametrize("init", ["latinhypercube", "sobol"])
def test_designs(init):
    optimizer = Optimizer(BOX, integrality=True, init=init, population_size=64, maxfun=300, updating="deferred", rng=1)
    points = optimizer.ask()
    assert (points == np.round(points)).all() and len({tuple(x) for x in points}) == 64
    assert set(points[:, 1]) == {0, 1, 2, 3, 4}


def test_bounds_of_integers_are_integers():
    optimizer = Optimizer(Bounds([-0.5, -0.5], [3.5, 3.5]), integrality=[1, 0], rng=1)
    assert [b.tolist() for b in optimizer.bounds] == [[0.0, -0.5], [3.0, 3.5]]
    assert [b.tolist() for b in optimizer.search_bounds] == [[0.0, -0.5], [3.0, 3.5]]


@pytest.mark.parametrize("repair", ["clip", "reflect", "midpoint"])
def test_an_integer_is_an_index(repair):
    table = [3.0, 1.0, 2.0, 0.5]
    for seed in range(5):
        result = minimize(
            lambda x: table[int(x[0])] + x[1] ** 2, [(-0.5, 3.5), (-1, 1)], integrality=[1, 0], repair=repair, rng=seed
        )
        assert result.x[0] == 3.0


def test_polish_moves_continuous_coordinates_only():
    def valley(x):
        return (x[0] - 1.4) ** 2 + 50.0 * (x[1] - 0.123) ** 2 + (x[1] - x[2] ** 2) ** 2

    result = minimize(valley, [(-5, 5)] * 3, integrality=[1, 0, 0], polish=True, maxfun=800, rng=1)
    assert result.x[0] == 1.0 and result.fun < 0.16 + 1e-6 and "Polishing took" in result.message
    result = minimize(valley, [(-5, 5)] * 3, integrality=True, polish=True, maxfun=800, rng=1)
    assert result.nfev == 800 and "Polishing" not in result.message


def test_a_restart_of_a_small_remainder_does_not_come():
    """With fewer new points left than a population needs, the search goes to the end of the space instead."""
    result = minimize(
        cost, [(0, 9), (0, 9), (0, 2)], integrality=True, restart_tolerance=0.9, population_size=50, rng=2
    )
    assert result.nfev == 300


@pytest.mark.parametrize(
    ("integrality", "message"),
    [
        ([1, 1], "integrality must be"),
        ("all", "integrality must be"),
        (7, "integrality must be"),
    ],
)
def test_errors(integrality, message):
    with pytest.raises(ValueError, match=message):
        minimize(cost, BOX, integrality=integrality)
    with pytest.raises(ValueError, match="bounds must have an integer between them"):
        minimize(cost, [(0.1, 0.9)], integrality=1)


def test_the_same_minimum_as_scipy():
    """A quadratic on the lattice whose minimum is not the rounded minimum of its relaxation."""
    matrix = np.array([[4.0, 3.7, 0.5], [3.7, 4.0, 1.2], [0.5, 1.2, 2.0]])

    def quadratic(x):
        z = x - np.array([0.5, 2.45, -3.5])
        return float(z @ matrix @ z)

    box = [(-20, 20)] * 3
    theirs = differential_evolution(quadratic, box, integrality=True, rng=1, popsize=20, tol=1e-8)
    ours = deddqn.minimize(quadratic, box, integrality=True, maxfun=4000, rng=1)
    assert ours.fun == pytest.approx(theirs.fun, abs=1e-12)
