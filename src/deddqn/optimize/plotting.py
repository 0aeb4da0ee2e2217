"""Pictures of one run: data first, drawing second."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from deddqn._utils.optional_imports import need

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from scipy.optimize import OptimizeResult


class RunCurves(NamedTuple):
    """What `plot` draws."""

    evaluations: np.ndarray  # (generations + 1,)
    best: np.ndarray  # (generations + 1,)
    shares: np.ndarray  # (generations, K) share of every strategy
    strategies: list[str]


NO_STRATEGY = "none: CMA-ES, a local search, or a new population"
"""What the plot says where nothing was chosen."""


def run_curves(result: OptimizeResult) -> RunCurves:
    """The curves of a result that was made with ``history=True``."""
    if getattr(result, "history", None) is None:
        raise ValueError("result must have a history: call minimize(..., history=True)")
    counters = np.asarray(result.history.strategy_counts, dtype=np.float64).reshape(-1, len(result.strategies))
    totals = np.maximum(counters.sum(axis=1, keepdims=True), 1.0)
    return RunCurves(result.history.nfev, result.history.fun, counters / totals, list(result.strategies))


def plot(result: OptimizeResult, path: str | os.PathLike[str] | None = None) -> Figure:
    """Draw convergence and strategy shares of a run; save the picture to `path` if one is given.

    The result must come from ``minimize(..., history=True)``. Needs matplotlib (the extra `report`).
    """
    curves = run_curves(result)
    need("matplotlib", "deddqn.plot", "report")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 3.4), layout="constrained")
    left, right = figure.subplots(1, 2)
    draw_convergence(left, curves)
    draw_shares(right, curves)
    figure.suptitle(f"{result.policy}: f = {result.fun:.6g} after {result.nfev} evaluations", fontsize=11)
    if path is not None:
        figure.savefig(path, dpi=150)
    return figure


def draw_convergence(axes: Any, curves: RunCurves) -> None:
    """Best value over evaluations; logarithmic where all values allow it."""
    axes.plot(curves.evaluations, curves.best, color="#1b4f8a", linewidth=1.8)
    finite = curves.best[np.isfinite(curves.best)]
    if finite.size and finite.min() > 0 and finite.max() / finite.min() > 20:
        axes.set_yscale("log")
    axes.set(xlabel="evaluations", ylabel="best value")
    axes.grid(alpha=0.3)


def draw_shares(axes: Any, curves: RunCurves) -> None:
    """How often every strategy was chosen, stacked."""
    if len(curves.shares):
        from matplotlib import color_sequences

        colours = list(color_sequences["tab10" if len(curves.strategies) <= 10 else "tab20"])[: len(curves.strategies)]
        shares, labels = curves.shares, list(curves.strategies)
        none = 1.0 - shares.sum(axis=1, keepdims=True)
        if (none > 0.5).any():
            shares, labels, colours = np.hstack([shares, none]), [*labels, NO_STRATEGY], [*colours, "#e4e4e4"]
        axes.stackplot(curves.evaluations[1:], shares.T, labels=labels, colors=colours, alpha=0.85)
        axes.legend(loc="center left", bbox_to_anchor=(1.02, 0.5), fontsize=8, frameon=False, reverse=True)
    axes.set(xlabel="evaluations", ylabel="share of the strategies", ylim=(0, 1))
