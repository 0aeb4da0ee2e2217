"""The tables of a report, each from an `Analysis`."""

from __future__ import annotations

import math

import numpy as np

from deddqn.analysis.claims import judge_claims
from deddqn.analysis.comparison import Analysis, MeasuredCell
from deddqn.analysis.competition_scores import competition_scores
from deddqn.analysis.curves import cost_bars
from deddqn.analysis.ecdf import ecdf
from deddqn.analysis.paper_tables import paper_friedman, table_5
from deddqn.analysis.reproduction import cell_verdicts, verdict_counts
from deddqn.analysis.tables import Table, columns, method_title, number, p_value, short_problem, without_empty


def mark_of(cell: MeasuredCell) -> str:
    """= where the paper's entry is equivalent, ≠ where it differs, ? where neither is shown."""
    if cell.paper is None or math.isnan(cell.adjusted):
        return ""
    if cell.equivalent:
        return "="
    return "≠" if cell.differs else "?"


def matrix_table(a: Analysis) -> Table:
    """Mean (std) as the paper's Table 3: problems down, methods across."""
    by_cell = {(c.method, c.problem): c for c in a.cells}
    rows = []
    for problem in a.problems:
        texts = []
        for method in a.methods:
            cell = by_cell[method, problem]
            own = f"{number(cell.mean)} ({number(cell.std) if cell.errors.size > 1 else '-'})"
            beside = f" [{number(cell.paper.mean)} {mark_of(cell)}]" if cell.paper else ""
            texts.append(own + beside if cell.errors.size else "")
        rows.append((short_problem(problem), *texts))
    heads = columns(("problem",), *((method_title(m),) for m in a.methods))
    note = (
        "Mean (standard deviation) of the final error; in brackets the paper's, = equivalent, ≠ different, ? neither."
    )
    return Table("results", "Mean error", heads, tuple(rows), note)


def cells_table(a: Analysis) -> Table:
    """One row per method and problem."""
    rows = []
    for c in a.cells:
        if not c.errors.size:
            continue
        paper = (c.paper.mean, c.paper.std) if c.paper else (None, None)
        lowest, middle = float(c.errors.min()), float(_median(c))
        rows.append(
            (short_problem(c.problem), method_title(c.method), c.errors.size, c.mean, c.std, middle, lowest)
            + (*paper, p_value(c.adjusted), mark_of(c))
        )
    heads = columns(
        ("problem",),
        ("method",),
        ("runs", "d"),
        ("mean", "error"),
        ("std", "error"),
        ("median", "error"),
        ("lowest", "error"),
        ("paper mean", "error", "Table 3"),
        ("paper std", "error", "Table 3"),
        ("Welch p", "p", "of measured against paper, Holm over all entries"),
        ("", "", "= equivalent within a quarter of the paper's mean, ≠ different, ? neither is shown"),
    )
    return without_empty(Table("cells", "Every cell, beside the paper's", heads, tuple(rows)))


def _median(cell: MeasuredCell) -> float:
    ordered = sorted(cell.errors.tolist())
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2.0


def ranks_table(a: Analysis) -> Table:
    """Mean ranks with intervals, beside Table 4 where the pool is the same."""
    rows = tuple((method_title(r.method), r.rank, r.low, r.high, a.paper_rank(r.method)) for r in a.ranks)
    heads = columns(
        ("method",),
        ("mean rank", ".2f"),
        ("low", ".2f", "95% bootstrap interval over runs"),
        ("high", ".2f"),
        ("paper", ".1f", "Table 4; only for the same thirteen methods"),
    )
    note = f"Over {len(a.samples.complete_problems)} problems; ranks of mean errors, ties shared, within these methods."
    return without_empty(Table("ranks", "Mean ranks", heads, rows, note))


def competitions_table(a: Analysis) -> Table:
    """The scores of the CEC competitions that problems are from, best first in each."""
    names = ("errors", "ranks", "score", "U-score", "rank of best", "rank of mean")
    rows: list[tuple[object, ...]] = []
    note = "Errors below 1e-8 count as zero; scores depend on who takes part."
    for found in competition_scores(a):
        places = found.places
        note += f" {found.title} here: {', '.join(found.notes)}." if found.notes else ""
        for k in np.argsort(places, kind="stable"):
            values = (float(found.values[name][k]) if name in found.values else None for name in names)
            rows.append((found.title, method_title(a.methods[k]), *values, int(places[k])))
    heads = columns(
        ("competition",),
        ("method",),
        ("errors", ".2f", "of 50, for the sum of errors"),
        ("ranks", ".2f", "of 50, for the sum of ranks"),
        ("score", ".2f", "of 100; higher is better"),
        ("U-score", ".1f", "pairs of runs that the method wins, by error and by evaluations to 1e-8; higher is better"),
        ("rank of best", ".2f", "mean rank of the best of all runs"),
        ("rank of mean", ".2f", "mean rank of the mean of all runs; lower is better"),
        ("place", "d"),
    )
    return without_empty(Table("competitions", "Scores of the competitions", heads, tuple(rows), note))


def targets_table(a: Analysis) -> Table:
    """The area under the share of targets reached, largest first."""
    found = ecdf(a)
    last = {curve.method: float(curve.values[-1]) for curve in found.panel.curves}
    ordered = sorted(found.areas.items(), key=lambda item: -item[1])
    rows = tuple((method_title(method), area, last[method]) for method, area in ordered)
    heads = columns(
        ("method",),
        ("area", ".3f", f"mean share reached, over the logarithm of {found.panel.axis}"),
        ("reached at the end", ".3f"),
    )
    return Table("targets", "Area below the curve", heads, rows)


def tests_table(a: Analysis) -> Table:
    """Friedman and Iman-Davenport."""
    test, printed = a.friedman, paper_friedman()
    rows: tuple[tuple[object, ...], ...] = (
        ("Friedman", "chi-square", test.chi_square, p_value(test.p)),
        ("Iman-Davenport", "F", test.f_statistic, p_value(test.f_p)),
        ("Friedman on the paper's Table 3", "chi-square", printed.chi_square, p_value(printed.p)),
    )
    heads = columns(("test",), ("statistic",), ("value", ".2f"), ("p", "p"))
    return Table("tests", "Do the methods differ?", heads, rows)


def posthoc_table(a: Analysis) -> Table:
    """The control against all others, beside Table 5."""
    same_pool = not math.isnan(a.paper_rank(a.control))
    rows = []
    for r in a.posthoc:
        printed = table_5().get(r.other) if same_pool else None
        paper = printed[1] if printed else None
        rows.append((method_title(r.other), r.statistic, p_value(r.p), p_value(r.li), p_value(r.holm), paper))
    heads = columns(
        ("other",),
        ("statistic", ".3f", "difference of mean ranks over sqrt(k (k + 1) / (6 N))"),
        ("p", "p"),
        ("Li", "p", "adjusted by Li (2008)"),
        ("Holm", "p", "adjusted by Holm (1979)"),
        ("paper (Li)", ".5f", "Table 5"),
    )
    note = "Li's p-values are all 1 when another method has the rank of the control (the largest p is 1)."
    title = f"{method_title(a.control)} against the others, from mean ranks"
    return without_empty(Table("posthoc", title, heads, tuple(rows), note))


def score_table(a: Analysis) -> Table:
    """Wins, ties, losses of the control."""
    rows = tuple((method_title(s.other), s.wins, s.ties, s.losses, s.mean_a12) for s in a.score_card)
    heads = columns(
        ("other",),
        ("wins", "d", "problems on which the control is significantly better"),
        ("ties", "d"),
        ("losses", "d"),
        ("mean A12", ".2f", "chance that a run of the control has the lower error"),
    )
    title = f"{method_title(a.control)} against the others, problem by problem"
    return Table("score", title, heads, rows, "Mann-Whitney, two-sided, Holm over the problems, 5%.")


def pairs_table(a: Analysis) -> Table:
    """Mann-Whitney of the control against each other method on each problem."""
    rows = tuple(
        (method_title(r.other), short_problem(r.problem), p_value(r.p), p_value(r.adjusted), r.a12, r.verdict)
        for r in a.pairs
    )
    heads = columns(
        ("other",), ("problem",), ("p", "p"), ("Holm", "p"), ("A12", ".2f"), ("result", "", "of the control")
    )
    return Table("pairs", f"Mann-Whitney: {method_title(a.control)} on every problem", heads, rows)


def cost_table(a: Analysis) -> Table:
    """CPU time per evaluation."""
    rows = tuple((method_title(b.method), b.microseconds, b.ratio) for b in cost_bars(a))
    heads = columns(("method",), ("µs per evaluation", ".2f"), ("relative to Random", ".2f"))
    note = "CPU time of search and objective together, without compilation."
    return Table("cost", "Cost per evaluation", heads, rows, note)


def claims_table(a: Analysis) -> Table:
    """Verdicts on the claims of Sect. 5.2."""
    rows = tuple((c.number, c.where, c.text, c.verdict, c.evidence) for c in judge_claims(a))
    heads = columns(("no.", "d"), ("section",), ("the paper says",), ("verdict",), ("our runs say",))
    return Table("claims", "The paper's claims", heads, rows)


def verdicts_table(a: Analysis) -> Table:
    """Every entry of Table 3 beside what is measured and beside the initial population."""
    rows = []
    for v in cell_verdicts(a):
        c = v.cell
        if c.paper is None:
            continue
        ordered = sorted(c.errors.tolist())
        start = float(v.initial.mean()) if v.initial.size else None
        rows.append(
            (
                short_problem(c.problem),
                method_title(c.method),
                c.paper.mean,
                c.mean,
                ordered[0],
                _median(c),
                ordered[-1],
            )
            + (start, *map(p_value, (c.adjusted, c.adjusted_tost, v.initial_p)), v.verdict)
        )
    heads = columns(
        ("problem",),
        ("method",),
        ("paper mean", "error"),
        ("measured mean", "error"),
        ("lowest", "error"),
        ("median", "error"),
        ("highest", "error"),
        ("initial best", "error", "mean of the best of the initial population"),
        ("p differs", "p", "paper against measured, Welch, Holm"),
        ("p equivalent", "p", "two one-sided tests within a quarter of the paper's mean, Holm"),
        ("p initial", "p", "paper against the best of the initial population, Welch, Holm"),
        ("verdict",),
    )
    return Table("reproduction", "Every entry of the paper's Table 3", heads, tuple(rows))


def counts_table(a: Analysis) -> Table:
    """How often each verdict falls, per method."""
    counted = verdict_counts(cell_verdicts(a))
    names = list(next(iter(counted.values()))) if counted else []
    rows = tuple((method_title(method), *row.values()) for method, row in counted.items())
    heads = columns(("method",), *((name, "d") for name in names))
    return Table("verdicts", "Entries of Table 3, counted", heads, rows)


def troubles_table(a: Analysis) -> Table:
    """Runs that failed or were flagged."""
    rows = tuple(
        (method_title(r.method), short_problem(r.problem), int(r.repeat), r.status, r.note)
        for r in a.troubled.itertuples()
    )
    heads = columns(("method",), ("problem",), ("run", "d"), ("status",), ("what happened",))
    return Table("troubles", "Runs that failed or were flagged", heads, rows)


ALL = (
    matrix_table,
    cells_table,
    ranks_table,
    competitions_table,
    targets_table,
    tests_table,
    posthoc_table,
    score_table,
    pairs_table,
    cost_table,
    claims_table,
    verdicts_table,
    counts_table,
    troubles_table,
)
