"""``noisy=True``: the answer is not the luckiest draw, its value is estimated, and every interface does the same."""

import numpy as np
import pytest

from deddqn import Optimizer, Problem, minimize
from deddqn.de.cma_state import Model
from deddqn.de.noise import follow_progress
from deddqn.optimize.noisy import reserve, standard_error
from tests.optimize.objectives import bowl, jitted_bowl, many_bowls

BOX = [(-5.0, 5.0)] * 4
SHORT = {"maxfun": 1200, "rng": 3, "noisy": True}


def same(a, b):
    keys = ("x", "fun", "fun_error", "nfev", "nit", "reevaluations", "message", "population_energies")
    return all(np.array_equal(a[key], b[key]) for key in keys)


class Noisy:
    """A bowl with noise that depends on how often it was called."""

    def __init__(self, seed=0, deviation=1.0):
        self.normal, self.deviation, self.calls = np.random.default_rng(seed), deviation, 0

    def __call__(self, x):
        self.calls += 1
        return float(((x - 1.0) ** 2).sum()) + self.deviation * self.normal.standard_normal()


def test_reserved_evaluations():
    assert [reserve(n) for n in (50, 500, 1000, 1200, 10_000, 10**6)] == [10, 10, 20, 24, 200, 200]


def test_standard_error():
    assert standard_error(np.array([1.0, 3.0])) == pytest.approx(1.0)
    assert standard_error(np.array([2.0])) == np.inf == standard_error(np.array([]))


def test_lambda_doubles_where_medians_do_not_fall_enough():
    """Four coordinates: lambda is 8, twice that at first and eight times at most."""
    de_state = Optimizer(BOX, **SHORT)._run.de_state
    model = de_state.model
    follow = getattr(follow_progress, "py_func", follow_progress)  # without the compiler
    model[Model.LAMBDA], model[Model.LAST_MEDIAN], de_state.model_mean[:] = 16, np.inf, 3.0

    def window(median, spread=1.0):
        for _ in range(10):
            follow(de_state, median, spread)
        return model[Model.LAMBDA]

    assert window(5.0) == 16 and window(4.0) == 16 and window(3.89) == 16
    assert model[Model.AVERAGED] == 30 and np.array_equal(de_state.model_average, [3.0] * 4)
    assert window(3.8) == 32 and model[Model.AVERAGED] == 0
    assert window(3.8) == 64 and window(3.8) == 64
    assert window(3.0, spread=9.0) == 64


def test_the_answer_is_estimated():
    fun = Noisy()
    result = minimize(fun, BOX, **SHORT)
    assert result.nfev == fun.calls == 1200 and result.success and result.reevaluations == 12
    values = result.population_energies
    assert len(values) == 24 and result.fun == pytest.approx(min(values[::2].mean(), values[1::2].mean()))
    assert result.fun > values.min() and 0.1 < result.fun_error < 0.7
    assert any(np.array_equal(result.x, point) for point in result.population[:2])
    assert ((result.x - 1.0) ** 2).sum() < 0.5


def test_a_lucky_draw_does_not_stay():
    """Values that are sometimes far too low, anywhere."""

    class Lucky(Noisy):
        def __call__(self, x):
            return super().__call__(x) - (1000.0 if self.calls % 97 == 5 else 0.0)

    for seed in range(3):
        result = minimize(Lucky(seed, 0.01), BOX, maxfun=2000, rng=seed, noisy=True)
        assert ((result.x - 1.0) ** 2).sum() < 1.0, seed


def test_interfaces_agree():
    expected = minimize(bowl, BOX, **SHORT)
    assert same(minimize(jitted_bowl, BOX, **SHORT), expected)
    assert same(minimize(Problem.from_function(bowl, BOX), **SHORT), expected)
    optimizer = Optimizer(BOX, **SHORT)
    while not optimizer.stop():
        points = optimizer.ask()
        optimizer.tell(points, [bowl(x) for x in points])
    assert same(optimizer.result, expected)
    deferred = minimize(bowl, BOX, updating="deferred", **SHORT)
    assert same(minimize(many_bowls, BOX, vectorized=True, **SHORT), deferred)
    assert same(minimize(bowl, BOX, workers=map, **SHORT), deferred) and deferred.fun < 1e-2 + expected.fun


@pytest.mark.parametrize("at", [30, 600, 1185])
def test_saved_and_continued(at, tmp_path):
    """Also while the answer is evaluated again."""
    optimizer = Optimizer(BOX, **SHORT)
    for _ in range(at):
        points = optimizer.ask()
        optimizer.tell(points, [bowl(x) for x in points])
    optimizer.save(tmp_path / "half")
    assert same(Optimizer.load(tmp_path / "half").optimize(bowl), minimize(bowl, BOX, **SHORT))


def test_stopped_early():
    result = minimize(bowl, BOX, callback=lambda intermediate_result: intermediate_result.nfev > 400, **SHORT)
    assert result.nfev < 450 and result.reevaluations == 0 and result.fun_error == np.inf
    assert np.isfinite(result.fun) and bowl(result.x) < 5.0
    first = Optimizer(BOX, **SHORT).result
    assert first.nfev == 0 and first.x.shape == (4,)


def test_stopped_between_search_and_answer():
    """When the answer is about to be evaluated again, what is known so far is the result."""
    optimizer = Optimizer(BOX, **SHORT)
    while optimizer.result.nfev < SHORT["maxfun"] - reserve(SHORT["maxfun"]):
        points = optimizer.ask()
        optimizer.tell(points, [bowl(x) for x in points])
    optimizer.ask()
    result = optimizer.result
    assert result.reevaluations == 0 and result.fun_error == np.inf
    assert np.isfinite(result.fun) and bowl(result.x) < 5.0


def test_an_answer_without_finite_values():
    """Values of the answer that are not finite are not replaced by those of the search."""
    optimizer, searched = Optimizer(BOX, **SHORT), SHORT["maxfun"] - reserve(SHORT["maxfun"])
    while optimizer.result.nfev < SHORT["maxfun"]:
        points = optimizer.ask()
        optimizer.tell(points, [bowl(x) if optimizer.result.nfev < searched else np.nan for x in points])
    assert optimizer.result.fun == np.inf and optimizer.result.reevaluations == 0


def test_without_maxfun_ten_thousand():
    assert same(minimize(bowl, BOX, rng=1, noisy=True), minimize(bowl, BOX, rng=1, noisy=True, maxfun=10_000))


def test_without_maxfun_the_clock_may_end_it():
    found = minimize(lambda x: float((x**2).sum()), [(-1, 1)] * 2, noisy=True, maxtime=0.05, rng=1)
    assert 0 < found.nfev <= 10_000 and np.isfinite(found.fun)


def test_errors():
    for name, value in (("policy", "de3"), ("portfolio", "paper"), ("population_size", 30), ("final_population", 8),
                        ("restart_tolerance", 0.1), ("n_candidates", 2), ("polish", True), ("integrality", True),
                        ("updating", "asynchronous"), ("init", np.zeros((9, 4)))):  # fmt: skip
        with pytest.raises(ValueError, match=f"{name} must be left out with noisy=True, got"):
            minimize(bowl, BOX, **SHORT, **{name: value})
    with pytest.raises(ValueError, match="noisy must be True or False, got 'yes'"):
        Optimizer(BOX, noisy="yes")
    with pytest.raises(ValueError, match="maxfun must be at least 26 with noisy, got 20"):
        Optimizer(BOX, noisy=True, maxfun=20)
    with pytest.raises(ValueError, match="maxfun must stay 1200 in a search with noisy=True, got 3000"):
        Optimizer(BOX, **SHORT).extend(maxfun=3000)
