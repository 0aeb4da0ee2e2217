"""Any mixture of options: the promises hold, and the faces agree."""

import pickle

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from deddqn import Optimizer, minimize
from tests.optimize.objectives import Learner, assert_same, by_ask_and_tell, random_network

finite = st.floats(-1e6, 1e6)


@st.composite
def cases(draw):
    """(function, bounds, options)"""
    dimension = draw(st.integers(1, 5))
    low = np.array(draw(st.lists(finite, min_size=dimension, max_size=dimension)))
    width = np.array(draw(st.lists(st.just(0.0) | st.floats(1e-6, 1e6), min_size=dimension, max_size=dimension)))
    bounds = np.column_stack([low, low + width])
    size = draw(st.integers(6, 25))
    hole = draw(st.sampled_from([None, np.nan, np.inf, -np.inf]))
    weights = np.array(draw(st.lists(st.floats(-3, 3), min_size=dimension, max_size=dimension)))

    def function(x):
        value = float(np.sum(weights * x) + np.sum(np.abs(x - low)))
        return hole if hole is not None and int(abs(value)) % 3 == 0 else value

    options = {
        "population_size": size,
        "maxfun": size + draw(st.integers(0, 4 * size)),
        "rng": draw(st.integers(0, 2**32)),
        "updating": draw(st.sampled_from(["sequential", "deferred"])),
        "repair": draw(st.sampled_from(["clip", "reflect", "midpoint"])),
        "init": draw(st.sampled_from(["uniform", "latinhypercube", "sobol"])),
        "x0": draw(st.sampled_from([None, bounds[:, 0].copy(), bounds[:, 1].copy()])),
        "scale": draw(st.floats(0, 2)),
        "crossover": draw(st.floats(0, 1)),
        "maxiter": draw(st.none() | st.integers(1, 4)),
        "ftarget": draw(st.none() | finite),
        "tol": draw(st.sampled_from([0.0, 0.01, 10.0])),
        "atol": draw(st.sampled_from([0.0, 1e-3])),
        "history": draw(st.booleans()),
    }
    policy = draw(st.sampled_from([lambda: "random", lambda: "de4", random_network, Learner]))
    return function, bounds, options, policy


@settings(max_examples=40, deadline=None)
@given(cases(), st.booleans())
def test_every_mixture(case, polish):
    function, bounds, options, policy = case
    values, points = [], []

    def watched(x):
        points.append(x)
        values.append(function(x))
        return values[-1]

    result = minimize(watched, bounds, policy=policy(), **options)
    assert result.nfev == len(values) <= options["maxfun"]
    assert np.all(np.array(points) >= bounds[:, 0]) and np.all(np.array(points) <= bounds[:, 1])
    finite_values = [v for v in values if np.isfinite(v)]
    assert result.fun == min(finite_values, default=np.inf)
    assert result.non_finite == len(values) - len(finite_values)
    assert result.success == bool(finite_values) and result.message
    assert result.strategy_counts.sum() == max(0, len(values) - options["population_size"])

    assert_same(result, by_ask_and_tell(Optimizer(bounds, policy=policy(), **options), function))
    if options["updating"] == "deferred":
        assert_same(result, minimize(function, bounds, policy=policy(), workers=map, **options))
    optimizer = Optimizer(bounds, policy=policy(), **options)
    optimizer.optimize(function, callback=lambda xk, convergence: True)
    assert_same(pickle.loads(pickle.dumps(optimizer)).optimize(function), result)

    if polish:
        values.clear(), points.clear()
        polished = minimize(watched, bounds, policy=policy(), polish=True, **options)
        assert polished.nfev == len(values) <= options["maxfun"]
        assert np.all(np.array(points) >= bounds[:, 0]) and np.all(np.array(points) <= bounds[:, 1])


def test_bounds_of_the_smallest_numbers():
    """Half of 5e-324 is 0: the middle between such a bound and a parent on it lay outside."""
    low, points = 5e-324, []

    def watched(x):
        points.append(x[0])
        return x[0]

    minimize(
        watched,
        [(low, 1.0), (0.0, 0.0)],
        x0=[low, 0.0],
        population_size=6,
        maxfun=7,
        repair="midpoint",
        policy="random",
        scale=1.0,
        rng=0,
    )
    assert min(points) == low
