"""Records of `deddqn.analysis.curves` as SVG. Everything of a method is in a group that the page can hide."""

from __future__ import annotations

import math
from collections.abc import Iterable
from html import escape

import numpy as np

from deddqn.analysis.curves import Box, BoxPanel, CostBar, CurvePanel, RankFigure, SharePanel
from deddqn.analysis.tables import method_title, number, short_problem
from deddqn.report.style import operator_colour, style_of
from deddqn.report.svg import Scale, drawing, fitting, horizontal_axis, path, text, vertical_axis

Methods = tuple[str, ...]
LETTER = 6.4  # mean width of a letter of a label
MOST_TICKS = 14  # whose numbers have room side by side on the axis of the critical difference


def _series(method: str, content: str, tip: str) -> str:
    return f'<g class="s" data-m="{escape(method, quote=True)}"><title>{escape(tip)}</title>{content}</g>'


def box_chart(panel: BoxPanel, methods: Methods) -> str:
    """Horizontal box plots, one row per method."""
    left = _label_room(method_title(box.method) for box in panel.boxes)
    row, width, top = 17, 276 + left, 6
    bottom = top + row * len(panel.boxes) + 4
    everything = [v for b in panel.boxes for v in (b.low, b.high, *b.outside)]
    scale = fitting(everything, left, width - 10)
    body = horizontal_axis(scale, top, bottom)
    for k, box in enumerate(panel.boxes):
        body += _box(box, scale, top + row * (k + 0.5) + 2, left, methods)
    return drawing(width, bottom + 18, body, f"Box plots of final errors on {short_problem(panel.problem)}")


def _box(box: Box, scale: Scale, y: float, left: float, methods: Methods) -> str:
    colour, _ = style_of(box.method, methods)
    low, first, middle, third, high = (scale(v) for v in (box.low, box.first, box.median, box.third, box.high))
    marks = "".join(f'<circle cx="{scale(v):.1f}" cy="{y:.1f}" r="1.8" fill="{colour}"/>' for v in box.outside)
    content = (
        text(left - 5, y + 3.5, method_title(box.method), "name", "end")
        + f'<path d="M{low:.1f} {y:.1f}H{first:.1f}M{third:.1f} {y:.1f}H{high:.1f}" stroke="{colour}"/>'
        + f'<rect x="{first:.1f}" y="{y - 5:.1f}" width="{max(third - first, 0.5):.1f}" height="10" '
        + f'fill="{colour}" fill-opacity=".25" stroke="{colour}"/>'
        + f'<path d="M{middle:.1f} {y - 5:.1f}v10" stroke="{colour}" stroke-width="2.5"/>{marks}'
    )
    tip = (
        f"{method_title(box.method)}: median {number(box.median)}, quartiles {number(box.first)} to "
        f"{number(box.third)}, range {number(box.low)} to {number(box.high)}, {len(box.outside)} outside"
    )
    return _series(box.method, content, tip)


def curve_chart(panel: CurvePanel, methods: Methods, *, shares: bool = False) -> str:
    """Lines over evaluations: errors on a logarithmic axis, or shares from 0 to 1."""
    width, height, left, bottom, first = 360, 230, 46, 200, 10
    shown = panel.evaluations >= min(first, panel.evaluations[-1])
    evaluations = panel.evaluations[shown]
    across = Scale(
        float(evaluations[0]), float(max(evaluations[-1], evaluations[0] * 1.01)), left, width - 14, log=True
    )
    if shares:
        down = Scale(0.0, 1.0, bottom, 8)
    else:
        down = fitting([v for c in panel.curves for v in c.values[shown]], bottom, 8)
    body = horizontal_axis(across, 8, bottom) + vertical_axis(down, left, width - 8)
    body += text((left + width - 8) / 2, bottom + 27, "evaluations", "tick", "middle")
    for curve in panel.curves:
        colour, dash = style_of(curve.method, methods)
        xs = [across(float(e)) for e in evaluations]
        line = _thin([(x, down(float(v))) for x, v in zip(xs, curve.values[shown], strict=True)])
        content = ""
        if curve.low is not None and curve.high is not None:
            low = _thin([(x, down(float(v))) for x, v in zip(xs, curve.low[shown], strict=True)])
            high = _thin([(x, down(float(v))) for x, v in zip(xs, curve.high[shown], strict=True)])
            content = f'<path class="band" fill="{colour}" d="{path([*low, *reversed(high)], close=True)}"/>'
        dashed = f' stroke-dasharray="{dash}"' if dash else ""
        content += f'<path class="line" stroke="{colour}"{dashed} d="{path(line)}"/>'
        last = float(curve.values[-1])
        tip = f"{method_title(curve.method)}: {f'{last:.2f}' if shares else number(last)} at the end"
        body += _series(curve.method, content, tip)
    return drawing(width, height, body, f"{'Share reached' if shares else 'Error'} over evaluations: {panel.title}")


def _thin(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Leave out points in the middle of level stretches."""
    kept = points[:1]
    for before, here, after in zip(points, points[1:], points[2:], strict=False):
        if abs(here[1] - before[1]) > 0.05 or abs(here[1] - after[1]) > 0.05:
            kept.append(here)
    return [*kept, *points[1:][-1:]]


def share_chart(panel: SharePanel) -> str:
    """Stacked areas of strategy shares."""
    width, height, left, bottom = 190, 110, 4, 92
    first, last = float(panel.evaluations[0]), float(panel.evaluations[-1])
    across = Scale(first, max(last, first + 1), left, width - 4)
    down = Scale(0.0, 1.0, bottom, 4)
    stacked = np.vstack([np.zeros(len(panel.shares)), np.cumsum(panel.shares, axis=1).T])
    xs = [across(float(e)) for e in panel.evaluations]
    body = ""
    for k, name in enumerate(panel.operators):
        lower = [(x, down(float(v))) for x, v in zip(xs, stacked[k], strict=True)]
        upper = [(x, down(float(v))) for x, v in zip(xs, stacked[k + 1], strict=True)]
        colour = operator_colour(k)
        tip = (
            f"{name}: {100 * panel.shares[:, k].mean():.0f}% on the whole, {100 * panel.shares[-1, k]:.0f}% at the end"
        )
        outline = path([*lower, *reversed(upper)], close=True)
        body += f'<path fill="{colour}" d="{outline}"><title>{escape(tip)}</title></path>'
    body += text(left, bottom + 13, f"{first:.0f}", "tick") + text(width - 4, bottom + 13, f"{last:.0f}", "tick", "end")
    return drawing(
        width, height, body, f"Strategy shares of {method_title(panel.method)} on {short_problem(panel.problem)}"
    )


def _label_room(labels: Iterable[str]) -> float:
    """Width that the longest label takes."""
    return max(78.0, 10.0 + LETTER * max((len(label) for label in labels), default=0))


def rank_chart(figure: RankFigure, methods: Methods, printed: dict[str, float]) -> str:
    """Mean ranks with intervals; a hollow diamond is the paper's."""
    room = _label_room(method_title(rank.method) for rank in figure.ranks)
    row, left, width, top = 20, room, 322 + room, 6
    bottom = top + row * len(figure.ranks) + 2
    scale = Scale(1.0, float(max(len(figure.ranks), 2)), left + 6, width - 12)
    body = horizontal_axis(scale, top, bottom, about=len(figure.ranks))
    for k, rank in enumerate(figure.ranks):
        y, colour = top + row * (k + 0.5), style_of(rank.method, methods)[0]
        content = (
            text(left - 5, y + 4, method_title(rank.method), "name", "end")
            + f'<path class="interval" d="M{scale(rank.low):.1f} {y:.1f}H{scale(rank.high):.1f}" stroke="{colour}"/>'
            + f'<circle cx="{scale(rank.rank):.1f}" cy="{y:.1f}" r="5" fill="{colour}"/>'
        )
        paper = printed.get(rank.method, math.nan)
        if not math.isnan(paper):
            x = scale(paper)
            content += f'<path d="M{x:.1f} {y - 6:.1f}l6 6l-6 6l-6 -6Z" fill="none" stroke="#222"/>'
        tip = f"{method_title(rank.method)}: {rank.rank:.2f}, 95% interval {rank.low:.2f} to {rank.high:.2f}"
        body += _series(rank.method, content, tip)
    return drawing(width, bottom + 18, body, "Mean ranks with 95% intervals")


def critical_chart(figure: RankFigure, methods: Methods) -> str:
    """Demsar's diagram: methods on an axis of ranks, a bar over those that Nemenyi's test does not tell apart."""
    labels = [f"{method_title(rank.method)} {rank.rank:.2f}" for rank in figure.ranks]
    room = _label_room(labels)
    k, width, axis = len(figure.ranks), 262 + 2 * room, 40
    scale = Scale(1.0, float(max(k, 2)), room + 8, width - room - 8)
    bars = axis + 10 + 7 * len(figure.cliques)
    half = (k + 1) // 2
    body = f'<path class="axis" d="M{scale(1):.1f} {axis}H{scale(k):.1f}"/>'
    for tick in range(1, k + 1):
        body += f'<path class="axis" d="M{scale(tick):.1f} {axis}v-5"/>'
        if k <= MOST_TICKS or tick % 5 == 0 or tick == 1:
            body += text(scale(tick), axis - 9, str(tick), "tick", "middle")
    for position, (rank, label) in enumerate(zip(figure.ranks, labels, strict=True)):
        leftward = position < half
        level = bars + 10 + 16 * (position if leftward else k - 1 - position)
        end, x = (room if leftward else width - room), scale(rank.rank)
        content = f'<path d="M{x:.1f} {axis}V{level}H{end}" stroke="{style_of(rank.method, methods)[0]}" fill="none"/>'
        content += text(end + (-4 if leftward else 4), level + 4, label, "name", "end" if leftward else "start")
        body += _series(rank.method, content, label)
    for level, (first, last) in enumerate(figure.cliques):
        y = axis + 8 + 7 * level
        left, right = scale(figure.ranks[first].rank) - 3, scale(figure.ranks[last].rank) + 3
        body += f'<path class="clique" d="M{left:.1f} {y}H{right:.1f}"/>'
    if math.isfinite(figure.critical_difference):
        span = scale(1.0 + figure.critical_difference) - scale(1.0)
        body += f'<path class="axis" d="M{scale(1):.1f} 8v8m0 -4h{span:.1f}m0 -4v8"/>'
        body += text(scale(1) + span + 6, 16, f"critical difference {figure.critical_difference:.2f}", "tick")
    return drawing(width, bars + 16 * half + 14, body, "Critical difference diagram")


def cost_chart(bars: list[CostBar], methods: Methods) -> str:
    """CPU time per evaluation on a logarithmic axis."""
    row, left, width, top = 18, 78, 400, 4
    bottom = top + row * len(bars) + 2
    values = [max(b.microseconds, 1e-3) for b in bars]
    spread = max(values) / min(values) > 20
    lowest = 10.0 ** math.floor(math.log10(min(values))) if spread else 0.0
    scale = Scale(lowest, max(values) * 1.05, left, width - 60, log=spread)
    body = horizontal_axis(scale, top, bottom)
    for k, bar in enumerate(bars):
        y, colour, end = top + row * (k + 0.5), style_of(bar.method, methods)[0], scale(bar.microseconds)
        content = (
            text(left - 5, y + 4, method_title(bar.method), "name", "end")
            + f'<rect x="{left}" y="{y - 5:.1f}" width="{max(end - left, 1):.1f}" height="10" fill="{colour}"/>'
            + text(end + 5, y + 4, f"{bar.microseconds:.2f} µs", "tick")
        )
        share = f"{bar.ratio:.2f} times Random" if math.isfinite(bar.ratio) else f"{bar.microseconds:.2f} µs"
        body += _series(bar.method, content, f"{method_title(bar.method)}: {share}")
    return drawing(width, bottom + 18, body, "CPU time per evaluation in microseconds")
