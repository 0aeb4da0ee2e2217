"""Small experiments on training functions, and methods that misbehave."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import numpy as np

from deddqn.baselines import BudgetedObjective, Trajectory
from deddqn.experiments.results import UNREPEATABLE
from deddqn.experiments.store import Store

PROBLEMS = ("cec2005:F1/d10", "cec2005:F6/d10")


class RandomSearch:
    """Uniform points; well behaved."""

    name = "random-search"

    def run(self, problem, budget, rng):
        objective = BudgetedObjective(problem, budget, rng)
        with objective.until_over():
            while True:
                objective(rng.uniform(problem.lower, problem.upper))
        return objective.trajectory()


class Failing:
    """Raises on one problem only."""

    name = "failing"

    def run(self, problem, budget, rng):
        if problem.name.endswith("F6/d10"):
            raise ArithmeticError("I cannot do this one")
        return RandomSearch().run(problem, budget, rng)


class Overrunning:
    """Makes three times the evaluations that it may, and finds the optimum in the end."""

    name = "overrunning"

    def run(self, problem, budget, rng):
        points = rng.uniform(problem.lower, problem.upper, (3 * budget, problem.dimension))
        values = np.append(problem(points), problem(problem.optimum_point))
        best = np.minimum.accumulate(values)
        at = np.arange(1, values.size + 1)
        return Trajectory(at, best, problem.optimum_point, float(best[-1]), values.size)


class Lying:
    """Claims the optimum without having been there."""

    name = "lying"

    def run(self, problem, budget, rng):
        value = problem(rng.uniform(problem.lower, problem.upper))
        return Trajectory(np.array([1]), np.array([value]), problem.optimum_point, problem.optimum, 1)


class NotANumber:
    """Returns NaN."""

    name = "not-a-number"

    def run(self, problem, budget, rng):
        problem(rng.uniform(problem.lower, problem.upper))
        return Trajectory(np.array([1]), np.array([np.nan]), problem.lower, float("nan"), 1)


class Dying:
    """Kills its own process on the second run."""

    name = "dying"

    def run(self, problem, budget, rng):
        if int(rng.integers(2**31)) % 2 == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return RandomSearch().run(problem, budget, rng)


class Slow:
    """Takes a while, so that there is time to kill the driver."""

    name = "slow"

    def run(self, problem, budget, rng):
        time.sleep(0.05)
        return RandomSearch().run(problem, budget, rng)


def rows(folder: Path) -> list[dict]:
    """What is stored, in an order and with the columns that do not depend on when it ran."""
    frame = Store(folder).read().drop(columns=list(UNREPEATABLE))
    found = frame.sort_values(["method", "problem", "repeat"]).to_dict("records")
    return [{k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in row.items()} for row in found]
