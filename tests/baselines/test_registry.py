"""What every baseline promises: the budget, the box, the best point, one run from one seed."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from deddqn._utils.optional_imports import MissingPackageError
from deddqn.baselines import Method, baseline_names, load_baseline
from deddqn.problems import Problem, get

LIBRARIES = {"ipop-cmaes": "cma", "lr-cmaes": "cma", "scipy-de": "scipy"}


@pytest.fixture(params=baseline_names())
def method(request):
    pytest.importorskip(LIBRARIES.get(request.param, "minionpy"))
    return load_baseline(request.param)


@pytest.mark.parametrize("problem", ["cec2005:F9/d10", "cec2005:F4/d2", "cec2005:F7/d10"])
def test_a_run(method, problem):
    """Multimodal; noisy; not bounded."""
    made, budget = get(problem), 1537
    trajectories = [method.run(made, budget, np.random.default_rng(seed)) for seed in (5, 5, 6)]
    first, again, other = trajectories
    assert isinstance(method, Method)
    for trajectory in trajectories:
        assert 0 < trajectory.evaluations_made <= budget
        assert trajectory.evaluations[-1] == trajectory.evaluations_made
        assert np.all(np.diff(trajectory.best) <= 0) and trajectory.best[-1] == trajectory.best_value
        if made.bounded:
            assert np.all(trajectory.best_point >= made.lower) and np.all(trajectory.best_point <= made.upper)
        if not made.noisy:
            assert made(trajectory.best_point) == trajectory.best_value
    assert np.array_equal(first.best, again.best) and np.array_equal(first.best_point, again.best_point)
    assert not np.array_equal(first.best, other.best)
    assert first.best[-1] < first.best[0]


def test_the_budget_is_a_cap_in_the_function_itself(method):
    calls = []

    def function(x):
        calls.append(1)
        return float(np.sum((x - 1.0) ** 2) + np.sum(np.cos(3 * x)))

    trajectory = method.run(Problem.from_function(function, [(-5.0, 5.0)] * 3), 457, np.random.default_rng(0))
    assert len(calls) == trajectory.evaluations_made <= 457


def test_the_target_ends_a_run(method):
    problem = Problem.from_function(lambda x: float(np.sum(x**2)), [(-5.0, 4.0)] * 2, optimum=0.0)
    trajectory = method.run(problem, 20_000, np.random.default_rng(0))
    assert trajectory.best_value < 1e-8 and trajectory.evaluations_made < 20_000


def test_values_that_are_not_finite_do_no_harm(method):
    def half(x):
        return float("nan") if x[0] > 0.5 else float(np.sum(x**2))

    trajectory = method.run(Problem.from_function(half, [(-5.0, 5.0)] * 2), 600, np.random.default_rng(0))
    assert 0.0 <= trajectory.best_value < 1.0


def test_an_error_of_the_function_comes_out_unchanged(method):
    def function(x):
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        method.run(Problem.from_function(function, [(-5.0, 5.0)] * 2), 60, np.random.default_rng(0))


def test_unknown_names_suggest_a_neighbour():
    with pytest.raises(KeyError, match="unknown baseline 'ipop-cma'; did you mean 'ipop-cmaes'"):
        load_baseline("ipop-cma")


@pytest.mark.parametrize(("name", "library"), [("ipop-cmaes", "cma"), ("jade", "minionpy")])
def test_a_missing_library_names_the_extra(monkeypatch, name, library):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(MissingPackageError, match=r"\(extra 'baselines'\): pip install "):
        load_baseline(name).run(get("cec2005:F1/d10"), 100, np.random.default_rng(0))
