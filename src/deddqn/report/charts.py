"""The charts of a comparison, from the records of `deddqn.analysis.curves`; a group per method."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from deddqn.analysis.curves import Box, BoxPanel, CostBar, CurvePanel, RankFigure, SharePanel
from deddqn.analysis.tables import method_title, number, short_problem
from deddqn.report.drawing import (
    Area,
    Circle,
    Drawing,
    Group,
    Line,
    Point,
    Shape,
    Text,
    horizontal_axis,
    rectangle,
    vertical_axis,
)
from deddqn.report.scales import Scale, fitting
from deddqn.report.style import operator_colour, style_of

Methods = tuple[str, ...]
LETTER = 6.4  # mean width of a letter of a label
MOST_TICKS = 14  # whose numbers have room side by side on the axis of the critical difference
INK = "#222222"


def _name(x: float, y: float, content: str, anchor: str = "end") -> Text:
    return Text(x, y, content, anchor, tick=False)


def _label_room(labels: Iterable[str]) -> float:
    """Width that the longest label takes."""
    return max(78.0, 10.0 + LETTER * max((len(label) for label in labels), default=0))


def box_chart(panel: BoxPanel, methods: Methods) -> Drawing:
    """Horizontal box plots, one row per method."""
    left = _label_room(method_title(box.method) for box in panel.boxes)
    row, width, top = 17, 276 + left, 6
    bottom = top + row * len(panel.boxes) + 4
    scale = fitting([v for b in panel.boxes for v in (b.low, b.high, *b.outside)], left, width - 10)
    shapes = horizontal_axis(scale, top, bottom)
    shapes += [_box(box, scale, top + row * (k + 0.5) + 2, left, methods) for k, box in enumerate(panel.boxes)]
    return Drawing(width, bottom + 18, shapes, f"Box plots of final errors on {short_problem(panel.problem)}")


def _box(box: Box, scale: Scale, y: float, left: float, methods: Methods) -> Group:
    colour, _ = style_of(box.method, methods)
    low, first, middle, third, high = (scale(v) for v in (box.low, box.first, box.median, box.third, box.high))
    shapes: list[Shape] = [
        _name(left - 5, y + 3.5, method_title(box.method)),
        Line([(low, y), (first, y)], colour),
        Line([(third, y), (high, y)], colour),
        Area(rectangle(first, y - 5, max(third - first, 0.5), 10), colour, opacity=0.25, stroke=colour),
        Line([(middle, y - 5), (middle, y + 5)], colour, width=2.5),
        *(Circle(scale(v), y, 1.8, colour) for v in box.outside),
    ]
    tip = (
        f"{method_title(box.method)}: median {number(box.median)}, quartiles {number(box.first)} to "
        f"{number(box.third)}, range {number(box.low)} to {number(box.high)}, {len(box.outside)} outside"
    )
    return Group(shapes, tip, box.method)


def curve_chart(panel: CurvePanel, methods: Methods, *, shares: bool = False) -> Drawing:
    """Lines over evaluations: errors on a logarithmic axis, or shares from 0 to 1."""
    width, height, left, bottom, first = 360, 230, 46, 200, 0.0 if shares else 10.0
    shown = panel.evaluations >= min(first, panel.evaluations[-1])
    evaluations = panel.evaluations[shown]
    across = Scale(
        float(evaluations[0]), float(max(evaluations[-1], evaluations[0] * 1.01)), left, width - 14, log=True
    )
    if shares:
        down = Scale(0.0, 1.0, bottom, 8)
    else:
        down = fitting([v for c in panel.curves for v in c.values[shown]], bottom, 8)
    shapes = horizontal_axis(across, 8, bottom) + vertical_axis(down, left, width - 8)
    shapes.append(Text((left + width - 8) / 2, bottom + 27, panel.axis, "middle"))
    if shares:
        shapes.append(Text(14, (8 + bottom) / 2, "share reached", "middle", upwards=True))
    for curve in panel.curves:
        colour, dash = style_of(curve.method, methods)
        own: list[Shape] = []
        if curve.low is not None and curve.high is not None:
            low, high = (_thin(_points(evaluations, v[shown], across, down)) for v in (curve.low, curve.high))
            own.append(Area([*low, *reversed(high)], colour, hidden=True))
        line = _thin(_points(evaluations, curve.values[shown], across, down))
        own.append(Line(line, colour, width=1.6, dash=dash, kind="line"))
        last = float(curve.values[-1])
        tip = f"{method_title(curve.method)}: {f'{last:.2f}' if shares else number(last)} at the end"
        shapes.append(Group(own, tip, curve.method))
    label = f"{'Share reached' if shares else 'Error'} over {panel.axis}: {panel.title}"
    return Drawing(width, height, shapes, label)


def _points(at: np.ndarray, values: np.ndarray, across: Scale, down: Scale) -> list[Point]:
    return [(across(float(x)), down(float(y))) for x, y in zip(at, values, strict=True)]


def _thin(points: list[Point]) -> list[Point]:
    """Leave out points in the middle of level stretches."""
    kept = points[:1]
    for before, here, after in zip(points, points[1:], points[2:], strict=False):
        if abs(here[1] - before[1]) > 0.05 or abs(here[1] - after[1]) > 0.05:
            kept.append(here)
    return [*kept, *points[1:][-1:]]


def share_chart(panel: SharePanel) -> Drawing:
    """Stacked areas of strategy shares."""
    width, height, left, bottom = 190, 110, 4, 92
    first, last = float(panel.evaluations[0]), float(panel.evaluations[-1])
    across = Scale(first, max(last, first + 1), left, width - 4)
    down = Scale(0.0, 1.0, bottom, 4)
    stacked = np.vstack([np.zeros(len(panel.shares)), np.cumsum(panel.shares, axis=1).T])
    edges = [_points(panel.evaluations, values, across, down) for values in stacked]
    shapes: list[Shape] = []
    for k, name in enumerate(panel.operators):
        whole, end = panel.shares[:, k].mean(), panel.shares[-1, k]
        tip = f"{name}: {100 * whole:.0f}% on the whole, {100 * end:.0f}% at the end"
        shapes.append(Group([Area([*edges[k], *reversed(edges[k + 1])], operator_colour(k))], tip))
    shapes += [Text(left, bottom + 13, f"{first:.0f}"), Text(width - 4, bottom + 13, f"{last:.0f}", "end")]
    label = f"Strategy shares of {method_title(panel.method)} on {short_problem(panel.problem)}"
    return Drawing(width, height, shapes, label)


def rank_chart(figure: RankFigure, methods: Methods, printed: dict[str, float]) -> Drawing:
    """Mean ranks with intervals; a hollow diamond is the paper's."""
    left = _label_room(method_title(rank.method) for rank in figure.ranks)
    row, width, top = 20, 322 + left, 6
    bottom = top + row * len(figure.ranks) + 2
    scale = Scale(1.0, float(max(len(figure.ranks), 2)), left + 6, width - 12)
    shapes = horizontal_axis(scale, top, bottom, about=len(figure.ranks))
    for k, rank in enumerate(figure.ranks):
        y, colour = top + row * (k + 0.5), style_of(rank.method, methods)[0]
        own: list[Shape] = [
            _name(left - 5, y + 4, method_title(rank.method)),
            Line([(scale(rank.low), y), (scale(rank.high), y)], colour, width=3, opacity=0.45),
            Circle(scale(rank.rank), y, 5, colour),
        ]
        paper = printed.get(rank.method, math.nan)
        if not math.isnan(paper):
            x = scale(paper)
            own.append(Area([(x, y - 6), (x + 6, y), (x, y + 6), (x - 6, y)], "none", stroke=INK))
        tip = f"{method_title(rank.method)}: {rank.rank:.2f}, 95% interval {rank.low:.2f} to {rank.high:.2f}"
        shapes.append(Group(own, tip, rank.method))
    return Drawing(width, bottom + 18, shapes, "Mean ranks with 95% intervals")


def critical_chart(figure: RankFigure, methods: Methods) -> Drawing:
    """Demsar's diagram: methods on an axis of ranks, a bar over those that Nemenyi's test does not tell apart."""
    labels = [f"{method_title(rank.method)} {rank.rank:.2f}" for rank in figure.ranks]
    room = _label_room(labels)
    k, width, axis = len(figure.ranks), 262 + 2 * room, 40
    scale = Scale(1.0, float(max(k, 2)), room + 8, width - room - 8)
    bars = axis + 10 + 7 * len(figure.cliques)
    half = (k + 1) // 2
    shapes = _rank_axis(scale, axis, k)
    for position, (rank, label) in enumerate(zip(figure.ranks, labels, strict=True)):
        leftward = position < half
        level = bars + 10 + 16 * (position if leftward else k - 1 - position)
        end, x = (room if leftward else width - room), scale(rank.rank)
        bent = Line([(x, axis), (x, level), (end, level)], style_of(rank.method, methods)[0])
        name = _name(end + (-4 if leftward else 4), level + 4, label, "end" if leftward else "start")
        shapes.append(Group([bent, name], label, rank.method))
    for level, (first, last) in enumerate(figure.cliques):
        y = axis + 8 + 7 * level
        left, right = scale(figure.ranks[first].rank) - 3, scale(figure.ranks[last].rank) + 3
        shapes.append(Line([(left, y), (right, y)], INK, width=4))
    if math.isfinite(figure.critical_difference):
        start, end = scale(1.0), scale(1.0 + figure.critical_difference)
        shapes += [Line([(x, 8), (x, 16)]) for x in (start, end)] + [Line([(start, 12), (end, 12)])]
        shapes.append(Text(end + 6, 16, f"critical difference {figure.critical_difference:.2f}"))
    return Drawing(width, bars + 16 * half + 14, shapes, "Critical difference diagram")


def _rank_axis(scale: Scale, y: float, ranks: int) -> list[Shape]:
    shapes: list[Shape] = [Line([(scale(1), y), (scale(ranks), y)])]
    for tick in range(1, ranks + 1):
        shapes.append(Line([(scale(tick), y), (scale(tick), y - 5)]))
        if ranks <= MOST_TICKS or tick % 5 == 0 or tick == 1:
            shapes.append(Text(scale(tick), y - 9, str(tick), "middle"))
    return shapes


def cost_chart(bars: list[CostBar], methods: Methods) -> Drawing:
    """CPU time per evaluation on a logarithmic axis."""
    left = _label_room(method_title(bar.method) for bar in bars)
    row, width, top = 18, 322 + left, 4
    bottom = top + row * len(bars) + 2
    values = [max(b.microseconds, 1e-3) for b in bars]
    spread = max(values) / min(values) > 20
    lowest = 10.0 ** math.floor(math.log10(min(values))) if spread else 0.0
    scale = Scale(lowest, max(values) * 1.05, left, width - 60, log=spread)
    shapes = horizontal_axis(scale, top, bottom)
    for k, bar in enumerate(bars):
        y, colour, end = top + row * (k + 0.5), style_of(bar.method, methods)[0], scale(bar.microseconds)
        own: list[Shape] = [
            _name(left - 5, y + 4, method_title(bar.method)),
            Area(rectangle(left, y - 5, max(end - left, 1), 10), colour),
            Text(end + 5, y + 4, f"{bar.microseconds:.2f} µs"),
        ]
        share = f"{bar.ratio:.2f} times Random" if math.isfinite(bar.ratio) else f"{bar.microseconds:.2f} µs"
        shapes.append(Group(own, f"{method_title(bar.method)}: {share}", bar.method))
    return Drawing(width, bottom + 18, shapes, "CPU time per evaluation in microseconds")
