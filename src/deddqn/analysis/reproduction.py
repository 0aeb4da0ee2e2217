"""What of the paper reproduces: a verdict for every entry of its Table 3, computed from the runs.

That a test does not reject equality shows nothing, so there are three kinds of verdicts: *equivalent* (two one-sided
tests show that the means differ by less than a quarter of the printed one), *different* (Welch), and *undecided*. Holm
over the entries in both. A different entry is also compared with the best of the initial population, 100 random points,
which costs no search at all.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from deddqn.analysis.comparison import ALPHA, Analysis, MeasuredCell, against_paper, holm_of_known
from deddqn.analysis.curves import trajectories

EQUIVALENT = "equivalent"
UNDECIDED = "undecided"
INITIAL = "paper = initial population"
LOWER = "measured lower"
HIGHER = "measured higher"
UNTESTED = "too few runs"
VERDICTS = (EQUIVALENT, UNDECIDED, INITIAL, LOWER, HIGHER, UNTESTED)


@dataclass(frozen=True)
class CellVerdict:
    """One entry of Table 3 beside what we measure."""

    cell: MeasuredCell
    initial: np.ndarray  # best of the initial population, one per run
    initial_p: float  # against the paper's entry, adjusted

    @property
    def verdict(self) -> str:
        """In words."""
        if self.cell.paper is None or math.isnan(self.cell.adjusted):
            return UNTESTED
        if self.cell.equivalent:
            return EQUIVALENT
        if not self.cell.differs:
            return UNDECIDED
        if self.initial_p >= ALPHA:
            return INITIAL
        return LOWER if self.cell.mean < self.cell.paper.mean else HIGHER


def initial_best(analysis: Analysis, problem: str) -> np.ndarray:
    """Best error of the initial population per run; the same for every method on the shared DE."""
    size = analysis.plan.config.population_size
    for method in analysis.methods:
        group = analysis.groups.get((method, problem))
        if group is not None and len(group["operators"].iloc[0]):
            return trajectories(analysis, method, problem, np.array([size]))[:, 0]
    return np.empty(0)


def cell_verdicts(analysis: Analysis) -> list[CellVerdict]:
    """All entries of the paper that were measured."""
    cells = [cell for cell in analysis.cells if cell.paper is not None and cell.errors.size]
    initial = {problem: initial_best(analysis, problem) for problem in analysis.problems}
    p_values = [against_paper(initial[c.problem], c.paper) if initial[c.problem].size > 1 else math.nan for c in cells]
    adjusted = holm_of_known(p_values)
    return [CellVerdict(c, initial[c.problem], float(p)) for c, p in zip(cells, adjusted, strict=True)]


def verdict_counts(verdicts: list[CellVerdict]) -> dict[str, dict[str, int]]:
    """How often each verdict falls, per method."""
    counted: dict[str, dict[str, int]] = {}
    for verdict in verdicts:
        row = counted.setdefault(verdict.cell.method, dict.fromkeys(VERDICTS, 0))
        row[verdict.verdict] += 1
    return counted
