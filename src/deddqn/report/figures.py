"""The records of `deddqn.analysis.curves` as PDF and PNG figures for papers and slides."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, NullLocator

from deddqn.analysis.comparison import Analysis
from deddqn.analysis.curves import (
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
from deddqn.analysis.statistics import SOLVED
from deddqn.analysis.tables import method_title, number, short_problem
from deddqn.report.style import operator_colour, style_of

LOG_FROM = 30.0  # errors that span more than this factor get a logarithmic axis
Methods = tuple[str, ...]
BOX_STYLE: dict[str, Any] = {
    "orientation": "horizontal",
    "widths": 0.6,
    "patch_artist": True,
    "flierprops": {"markersize": 2.5},
    "medianprops": {"color": "black", "linewidth": 1.4},
}


def _dash(pattern: str) -> Any:
    return (0, tuple(float(part) for part in pattern.split())) if pattern else "-"


@dataclass(frozen=True)
class Frame:
    """The room of one panel in inches, and what its labels need on each side."""

    width: float
    height: float
    left: float = 0.5
    right: float = 0.12
    top: float = 0.28
    bottom: float = 0.28


def _sheet(rows: int, columns: int, frame: Frame, below: float = 0.0) -> tuple[Figure, list[Any]]:
    """Axes in rows, placed by hand (a layout engine takes most of the time); `below` is room for a legend."""
    width, height = columns * frame.width, rows * frame.height + below
    figure = Figure(figsize=(width, height))
    inner = (frame.width - frame.left - frame.right, frame.height - frame.top - frame.bottom)
    axes = []
    for row in range(rows):
        for column in range(columns):
            x, y = column * frame.width + frame.left, height - (row + 1) * frame.height + frame.bottom
            axes.append(figure.add_axes((x / width, y / height, inner[0] / width, inner[1] / height)))
    return figure, axes


def _panels(number: int, columns: int, frame: Frame, below: float = 0.0) -> tuple[Figure, list[Any]]:
    """A sheet with so many panels; what is left of the last row stays empty."""
    columns = min(columns, number)
    figure, axes = _sheet(-(-number // columns), columns, frame, below)
    for unused in axes[number:]:
        unused.set_axis_off()
    return figure, axes[:number]


def _error_axis(axis: Any, values: list[float], which: str) -> None:
    getattr(axis, f"{which}axis").set_major_formatter(FuncFormatter(lambda value, _: number(value)))
    finite = [v for v in values if math.isfinite(v)]
    if not finite or min(finite) <= -SOLVED:  # values, not errors: the optimum is unknown
        return
    if max(finite) > 0 and (min(finite) <= 0 or max(finite) / min(finite) > LOG_FROM):
        if min(finite) > 0:
            getattr(axis, f"set_{which}scale")("log")
        else:
            getattr(axis, f"set_{which}scale")("symlog", linthresh=SOLVED)
        getattr(axis, f"{which}axis").set_minor_locator(NullLocator())


def draw_boxes(panels: list[BoxPanel], methods: Methods) -> Figure:
    """Box plots, one panel per problem (the paper's Fig. 1 when given its three methods)."""
    few = len(panels[0].boxes) <= len(FIG_1)
    figure, axes = _panels(len(panels), 2 if few else 3, Frame(3.2, 0.6 + 0.2 * len(panels[0].boxes), left=0.85))
    for axis, panel in zip(axes, panels, strict=True):
        stats = [
            {"med": b.median, "q1": b.first, "q3": b.third, "whislo": b.low, "whishi": b.high, "fliers": b.outside}
            for b in panel.boxes
        ]
        names = [method_title(b.method) for b in panel.boxes]
        drawn = axis.bxp(stats, **BOX_STYLE)
        for patch, box in zip(drawn["boxes"], panel.boxes, strict=True):
            patch.set_facecolor(style_of(box.method, methods)[0])
            patch.set_alpha(0.5)
        axis.set_yticks(range(1, len(names) + 1), names, fontsize=7)
        axis.invert_yaxis()
        _error_axis(axis, [v for b in panel.boxes for v in (b.low, b.high, *b.outside)], "x")
        axis.set_title(short_problem(panel.problem), fontsize=9)
        axis.tick_params(axis="x", labelsize=7)
    return figure


def draw_curves(panels: list[CurvePanel], methods: Methods, label: str) -> Figure:
    """Lines over evaluations, one panel each, with one legend."""
    legend_room = 0.2 * (1 + -(-len(methods) // _per_row(len(panels))))
    figure, axes = _panels(len(panels), 3, Frame(3.2, 2.4, left=0.6, bottom=0.45), legend_room)
    for axis, panel in zip(axes, panels, strict=True):
        shown = panel.evaluations >= min(10, panel.evaluations[-1])
        for curve in panel.curves:
            colour, dash = style_of(curve.method, methods)
            axis.plot(panel.evaluations[shown], curve.values[shown], color=colour, linestyle=_dash(dash), linewidth=1.1)
        axis.set_xscale("log")
        if label != "share":
            _error_axis(axis, [float(v) for c in panel.curves for v in c.values[shown]], "y")
        axis.set_title(short_problem(panel.title), fontsize=9)
        axis.tick_params(labelsize=7)
        axis.xaxis.set_minor_locator(NullLocator())
        axis.set_xlabel("evaluations", fontsize=7)
    _legend(figure, methods, _per_row(len(panels)))
    return figure


def _per_row(panels: int) -> int:
    return 7 if panels > 2 else 3


def _legend(figure: Figure, methods: Methods, per_row: int) -> None:
    handles = []
    for method in methods:
        colour, dash = style_of(method, methods)
        handles.append(Line2D([], [], color=colour, linestyle=_dash(dash), label=method_title(method)))
    figure.legend(handles=handles, loc="lower center", ncols=min(per_row, len(methods)), fontsize=7, frameon=False)


def draw_shares(panels: list[SharePanel]) -> Figure:
    """Strategy shares: methods down, problems across."""
    methods = list(dict.fromkeys(p.method for p in panels))
    problems = list(dict.fromkeys(p.problem for p in panels))
    frame = Frame(1.3, 1.1, left=0.2, right=0.02, top=0.2, bottom=0.06)
    figure, flat = _sheet(len(methods), len(problems), frame, below=0.35)
    axes = np.array(flat, dtype=object).reshape(len(methods), len(problems))
    for panel in panels:
        axis = axes[methods.index(panel.method), problems.index(panel.problem)]
        colours = [operator_colour(k) for k in range(len(panel.operators))]
        axis.stackplot(panel.evaluations, panel.shares.T, colors=colours)
        axis.set(ylim=(0, 1), xticks=[], yticks=[], xlim=(panel.evaluations[0], panel.evaluations[-1]))
        axis.set_frame_on(False)
    for k, problem in enumerate(problems):
        axes[0, k].set_title(short_problem(problem), fontsize=8)
    for k, method in enumerate(methods):
        axes[k, 0].set_ylabel(method_title(method), fontsize=8)
    handles = [Patch(color=operator_colour(k), label=name) for k, name in enumerate(panels[0].operators)]
    figure.legend(handles=handles, loc="lower center", ncols=len(handles), fontsize=7, frameon=False)
    return figure


def draw_ranks(record: RankFigure, methods: Methods) -> Figure:
    """Mean ranks with intervals, and bars over groups within one critical difference."""
    figure, (axis,) = _sheet(1, 1, Frame(5.2, 0.9 + 0.24 * len(record.ranks), left=0.95, top=0.1, bottom=0.5))
    for k, rank in enumerate(record.ranks):
        colour = style_of(rank.method, methods)[0]
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
    figure, (axis,) = _sheet(1, 1, Frame(5.2, 0.8 + 0.22 * len(bars), left=0.95, top=0.1, bottom=0.5))
    axis.barh(
        [method_title(b.method) for b in bars],
        [b.microseconds for b in bars],
        color=[style_of(b.method, methods)[0] for b in bars],
    )
    if bars and bars[-1].microseconds > 20.0 * bars[0].microseconds:
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
    return written
