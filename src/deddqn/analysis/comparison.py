"""What follows from the runs of an experiment: one object that tables, figures and verdicts read from."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from deddqn._utils.validation import choice_error
from deddqn.analysis.paper_tables import CONTROL, Cell, table_3, table_4
from deddqn.analysis.statistics import (
    SOLVED,
    Friedman,
    MeanRank,
    PairResult,
    PostHoc,
    Samples,
    WinTieLoss,
    bootstrap_ranks,
    compare_pair,
    critical_difference,
    friedman,
    holm,
    li,
    tost,
    welch,
    win_tie_loss,
)
from deddqn.experiments.plan import PAPER_BUDGET, Plan
from deddqn.experiments.results import FAILED, OK
from deddqn.experiments.store import Store

ALPHA = 0.05
MARGIN = 0.25
"""Two means are equivalent if they differ by less than this share of the published one (or both are solved)."""


@dataclass(frozen=True)
class MeasuredCell:
    """The final errors of one method on one problem, beside the paper's entry where there is one.

    `welch_p` is small where the two differ, `tost_p` where they are equivalent within the margin; `adjusted` and
    `adjusted_tost` are Holm's over all entries of the paper that were measured.
    """

    method: str
    problem: str
    errors: np.ndarray
    paper: Cell | None
    welch_p: float = math.nan
    adjusted: float = math.nan
    tost_p: float = math.nan
    adjusted_tost: float = math.nan

    @property
    def mean(self) -> float:
        """Of the errors; NaN without runs."""
        return float(self.errors.mean()) if self.errors.size else math.nan

    @property
    def std(self) -> float:
        """With n - 1."""
        return float(self.errors.std(ddof=1)) if self.errors.size > 1 and np.isfinite(self.errors).all() else math.nan

    @property
    def differs(self) -> bool:
        """Significantly from the paper's entry, and not shown to be equivalent to it."""
        return self.adjusted < ALPHA and not self.equivalent

    @property
    def equivalent(self) -> bool:
        """Shown to be within the margin of the paper's entry, even where the small rest is significant."""
        return self.adjusted_tost < ALPHA


class Analysis:
    """Everything that the report says, computed when it is asked for.

    Failed runs have no error and are left out (and counted); a run without a number is worse than any other.

    Parameters
    ----------
    plan, runs : what was to be done, and what was done.
    control : the method that is tested against all others; the paper's or the best one by default.
    """

    def __init__(self, plan: Plan, runs: pd.DataFrame, *, control: str | None = None) -> None:
        if control is not None and control not in plan.methods:
            raise choice_error("control", control, plan.methods)
        self.plan, self._control = plan, control
        self.all_runs = runs[runs["method"].isin(plan.methods) & runs["problem"].isin(plan.problems)]
        self.runs = self.all_runs[self.all_runs["status"] != FAILED]
        self.troubled = self.all_runs[self.all_runs["status"] != OK]
        if self.runs.empty:
            raise ValueError("the experiment has no finished runs yet; 'deddqn compare' makes them")

    @classmethod
    def of_folder(
        cls, folder: str | os.PathLike[str], *, methods: Sequence[str] = (), control: str | None = None
    ) -> Analysis:
        """The analysis of a stored experiment, of some of its methods or of all."""
        store = Store(folder)
        plan = store.existing_plan()
        made = cls(plan.only(methods) if methods else plan, store.read(), control=control)
        made.notices = store.problems
        return made

    notices: list[str] = []

    @cached_property
    def methods(self) -> tuple[str, ...]:
        """Those that have runs, in the order of the plan."""
        present = set(self.runs["method"])
        return tuple(method for method in self.plan.methods if method in present)

    @cached_property
    def problems(self) -> tuple[str, ...]:
        """Those that have runs, in the order of the plan."""
        present = set(self.runs["problem"])
        return tuple(problem for problem in self.plan.problems if problem in present)

    @cached_property
    def groups(self) -> dict[tuple[str, str], pd.DataFrame]:
        """The runs by (method, problem), in the order of their repeats."""
        return {(str(m), str(p)): g.sort_values("repeat") for (m, p), g in self.runs.groupby(["method", "problem"])}

    @cached_property
    def samples(self) -> Samples:
        """Final errors; best values where the optimum is unknown."""
        cells = {cell: _scores(group) for cell, group in self.groups.items()}
        return Samples(self.methods, self.problems, cells, self.unknown_optima)

    @cached_property
    def unknown_optima(self) -> frozenset[str]:
        """The problems without a known optimum."""
        unknown = ~np.isfinite(self.runs["optimum"].to_numpy(dtype=float))
        return frozenset(self.runs.loc[unknown, "problem"])

    @property
    def missing_runs(self) -> int:
        """Planned runs that are not stored."""
        return len(self.plan.jobs) - len(self.all_runs)

    @cached_property
    def comparable(self) -> bool:
        """Whether the paper's numbers are about the same thing: the same budget."""
        return self.plan.budget == PAPER_BUDGET

    def paper_cell(self, method: str, problem: str) -> Cell | None:
        """The entry of Table 3, where it can be compared."""
        return table_3().get((method, problem)) if self.comparable else None

    @cached_property
    def cells(self) -> list[MeasuredCell]:
        """All cells, problem by problem."""
        bare = [
            MeasuredCell(m, p, self.samples.of(m, p), self.paper_cell(m, p))
            for p in self.problems
            for m in self.methods
        ]
        tested = [cell for cell in bare if cell.paper is not None and cell.errors.size > 1]
        differs = [against_paper(cell.errors, cell.paper) for cell in tested]
        same = [equivalence_with_paper(cell.errors, cell.paper) for cell in tested]
        columns = (differs, holm_of_known(differs), same, holm_of_known(same))
        found = {(c.method, c.problem): p for c, *p in zip(tested, *columns, strict=True)}
        return [
            MeasuredCell(c.method, c.problem, c.errors, c.paper, *found.get((c.method, c.problem), ())) for c in bare
        ]

    @cached_property
    def ranks(self) -> list[MeanRank]:
        """Mean ranks, best first; none where no problem has runs of all methods."""
        return bootstrap_ranks(self.samples) if self.samples.complete_problems else []

    def paper_rank(self, method: str) -> float:
        """Table 4, where the pool is the paper's; NaN elsewhere, since ranks depend on the pool."""
        same = self.comparable and set(self.methods) == set(table_4())
        return table_4().get(method, math.nan) if same else math.nan

    @cached_property
    def friedman(self) -> Friedman:
        """Over the problems that are complete."""
        return friedman(self.samples.means(), self.samples.known)

    @cached_property
    def critical_difference(self) -> float:
        """Nemenyi's, NaN where it makes no sense."""
        k, n = len(self.methods), len(self.samples.complete_problems)
        return critical_difference(k, n) if k > 1 and n > 0 else math.nan

    @cached_property
    def control(self) -> str:
        """The one asked for, the paper's control where it is present, else the method of best rank."""
        if self._control is not None and self._control in self.methods:
            return self._control
        if CONTROL in self.methods or not self.ranks:
            return CONTROL if CONTROL in self.methods else self.methods[0]
        return self.ranks[0].method

    @cached_property
    def posthoc(self) -> list[PostHoc]:
        """The control against all others, from mean ranks."""
        return self.posthoc_of(self.control)

    def posthoc_of(self, control: str) -> list[PostHoc]:
        """A method against all others, from mean ranks; nothing if it has none."""
        names = [r.method for r in self.ranks]
        if len(names) < 2 or control not in names:
            return []
        return li(names, [r.rank for r in self.ranks], len(self.samples.complete_problems), control)

    @cached_property
    def pairs(self) -> list[PairResult]:
        """The control against every other method on every problem."""
        return [row for other in self.others for row in compare_pair(self.samples, self.control, other)]

    @property
    def others(self) -> list[str]:
        """All but the control, in the order of ranks."""
        ordered = [r.method for r in self.ranks] or list(self.methods)
        return [method for method in ordered if method != self.control]

    @cached_property
    def score_card(self) -> list[WinTieLoss]:
        """Wins, ties and losses of the control."""
        by_other = {o: [row for row in self.pairs if row.other == o] for o in self.others}
        return [win_tie_loss(rows) for rows in by_other.values() if rows]

    @cached_property
    def versions(self) -> list[tuple[dict[str, str], int]]:
        """Every set of versions that made runs, with how many."""
        counted = self.all_runs["versions"].value_counts()
        return [(json.loads(text), int(n)) for text, n in counted.items()]


def _scores(group: Any) -> np.ndarray:
    error = group["error"].to_numpy(dtype=float)
    known = np.isfinite(group["optimum"].to_numpy(dtype=float))
    value = np.where(known, error, group["best_value"].to_numpy(dtype=float))
    value[np.isnan(value)] = np.inf
    return value


def against_paper(errors: np.ndarray, cell: Cell | None) -> float:
    """Welch's p-value of errors against an entry of the paper."""
    return math.nan if cell is None else welch(errors, cell.mean, cell.std, cell.runs)


def equivalence_with_paper(errors: np.ndarray, cell: Cell | None) -> float:
    """The p-value that errors are within the margin of an entry of the paper; errors below 1e-8 are all solved."""
    return math.nan if cell is None else tost(errors, cell.mean, cell.std, cell.runs, max(MARGIN * cell.mean, SOLVED))


def holm_of_known(p_values: list[float]) -> np.ndarray:
    """Holm over the p-values that are numbers."""
    p = np.asarray(p_values, dtype=float)
    adjusted = np.full(p.shape, math.nan)
    known = np.isfinite(p)
    adjusted[known] = holm(p[known])
    return adjusted
