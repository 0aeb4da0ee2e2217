"""The sections of the page, each a function of an `Analysis`."""

from __future__ import annotations

from collections import Counter
from html import escape

from deddqn.analysis import result_tables
from deddqn.analysis.claims import FAILS, HOLDS, PARTLY, UNCHECKED, judge_claims
from deddqn.analysis.comparison import Analysis
from deddqn.analysis.curves import (
    FIG_1,
    SharePanel,
    box_panels,
    convergence_panels,
    cost_bars,
    ecdf_panel,
    rank_figure,
    share_panels,
)
from deddqn.analysis.reproduction import HIGHER, INITIAL, LOWER, REPRODUCED, cell_verdicts
from deddqn.analysis.tables import method_title, p_value, short_problem
from deddqn.report import charts
from deddqn.report.html import figure, grid, legend, matrix, table
from deddqn.report.style import operator_colour


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
            f"Of {sum(verdicts.values())} entries of the paper's Table 3, {verdicts[REPRODUCED]} reproduce; "
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


def summary(a: Analysis) -> str:
    """Numbers and sentences at the top."""
    cards = [
        (len(a.methods), "methods"),
        (len(a.problems), "problems"),
        (a.plan.runs, "runs each"),
        (f"{a.plan.budget:,}", "evaluations per run"),
        (method_title(a.ranks[0].method) if a.ranks else "-", "lowest mean rank"),
    ]
    shown = "".join(f"<div><b>{escape(str(value))}</b><span>{name}</span></div>" for value, name in cards)
    points = "".join(f"<li>{escape(sentence)}</li>" for sentence in findings(a))
    short = f'<section id="short"><h2>In short</h2><ul class="findings">{points}</ul></section>'
    return f'<div class="cards">{shown}</div>{warnings(a)}{short}'


def warnings(a: Analysis) -> str:
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
    return "".join(f'<p class="warn">{escape(sentence)}</p>' for sentence in said)


def results(a: Analysis) -> str:
    """Means beside the paper's."""
    text = (
        "Lowest mean per problem in bold. The last line is the paper's mean: ≠ (shaded) where it differs "
        "significantly from ours, ≈ where it does not (Welch from mean, standard deviation and 25 runs; Holm over "
        "all entries, 5%)."
    )
    return f"<p>{text}</p>{matrix(a)}{table(result_tables.cells_table(a))}"


def ranks(a: Analysis) -> str:
    """Ranks, as figure, diagram and table."""
    record = rank_figure(a)
    printed = {m: a.paper_rank(m) for m in a.methods}
    first = figure(
        charts.rank_chart(record, a.methods, printed), "Mean ranks with 95% intervals (diamond: the paper's)"
    )
    second = figure(charts.critical_chart(record, a.methods), "Critical difference (Nemenyi, 5%)")
    return grid([first, second], "wide") + table(result_tables.ranks_table(a))


def tests(a: Analysis) -> str:
    """All tests."""
    tables = (
        result_tables.tests_table,
        result_tables.posthoc_table,
        result_tables.score_table,
        result_tables.pairs_table,
    )
    return "".join(table(make(a)) for make in tables)


def boxes(a: Analysis) -> str:
    """Fig. 1 of the paper where its methods ran, then all methods."""
    chosen = tuple(m for m in FIG_1 if m in a.methods)
    parts = ""
    if len(chosen) > 1:
        lacking = [method_title(m) for m in FIG_1 if m not in a.methods]
        title = "As the paper's Fig. 1" + (f" (without {', '.join(lacking)}, which did not run)" if lacking else "")
        panels = box_panels(a, chosen)
        parts += f"<h3>{escape(title)}</h3>" + grid(_boxes(p, a) for p in panels) + "<h3>All methods</h3>"
    return parts + legend(a.methods) + grid(_boxes(panel, a) for panel in box_panels(a))


def _boxes(panel: object, a: Analysis) -> str:
    return figure(charts.box_chart(panel, a.methods), short_problem(panel.problem))  # type: ignore[arg-type, attr-defined]


def curves(a: Analysis) -> str:
    """ECDF and convergence."""
    parts = legend(a.methods)
    ecdf = ecdf_panel(a)
    if ecdf is not None:
        text = (
            "Share of targets reached, over all problems and runs: 51 errors per problem, log-spaced from where the "
            "median run stands after 100 evaluations to the best error of any run here."
        )
        drawn = charts.curve_chart(ecdf, a.methods, shares=True)
        parts += grid([figure(drawn, "Targets reached"), f"<p>{text}</p>"], "wide")
    panels = convergence_panels(a)
    drawn_all = [figure(charts.curve_chart(p, a.methods), short_problem(p.title)) for p in panels]
    return (
        parts
        + "<h3>Median error so far</h3><p>Point at a line to lift it out with its quartiles.</p>"
        + grid(drawn_all)
    )


def shares(a: Analysis) -> str:
    """Which strategies were chosen when."""
    panels = share_panels(a)
    if not panels:
        return "<p>No method of this comparison chooses between strategies.</p>"
    names = panels[0].operators
    key = "".join(
        f'<span class="key"><i style="background:{operator_colour(k)}"></i>{escape(name)}</span>'
        for k, name in enumerate(names)
    )
    by_method: dict[str, list[SharePanel]] = {}
    for panel in panels:
        by_method.setdefault(panel.method, []).append(panel)
    parts = [f"<p>Share of each strategy per generation, mean over the runs; evaluations to the right.</p><p>{key}</p>"]
    for method, own in by_method.items():
        drawn = [figure(charts.share_chart(panel), short_problem(panel.problem)) for panel in own]
        parts.append(f"<h3>{escape(method_title(method))}</h3>{grid(drawn, 'small')}")
    return "".join(parts)


def cost(a: Analysis) -> str:
    """CPU time."""
    drawn = figure(charts.cost_chart(cost_bars(a), a.methods), "CPU time per evaluation, µs")
    return grid([drawn, table(result_tables.cost_table(a))], "wide")


def reproduction(a: Analysis) -> str:
    """Verdicts on the paper's entries and claims."""
    if not cell_verdicts(a):
        return "<p>No method, problem and budget of the paper's Table 3 ran here.</p>"
    text = (
        "Every entry of Table 3 is compared with two samples of ours: the final errors, and the best of the initial "
        "population, 100 random points that no search has touched. Where the final errors differ from the entry and "
        "the initial population does not, the verdict is “paper = initial population”."
    )
    tables = (result_tables.claims_table, result_tables.counts_table, result_tables.verdicts_table)
    return f"<p>{text}</p>" + "".join(table(make(a)) for make in tables)


def provenance(a: Analysis, folder: str) -> str:
    """Versions, the command, and what went wrong."""
    made = "".join(
        f"<li>{n} runs: {escape(', '.join(f'{name} {v}' for name, v in sorted(found.items())))}</li>"
        for found, n in a.versions
    )
    commands = f"{a.plan.command(folder)}\ndeddqn report {folder}"
    troubles = table(result_tables.troubles_table(a)) if len(a.troubled) else ""
    return (
        f"<p>All of it again, with seed {a.plan.seed}:</p><pre><code>{escape(commands)}</code></pre>"
        f"<p>Versions:</p><ul>{made}</ul>{troubles}"
    )
