"""The charts of an explanation."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from deddqn.analysis.tables import number, p_value, short_problem
from deddqn.explain.control_comparison import ControlComparison
from deddqn.explain.decision_summary import PROGRESS_EDGES, STAGNATION_EDGES, DecisionSummary, Gaps
from deddqn.explain.importance import Importance
from deddqn.report.drawing import (
    AXIS,
    Area,
    Circle,
    Drawing,
    Group,
    Line,
    Shape,
    Text,
    horizontal_axis,
    rectangle,
    vertical_axis,
)
from deddqn.report.scales import Scale, fitting
from deddqn.report.style import operator_colour

KINDS = {"landscape": "#2f6fb5", "history": "#3a8f5c", "input": "#2f6fb5", "all": "#8a93a3"}
RESULTS = {"win": "#1a7f45", "loss": "#b3202f", "tie": "#8a93a3"}
LINE = "#2457a6"
FEWEST = 10  # decisions that a cell of a map must have to be drawn


def comparison_chart(comparison: ControlComparison) -> Drawing:
    """One dot per problem: the chance that the policy ends with the lower error."""
    row, left, width, top = 15, 58, 400, 18
    bottom = top + row * len(comparison.results) + 2
    scale = Scale(0.0, 1.0, left + 4, width - 14)
    middle = scale(0.5)
    shapes = horizontal_axis(scale, top, bottom)
    shapes.append(Line([(middle, top - 2), (middle, bottom)]))
    shapes.append(Text(middle - 6, top - 6, "control better", "end"))
    shapes.append(Text(middle + 6, top - 6, "policy better"))
    for k, result in enumerate(comparison.results):
        x, y, colour = scale(result.a12), top + row * (k + 0.5), RESULTS[result.verdict]
        own: list[Shape] = [
            Text(left - 4, y + 3.5, short_problem(result.problem), "end", tick=False),
            Line([(middle, y), (x, y)], colour, opacity=0.5),
            Circle(x, y, 4, "none" if result.verdict == "tie" else colour, stroke=colour, width=1.5),
        ]
        tip = f"{short_problem(result.problem)}: A12 {result.a12:.2f}, p {p_value(result.adjusted)}, {result.verdict}"
        shapes.append(Group(own, tip))
    label = f"A12 of {comparison.policy} against {comparison.control} on every problem"
    return Drawing(width, bottom + 18, shapes, label)


def importance_chart(rows: Sequence[Importance], *, regret: bool = False) -> Drawing:
    """Two bars per group: permuted among all states, and (below, lighter) within a problem."""
    step, left, width, top = 20, 170, 470, 6
    bottom = top + step * len(rows) + 2
    pairs = [(row.regret, row.regret_within) if regret else (row.changed, row.changed_within) for row in rows]
    unit = 1.0 if regret else 100.0
    least, most = min(0.0, *map(min, pairs)), max(0.02, *map(max, pairs))
    scale = Scale(unit * least, unit * most * 1.08, left, width - 46)
    shapes = horizontal_axis(scale, top, bottom)
    for k, (row, (wide, narrow)) in enumerate(zip(rows, pairs, strict=True)):
        y, colour = top + step * k, KINDS[row.kind]
        name = row.group.replace("_", " ") + (f" ({row.rows})" if row.rows else "")
        own: list[Shape] = [
            Text(left - 6, y + 13, name, "end", tick=False),
            _bar(scale, unit * wide, y + 3, 8, colour),
            _bar(scale, unit * narrow, y + 11, 5, colour, 0.45),
            Text(max(scale(unit * wide), scale(0.0)) + 5, y + 11, f"{wide:.3f}" if regret else f"{wide:.1%}"),
        ]
        tip = (
            f"{row.group}: {row.changed:.1%} of the decisions change (regret {row.regret:.3f}), within a problem "
            f"{row.changed_within:.1%} ({row.regret_within:.3f})"
        )
        shapes.append(Group(own, tip))
    shapes.append(Text((left + width) / 2, bottom + 28, "regret" if regret else "decisions that change, %", "middle"))
    return Drawing(width, bottom + 36, shapes, "What permuted inputs do to the decisions")


def _bar(scale: Scale, value: float, y: float, height: float, colour: str, opacity: float = 1.0) -> Area:
    start, end = sorted((scale(0.0), scale(value)))
    return Area(rectangle(start, y, max(end - start, 0.5), height), colour, opacity)


def gap_chart(summary: DecisionSummary, gaps: Gaps) -> Drawing:
    """Median gap over the run with its quartiles."""
    width, height, left, bottom = 230, 130, 40, 106
    known = ~np.isnan(gaps.median)
    at = summary.evaluations[known].astype(float)
    across = Scale(float(at[0]), float(max(at[-1], at[0] + 1)), left, width - 10)
    low, middle, high = gaps.low[known], gaps.median[known], gaps.high[known]
    down = fitting([*low.tolist(), *high.tolist()], bottom, 8)
    shapes = vertical_axis(down, left, width - 10, about=4)
    lower, median, upper = (
        [(across(x), down(y)) for x, y in zip(at.tolist(), side.tolist(), strict=True)] for side in (low, middle, high)
    )
    shapes += [
        Area([*lower, *reversed(upper)], LINE, opacity=0.18),
        Line(median, LINE, width=1.6, kind="line"),
        Text(left, bottom + 14, f"{at[0]:.0f}"),
        Text(width - 10, bottom + 14, f"{at[-1]:.0f}", "end"),
    ]
    label = f"Gap on {short_problem(summary.problem)}, median {number(float(np.median(middle)))}"
    return Drawing(width, height, [Group(shapes, label)], label)


def decision_map(
    cells: np.ndarray, operators: Sequence[str], *, op: int | None = None, rows: int = 0, small: bool = False
) -> Drawing:
    """The map over progress (right) and stagnation (up): the most frequent strategy, or the share of one.

    `cells` is (progress, stagnation, operators). Strong colour is a large share; cells with fewer than `FEWEST`
    decisions stay empty. `rows` is how many rows of stagnation are drawn, by default those that the runs came to.
    """
    size, left = ((15, 9), 2) if small else ((30, 18), 62)
    rows = rows or rows_reached(cells)
    width, bottom = left + size[0] * cells.shape[0] + (2 if small else 16), 6 + size[1] * rows
    drawn: list[Shape] = [
        _cell(cells[x, y], operators, op, rectangle(left + size[0] * x, bottom - size[1] * (y + 1), *_inner(size)))
        for x in range(cells.shape[0])
        for y in range(rows)
        if cells[x, y].sum() >= FEWEST
    ]
    if small:
        frame = Line([(left, 4), (left, bottom), (width, bottom)], AXIS, opacity=0.4)
        return Drawing(width, bottom + 2, [frame, *drawn], "Map of decisions")
    for y in range(rows + 1):
        drawn.append(Text(left - 5, bottom - size[1] * y + 3.5, _percent(STAGNATION_EDGES[y]), "end"))
    for x in range(0, cells.shape[0] + 1, 2):
        drawn.append(Text(left + size[0] * x, bottom + 14, _percent(PROGRESS_EDGES[x]), "middle"))
    drawn.append(Text(left + size[0] * cells.shape[0] / 2, bottom + 29, "budget used", "middle"))
    drawn.append(Text(12, (6 + bottom) / 2, "budget since the last new best", "middle", upwards=True))
    return Drawing(width, bottom + 36, drawn, "Map of decisions over progress and stagnation")


def _inner(size: tuple[int, int]) -> tuple[int, int]:
    """The size of a cell without the gap to the next."""
    return size[0] - 1, size[1] - 1


def rows_reached(cells: np.ndarray) -> int:
    """How many rows of stagnation the runs came to, at least four."""
    used = np.flatnonzero((cells.sum(axis=2) >= FEWEST).any(axis=0))
    return max(4, int(used[-1]) + 1) if used.size else 4


def _cell(counts: np.ndarray, operators: Sequence[str], op: int | None, corners: list[tuple[float, float]]) -> Group:
    shares = counts / counts.sum()
    shown = int(shares.argmax()) if op is None else op
    strength = _strength(float(shares[shown]), len(shares)) if op is None else float(shares[shown])
    tip = f"{int(counts.sum())} decisions: " + ", ".join(
        f"{name} {share:.0%}" for name, share in zip(operators, shares, strict=True)
    )
    return Group([Area(corners, operator_colour(shown), round(strength, 2))], tip)


def _strength(share: float, n_ops: int) -> float:
    """From pale for hardly more than an equal share to full for always."""
    equal = 1.0 / n_ops
    return 0.25 + 0.75 * (share - equal) / (1.0 - equal) if n_ops > 1 else 1.0


def _percent(part: float) -> str:
    return f"{100 * part:g}%"
