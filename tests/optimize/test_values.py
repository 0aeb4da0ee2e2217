"""What an objective may do wrong: NaN, infinities, exceptions, odd return values."""

import numpy as np
import pytest
from numba import njit

from deddqn import Optimizer, Problem, minimize
from tests.optimize.objectives import BOX, SMALL, Learner, assert_same, bowl, random_network


def patchy(x, bad):
    """`bowl` with bad values in a third of the box."""
    return bad if x[0] > 1.7 else bowl(x)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("policy", ["random", "network", "python"])
def test_bad_values_are_the_worst_and_are_counted(bad, policy):
    make = {"random": lambda: "random", "network": random_network, "python": Learner}[policy]
    calls = []

    def watched(x):
        calls.append(patchy(x, bad))
        return calls[-1]

    result = minimize(watched, BOX, policy=make(), **SMALL)
    count = int((~np.isfinite(calls)).sum())
    assert count > 0 and result.non_finite == count
    assert result.message == f"All 130 evaluations are used. {count} of 130 evaluations gave NaN or an infinity."
    assert result.x[0] <= 1.7 and result.fun == min(v for v in calls if np.isfinite(v)) and result.success
    assert not np.isnan(result.population_energies).any() and not np.isneginf(result.population_energies).any()
    for name in ("vectorized", "workers"):
        options = {"vectorized": True} if name == "vectorized" else {"workers": map}
        fun = (lambda x: np.array([patchy(c, bad) for c in x.T])) if name == "vectorized" else lambda x: patchy(x, bad)
        assert minimize(fun, BOX, policy=make(), **SMALL, **options).non_finite > 0


def test_all_bad_values_have_the_same_effect():
    results = [minimize(patchy, BOX, args=(bad,), **SMALL) for bad in (np.nan, np.inf, -np.inf)]
    assert_same(results[0], results[1])
    assert_same(results[0], results[2])


@pytest.mark.parametrize("updating", ["sequential", "deferred"])
def test_nothing_finite(updating):
    result = minimize(lambda x: np.nan, BOX, policy=random_network(), updating=updating, polish=True, **SMALL)
    assert result.fun == np.inf and not result.success and result.non_finite == result.nfev
    assert "evaluations gave NaN or an infinity. No finite value was found." in result.message
    assert np.isfinite(result.x).all()


def test_told_bad_values_count_too():
    optimizer = Optimizer(BOX, updating="deferred", **SMALL)
    points = optimizer.ask()
    optimizer.tell(points, [np.nan, -np.inf, np.inf] + [bowl(x) for x in points[3:]])
    assert optimizer.result.non_finite == 3 and np.isinf(optimizer.result.population_energies[:3]).all()


class Trouble(Exception):
    """With arguments of its own, as libraries have them."""

    def __init__(self, code, text):
        super().__init__(code, text)
        self.code = code


class Failing:
    """`bowl`, which raises at one call."""

    def __init__(self, at, error):
        self.at, self.error, self.calls = at, error, 0

    def __call__(self, x):
        self.calls += 1
        if self.calls == self.at:
            raise self.error
        return bowl(x)


ERRORS = [
    Trouble(3, "pump"),
    ValueError("mine"),
    RuntimeError("mine"),
    StopIteration("mine"),
    SystemExit(4),
    KeyError("k"),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda e: type(e).__name__)
@pytest.mark.parametrize("way", [{}, {"updating": "deferred"}, {"workers": map}])
@pytest.mark.parametrize("at", [1, 50])
def test_an_exception_passes_unchanged_and_the_search_goes_on(error, way, at):
    if isinstance(error, StopIteration) and way == {"workers": map}:
        pytest.skip("inside of a map, StopIteration ends the map")
    settings = {key: value for key, value in way.items() if key == "updating"} or (
        {"updating": "deferred"} if "workers" in way else {}
    )
    workers = {key: value for key, value in way.items() if key == "workers"}
    optimizer, fun = Optimizer(BOX, policy=random_network(), **SMALL, **settings), Failing(at, error)
    with pytest.raises(type(error)) as caught:
        optimizer.optimize(fun, **workers)
    assert caught.value is error
    result = optimizer.optimize(fun, **workers)
    assert fun.calls == 131  # nothing was evaluated twice
    assert_same(result, minimize(bowl, BOX, policy=random_network(), **SMALL, **settings))


def test_an_exception_with_a_python_policy():
    optimizer, fun = Optimizer(BOX, policy=Learner(), **SMALL), Failing(77, Trouble(1, "x"))
    with pytest.raises(Trouble):
        optimizer.optimize(fun)
    assert_same(optimizer.optimize(fun), minimize(bowl, BOX, policy=Learner(), **SMALL))


def test_the_traceback_shows_the_users_line():
    def broken(x):
        return x[0] / 0 if isinstance(x, float) else [][0]

    with pytest.raises(IndexError) as caught:
        minimize(broken, BOX, **SMALL)
    assert caught.traceback[-1].name == "broken"


def test_an_exception_in_a_jitted_function():
    @njit
    def fragile(x):
        if x[0] > 4.0:
            raise ValueError("too far")
        return x[0]

    with pytest.raises(ValueError, match="too far"):
        minimize(fragile, BOX, **SMALL)


@pytest.mark.parametrize("value", [None, "3.5", [1.0, 2.0], np.ones(2), np.ones((1, 1, 2)), 1j, {}])
@pytest.mark.parametrize("way", [{}, {"workers": map}, {"workers": 2}])
def test_a_function_must_return_one_number(value, way):
    with pytest.raises(ValueError, match="fun must return one number, got"):
        minimize(lambda x: value, BOX, **SMALL, **way)


@pytest.mark.parametrize("kind", [np.float32, np.float64, int, np.array, lambda v: np.array([v]), lambda v: [v]])
def test_numbers_of_every_kind_are_taken(kind):
    result = minimize(lambda x: kind(round(bowl(x))), BOX, **SMALL)
    assert type(result.fun) is float and result.fun == round(bowl(result.x))


@pytest.mark.parametrize("value", [None, 1.0, np.ones(3), np.ones((20, 1)), ["a"] * 20, [None] * 20])
def test_a_vectorized_function_must_return_a_value_per_point(value):
    with pytest.raises(ValueError, match=r"a vectorized fun must return 20 numbers for x of shape \(4, 20\), got"):
        minimize(lambda x: value, BOX, vectorized=True, **SMALL)


@pytest.mark.parametrize("value", [1 + 2j, np.complex128(1 + 2j), np.array(1 + 2j), np.array([1 + 0j]), [1j]])
def test_complex_values_are_refused(value):
    """float() of NumPy's complex numbers takes the real part with no more than a warning."""
    for options in ({}, {"workers": map}, {"updating": "deferred"}):
        with pytest.raises(ValueError, match="fun must return one number, got"):
            minimize(lambda x: value, BOX, **SMALL, **options)
    with pytest.raises(ValueError, match="a vectorized fun must return 20 numbers"):
        minimize(lambda x: np.full(20, 1 + 2j), BOX, vectorized=True, **SMALL)
    optimizer = Optimizer(BOX, **SMALL)
    with pytest.raises(ValueError, match="values must be one number per point"):
        optimizer.tell(optimizer.ask(), [value])
    problem = Problem.from_function(lambda x: value, BOX)
    with pytest.raises(ValueError, match="fun must return one number"):
        problem(np.zeros(4))


@pytest.mark.parametrize("name", [None, 5, b"own", "", "a\nb"])
def test_policies_need_a_name_that_can_be_shown(name):
    policy = Learner()
    policy.name = name
    with pytest.raises(ValueError, match="name of the policy must"):
        Optimizer(BOX, policy=policy, **SMALL)


def test_a_function_that_gives_two_values_at_one_point_is_said_to_be_noisy():
    rng = np.random.default_rng(1)
    box = [(-2.0, 2.0)] * 2
    hint = "gave two values at one point: if it is noisy, say noisy=True"

    def noisy(x):
        return float(x @ x + rng.normal())

    options = {"maxfun": 400, "rng": 1, "n_candidates": 1}
    assert hint in minimize(noisy, box, polish=True, **options).message  # polishing begins where the search ended
    assert hint not in minimize(lambda x: float(x @ x), box, polish=True, **options).message
    halves = np.repeat([[1.0, 0.5], [-1.0, 0.25], [0.5, 1.5]], 4, axis=0)
    optimizer = Optimizer(box, init=halves, maxfun=100, rng=1, policy="de1", updating="deferred")
    optimizer.tell(optimizer.ask(), np.arange(12.0))
    assert hint in optimizer.result.message
