"""Constraints: every interface gives the same run, results say how they are met, and wrong ones are refused."""

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, NonlinearConstraint

from deddqn import Optimizer, ReturnedConstraint, minimize

BOX = [(-5.0, 5.0)] * 3
SMALL = {"maxfun": 400, "population_size": 20, "rng": 3}


def search(fun, constraints, **options):
    return minimize(fun, BOX, constraints=constraints, polish=False, **options)


def bowl(x):
    return (x[0] - 1) ** 2 + (x[1] - 2.5) ** 2 + x[2] ** 2


def limited(x):
    return np.array([x[0] ** 2 + x[1] ** 2, x[2] * x[0] - 0.25])


LINEAR = LinearConstraint([[1.0, 1.0, 0.0], [1.0, -2.0, 0.0]], [-np.inf, -2.0], [2.0, np.inf])
NONLINEAR = NonlinearConstraint(limited, [-np.inf, 0.0], [4.0, 0.0])
RETURNED = ReturnedConstraint([-np.inf, 0.0], [4.0, 0.0])


def simulation(x):
    return bowl(x), limited(x)


def assert_same(one, other):
    for name in ("x", "fun", "nfev", "population", "population_energies", "strategy_counts", "maxcv", "success"):
        np.testing.assert_array_equal(one[name], other[name], err_msg=name)
    for a, b in zip(one.constr_values, other.constr_values, strict=True):
        np.testing.assert_array_equal(a, b)


def by_ask_and_tell(optimizer, tell):
    while not optimizer.stop():
        points = optimizer.ask()
        tell(points)
    return optimizer.result


@pytest.mark.parametrize("updating", ["sequential", "deferred"])
def test_faces_agree(updating):
    options = {**SMALL, "updating": updating}
    plain = search(bowl, [LINEAR, NONLINEAR], **options)
    assert_same(plain, search(simulation, [LINEAR, RETURNED], **options))
    known = Optimizer(BOX, constraints=[LINEAR, NONLINEAR], **options)
    assert_same(plain, by_ask_and_tell(known, lambda p: known.tell(p, [bowl(x) for x in p])))
    told = Optimizer(BOX, constraints=[LINEAR, RETURNED], **options)

    def tell(points):
        rows = [np.append(np.array(LINEAR.A) @ x, limited(x)) for x in points]
        told.tell(points[::-1], [bowl(x) for x in points[::-1]], constraints=rows[::-1])

    np.testing.assert_allclose(by_ask_and_tell(told, tell).fun, plain.fun, rtol=1e-6)


@pytest.mark.parametrize("extra", [{"vectorized": True}, {"workers": 2}, {"workers": map}], ids=str)
def test_batches_agree(extra):
    plain = search(bowl, [LINEAR, NONLINEAR], updating="deferred", **SMALL)
    assert_same(plain, search(bowl, [LINEAR, NONLINEAR], **SMALL, **extra))
    assert_same(plain, search(simulation, [LINEAR, RETURNED], **SMALL, **extra))


def test_optimum_and_fields():
    result = minimize(bowl, BOX, constraints=[LINEAR, NONLINEAR, Bounds(-1.0, 3.0)], maxfun=4000, rng=1)
    assert result.success
    assert result.fun == pytest.approx(1.61285, abs=3e-4)  # scipy's SLSQP, and 1e-4 of the equality
    assert [len(part) for part in result.constr] == [2, 2, 3]
    assert result.maxcv == result.constr_violation == max(part.max() for part in result.constr) <= 1e-4
    assert np.all(result.constr[0] == 0.0) and np.all(result.constr[2] == 0.0)
    np.testing.assert_array_equal(result.constr_values[1], limited(result.x))
    assert result.fun == bowl(result.x)


def test_nothing_feasible():
    result = minimize(bowl, BOX, constraints=NonlinearConstraint(lambda x: x[0] ** 2, -np.inf, -1.0), maxfun=500, rng=1)
    assert not result.success
    assert "No feasible point was found." in result.message
    assert abs(result.x[0]) < 0.1  # the least violation
    assert result.fun == bowl(result.x)
    assert np.all(result.population_energies == np.inf)
    assert result.maxcv == pytest.approx(1.0, abs=0.01)


@pytest.mark.parametrize(
    ("constraints", "words"),
    [
        ({"type": "ineq", "fun": bowl}, "instead of {'type'"),
        ([3.0], "constraints must be scipy's"),
        (LinearConstraint([[1.0, 2.0]], 0, 1), "3 columns"),
        (NonlinearConstraint(limited, [0, 0, 0], 1), "must give 3 numbers"),
        (ReturnedConstraint(2.0, 1.0), "lb <= ub"),
        (NonlinearConstraint(lambda x: "no", -1, 1), "must give 1 number"),
        (ReturnedConstraint(0.0, 1.0), r"must return \(value, constraint values\)"),
    ],
)
def test_wrong_constraints(constraints, words):
    with pytest.raises(ValueError, match=words):
        minimize(bowl, BOX, constraints=constraints, **SMALL)


@pytest.mark.parametrize("updating", ["sequential", "deferred"])
def test_saved_in_the_middle(tmp_path, updating):
    options = {**SMALL, "updating": updating}
    whole = search(bowl, [LINEAR, NONLINEAR], **options)
    optimizer = Optimizer(BOX, constraints=[LINEAR, NONLINEAR], **options)
    for _ in range(7):  # in sequential mode: inside of the initial population
        points = optimizer.ask(3)
        optimizer.tell(points, [bowl(x) for x in points])
    optimizer.save(tmp_path / "search.npz")
    again = Optimizer.load(tmp_path / "search.npz")
    with pytest.raises(ValueError, match="given again"):
        again.optimize(bowl)
    with pytest.raises(ValueError, match="limits that the search was made with"):
        again.optimize(bowl, constraints=NONLINEAR)
    again = Optimizer.load(tmp_path / "search.npz")
    assert_same(whole, again.optimize(bowl, constraints=[LINEAR, NONLINEAR]))


def test_saved_with_returned_constraints(tmp_path):
    constraints = [LINEAR, RETURNED]
    optimizer = Optimizer(BOX, constraints=constraints, **SMALL)
    optimizer.optimize(simulation, callback=lambda x, convergence: optimizer.result.nit >= 3)
    optimizer.save(tmp_path / "search.npz")
    again = Optimizer.load(tmp_path / "search.npz")
    assert_same(optimizer.optimize(simulation), again.optimize(simulation))  # matrices are saved, too
