"""The records of `deddqn.experiments.curves` as PDF and PNG figures for papers and slides."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from deddqn.experiments.analysis import Analysis
from deddqn.experiments.curves import (
    FIG_1,
    BoxPanel,
    CostBar,
    CurvePanel,
    RankFigure,
    SharePanel,
    box_panels,
    convergence_panels,
    cost_bars,
    ecdf_panel,
    rank_figure,
    share_panels,
)
from deddqn.experiments.looks import OPERATORS, look_of
from deddqn.experiments.tables import method_title, short_problem

LOG_FROM = 30.0  # errors that span more than this factor get a logarithmic axis
Methods = tuple[str, ...]


def _dash(pattern: str) -> Any:
    return (0, tuple(float(part) for part in pattern.split())) if pattern else "-"


def _sheet(panels: int, columns: int, width: float, height: float) -> tuple[Figure, list[Any]]:
    """A figure with so many axes in rows."""
    columns = min(columns, panels)
    rows = -(-panels // columns)
    figure = Figure(figsize=(width * columns, height * rows), layout="constrained")
    axes = np.atleast_1d(figure.subplots(rows, columns)).ravel().tolist()
    for unused in axes[panels:]:
        unused.set_axis_off()
    return figure, axes[:panels]


def _error_axis(axis: Any, values: list[float], which: str) -> None:
    finite = [v for v in values if math.isfinite(v)]
    if finite and max(finite) > 0 and (min(finite) <= 0 or max(finite) / min(finite) > LOG_FROM):
        if min(finite) > 0:
            getattr(axis, f"set_{which}scale")("log")
        else:
            getattr(axis, f"set_{which}scale")("symlog", linthresh=1e-8)


def draw_boxes(panels: list[BoxPanel], methods: Methods) -> Figure:
    """Box plots, one panel per problem (the paper's Fig. 1 when given its three methods)."""
    figure, axes = _sheet(len(panels), 2 if len(panels[0].boxes) <= 3 else 3, 3.2, 0.9 + 0.2 * len(panels[0].boxes))
    for axis, panel in zip(axes, panels, strict=True):
        stats = [
            {"med": b.median, "q1": b.first, "q3": b.third, "whislo": b.low, "whishi": b.high, "fliers": b.outside}
            for b in panel.boxes
        ]
        names = [method_title(b.method) for b in panel.boxes]
        drawn = axis.bxp(stats, orientation="horizontal", patch_artist=True, flierprops={"markersize": 2.5})
        for patch, box in zip(drawn["boxes"], panel.boxes, strict=True):
            patch.set_facecolor(look_of(box.method, methods)[0])
            patch.set_alpha(0.5)
        axis.set_yticks(range(1, len(names) + 1), names, fontsize=7)
        axis.invert_yaxis()
        _error_axis(axis, [v for b in panel.boxes for v in (b.low, b.high, *b.outside)], "x")
        axis.set_title(short_problem(panel.problem), fontsize=9)
        axis.tick_params(axis="x", labelsize=7)
    return figure


def draw_curves(panels: list[CurvePanel], methods: Methods, label: str) -> Figure:
    """Lines over evaluations, one panel each, with one legend."""
    figure, axes = _sheet(len(panels), 3, 3.2, 2.4)
    for axis, panel in zip(axes, panels, strict=True):
        shown = panel.evaluations >= min(10, panel.evaluations[-1])
        for curve in panel.curves:
            colour, dash = look_of(curve.method, methods)
            axis.plot(panel.evaluations[shown], curve.values[shown], color=colour, linestyle=_dash(dash), linewidth=1.1)
        axis.set_xscale("log")
        if label != "share":
            _error_axis(axis, [float(v) for c in panel.curves for v in c.values[shown]], "y")
        axis.set_title(short_problem(panel.title), fontsize=9)
        axis.tick_params(labelsize=7)
        axis.set_xlabel("evaluations", fontsize=7)
    _legend(figure, methods)
    return figure


def _legend(figure: Figure, methods: Methods) -> None:
    handles = []
    for method in methods:
        colour, dash = look_of(method, methods)
        handles.append(Line2D([], [], color=colour, linestyle=_dash(dash), label=method_title(method)))
    figure.legend(handles=handles, loc="outside lower center", ncols=min(7, len(methods)), fontsize=7, frameon=False)


def draw_shares(panels: list[SharePanel]) -> Figure:
    """Strategy shares: methods down, problems across."""
    methods = list(dict.fromkeys(p.method for p in panels))
    problems = list(dict.fromkeys(p.problem for p in panels))
    figure = Figure(figsize=(1.3 * len(problems) + 0.8, 1.1 * len(methods) + 0.6), layout="constrained")
    axes = figure.subplots(len(methods), len(problems), squeeze=False, sharey=True)
    for panel in panels:
        axis = axes[methods.index(panel.method), problems.index(panel.problem)]
        colours = [OPERATORS[k % len(OPERATORS)] for k in range(len(panel.operators))]
        axis.stackplot(panel.evaluations, panel.shares.T, colors=colours)
        axis.set(ylim=(0, 1), xticks=[], yticks=[])
    for k, problem in enumerate(problems):
        axes[0, k].set_title(short_problem(problem), fontsize=8)
    for k, method in enumerate(methods):
        axes[k, 0].set_ylabel(method_title(method), fontsize=8)
    handles = [Patch(color=OPERATORS[k % len(OPERATORS)], label=name) for k, name in enumerate(panels[0].operators)]
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles), fontsize=7, frameon=False)
    return figure


def draw_ranks(record: RankFigure, methods: Methods) -> Figure:
    """Mean ranks with intervals, and bars over groups within one critical difference."""
    figure = Figure(figsize=(5.2, 0.9 + 0.24 * len(record.ranks)), layout="constrained")
    axis = figure.subplots()
    for k, rank in enumerate(record.ranks):
        colour = look_of(rank.method, methods)[0]
        axis.plot([rank.low, rank.high], [k, k], color=colour, linewidth=2.5, alpha=0.5)
        axis.plot(rank.rank, k, "o", color=colour, markersize=5)
    for level, (first, last) in enumerate(record.cliques):
        x = len(record.ranks) + 0.4 + 0.25 * level
        axis.plot([x, x], [first - 0.2, last + 0.2], color="#222222", linewidth=3)
    axis.set_yticks(range(len(record.ranks)), [method_title(r.method) for r in record.ranks], fontsize=8)
    axis.invert_yaxis()
    axis.set_xlabel(f"mean rank; bars: within the critical difference {record.critical_difference:.2f}", fontsize=8)
    return figure


def draw_cost(bars: list[CostBar], methods: Methods) -> Figure:
    """CPU time per evaluation."""
    figure = Figure(figsize=(5.2, 0.8 + 0.22 * len(bars)), layout="constrained")
    axis = figure.subplots()
    axis.barh(
        [method_title(b.method) for b in bars],
        [b.microseconds for b in bars],
        color=[look_of(b.method, methods)[0] for b in bars],
    )
    axis.set_xscale("log")
    axis.invert_yaxis()
    axis.set_xlabel("CPU time per evaluation, µs", fontsize=8)
    axis.tick_params(labelsize=8)
    return figure


def figures_of(a: Analysis) -> dict[str, Callable[[], Figure]]:
    """The figures that the data allow, by name."""
    found: dict[str, Callable[[], Figure]] = {}
    chosen = tuple(m for m in FIG_1 if m in a.methods)
    if len(chosen) > 1:
        found["boxes-fig1"] = lambda: draw_boxes(box_panels(a, chosen), a.methods)
    found["boxes"] = lambda: draw_boxes(box_panels(a), a.methods)
    found["convergence"] = lambda: draw_curves(convergence_panels(a), a.methods, "error")
    ecdf, shares = ecdf_panel(a), share_panels(a)
    if ecdf is not None:
        found["ecdf"] = lambda: draw_curves([ecdf], a.methods, "share")
    if shares:
        found["strategies"] = lambda: draw_shares(shares)
    if a.ranks:
        found["ranks"] = lambda: draw_ranks(rank_figure(a), a.methods)
    found["cost"] = lambda: draw_cost(cost_bars(a), a.methods)
    return found


def write_figures(a: Analysis, folder: Path) -> list[Path]:
    """Every figure as PDF and PNG."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, draw in figures_of(a).items():
        figure = draw()
        FigureCanvasAgg(figure)
        for ending in ("pdf", "png"):
            written.append(folder / f"{name}.{ending}")
            figure.savefig(written[-1], dpi=150)
            figure.set_layout_engine("none")  # the layout is found once: it takes most of the time
    return written
