"""The page of a comparison: what ``templates/comparison.html.j2`` shows, from an `Analysis`."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import Any

from deddqn.analysis import result_tables
from deddqn.analysis.claims import FAILS, HOLDS, PARTLY, UNCHECKED, judge_claims
from deddqn.analysis.comparison import Analysis, MeasuredCell
from deddqn.analysis.curves import (
    FIG_1,
    BoxPanel,
    box_panels,
    convergence_panels,
    cost_bars,
    rank_figure,
    share_panels,
)
from deddqn.analysis.ecdf import ecdf
from deddqn.analysis.reproduction import EQUIVALENT, HIGHER, INITIAL, LOWER, UNDECIDED, cell_verdicts
from deddqn.analysis.tables import method_title, number, p_value, short_problem
from deddqn.report import charts
from deddqn.report.templating import Figure, render


def comparison_page(a: Analysis, folder: str, note: str = "") -> str:
    """The page as text; `note` stands under its title."""
    tables = {table.name: table for table in (make(a) for make in result_tables.ALL)}
    return render(
        "comparison.html.j2",
        title="Comparison of optimisers",
        lead=f"{a.plan.describe()}. {note}" if note else a.plan.describe(),
        footer="Errors below 1e-8 count as 0 in ranks and tests.",
        facts=_facts(a),
        warnings=warnings(a),
        findings=findings(a),
        methods=a.methods,
        matrix=_matrix(a),
        tables=tables,
        reproduction=bool(cell_verdicts(a)),
        seed=a.plan.seed,
        commands=f"{a.plan.command(folder)}\ndeddqn report {folder}",
        provenance=[(n, ", ".join(f"{name} {v}" for name, v in sorted(found.items()))) for found, n in a.versions],
        **_figures(a),
    )


def findings(a: Analysis) -> list[str]:
    """What the runs say, in sentences."""
    found = []
    if a.ranks:
        best = ", ".join(f"{method_title(r.method)} {r.rank:.2f} ({r.low:.1f} to {r.high:.1f})" for r in a.ranks[:3])
        found.append(f"Lowest mean ranks over {len(a.samples.complete_problems)} problems: {best}.")
        found.append(f"The methods {_differ(a)} (Friedman p {_equal(a.friedman.p)}).")
    for score in a.score_card:
        if score.other == "random":
            found.append(
                f"{method_title(a.control)} against Random: significantly better on {score.wins}, worse on "
                f"{score.losses}, neither on {score.ties} problems."
            )
    verdicts = Counter(v.verdict for v in cell_verdicts(a))
    if verdicts:
        found.append(
            f"Of {sum(verdicts.values())} entries of the paper's Table 3, {verdicts[EQUIVALENT]} are equivalent to "
            f"ours within a quarter of their mean, {verdicts[UNDECIDED]} are undecided; "
            f"{verdicts[INITIAL]} are what the best of an initial population gives, before any search; "
            f"{verdicts[LOWER]} are lower here and {verdicts[HIGHER]} higher."
        )
    claims = Counter(c.verdict for c in judge_claims(a))
    if claims[HOLDS] + claims[PARTLY] + claims[FAILS]:
        found.append(
            f"Claims of the paper: {claims[HOLDS]} of {sum(claims.values())} hold, {claims[PARTLY]} in part; "
            f"{claims[FAILS]} do not; {claims[UNCHECKED]} cannot be checked with these methods."
        )
    return found


def _differ(a: Analysis) -> str:
    return "differ significantly" if a.friedman.p < 0.05 else "do not differ significantly"


def _equal(p: float) -> str:
    shown = p_value(p)
    return shown if shown.startswith("<") else f"= {shown}"


def _facts(a: Analysis) -> list[tuple[object, str]]:
    return [
        (len(a.methods), "methods"),
        (len(a.problems), "problems"),
        (a.plan.runs, "runs each"),
        (f"{a.plan.budget:,}", "evaluations per run" + (" at most" if a.plan.official else "")),
        (method_title(a.ranks[0].method) if a.ranks else "-", "lowest mean rank"),
    ]


def warnings(a: Analysis) -> list[str]:
    """What a reader has to know before believing anything."""
    said = list(a.notices)
    if a.plan.missing:
        said.append(f"Not available when this ran, so left out: {', '.join(a.plan.missing)}.")
    if a.missing_runs:
        said.append(f"{a.missing_runs} of {len(a.plan.jobs)} planned runs are missing; the experiment is not finished.")
    if len(a.troubled):
        said.append(f"{len(a.troubled)} runs failed or were flagged; see the end of the page.")
    if not a.comparable and any(p.startswith("cec2005:") for p in a.problems):
        said.append("The budget is not the paper's 10,000 evaluations, so its numbers are not shown beside ours.")
    return said


@dataclass(frozen=True)
class MatrixCell:
    """The mean of a method on a problem, its standard deviation, and the paper's mean, as they are shown."""

    mean: str = ""
    std: str = ""
    paper: str = ""
    best: bool = False  # of its problem
    differs: bool = False  # significantly from the paper's
    sort_key: str = ""


def _matrix(a: Analysis) -> list[tuple[str, list[MatrixCell]]]:
    """The results as the paper's Table 3: problems down, methods across."""
    by_cell = {(c.method, c.problem): c for c in a.cells}
    rows = []
    for problem in a.problems:
        cells = [by_cell[method, problem] for method in a.methods]
        best = min((c.mean for c in cells if c.errors.size), default=math.nan)
        rows.append((short_problem(problem), [_matrix_cell(c, best) for c in cells]))
    return rows


def _matrix_cell(cell: MeasuredCell, best: float) -> MatrixCell:
    if not cell.errors.size:
        return MatrixCell()
    return MatrixCell(
        mean=number(cell.mean),
        std="" if math.isnan(cell.std) else number(cell.std),
        paper=f"{number(cell.paper.mean)} {result_tables.mark_of(cell)}" if cell.paper else "",
        best=cell.mean == best,
        differs=cell.differs,
        sort_key=f"{cell.mean:.6g}",
    )


def _figures(a: Analysis) -> dict[str, Any]:
    """All figures by their name in the template."""
    ranks, reached = rank_figure(a), ecdf(a)
    printed = {m: a.paper_rank(m) for m in a.methods}
    rank_chart = charts.rank_chart(ranks, a.methods, printed)
    return {
        "rank_figures": [
            Figure(rank_chart, "Mean ranks with 95% intervals (diamond: the paper's)"),
            Figure(charts.critical_chart(ranks, a.methods), "Critical difference (Nemenyi, 5%)"),
        ],
        "box_figures": [_box_figure(panel, a) for panel in box_panels(a)],
        "ecdf": Figure(charts.curve_chart(reached.panel, a.methods, shares=True), "Targets reached"),
        "relative_targets": reached.relative,
        "curve_figures": [
            Figure(charts.curve_chart(panel, a.methods), short_problem(panel.title)) for panel in convergence_panels(a)
        ],
        "cost_figure": Figure(charts.cost_chart(cost_bars(a), a.methods), "CPU time per evaluation, µs"),
        **_fig_1(a),
        **_share_figures(a),
    }


def _box_figure(panel: BoxPanel, a: Analysis) -> Figure:
    return Figure(charts.box_chart(panel, a.methods), short_problem(panel.problem))


def _fig_1(a: Analysis) -> dict[str, Any]:
    """Box plots as the paper's Fig. 1, where two of its methods ran."""
    chosen = tuple(m for m in FIG_1 if m in a.methods)
    lacking = [method_title(m) for m in FIG_1 if m not in a.methods]
    without = f" (without {', '.join(lacking)}, which did not run)" if lacking else ""
    panels = box_panels(a, chosen) if len(chosen) > 1 else []
    return {"fig_1_title": f"As the paper's Fig. 1{without}", "fig_1": [_box_figure(panel, a) for panel in panels]}


def _share_figures(a: Analysis) -> dict[str, Any]:
    """Which strategies were chosen when, by method."""
    panels = share_panels(a)
    by_method: dict[str, list[Figure]] = {}
    for panel in panels:
        by_method.setdefault(panel.method, []).append(Figure(charts.share_chart(panel), short_problem(panel.problem)))
    return {"operators": panels[0].operators if panels else (), "share_figures": by_method}
