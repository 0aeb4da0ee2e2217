"""What trainings with other seeds give on the test problems, beside the paper's Table 3: `training_seeds evaluate`.

Verdicts are those of docs/results/paper.md, with Holm over the problems of one network: they do not depend on how many
seeds there are.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.training_seeds import Kept, judged_on_training, kept_trainings, trainings_table
from deddqn.analysis.comparison import Analysis, MeasuredCell
from deddqn.analysis.paper_tables import Cell
from deddqn.analysis.result_tables import mark_of
from deddqn.analysis.tables import Table, columns, method_title, number, short_problem, to_markdown
from deddqn.experiments.plan import plan_experiment
from deddqn.experiments.runner import run_experiment
from deddqn.experiments.store import Store
from deddqn.policies import load_policy

NO_ENTRY = "no entry of the paper was measured"


def shipped(name: str) -> str:
    """The shipped network of the same reward as a training: ddqn-r2 for r2-seed0; its own for a shipped one."""
    return name if name.startswith("ddqn-") else f"ddqn-{name.split('-')[0]}"


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


def is_inside(paper: Cell | None, means: Sequence[float]) -> bool | None:
    """Whether the paper's mean lies in the range of the seeds; None where the paper has no entry."""
    return None if paper is None else min(means) <= paper.mean <= max(means)


def seeds_table(cells: Cells, names: Sequence[str], reward: str) -> Table:
    """The mean errors of all seeds of a reward, their spread, and the paper's mean."""
    beside = shipped(names[0])
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
                f"{number(cells[beside][problem].mean)} {mark_of(cells[beside][problem])}".strip(),
            )
        )
    seeds = [(name.rpartition("-")[2],) for name in names]
    spread = (("min",), ("median",), ("max",), ("paper",), ("inside",), (f"shipped {method_title(beside)}",))
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
    """The question in a few sentences: is the paper's result inside of what training seeds give?"""
    by_problem = [[cells[name][problem] for name in names] for problem in cells[names[0]]]
    inside = [is_inside(found[0].paper, [cell.mean for cell in found]) for found in by_problem]
    known = [value for value in inside if value is not None]
    ratios = [max(c.mean for c in f) / low for f in by_problem if (low := min(c.mean for c in f)) > 0.0]
    said = {rule: ", kept by the paper's rule", shipped(names[0]): ", as shipped"}
    lines = [f"- {name}{said.get(name, '')}: {verdict_line(cells, name)}" for name in (*names, shipped(names[0]))]
    if known:
        lines.append(
            f"- the paper's mean lies between the means of {len(names)} seeds on {sum(known)} of {len(known)} problems"
        )
    spread = float(np.median(ratios)) if ratios else math.nan
    lines.append(f"- the largest mean of the seeds is {spread:.3g} times the smallest one (median of the problems)")
    return f"{reward}:\n\n" + "\n".join(lines) + "\n"


def compared(kept: Sequence[Kept], names: Sequence[str], options: argparse.Namespace) -> Cells:
    """Run all trainings and the shipped networks in one comparison, or take the runs that are stored."""
    methods = [*(k.policy for k in kept), *names]
    plan = {"runs": options.runs, "budget": options.budget, "seed": options.seed}
    folder = options.out / f"evaluation-{kept[0].config.cycles}"
    run_experiment(plan_experiment(methods, options.problems, **plan), folder, extend=True)
    return measured_cells(folder)


def evaluation(options: argparse.Namespace) -> list[str]:
    """The tables of all trainings at one stage, as Markdown."""
    kept = kept_trainings(options.out, options.cycles)
    names = sorted({shipped(k.name) for k in kept})
    cells = compared(kept, names, options)
    judged = judged_on_training([*(k.policy for k in kept), *map(load_policy, names)], kept[0].config, options.repeats)
    texts = [to_markdown(trainings_table(kept, judged[: len(kept)], "Trainings, on the training problems"))]
    for name, (shares, score) in zip(names, judged[len(kept) :], strict=True):
        texts.append(f"{name}, as shipped: shares {shares}, rank score {score}\n")
    for reward in sorted({k.config.reward for k in kept}):
        mine = [k.name for k in kept if k.config.reward == reward]
        texts.append(to_markdown(seeds_table(cells, mine, reward)))
        texts.append(answer(cells, mine, reward, chosen(kept, reward).name))
    return texts
