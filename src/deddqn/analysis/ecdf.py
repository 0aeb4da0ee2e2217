"""Targets reached over evaluations: empirical distributions of run times over problems, targets and runs.

As in COCO (N. Hansen, A. Auger, R. Ros, O. Mersmann, T. Tusar, D. Brockhoff, "COCO: a platform for comparing continuous
optimizers in a black-box setting", Optimization Methods and Software 36 (2021), 114-144): a problem has 51 targets,
log-spaced from 100 to 1e-8 above its optimum, and the curve of a method is the share of all (problem, target, run) that
it has reached after so many evaluations per coordinate. Where the optimum is not known, targets lie between the
median value of all runs after 100 evaluations and the best value that any run found: that difference times 1 to 1e-8,
log-spaced, above the best.

Runs are known at their checkpoints only (about 60, log-spaced): a target counts from the first checkpoint on at which
it is reached.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from deddqn.analysis.comparison import Analysis
from deddqn.analysis.curves import Curve, CurvePanel, trajectories

TARGETS = np.geomspace(1e2, 1e-8, 51)
RELATIVE = np.geomspace(1.0, 1e-8, 51)
STEPS = 121  # of the axis
START = 100  # evaluations after which runs without a known optimum are taken as begun


@dataclass(frozen=True)
class Ecdf:
    """Shares reached over an axis, and the area below each: the mean share over the logarithmic axis, 0 to 1."""

    panel: CurvePanel
    areas: dict[str, float]
    relative: int  # problems whose targets are relative to the best value found


@lru_cache(maxsize=1)  # a table, the page and a figure ask for it one after the other
def ecdf(a: Analysis) -> Ecdf:
    """The shares of all methods over all problems."""
    sizes = {problem: dimension_of(problem) for problem in a.problems}
    per_coordinate = None not in sizes.values()
    dimensions = {problem: (size or 1) if per_coordinate else 1 for problem, size in sizes.items()}
    longest = max(a.plan.budget_of(p) / dimensions[p] for p in a.problems)
    axis = np.geomspace(min(1.0, longest / 10.0), longest, STEPS)
    shares: dict[str, list[np.ndarray]] = {method: [] for method in a.methods}
    for problem in a.problems:
        grid = np.floor(axis * dimensions[problem] * (1.0 + 1e-12)).astype(np.int64)
        base, targets = targets_of(a, problem)
        for method, own in shares.items():
            runs = trajectories(a, method, problem, grid) - base
            if len(runs):
                own.append(share_reached(runs, targets))
    means = {method: np.mean(own, axis=0) for method, own in shares.items()}
    label = "evaluations / D" if per_coordinate else "evaluations"
    panel = CurvePanel("all problems", axis, tuple(Curve(method, values) for method, values in means.items()), label)
    return Ecdf(panel, {m: area_below(axis, values) for m, values in means.items()}, len(a.unknown_optima))


def dimension_of(problem: str) -> int | None:
    """As the name of a problem says; None where it does not."""
    match = re.search(r"/d(\d{1,6})$", problem)
    return int(match.group(1)) if match and int(match.group(1)) > 0 else None


def targets_of(a: Analysis, problem: str) -> tuple[float, np.ndarray]:
    """What errors are counted from (0, or the best value of all runs), and the errors to reach, largest first."""
    if problem not in a.unknown_optima:
        return 0.0, TARGETS
    budget = a.plan.budget_of(problem)
    values = [trajectories(a, m, problem, np.array([min(START, budget), budget])) for m in a.methods]
    begun, ended = np.concatenate(values).T
    best = float(ended.min())
    if not np.isfinite(best):
        return 0.0, TARGETS
    span = float(np.median(begun)) - best
    return best, RELATIVE * (span if 0.0 < span < np.inf else 1.0)


def share_reached(errors: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """(axis,) the share of (run, target) with an error not above the target, from errors (runs, axis)."""
    ordered = np.sort(targets * (1.0 + 1e-9))
    return (len(ordered) - np.searchsorted(ordered, errors)).mean(axis=0) / len(ordered)


def area_below(axis: np.ndarray, shares: np.ndarray) -> float:
    """The mean of the shares over the logarithm of the axis."""
    width = np.diff(np.log10(axis))
    return float((width * (shares[1:] + shares[:-1]) / 2.0).sum() / width.sum())
