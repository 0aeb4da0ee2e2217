"""The page of an explanation: what ``templates/explanation.html.j2`` of the report shows, from the data alone."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import Any

import numpy as np

from deddqn._utils.atomic import write_text
from deddqn.analysis.curves import SharePanel
from deddqn.analysis.tables import WRITERS, short_problem
from deddqn.explain import explanation_charts as charts
from deddqn.explain import explanation_tables as tables
from deddqn.explain.control_comparison import cannot_tell, state_verdict
from deddqn.explain.storage import read_explanation, write_explanation
from deddqn.explain.study import OWN_SHARES, Explanation
from deddqn.report import PAGE
from deddqn.report.charts import share_chart
from deddqn.report.templating import Figure, render


def write_page(found: Explanation, folder: str | os.PathLike[str]) -> Path:
    """Write data, tables and page into `folder`; return the page."""
    write_explanation(found, folder)
    return draw_page(folder)


def draw_page(folder: str | os.PathLike[str]) -> Path:
    """Draw the tables and the page again from the data in `folder`."""
    found, target = read_explanation(folder), Path(folder)
    for make in tables.SHOWN:
        content = make(found)
        for ending, write in WRITERS.items():
            write_text(target / f"{content.name}.{ending}", write(content))
    for make in tables.LONG:
        content = make(found)
        write_text(target / f"{content.name}.csv", WRITERS["csv"](content))
    write_text(target / PAGE, explanation_page(found, os.fspath(folder)))
    return target / PAGE


def explanation_page(e: Explanation, folder: str) -> str:
    """The whole page as text."""
    doubt = cannot_tell(e.repeats, len(e.problems)) if e.comparisons else ""
    return render(
        "explanation.html.j2",
        title=f"What {e.policy} does, and why",
        lead=(
            f"{len(e.problems)} problems x {e.repeats} runs x {e.budget} evaluations, population {e.population_size}, "
            f"seed {e.seed}"
        ),
        footer="Errors below 1e-8 count as 0 in tests.",
        facts=_facts(e),
        warnings=[doubt] if doubt else [],
        findings=findings(e),
        e=e,
        tables={table.name: table for table in (make(e) for make in tables.SHOWN)},
        long_tables=[make(e).name for make in tables.LONG],
        fewest=charts.FEWEST,
        cannot_show=_cannot_show(e),
        commands=_commands(e, folder),
        **_figures(e),
    )


def findings(e: Explanation) -> list[str]:
    """What the runs say, in sentences."""
    own = [comparison for comparison in e.comparisons if comparison.control == OWN_SHARES]
    found = [state_verdict(comparison) for comparison in own]
    for comparison in e.comparisons:
        if comparison.control != OWN_SHARES:
            tally = comparison.tally
            found.append(
                f"Against {tables.control_title(e, comparison.control)}: significantly better on {tally.wins}, worse "
                f"on {tally.losses}, neither on {tally.ties} problems."
            )
    found.append(_most_chosen(e))
    ranked = sorted((row for row in e.importance if row.kind != "all"), key=lambda row: -row.changed)[:3]
    if ranked:
        named = ", ".join(f"{row.group.replace('_', ' ')} ({row.changed:.0%})" for row in ranked)
        found.append(f"Permuting one group of inputs changes most decisions for {named}.")
    if e.opaque:
        found.append(f"Not shown: values, gaps and features that matter, because {e.opaque}.")
    return found


def _most_chosen(e: Explanation) -> str:
    means = np.array([summary.shares.mean(axis=0) for summary in e.summaries])
    op = int(means.mean(axis=0).argmax())
    least, most = int(means[:, op].argmin()), int(means[:, op].argmax())
    spread = (
        f"; from {means[least, op]:.0%} on {short_problem(e.problems[least])} to {means[most, op]:.0%} on "
        f"{short_problem(e.problems[most])}"
        if len(e.problems) > 1
        else ""
    )
    return f"Most chosen is {e.operators[op]}, in {means[:, op].mean():.0%} of the decisions{spread}."


def _facts(e: Explanation) -> list[tuple[object, str]]:
    facts: list[tuple[object, str]] = [
        (e.policy, "policy"),
        (e.valued or "none", "values"),
        (len(e.problems), "problems"),
        (e.repeats, "runs each"),
    ]
    for comparison in e.comparisons:
        if comparison.control == OWN_SHARES:
            tally = comparison.tally
            facts.append((f"{tally.wins} / {tally.ties} / {tally.losses}", "wins / ties / losses, own shares"))
    return facts


def _figures(e: Explanation) -> dict[str, Any]:
    """All figures by their name in the template."""
    return {
        "comparison_figures": [
            Figure(charts.comparison_chart(c), f"Against {tables.control_title(e, c.control)}") for c in e.comparisons
        ],
        "share_figures": [
            Figure(
                share_chart(SharePanel(e.policy, s.problem, e.operators, s.evaluations, s.shares)),
                short_problem(s.problem),
            )
            for s in e.summaries
            if len(s.shares) > 1
        ],
        "importance_figures": [
            Figure(charts.importance_chart(e.importance), "Decisions that change"),
            Figure(charts.importance_chart(e.importance, regret=True), "Regret"),
        ]
        if e.importance
        else [],
        "gap_figures": [
            Figure(charts.gap_chart(s, s.gaps), short_problem(s.problem)) for s in e.summaries if s.gaps is not None
        ],
        **_maps(e),
    }


def _maps(e: Explanation) -> dict[str, Any]:
    """Decisions over progress and stagnation: of all problems together, then of each."""
    together = np.sum([summary.cells for summary in e.summaries], axis=0)
    drawn = [Figure(charts.decision_map(together, e.operators), "All problems: the most frequent strategy")]
    drawn += [
        Figure(charts.decision_map(together, e.operators, op=op), f"All problems: share of {name}")
        for op, name in enumerate(e.operators)
    ]
    rows = max(charts.rows_reached(summary.cells) for summary in e.summaries)
    small = [
        Figure(charts.decision_map(s.cells, e.operators, rows=rows, small=True), short_problem(s.problem))
        for s in e.summaries
    ]
    return {"map_figures": drawn, "problem_maps": small}


def _cannot_show(e: Explanation) -> str:
    if e.opaque:
        return f"This cannot be shown: {e.opaque}."
    return "There is nothing to show: no decision of these runs rested on values of several strategies."


def _commands(e: Explanation, folder: str) -> str:
    parts = ["deddqn", "explain", e.source or e.policy, "--problems", *e.problems]
    parts += ["--repeats", str(e.repeats), "--seed", str(e.seed), "--budget", str(e.budget)]
    parts += ["--population-size", str(e.population_size)]
    parts += [*(() if e.comparisons else ("--no-control",)), "--out", folder]
    return f"{shlex.join(parts)}\n{shlex.join(['deddqn', 'explain', '--redraw', folder])}"
