"""The page of an explanation, in the style of the report and drawn from the data alone."""

from __future__ import annotations

import os
import shlex
from html import escape
from pathlib import Path

import numpy as np

from deddqn.analysis.curves import SharePanel
from deddqn.analysis.tables import WRITERS, short_problem
from deddqn.explain import explanation_charts as charts
from deddqn.explain import explanation_tables as tables
from deddqn.explain.control_comparison import cannot_tell, state_verdict
from deddqn.explain.storage import read_explanation, write_explanation, write_whole
from deddqn.explain.study import OWN_SHARES, Explanation
from deddqn.report import PAGE
from deddqn.report.charts import share_chart
from deddqn.report.html import figure, grid, table
from deddqn.report.page import Section, document
from deddqn.report.style import operator_colour


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
            write_whole(target / f"{content.name}.{ending}", write(content))
    for make in tables.LONG:
        content = make(found)
        write_whole(target / f"{content.name}.csv", WRITERS["csv"](content))
    write_whole(target / PAGE, page(found, os.fspath(folder)))
    return target / PAGE


def page(e: Explanation, folder: str) -> str:
    """The whole page as text."""
    sections = [
        Section("control", "Does the state matter?", control(e)),
        Section("strategies", "Strategies over the run", strategies(e)),
        Section("decisions", "Map of decisions", maps(e)),
        Section("inputs", "Which features matter?", inputs(e)),
        Section("preferences", "How clear are the preferences?", preferences(e)),
        Section("source", "How to get this page again", source(e, folder), link="Source"),
    ]
    lead = (
        f"{len(e.problems)} problems x {e.repeats} runs x {e.budget} evaluations, population {e.population_size}, "
        f"seed {e.seed}"
    )
    return document(
        f"What {e.policy} does, and why", lead, summary(e), sections, "Errors below 1e-8 count as 0 in tests."
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


def summary(e: Explanation) -> str:
    """Numbers and sentences at the top."""
    cards = [
        (e.policy, "policy"),
        (e.valued or "none", "values"),
        (len(e.problems), "problems"),
        (e.repeats, "runs each"),
    ]
    for comparison in e.comparisons:
        if comparison.control == OWN_SHARES:
            tally = comparison.tally
            cards.append((f"{tally.wins} / {tally.ties} / {tally.losses}", "wins / ties / losses, own shares"))
    shown = "".join(f"<div><b>{escape(str(value))}</b><span>{name}</span></div>" for value, name in cards)
    doubt = cannot_tell(e.repeats, len(e.problems)) if e.comparisons else ""
    few = f'<p class="warn">{escape(doubt)}</p>' if doubt else ""
    points = "".join(f"<li>{escape(sentence)}</li>" for sentence in findings(e))
    short = f'<section id="short"><h2>In short</h2><ul class="findings">{points}</ul></section>'
    return f'<div class="cards">{shown}</div>{few}{short}'


def control(e: Explanation) -> str:
    """The policy against its controls."""
    if not e.comparisons:
        return "<p>The controls were not run.</p>"
    words = (
        "Its own shares at random: on every problem and in every generation each strategy is used as often as by the "
        "policy in runs on other seeds, but for any individual at any moment. The policy's advantage over it is due to "
        "the state. The fixed strategies were chosen on other seeds, too. A12 is the chance that a run of the policy "
        "ends with the lower error; filled where it is significant (Mann-Whitney, Holm over the problems, 5%)."
    )
    drawn = [
        figure(charts.comparison_chart(comparison), f"Against {tables.control_title(e, comparison.control)}")
        for comparison in e.comparisons
    ]
    return f"<p>{words}</p>{table(tables.score_table(e))}{grid(drawn)}{table(tables.tests_table(e))}"


def strategies(e: Explanation) -> str:
    """Shares over the run."""
    drawn = [
        figure(
            share_chart(SharePanel(e.policy, p.problem, e.operators, p.evaluations, p.shares)), short_problem(p.problem)
        )
        for p in e.summaries
        if len(p.shares) > 1
    ]
    words = "Share of each strategy per generation, over all runs; evaluations to the right."
    return f"<p>{words}</p><p>{key(e)}</p>{grid(drawn, 'small')}{table(tables.shares_table(e))}"


def key(e: Explanation) -> str:
    """Which colour is which strategy."""
    return "".join(
        f'<span class="key"><i style="background:{operator_colour(k)}"></i>{escape(name)}</span>'
        for k, name in enumerate(e.operators)
    )


def maps(e: Explanation) -> str:
    """Decisions over progress and stagnation."""
    together = np.sum([summary.cells for summary in e.summaries], axis=0)
    words = (
        "Budget used to the right, budget since the last new best upwards (in steps that widen). The colour is the "
        "strategy chosen most often in the cell, the stronger the larger its share; point at a cell for all shares. "
        f"Cells with fewer than {charts.FEW} decisions are left out."
    )
    drawn = [figure(charts.decision_map(together, e.operators), "All problems: the most frequent strategy")]
    drawn += [
        figure(charts.decision_map(together, e.operators, op=op), f"All problems: share of {name}")
        for op, name in enumerate(e.operators)
    ]
    rows = max(charts.rows_reached(summary.cells) for summary in e.summaries)
    small = [
        figure(charts.decision_map(p.cells, e.operators, rows=rows, small=True), short_problem(p.problem))
        for p in e.summaries
    ]
    parts = f"<p>{words}</p><p>{key(e)}</p>{grid(drawn)}"
    return parts + (f"<h3>Every problem</h3>{grid(small, 'small')}" if len(small) > 1 else "")


def inputs(e: Explanation) -> str:
    """Permutation importance."""
    if not e.importance:
        return f"<p>{escape(_cannot_show(e))}</p>"
    words = (
        f"{e.sampled:,} decisions were drawn from all runs. For each group of inputs, those of other decisions are put "
        "in their place, and the policy is asked again: the bar is the share of decisions that change. Wide bars: "
        "among all decisions. Narrow, pale bars: among those on the same problem, so that telling problems apart "
        "counts for nothing. Groups that carry the same information stand in for each other and look less important "
        "than they are."
    )
    if e.valued == "scores":
        words += " The policy draws its operators; what is shown is the least share of the draws that must change."
    words += (
        " Regret is what the changes cost by the policy's own values in the true state, as a part of the distance from "
        "its best to its worst operator."
    )
    drawn = [
        figure(charts.importance_chart(e.importance), "Decisions that change"),
        figure(charts.importance_chart(e.importance, regret=True), "Regret"),
    ]
    return f"<p>{words}</p>{grid(drawn, 'wide')}{table(tables.importance_table(e))}"


def preferences(e: Explanation) -> str:
    """Gaps between the best and the second value."""
    shown = [summary for summary in e.summaries if summary.gaps is not None]
    if not shown:
        return f"<p>{escape(_cannot_show(e))}</p>"
    words = (
        f"The gap between the best and the second of the {e.valued}: median of all decisions of a generation, with its "
        "quartiles; evaluations to the right. A small gap is a decision that hardly matters to the policy."
    )
    drawn = [figure(charts.gap_chart(summary), short_problem(summary.problem)) for summary in shown]
    return f"<p>{words}</p>{grid(drawn, 'small')}{table(tables.gaps_table(e))}"


def _cannot_show(e: Explanation) -> str:
    if e.opaque:
        return f"This cannot be shown: {e.opaque}."
    return "There is nothing to show: no decision of these runs rested on values of several strategies."


def source(e: Explanation, folder: str) -> str:
    """Commands and files."""
    parts = ["deddqn", "explain", e.source or e.policy, "--problems", *e.problems]
    parts += ["--repeats", str(e.repeats), "--seed", str(e.seed), "--budget", str(e.budget)]
    parts += [
        "--population-size",
        str(e.population_size),
        *(() if e.comparisons else ("--no-control",)),
        "--out",
        folder,
    ]
    files = "".join(f'<a href="{make(e).name}.csv">{make(e).name}.csv</a> ' for make in tables.LONG)
    return (
        f"<p>All of it again; or only the page, from the data beside it:</p>"
        f"<pre><code>{escape(shlex.join(parts))}\n{escape(shlex.join(['deddqn', 'explain', '--redraw', folder]))}"
        f"</code></pre><p>Everything as data: <a href='explanation.json'>explanation.json</a>; the numbers behind the "
        f"figures: {files}</p><p>Runs use seeds that neither training nor validation has seen; shares are measured and "
        f"fixed strategies chosen on yet other seeds.</p>"
    )
