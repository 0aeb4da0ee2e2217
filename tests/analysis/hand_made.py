"""Analyses of runs that are written down, not run."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from deddqn.analysis.comparison import Analysis
from deddqn.experiments.plan import Plan
from deddqn.experiments.results import Run, job_columns, to_table

Curves = Mapping[str, Sequence[Sequence[float]]]
"""By problem, a list of best values so far for every run."""


def analysis_of(
    values: Mapping[str, Curves], *, budget: int, marks: Sequence[int], optimum: float = 0.0, official: bool = False
) -> Analysis:
    """``values[method][problem]`` are the runs; their best values stand at the evaluations `marks`."""
    problems = tuple(next(iter(values.values())))
    plan = Plan(
        methods=tuple(values),
        fingerprints=("x",) * len(values),
        problems=problems,
        runs=len(next(iter(values.values()))[problems[0]]),
        budget=budget,
        official=official,
    )
    runs = []
    for job in plan.jobs:
        best = list(values[job.method][job.problem][job.repeat])
        error = math.nan if math.isnan(optimum) else best[-1] - optimum
        runs.append(
            Run(
                **job_columns(job),
                best_value=best[-1],
                optimum=optimum,
                error=error,
                evaluations=marks[len(best) - 1],
                cpu_seconds=1e-3,
                checkpoints=list(marks[: len(best)]),
                best=best,
            )
        )
    return Analysis(plan, to_table(runs).to_pandas())
