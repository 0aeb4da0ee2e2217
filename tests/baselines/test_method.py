"""The hard budget, the box, the target and the checkpoints of a method's run."""

from __future__ import annotations

import numpy as np
import pytest

from deddqn.baselines import BudgetedObjective, BudgetExhausted, Method, TargetReached, checkpoints
from deddqn.problems import Problem, get


def squares(x: np.ndarray) -> float:
    return float(np.sum(x**2))


def make(optimum: float | None = None, function=squares) -> Problem:
    return Problem.from_function(function, [(-5.0, 5.0)] * 2, optimum=optimum)


def counted(budget: int = 5, **options: object) -> BudgetedObjective:
    return BudgetedObjective(make(**options), budget, np.random.default_rng(0))


@pytest.mark.parametrize("budget", [1, 2, 99, 100, 1000, 10_000, 300_000])
def test_checkpoints_hold_the_first_the_hundredth_and_the_last(budget):
    marks = checkpoints(budget)
    assert marks[0] == 1 and marks[-1] == budget and np.all(np.diff(marks) > 0)
    assert (100 in marks) == (budget >= 100)
    assert len(marks) <= 62


def test_the_budget_is_exact_point_by_point():
    objective = counted(3)
    for _ in range(3):
        objective([1.0, 1.0])
    with pytest.raises(BudgetExhausted, match="3 evaluations"):
        objective([0.0, 0.0])
    assert objective.evaluations == 3 and objective.best_value == 2.0


def test_a_batch_beyond_the_budget_is_evaluated_as_far_as_it_goes():
    objective = counted(3)
    with pytest.raises(BudgetExhausted):
        objective.batch([[3.0, 0.0], [2.0, 0.0], [1.0, 0.0], [0.0, 0.0]])
    assert objective.evaluations == 3 and objective.best_value == 1.0
    trajectory = objective.trajectory()
    assert trajectory.evaluations.tolist() == [1, 2, 3] and trajectory.best.tolist() == [9.0, 4.0, 1.0]


def test_points_and_batches_count_alike():
    points = np.random.default_rng(1).uniform(-6, 6, (40, 2))
    one, many = counted(100), counted(100)
    singles = [one(point) for point in points]
    assert np.array_equal(singles, np.concatenate([many.batch(points[:7]), many.batch(points[7:])]))
    a, b = one.trajectory(), many.trajectory()
    assert np.array_equal(a.best, b.best) and np.array_equal(a.best_point, b.best_point)
    assert a.evaluations_made == b.evaluations_made == 40


def test_points_outside_are_charged_and_never_best():
    objective = BudgetedObjective(
        Problem.from_function(lambda x: float(x[0]), [(-1.0, 1.0)]), 10, np.random.default_rng(0)
    )
    assert objective([-3.0]) == -3.0
    objective.batch([[-2.0], [0.5], [-9.0]])
    assert objective.evaluations == 4 and objective.best_value == 0.5


def test_values_that_are_not_finite_are_infinite():
    for bad in (np.nan, np.inf, -np.inf):
        objective = counted(10, function=lambda x, bad=bad: bad if x[0] > 0 else 1.0)
        assert objective([1.0, 0.0]) == np.inf
        assert objective.batch([[1.0, 0.0], [-1.0, 0.0]]).tolist() == [np.inf, 1.0]
        assert objective.trajectory().best.tolist() == [np.inf, np.inf, 1.0]


def test_the_target_stops_at_the_point_that_reaches_it():
    objective = counted(10, optimum=0.0)
    with pytest.raises(TargetReached):
        objective.batch([[1.0, 0.0], [0.0, 1e-5], [2.0, 0.0]])
    assert objective.evaluations == 2
    with pytest.raises(TargetReached):
        objective([1.0, 1.0])
    assert objective.evaluations == 2


def test_noise_comes_from_the_generator():
    problem = get("cec2005:F4/d2")
    points = np.random.default_rng(0).uniform(problem.lower, problem.upper, (5, 2))
    values = [BudgetedObjective(problem, 9, np.random.default_rng(seed)).batch(points) for seed in (1, 1, 2)]
    assert np.array_equal(values[0], values[1]) and not np.array_equal(values[0], values[2])


def test_a_method_is_one_object():
    class PureRandomSearch:
        name = "pure-random-search"

        def run(self, problem, budget, rng):
            objective = BudgetedObjective(problem, budget, rng)
            with objective.until_over():
                while True:
                    objective(rng.uniform(problem.lower, problem.upper))
            return objective.trajectory()

    method = PureRandomSearch()
    assert isinstance(method, Method)
    trajectory = method.run(make(), 250, np.random.default_rng(3))
    assert trajectory.evaluations_made == 250 and trajectory.evaluations[-1] == 250
    assert trajectory.best[-1] == trajectory.best_value == squares(trajectory.best_point)
    assert np.all(np.diff(trajectory.best) <= 0)


def test_a_budget_must_be_positive():
    with pytest.raises(ValueError, match="budget must be at least 1 evaluation, got 0"):
        counted(0)


def test_checkpoints_of_competitions():
    """Their technical reports, "Results record"."""
    shares = (0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
    assert {round(share * 300_000) for share in shares} <= set(checkpoints(300_000, "cec2017:F4/d30").tolist())
    first = [200, 316, 502, 796, 1261, 2000]  # floor(10^(k/5 - 3) x 200,000)
    assert {*first, 20_000, 126_191, 200_000} <= set(checkpoints(200_000, "cec2022:F1/d10").tolist())
    assert {50_000, 100_000, 150_000} <= set(checkpoints(150_000, "cec2011:F1/d6").tolist())
    for other in ("cec2017:F4/d10", "cec2005:F4/d30", "mine", ""):  # no competition, or not with this budget
        assert np.array_equal(checkpoints(300_000, other), checkpoints(300_000))
