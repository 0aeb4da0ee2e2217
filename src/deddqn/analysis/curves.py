"""The numbers behind every figure: plain records that tests check and that drawings only draw."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deddqn.analysis.comparison import Analysis
from deddqn.analysis.paper_tables import CONTROL
from deddqn.analysis.statistics import MeanRank
from deddqn.baselines.method import checkpoints

FIG_1 = (CONTROL, "rec-pm", "pm-adapss")
"""The methods of the paper's Fig. 1."""


@dataclass(frozen=True)
class Box:
    """Tukey's box plot of one cell: quartiles, whiskers within 1.5 IQR, and the points outside."""

    method: str
    low: float
    first: float
    median: float
    third: float
    high: float
    outside: tuple[float, ...]


@dataclass(frozen=True)
class BoxPanel:
    """The boxes of one problem."""

    problem: str
    boxes: tuple[Box, ...]


@dataclass(frozen=True)
class Curve:
    """A method's line over evaluations, with a band where there is one."""

    method: str
    values: np.ndarray
    low: np.ndarray | None = None
    high: np.ndarray | None = None


@dataclass(frozen=True)
class CurvePanel:
    """Lines over the same evaluations, or evaluations per coordinate, as `axis` says."""

    title: str
    evaluations: np.ndarray
    curves: tuple[Curve, ...]
    axis: str = "evaluations"


@dataclass(frozen=True)
class SharePanel:
    """How often each operator was applied, generation by generation, mean over runs: (generations, operators)."""

    method: str
    problem: str
    operators: tuple[str, ...]
    evaluations: np.ndarray
    shares: np.ndarray


@dataclass(frozen=True)
class RankFigure:
    """Mean ranks with intervals, the critical difference, and groups of methods it does not tell apart."""

    ranks: tuple[MeanRank, ...]
    critical_difference: float
    cliques: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class CostBar:
    """CPU time per evaluation of one method, over all of its runs."""

    method: str
    microseconds: float
    ratio: float  # to the uniform policy, NaN where that did not run


def box_of(method: str, errors: np.ndarray) -> Box:
    """A box from the finite errors of a cell."""
    values = np.sort(errors[np.isfinite(errors)])
    first, median, third = np.percentile(values, [25, 50, 75])
    whisker = 1.5 * (third - first)
    inside = values[(values >= first - whisker) & (values <= third + whisker)]
    outside = values[(values < first - whisker) | (values > third + whisker)]
    return Box(
        method=method,
        low=float(inside[0]),
        first=float(first),
        median=float(median),
        third=float(third),
        high=float(inside[-1]),
        outside=tuple(float(v) for v in outside),
    )


def box_panels(analysis: Analysis, methods: tuple[str, ...] | None = None) -> list[BoxPanel]:
    """Box plots of final errors, one panel per problem."""
    chosen = methods or analysis.methods
    panels = []
    for problem in analysis.problems:
        cells = [(method, analysis.samples.of(method, problem)) for method in chosen]
        boxes = tuple(box_of(method, errors) for method, errors in cells if np.isfinite(errors).any())
        if boxes:
            panels.append(BoxPanel(problem, boxes))
    return panels


def trajectories(analysis: Analysis, method: str, problem: str, grid: np.ndarray) -> np.ndarray:
    """Errors of all runs of a cell at the evaluations of `grid`, (runs, grid); best values without an optimum."""
    group = analysis.groups.get((method, problem))
    if group is None:
        return np.empty((0, grid.size))
    rows = []
    for marks, best, optimum in zip(group["checkpoints"], group["best"], group["optimum"], strict=True):
        values = np.append(np.inf, np.asarray(best, dtype=float))
        values[np.isnan(values)] = np.inf
        at = np.searchsorted(np.asarray(marks), grid, side="right")
        rows.append(values[at] - (optimum if np.isfinite(optimum) else 0.0))
    return np.array(rows).reshape(len(rows), grid.size)


def convergence_panels(analysis: Analysis) -> list[CurvePanel]:
    """Median error so far with quartiles, one panel per problem."""
    panels = []
    for problem in analysis.problems:
        grid, curves = checkpoints(analysis.plan.budget_of(problem), problem), []
        for method in analysis.methods:
            values = trajectories(analysis, method, problem, grid)
            if len(values):
                low, middle, high = np.percentile(values, [25, 50, 75], axis=0, method="nearest")
                curves.append(Curve(method, middle, low, high))
        panels.append(CurvePanel(problem, grid, tuple(curves)))
    return panels


def share_panels(analysis: Analysis) -> list[SharePanel]:
    """Strategy shares of the methods that choose between at least two strategies."""
    panels = []
    for method in analysis.methods:
        for problem in analysis.problems:
            panel = share_panel(analysis, method, problem)
            if panel is not None and np.count_nonzero(panel.shares.sum(axis=0)) > 1:
                panels.append(panel)
    return panels


def share_panel(analysis: Analysis, method: str, problem: str) -> SharePanel | None:
    """The shares of one cell; runs that ended early count as long as they last."""
    group = analysis.groups.get((method, problem))
    if group is None or not len(group["operators"].iloc[0]):
        return None
    operators = tuple(str(name) for name in group["operators"].iloc[0])
    counts = [np.asarray(c, dtype=float).reshape(-1, len(operators)) for c in group["strategy_counts"]]
    longest = max(len(c) for c in counts)
    if longest == 0:
        return None
    total = np.zeros((longest, len(operators)))
    for c in counts:
        total[: len(c)] += c / c.sum(axis=1, keepdims=True)
    widest = max(counts, key=len)
    made = max(int(e) for e in group["evaluations"])
    evaluations = made - widest.sum() + np.cumsum(widest.sum(axis=1))
    return SharePanel(method, problem, operators, evaluations, total / total.sum(axis=1, keepdims=True))


def rank_figure(analysis: Analysis) -> RankFigure:
    """Ranks with their intervals and the groups within one critical difference."""
    ranks, width = tuple(analysis.ranks), analysis.critical_difference
    cliques: list[tuple[int, int]] = []
    for first in range(len(ranks)):
        last = max(k for k in range(first, len(ranks)) if ranks[k].rank - ranks[first].rank < width or k == first)
        if last > first and (not cliques or last > cliques[-1][1]):
            cliques.append((first, last))
    return RankFigure(ranks, width, tuple(cliques))


def cost_bars(analysis: Analysis) -> list[CostBar]:
    """Microseconds of CPU per evaluation, cheapest first."""
    spent = {}
    for method in analysis.methods:
        runs = analysis.runs[analysis.runs["method"] == method]
        spent[method] = 1e6 * float(runs["cpu_seconds"].sum()) / max(int(runs["evaluations"].sum()), 1)
    uniform = spent.get("random", float("nan"))
    return [CostBar(m, s, s / uniform) for m, s in sorted(spent.items(), key=lambda item: item[1])]
