"""The tables of an explanation: those that the page shows, and the long ones behind its figures."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from deddqn.analysis.tables import Table, columns, p_value, short_problem, without_empty
from deddqn.explain.control_comparison import ControlComparison
from deddqn.explain.decision_summary import PROGRESS_EDGES, STAGNATION_EDGES
from deddqn.explain.study import BEST_FIXED, ONE_FIXED, OWN_SHARES, Explanation

CONTROLS = {
    OWN_SHARES: "its own shares at random",
    BEST_FIXED: "each problem's best strategy",
}


def control_title(e: Explanation, name: str) -> str:
    """A control as a reader sees it."""
    return f"always {e.fixed_overall}" if name == ONE_FIXED else CONTROLS[name]


def score_table(e: Explanation) -> Table:
    """Wins, ties and losses against every control."""
    rows = []
    for comparison in e.comparisons:
        tally = comparison.tally
        rows.append((control_title(e, comparison.control), tally.wins, tally.ties, tally.losses, tally.mean_a12))
    heads = columns(
        ("control",),
        ("wins", "d", "problems on which the policy is significantly better"),
        ("ties", "d"),
        ("losses", "d"),
        ("mean A12", ".2f", "chance that a run of the policy has the lower error"),
    )
    note = "Mann-Whitney, two-sided, Holm over the problems, 5%. Shares measured and strategies chosen on other seeds."
    return Table("score", f"{e.policy} against its controls", heads, tuple(rows), note)


def tests_table(e: Explanation) -> Table:
    """Every control on every problem."""
    rows = [row for comparison in e.comparisons for row in _test_rows(e, comparison)]
    heads = columns(
        ("problem",),
        ("control",),
        ("strategy", "", "the fixed one, chosen on other seeds"),
        ("median", "error", f"final error of {e.policy}"),
        ("control's median", "error"),
        ("p", "p", "Mann-Whitney"),
        ("Holm", "p"),
        ("A12", ".2f"),
        ("result", "", "of the policy"),
    )
    return Table("tests", "Every problem", heads, tuple(rows))


def _test_rows(e: Explanation, comparison: ControlComparison) -> list[tuple[object, ...]]:
    mine, theirs = e.errors[comparison.policy], e.errors[comparison.control]
    fixed = {BEST_FIXED: e.fixed_of, ONE_FIXED: dict.fromkeys(e.problems, e.fixed_overall)}.get(comparison.control, {})
    return [
        (short_problem(r.problem), comparison.control, fixed.get(r.problem, ""))
        + (float(np.median(mine[r.problem])), float(np.median(theirs[r.problem])))
        + (p_value(r.p), p_value(r.adjusted), r.a12, r.verdict)
        for r in comparison.results
    ]


def importance_table(e: Explanation) -> Table:
    """What every group of inputs is worth."""
    features = any(row.kind == "landscape" for row in e.importance)
    rows = tuple(
        (row.group, row.rows, row.changed, row.spread, row.regret, row.changed_within, row.regret_within, row.meaning)
        for row in e.importance
    )
    heads = columns(
        ("features" if features else "input",),
        ("rows", "", "of the paper's Table 1, for its four strategies"),
        ("changed", ".1%", "decisions that change when it is permuted among all states"),
        ("+-", ".1%", "standard deviation over the permutations"),
        ("regret", ".3f", "what they cost by the policy's own values; 1 is its worst operator in place of its best"),
        ("changed within", ".1%", "... when it is permuted among the states of one problem"),
        ("regret within", ".3f"),
        ("meaning",),
    )
    note = f"Over {e.sampled:,} decisions drawn from all runs."
    return without_empty(Table("importance", "What the decisions depend on", heads, rows, note))


def shares_table(e: Explanation) -> Table:
    """How often every strategy is chosen, over the whole run and at its ends."""
    rows = []
    for summary in e.summaries:
        tenth = max(1, len(summary.shares) // 10)
        parts = {
            "whole run": summary.shares,
            "first tenth": summary.shares[:tenth],
            "last tenth": summary.shares[-tenth:],
        }
        rows += [(short_problem(summary.problem), name, *part.mean(axis=0).tolist()) for name, part in parts.items()]
    heads = columns(("problem",), ("part",), *((name, ".0%") for name in e.operators))
    return Table("shares", "Shares of the strategies", heads, tuple(rows))


def gaps_table(e: Explanation) -> Table:
    """How clear the policy's preferences are."""
    rows = []
    for summary in e.summaries:
        if summary.gaps is None:
            continue
        known = summary.gaps.median[~np.isnan(summary.gaps.median)]
        middle = known[len(known) // 2]
        rows.append(
            (short_problem(summary.problem), float(known[0]), float(middle), float(known[-1]), summary.gaps.relative)
        )
    heads = columns(
        ("problem",),
        ("first generation", "error", "median gap"),
        ("halfway", "error"),
        ("last generation", "error"),
        ("relative", ".2f", "median of the gap over the distance from best to worst"),
    )
    return Table("gaps", f"Gaps between the best and the second of the {e.valued or 'values'}", heads, tuple(rows))


def shares_by_generation(e: Explanation) -> Table:
    """The numbers behind the charts of shares."""
    rows = tuple(
        (summary.problem, generation, int(at), *shares.tolist())
        for summary in e.summaries
        for generation, (at, shares) in enumerate(zip(summary.evaluations, summary.shares, strict=True))
    )
    heads = columns(("problem",), ("generation", "d"), ("evaluations", "d"), *((name, ".4f") for name in e.operators))
    return Table("shares-by-generation", "Shares by generation", heads, rows)


def gaps_by_generation(e: Explanation) -> Table:
    """The numbers behind the charts of gaps."""
    rows = tuple(
        (summary.problem, generation, *(None if math.isnan(v) else float(v) for v in values))
        for summary in e.summaries
        if summary.gaps is not None
        for generation, values in enumerate(zip(summary.gaps.low, summary.gaps.median, summary.gaps.high, strict=True))
    )
    heads = columns(
        ("problem",), ("generation", "d"), ("first quartile", "g"), ("median", "g"), ("third quartile", "g")
    )
    return Table("gaps-by-generation", "Gaps by generation", heads, rows)


def map_table(e: Explanation) -> Table:
    """The numbers behind the maps."""
    rows = []
    for summary in e.summaries:
        for across, down in np.ndindex(summary.cells.shape[:2]):
            counts = summary.cells[across, down]
            if counts.sum():
                edges = (*PROGRESS_EDGES[across : across + 2], *STAGNATION_EDGES[down : down + 2])
                rows.append((summary.problem, *edges, *(int(n) for n in counts)))
    ends = ("progress from", "progress to", "stagnation from", "stagnation to")
    heads = columns(("problem",), *((name, "g") for name in ends), *((name, "d") for name in e.operators))
    return Table("map", "Decisions by progress and stagnation", heads, tuple(rows))


def errors_table(e: Explanation) -> Table:
    """Final errors of all runs."""
    rows = tuple(
        (method, problem, run, float(error))
        for method, by_problem in e.errors.items()
        for problem, errors in by_problem.items()
        for run, error in enumerate(errors)
    )
    heads = columns(("method",), ("problem",), ("run", "d"), ("error", "error"))
    return Table("errors", "Final errors", heads, rows)


SHOWN: tuple[Callable[[Explanation], Table], ...] = (
    score_table,
    tests_table,
    shares_table,
    importance_table,
    gaps_table,
)
"""Tables of the page; they are written as CSV, Markdown and LaTeX."""

LONG: tuple[Callable[[Explanation], Table], ...] = (
    shares_by_generation,
    gaps_by_generation,
    map_table,
    errors_table,
)
"""Numbers behind the figures; they are written as CSV."""
