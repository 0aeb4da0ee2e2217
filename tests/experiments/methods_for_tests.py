"""Small experiments on training functions, and methods that misbehave."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from deddqn.analysis.paper_tables import table_3
from deddqn.baselines import BudgetedObjective, Trajectory, checkpoints
from deddqn.experiments import plan_experiment
from deddqn.experiments.methods import PAPER_METHODS
from deddqn.experiments.results import UNREPEATABLE, Run, job_columns
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
    """Kills its own process in some of its runs."""

    name = "dying"

    def run(self, problem, budget, rng):
        if rng.random() < 0.3:
            os.kill(os.getpid(), signal.SIGKILL)
        return RandomSearch().run(problem, budget, rng)


class Slow:
    """Takes a while, so that there is time to kill the driver."""

    name = "slow"

    def run(self, problem, budget, rng):
        time.sleep(0.05)
        return RandomSearch().run(problem, budget, rng)


class Endless:
    """Evaluates one point and then waits for hours."""

    name = "endless"

    def run(self, problem, budget, rng):
        problem(problem.lower)
        time.sleep(10_000)


def rows(folder: Path) -> list[dict]:
    """What is stored, in an order and with the columns that do not depend on when it ran."""
    frame = Store(folder).read().drop(columns=list(UNREPEATABLE))
    found = frame.sort_values(["method", "problem", "repeat"]).to_dict("records")
    return [{k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in row.items()} for row in found]


def paper_experiment(folder: Path, *, learned: bool = True) -> None:
    """Write an experiment of the paper's size whose numbers are drawn, not measured.

    The final errors have the paper's means, except for Random and DE1-DE4, whose entries in the paper are those of
    the initial population; here they end at half of what DE-DDQN2 has.
    """
    rng = np.random.default_rng(11)
    made = plan_experiment(
        ["random", "de1", "de2", "de3", "de4", "pm-adapss", "f-auc", "rec-pm"], ["cec2005-test"]
    ).plan
    names = PAPER_METHODS if learned else PAPER_METHODS[:10]
    plan = replace(made, methods=names, fingerprints=("x",) * len(names), preset="paper")
    store = Store(folder)
    store.create()
    store.adopt(plan)
    marks = checkpoints(plan.budget)
    initial = {p: table_3()["de1", p] for p in plan.problems}
    starts = {p: np.abs(rng.normal(c.mean, c.std / 5, plan.runs)) for p, c in initial.items()}
    runs = []
    for job in plan.jobs:
        cell = table_3()[job.method if job.method[:2] != "de" and job.method != "random" else "ddqn-r2", job.problem]
        factor = 0.5 if job.method in PAPER_METHODS[:5] else 1.0
        final = factor * abs(rng.normal(cell.mean, min(cell.std, cell.mean / 4)))
        start = max(starts[job.problem][job.repeat], final)
        best = np.geomspace(start * 2, final, marks.size)
        best[marks <= 100] = np.geomspace(start * 2, start, int((marks <= 100).sum()))
        best = np.minimum.accumulate(np.where(marks > 100, np.minimum(best, start), best))
        best[-1] = final
        chooses = job.method not in ("lr-cmaes", "ipop-cmaes")
        counts = rng.multinomial(100, [0.1, 0.2, 0.3, 0.4], 99).ravel().tolist() if chooses else []
        runs.append(
            Run(
                **job_columns(job),
                best_value=final,
                optimum=0.0,
                error=final,
                evaluations=plan.budget,
                cpu_seconds=0.02 if chooses else 1.0,
                checkpoints=marks.tolist(),
                best=best.tolist(),
                operators=["rand/1", "rand/2", "rand-to-best/2", "curr-to-rand/1"] if chooses else [],
                strategy_counts=counts,
            )
        )
    store.append(runs)
