"""Constraints: every interface gives the same run, results say how they are met, and wrong ones are refused."""

import os

import numpy as np
import pytest
from numba import njit
from scipy.optimize import Bounds, LinearConstraint, NonlinearConstraint

from deddqn import Optimizer, Problem, ReturnedConstraint, minimize
from deddqn.optimize.constraint_arguments import constraints_of

BOX = [(-5.0, 5.0)] * 3
BOX_ARRAYS = (np.full(3, -5.0), np.full(3, 5.0))
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


# -- compiled functions


@njit
def jitted_bowl(x):
    return (x[0] - 1) ** 2 + (x[1] - 2.5) ** 2 + x[2] ** 2


@njit
def jitted_limited(x):
    return np.array([x[0] ** 2 + x[1] ** 2, x[2] * x[0] - 0.25])


@njit
def jitted_first(x):
    return x[0] ** 2 + x[1] ** 2


@njit
def jitted_second(x):
    return (x[2] * x[0] - 0.25,)


@njit
def jitted_simulation(x):
    return jitted_bowl(x), jitted_limited(x)


@pytest.mark.parametrize("updating", ["sequential", "deferred"])
def test_compiled_constraints(updating):
    options = {**SMALL, "updating": updating}
    plain = search(bowl, [LINEAR, NONLINEAR], **options)
    both = NonlinearConstraint(jitted_limited, [-np.inf, 0.0], [4.0, 0.0])
    assert_same(plain, search(jitted_bowl, [LINEAR, both], **options))
    assert_same(plain, search(jitted_bowl, [LINEAR, NONLINEAR], **options))  # called back
    assert_same(plain, search(jitted_simulation, [LINEAR, RETURNED], **options))
    apart = [NonlinearConstraint(jitted_first, -np.inf, 4.0), NonlinearConstraint(jitted_second, 0.0, 0.0)]
    split = search(jitted_bowl, [LINEAR, *apart], **options)
    assert [len(part) for part in split.constr] == [2, 1, 1]
    np.testing.assert_array_equal(plain.x, split.x)


@pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="without the jit nothing is compiled")
def test_compiled_constraints_stay_in_the_loop():
    constraints = constraints_of([LINEAR, NonlinearConstraint(jitted_limited, -1, [4.0, 5.0])], 0.0, BOX_ARRAYS)
    assert Problem.from_function(jitted_bowl, BOX, constraints=constraints).objective.python is None
    mixed = constraints_of([NONLINEAR], 0.0, BOX_ARRAYS)
    assert Problem.from_function(jitted_bowl, BOX, constraints=mixed).objective.python is not None


@pytest.mark.parametrize(
    ("fun", "constraints", "words"),
    [
        (jitted_bowl, RETURNED, r"must return \(value, constraint values\)"),
        (jitted_simulation, NONLINEAR, "must return one number"),
        (jitted_bowl, NonlinearConstraint(jitted_limited, [0, 0, 0], 1), "must give"),
        (jitted_simulation, ReturnedConstraint([0, 0, 0], 1), "constraint"),
    ],
)
def test_wrong_compiled_constraints(fun, constraints, words):
    with pytest.raises((ValueError, TypeError), match=words):
        search(fun, constraints, **SMALL)


# -- the order


def test_units_do_not_matter():
    """A constraint in other units gives the same run, bit for bit (for powers of 2, which round alike)."""
    small, large = (
        NonlinearConstraint(lambda x, unit=unit: unit * (x[0] * x[1]), unit * 0.5, unit * 4.0)
        for unit in (2.0**-30, 2.0**40)
    )
    one, other = (search(bowl, [LINEAR, constraint], **SMALL) for constraint in (small, large))
    np.testing.assert_array_equal(one.population, other.population)
    assert one.fun == other.fun


def test_shifted_values_do_not_matter():
    one = search(bowl, LINEAR, **SMALL)
    other = search(lambda x: bowl(x) + 1024.0, LINEAR, **SMALL)
    assert other.fun == pytest.approx(one.fun + 1024.0, abs=0.5)
    assert other.success


def test_nan_is_infeasible():
    def half(x):
        return np.nan if x[0] > 0 else x[1]

    result = search(bowl, NonlinearConstraint(half, -np.inf, 1.0), **SMALL)
    assert result.success and result.x[0] <= 0.0 and result.x[1] <= 1.0
    hopeless = search(bowl, NonlinearConstraint(lambda x: np.nan, 0.0, 1.0), **SMALL)
    assert not hopeless.success and hopeless.maxcv == np.inf and np.isfinite(hopeless.x).all()


def test_value_that_exists_only_where_allowed():
    result = search(lambda x: np.log(x[0]) + x[1] ** 2 if x[0] > 0 else np.nan, Bounds([0.5, -5, -5], 5), **SMALL)
    assert result.success and result.x[0] == pytest.approx(0.5, abs=0.05)


def test_target_needs_a_feasible_point():
    result = search(bowl, LinearConstraint([[1.0, 0.0, 0.0]], 3.0, np.inf), ftarget=4.5, **SMALL)
    assert result.success and result.x[0] >= 3.0 and result.fun <= 4.5 and result.nfev < 400
    assert "target" in result.message


def test_no_constraints_is_none():
    options = {**SMALL, "updating": "deferred"}
    plain, empty = minimize(bowl, BOX, **options), minimize(bowl, BOX, constraints=(), **options)
    assert "constr" not in empty
    np.testing.assert_array_equal(plain.population, empty.population)


@pytest.mark.parametrize("policy", ["random", "ddqn-r2", "softmax"])
def test_other_policies(policy):
    result = search(bowl, [LINEAR, NONLINEAR], policy=policy, **{**SMALL, "maxfun": 1500})
    assert np.isfinite(result.population).all()
    assert result.maxcv < 1.0


# -- polishing


def test_polish_keeps_to_the_constraints_and_the_budget():
    calls = []

    def counted(x):
        calls.append(x)
        return simulation(x)

    rough = minimize(simulation, BOX, constraints=[LINEAR, RETURNED], polish=False, **SMALL)
    fine = minimize(counted, BOX, constraints=[LINEAR, RETURNED], **SMALL)  # polishes by default
    assert len(calls) == fine.nfev <= 400
    assert fine.success and fine.fun < rough.fun
    assert fine.fun == pytest.approx(1.6127347, abs=1e-6)
    assert np.all(fine.constr[0] == 0.0) and fine.maxcv <= 1e-4
    np.testing.assert_array_equal(fine.constr_values[1], limited(fine.x))
    assert "Polishing took" in fine.message


def test_polish_finds_a_feasible_point():
    narrow = NonlinearConstraint(lambda x: x @ x, 4.0, 4.0)
    rough = search(bowl, narrow, constraint_tolerance=1e-9, **SMALL)
    fine = minimize(bowl, BOX, constraints=narrow, constraint_tolerance=1e-9, **SMALL)
    assert not rough.success and fine.success
    assert fine.maxcv <= 1e-9


def test_polish_of_vectorised_functions():
    fine = minimize(simulation, BOX, constraints=[LINEAR, RETURNED], vectorized=True, **SMALL)
    assert fine.success and fine.fun == pytest.approx(1.6127347, abs=1e-6)


def test_polish_without_slope_changes_nothing():
    fine = minimize(lambda x: float(np.round(bowl(x), 1)), BOX, constraints=LINEAR, **SMALL)
    assert fine.success and np.all(fine.constr[0] == 0.0)


# -- telling


def test_telling_without_constraint_values():
    optimizer = Optimizer(BOX, constraints=RETURNED, **SMALL)
    points = optimizer.ask()
    with pytest.raises(ValueError, match="constraints must be told"):
        optimizer.tell(points, [1.0])
    with pytest.raises(ValueError, match="must be 2 for each of 1 points"):
        optimizer.tell(points, [1.0], constraints=[1.0, 2.0, 3.0])
    optimizer.tell(points, [1.0], constraints=[1.0, 2.0])
    assert optimizer.result.constr_violation == 2.0
    plain = Optimizer(BOX, **SMALL)
    with pytest.raises(ValueError, match="must be left out"):
        plain.tell(plain.ask(), [1.0], constraints=[1.0])


def test_result_before_anything_is_told():
    result = Optimizer(BOX, constraints=RETURNED, **SMALL).result
    assert not result.success and result.maxcv == np.inf


# -- other ways to run


def test_asynchronous_is_refused():
    with pytest.raises(ValueError, match="updating must not be 'asynchronous' with constraints"):
        Optimizer(BOX, constraints=LINEAR, updating="asynchronous", maxfun=400)


@pytest.mark.parametrize("constraints", [[LINEAR], [NONLINEAR]])
def test_end_not_known(constraints):
    """Without maxfun the level of equalities falls over the life of the population."""
    result = search(
        bowl, constraints, maxfun=None, rng=1, callback=lambda intermediate_result: intermediate_result.nfev > 3000
    )
    assert result.success and result.fun < 2.5


@pytest.mark.parametrize("constraints", [[LINEAR], [NONLINEAR]])
def test_extended_search(constraints):
    optimizer = Optimizer(BOX, constraints=constraints, **SMALL)
    first = optimizer.optimize(bowl)
    more = optimizer.optimize(bowl, maxfun=3000)
    assert more.nfev == 3000 and more.success
    assert not first.success or more.fun <= first.fun
