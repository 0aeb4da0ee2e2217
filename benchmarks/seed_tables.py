"""Trainings with other seeds: on the training problems (`training_seeds choose`), and beside Table 3 (`evaluate`).

Verdicts are those of docs/results/paper.md, with Holm over the problems of one network: they do not depend on how many
seeds there are.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.training_seeds import Kept, kept_trainings, trainings_table
from deddqn.analysis.comparison import Analysis, MeasuredCell
from deddqn.analysis.paper_tables import Cell
from deddqn.analysis.result_tables import mark_of
from deddqn.analysis.tables import Table, columns, number, short_problem, to_markdown
from deddqn.de.portfolio import as_portfolio
from deddqn.experiments.plan import plan_experiment
from deddqn.experiments.runner import run_experiment
from deddqn.experiments.store import Store
from deddqn.policies.files import read_policy_file, write_policy_file

NO_ENTRY = "no entry of the paper was measured"


def shipped(name: str) -> str:
    """The name of the network of a training's reward, also in the paper's tables: ddqn-r2 for r2-seed0."""
    return f"ddqn-{name.split('-')[0]}"


class OneNetwork(Analysis):
    """One network of the comparison, beside the paper's column of its reward."""

    def paper_cell(self, method: str, problem: str) -> Cell | None:
        """The entry of Table 3, where it can be compared."""
        return super().paper_cell(shipped(method), problem)


Cells = dict[str, dict[str, MeasuredCell]]
"""The cells of every network by problem."""


def measured_cells(folder: Path) -> Cells:
    """All networks of a stored comparison."""
    store = Store(folder)
    plan, runs = store.existing_plan(), store.read()
    return {name: {c.problem: c for c in OneNetwork(plan.only([name]), runs).cells} for name in plan.methods}


def chosen(kept: Sequence[Kept], reward: str) -> Kept:
    """The training that the paper's rule would keep: the most reward accumulated in training (Sect. 5.1)."""
    return max((k for k in kept if k.config.reward == reward), key=lambda k: k.mean_return)


def ship(kept: Kept, of: Sequence[Kept], folder: Path) -> None:
    """Write the policy file of a training that was chosen from others, with what it was chosen by."""
    tensors, header = read_policy_file(kept.path)
    returns = {str(k.config.seed): k.mean_return for k in of}
    found = {name: kept.summary[name] for name in ("evaluations", "updates")}
    chosen_by = {"chosen_by": "most reward accumulated in training", "mean_return_of_seeds": returns}
    write_policy_file(
        folder / f"{shipped(kept.name)}.safetensors",
        tensors,
        kind=header["kind"],
        name=shipped(kept.name),
        portfolio=as_portfolio(header["portfolio"]),
        max_dimension=header["max_dimension"],
        provenance=header["provenance"] | found | chosen_by,
        de=header.get("de"),
    )


def choice(options: argparse.Namespace) -> list[str]:
    """Tables on the training problems alone, and the trainings that the paper's rule keeps; shipped where asked for."""
    texts, kept = [], kept_trainings(options.out, options.cycles)
    for reward in sorted({k.config.reward for k in kept}):
        mine, best = [k for k in kept if k.config.reward == reward], chosen(kept, reward)
        title = f"{reward}: trainings, on the training problems"
        texts.append(to_markdown(trainings_table(mine, ["random"], options.repeats, title)))
        texts.append(f"Most reward accumulated in training: {best.name}\n")
        if options.ship:
            ship(best, mine, options.ship)
    return texts


def is_inside(paper: Cell | None, means: Sequence[float]) -> bool | None:
    """Whether the paper's mean lies in the range of the seeds; None where the paper has no entry."""
    return None if paper is None else min(means) <= paper.mean <= max(means)


def seeds_table(cells: Cells, names: Sequence[str], reward: str) -> Table:
    """The mean errors of all seeds of a reward, their spread, and the paper's mean."""
    rows = []
    for problem in cells[names[0]]:
        found = [cells[name][problem] for name in names]
        means = [cell.mean for cell in found]
        paper, inside = found[0].paper, is_inside(found[0].paper, means)
        rows.append(
            (
                short_problem(problem),
                *(f"{number(cell.mean)} {mark_of(cell)}".strip() for cell in found),
                *(number(float(f(means))) for f in (np.min, np.median, np.max)),
                number(paper.mean) if paper else "",
                "" if inside is None else "yes" if inside else "no",
            )
        )
    seeds = [(name.rpartition("-")[2],) for name in names]
    spread = (("min",), ("median",), ("max",), ("paper",), ("inside",))
    note = "Mean error; = equivalent to the paper's, ≠ different, ? undecided, Holm over the problems of one network."
    return Table(
        f"seeds-{reward.lower()}", f"{reward}: all seeds", columns(("problem",), *seeds, *spread), tuple(rows), note
    )


def verdict_line(cells: Cells, name: str) -> str:
    """How often a network is equivalent to the paper's, undecided, or different."""
    marks = [mark_of(cell) for cell in cells[name].values()]
    counted = (
        (marks.count(mark), word) for mark, word in (("=", "equivalent"), ("?", "undecided"), ("≠", "different"))
    )
    return ", ".join(f"{n} {word}" for n, word in counted) if any(marks) else NO_ENTRY


def answer(cells: Cells, names: Sequence[str], reward: str, rule: str) -> str:
    """The question in a few sentences: is the paper's result inside of what training seeds give?

    If the paper's network were one more of n trainings, each order of the n + 1 means would be as likely.
    """
    by_problem = [[cells[name][problem] for name in names] for problem in cells[names[0]]]
    inside = [is_inside(found[0].paper, [cell.mean for cell in found]) for found in by_problem]
    known = [value for value in inside if value is not None]
    ratios = [max(c.mean for c in f) / low for f in by_problem if (low := min(c.mean for c in f)) > 0.0]
    said = {rule: ", kept by the paper's rule"}
    lines = [f"- {name}{said.get(name, '')}: {verdict_line(cells, name)}" for name in names]
    if known:
        expected = len(known) * (len(names) - 1) / (len(names) + 1)
        lines.append(
            f"- the paper's mean lies between the means of {len(names)} seeds on {sum(known)} of {len(known)} problems;"
            f" that of a further seed would on {expected:.1f} of them"
        )
    spread = float(np.median(ratios)) if ratios else math.nan
    lines.append(f"- the largest mean of the seeds is {spread:.3g} times the smallest one (median of the problems)")
    return f"{reward}:\n\n" + "\n".join(lines) + "\n"


def compared(kept: Sequence[Kept], options: argparse.Namespace) -> Cells:
    """Run all trainings in one comparison, or take the runs that are stored."""
    plan = {"runs": options.runs, "budget": options.budget, "seed": options.seed}
    folder = options.out / f"evaluation-{kept[0].config.cycles}"
    run_experiment(plan_experiment([k.policy for k in kept], options.problems, **plan), folder, extend=True)
    return measured_cells(folder)


def evaluation(options: argparse.Namespace) -> list[str]:
    """The tables of all trainings at one stage, as Markdown."""
    kept = kept_trainings(options.out, options.cycles)
    cells, texts = compared(kept, options), []
    for reward in sorted({k.config.reward for k in kept}):
        mine = [k.name for k in kept if k.config.reward == reward]
        texts.append(to_markdown(seeds_table(cells, mine, reward)))
        texts.append(answer(cells, mine, reward, chosen(kept, reward).name))
    return texts
