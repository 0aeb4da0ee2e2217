"""Explanations as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np

from deddqn.analysis.tables import number, p_value, short_problem
from deddqn.explain.control_comparison import ControlComparison
from deddqn.explain.decision_summary import PROGRESS_EDGES, STAGNATION_EDGES, DecisionSummary
from deddqn.explain.importance import Importance
from deddqn.report.style import operator_colour
from deddqn.report.svg import Scale, drawing, fitting, horizontal_axis, path, text, vertical_axis

KINDS = {"landscape": "#2f6fb5", "history": "#3a8f5c", "input": "#2f6fb5", "all": "#8a93a3"}
RESULTS = {"win": "#1a7f45", "loss": "#b3202f", "tie": "#8a93a3"}
LINE = "#2457a6"
FEWEST = 10  # decisions that a cell of a map must have to be drawn


def comparison_chart(comparison: ControlComparison) -> str:
    """One dot per problem: the chance that the policy ends with the lower error."""
    row, left, width, top = 15, 58, 400, 18
    bottom = top + row * len(comparison.results) + 2
    scale = Scale(0.0, 1.0, left + 4, width - 14)
    body = horizontal_axis(scale, top, bottom)
    body += f'<path class="axis" d="M{scale(0.5):.1f} {top - 2}V{bottom}"/>'
    body += text(scale(0.5) - 6, top - 6, "control better", "tick", "end")
    body += text(scale(0.5) + 6, top - 6, "policy better", "tick")
    for k, result in enumerate(comparison.results):
        y, colour = top + row * (k + 0.5), RESULTS[result.verdict]
        fill = "none" if result.verdict == "tie" else colour
        tip = f"{short_problem(result.problem)}: A12 {result.a12:.2f}, p {p_value(result.adjusted)}, {result.verdict}"
        body += (
            f"<g><title>{escape(tip)}</title>{text(left - 4, y + 3.5, short_problem(result.problem), 'name', 'end')}"
            f'<path d="M{scale(0.5):.1f} {y:.1f}H{scale(result.a12):.1f}" stroke="{colour}" stroke-opacity=".5"/>'
            f'<circle cx="{scale(result.a12):.1f}" cy="{y:.1f}" r="4" fill="{fill}" stroke="{colour}" '
            'stroke-width="1.5"/></g>'
        )
    return drawing(
        width, bottom + 18, body, f"A12 of {comparison.policy} against {comparison.control} on every problem"
    )


def importance_chart(rows: Sequence[Importance], *, regret: bool = False) -> str:
    """Two bars per group: permuted among all states, and (below, lighter) within a problem."""
    step, left, width, top = 20, 170, 470, 6
    bottom = top + step * len(rows) + 2
    pairs = [(row.regret, row.regret_within) if regret else (row.changed, row.changed_within) for row in rows]
    unit = 1.0 if regret else 100.0
    least, most = min(0.0, *map(min, pairs)), max(0.02, *map(max, pairs))
    scale = Scale(unit * least, unit * most * 1.08, left, width - 46)
    body = horizontal_axis(scale, top, bottom)
    for k, (row, (wide, narrow)) in enumerate(zip(rows, pairs, strict=True)):
        y, colour = top + step * k, KINDS[row.kind]
        name = row.group.replace("_", " ") + (f" ({row.rows})" if row.rows else "")
        tip = (
            f"{row.group}: {row.changed:.1%} of the decisions change (regret {row.regret:.3f}), within a problem "
            f"{row.changed_within:.1%} ({row.regret_within:.3f})"
        )
        label = f"{wide:.3f}" if regret else f"{wide:.1%}"
        body += (
            f"<g><title>{escape(tip)}</title>{text(left - 6, y + 13, name, 'name', 'end')}"
            f"{_bar(scale, unit * wide, y + 3, 8, colour)}{_bar(scale, unit * narrow, y + 11, 5, colour, '.45')}"
            f"{text(max(scale(unit * wide), scale(0.0)) + 5, y + 11, label, 'tick')}</g>"
        )
    body += text((left + width) / 2, bottom + 28, "regret" if regret else "decisions that change, %", "tick", "middle")
    return drawing(width, bottom + 36, body, "What permuted inputs do to the decisions")


def _bar(scale: Scale, value: float, y: float, height: float, colour: str, opacity: str = "1") -> str:
    start, end = sorted((scale(0.0), scale(value)))
    return (
        f'<rect x="{start:.1f}" y="{y:.1f}" width="{max(end - start, 0.5):.1f}" height="{height}" fill="{colour}" '
        f'fill-opacity="{opacity}"/>'
    )


def gap_chart(summary: DecisionSummary) -> str:
    """Median gap over the run with its quartiles."""
    width, height, left, bottom = 230, 130, 40, 106
    gaps = summary.gaps
    if gaps is None:
        return drawing(width, height, text(left, 50, "no values", "tick"), "no values")
    known = ~np.isnan(gaps.median)
    at = summary.evaluations[known].astype(float)
    across = Scale(float(at[0]), float(max(at[-1], at[0] + 1)), left, width - 10)
    low, middle, high = gaps.low[known], gaps.median[known], gaps.high[known]
    down = fitting([*low.tolist(), *high.tolist()], bottom, 8)
    body = vertical_axis(down, left, width - 10, about=4)
    lower, upper = (_line(at, side, across, down) for side in (low, high))
    body += f'<path fill="{LINE}" fill-opacity=".18" d="{path([*lower, *reversed(upper)], close=True)}"/>'
    body += f'<path class="line" stroke="{LINE}" d="{path(_line(at, middle, across, down))}"/>'
    body += text(left, bottom + 14, f"{at[0]:.0f}", "tick")
    body += text(width - 10, bottom + 14, f"{at[-1]:.0f}", "tick", "end")
    label = f"Gap on {short_problem(summary.problem)}, median {number(float(np.median(middle)))}"
    return drawing(width, height, f"<title>{escape(label)}</title>{body}", label)


def _line(at: np.ndarray, values: np.ndarray, across: Scale, down: Scale) -> list[tuple[float, float]]:
    return [(across(float(x)), down(float(y))) for x, y in zip(at, values, strict=True)]


def decision_map(
    cells: np.ndarray, operators: Sequence[str], *, op: int | None = None, rows: int = 0, small: bool = False
) -> str:
    """The map over progress (right) and stagnation (up): the most frequent strategy, or the share of one.

    `cells` is (progress, stagnation, operators). Strong colour is a large share; cells with fewer than `FEWEST`
    decisions stay empty. `rows` is how many rows of stagnation are drawn, by default those that the runs came to.
    """
    size, left = ((15, 9), 2) if small else ((30, 18), 62)
    rows = rows or rows_reached(cells)
    width, bottom = left + size[0] * cells.shape[0] + (2 if small else 16), 6 + size[1] * rows
    body = "".join(
        _cell(cells[x, y], operators, op, left + size[0] * x, bottom - size[1] * (y + 1), size)
        for x in range(cells.shape[0])
        for y in range(rows)
        if cells[x, y].sum() >= FEWEST
    )
    if small:
        frame = f'<path class="axis" stroke-opacity=".4" d="M{left} 4V{bottom}H{width}"/>'
        return drawing(width, bottom + 2, frame + body, "Map of decisions")
    for y in range(rows + 1):
        body += text(left - 5, bottom - size[1] * y + 3.5, _percent(STAGNATION_EDGES[y]), "tick", "end")
    for x in range(0, cells.shape[0] + 1, 2):
        body += text(left + size[0] * x, bottom + 14, _percent(PROGRESS_EDGES[x]), "tick", "middle")
    body += text(left + size[0] * cells.shape[0] / 2, bottom + 29, "budget used", "tick", "middle")
    body += (
        f'<text class="tick" text-anchor="middle" transform="translate(12 {(6 + bottom) / 2:.1f}) rotate(-90)">'
        "budget since the last new best</text>"
    )
    return drawing(width, bottom + 36, body, "Map of decisions over progress and stagnation")


def rows_reached(cells: np.ndarray) -> int:
    """How many rows of stagnation the runs came to, at least four."""
    used = np.flatnonzero((cells.sum(axis=2) >= FEWEST).any(axis=0))
    return max(4, int(used[-1]) + 1) if used.size else 4


def _cell(
    counts: np.ndarray, operators: Sequence[str], op: int | None, x: float, y: float, size: tuple[int, int]
) -> str:
    shares = counts / counts.sum()
    shown = int(shares.argmax()) if op is None else op
    strength = _strength(float(shares[shown]), len(shares)) if op is None else float(shares[shown])
    tip = f"{int(counts.sum())} decisions: " + ", ".join(
        f"{name} {share:.0%}" for name, share in zip(operators, shares, strict=True)
    )
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{size[0] - 1}" height="{size[1] - 1}" fill="{operator_colour(shown)}" '
        f'fill-opacity="{strength:.2f}"><title>{escape(tip)}</title></rect>'
    )


def _strength(share: float, n_ops: int) -> float:
    """From pale for hardly more than an equal share to full for always."""
    equal = 1.0 / n_ops
    return 0.25 + 0.75 * (share - equal) / (1.0 - equal) if n_ops > 1 else 1.0


def _percent(part: float) -> str:
    return f"{100 * part:g}%"
