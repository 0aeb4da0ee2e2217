"""IPOP- and LR-CMA-ES: settings, restarts, and the slow comparison with a reference measured elsewhere."""

from __future__ import annotations

import numpy as np
import pytest

from deddqn.baselines import load_baseline
from deddqn.problems import Problem, get

cma = pytest.importorskip("cma")


@pytest.fixture
def starts(monkeypatch):
    """Population, step size and first point of every start."""
    seen = []
    original = cma.CMAEvolutionStrategy.__init__

    def spy(self, x0, sigma0, options):
        seen.append((options["popsize"], sigma0, np.array(x0)))
        original(self, x0, sigma0, options)

    monkeypatch.setattr(cma.CMAEvolutionStrategy, "__init__", spy)
    return seen


@pytest.mark.parametrize(("name", "growth", "sigma"), [("ipop-cmaes", 2, 5.0), ("lr-cmaes", 1, 0.05)])
def test_populations_and_steps_of_the_starts(starts, name, growth, sigma):
    problem = get("cec2005:F9/d10")  # Rastrigin on [-5, 5]: half the range is 5
    load_baseline(name).run(problem, 10_000, np.random.default_rng(1))
    populations = [population for population, _, _ in starts]
    assert len(starts) >= 3
    assert populations == [10 * growth**k for k in range(len(starts))]  # 4 + floor(3 ln 10) = 10
    assert all(step == pytest.approx(sigma) for _, step, _ in starts)
    points = np.array([point for _, _, point in starts])
    assert np.all(points >= problem.lower) and np.all(points <= problem.upper)
    assert len(np.unique(points[:, 0])) == len(starts)


def test_all_points_lie_in_the_box():
    """The optimum sits in a corner, so that the search leans on the bounds."""
    outside = []

    def corner(x):
        outside.append(bool(np.any(x < -1.0) or np.any(x > 3.0)))
        return float(np.sum(x))

    problem = Problem.from_function(corner, [(-1.0, 3.0)] * 4)
    trajectory = load_baseline("ipop-cmaes").run(problem, 2_000, np.random.default_rng(0))
    assert not any(outside)
    assert trajectory.best_value == pytest.approx(-4.0, abs=1e-6)


def test_unequal_ranges_get_unequal_steps():
    problem = Problem.from_function(lambda x: float(np.sum((x / [1.0, 1000.0]) ** 2)), [(-5.0, 5.0), (-5e3, 5e3)])
    assert load_baseline("ipop-cmaes").run(problem, 1_500, np.random.default_rng(0)).best_value < 1e-8


def test_numpys_global_generator_is_left_alone():
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    load_baseline("lr-cmaes").run(get("cec2005:F1/d10"), 300, np.random.default_rng(0))
    assert np.array_equal(before, np.random.get_state()[1])  # noqa: NPY002


def errors_of(name: str, problem: str, runs: int) -> np.ndarray:
    made = get(problem)
    trajectories = [load_baseline(name).run(made, 10_000, np.random.default_rng(run)) for run in range(runs)]
    return np.array([trajectory.best_value for trajectory in trajectories]) - made.optimum


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ipop-cmaes", "lr-cmaes"])
def test_the_elliptic_function_is_solved(name):
    assert np.all(errors_of(name, "cec2005:F3/d10", 4) < 1e-8)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "problem", "reference"),
    [
        ("ipop-cmaes", "cec2005:F9/d10", 7.2),
        ("ipop-cmaes", "cec2005:F16/d10", 112.0),
        ("lr-cmaes", "cec2005:F9/d10", 78.0),
        ("lr-cmaes", "cec2005:F18/d30", 971.0),
    ],
)
def test_within_the_noise_of_the_reference(name, problem, reference):
    """Mean of 8 runs against the mean of 25 of the reference, in standard errors of their difference.

    The statistic is close to t with 7 degrees of freedom, which exceeds 5.4 in size once in 1000 times. LR on F16 is
    left to the benchmark: a few of its runs end far above the rest, and 8 runs may miss them all.
    """
    errors = errors_of(name, problem, 8)
    apart = (errors.mean() - reference) / (errors.std(ddof=1) * np.sqrt(1 / 8 + 1 / 25))
    assert abs(apart) < 5.4
