"""The scores of CEC competitions, from the runs of a comparison.

===========  =========================================================================================================
competition  score
===========  =========================================================================================================
CEC2017      half for the sum of mean errors, half for the sum of ranks of mean errors, weighted by dimension: 0.1, 0.2,
             0.3, 0.4 for D = 10, 30, 50, 100; 50 x (lowest sum of all) / (own sum) each. N. H. Awad, M. Z. Ali, P. N.
             Suganthan, J. J. Liang, B. Y. Qu, "Problem definitions and evaluation criteria for the CEC 2017 special
             session and competition on single objective real-parameter numerical optimization", technical report,
             2016, section 2.3. F2 does not count: the organisers withdrew it.
CEC2020      the same with normalised errors: the best error of a method's runs, divided by the largest such error of
             all methods, as in A. W. Mohamed, A. A. Hadi, A. K. Mohamed, P. Agrawal, A. Kumar, P. N. Suganthan,
             "Problem definitions and evaluation criteria for the CEC 2021 special session and competition on single
             objective bound constrained numerical optimization", technical report, 2020. It is given for every
             dimension alone, where the weights of dimensions cancel.
CEC2022      U-scores: all runs of all methods are ordered, first those that reach 1e-8, by their evaluations, then the
             others, by their errors. The score on a problem is the sum of a method's ranks (the best run has the
             highest) minus n (n + 1) / 2 for n runs, and the sum over problems counts. A. Kumar, K. V. Price, A. W.
             Mohamed, A. A. Hadi, P. N. Suganthan, "Problem definitions and evaluation criteria for the CEC 2022
             special session and competition on single objective bound constrained numerical optimization", technical
             report, 2021, section 2.3.
CEC2011,     mean ranks of the best and of the mean result; these are no official formulas
CEC2014
===========  =========================================================================================================

Errors below 1e-8 count as zero in all of them. Scores depend on who takes part.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from deddqn.analysis.comparison import Analysis
from deddqn.analysis.statistics import SOLVED
from deddqn.analysis.statistics.ranks import mean_ranks, rank_table, solved_is_zero
from deddqn.problems.cec_competitions import COMPETITIONS, WITHDRAWN, entry_of, names_at, official_budget

WEIGHTS_2017 = {10: 0.1, 30: 0.2, 50: 0.3, 100: 0.4}
HALF = 50.0

Values = Mapping[str, np.ndarray]
"""By the name of a score: (methods,)."""


def share_of_lowest(sums: np.ndarray) -> np.ndarray:
    """(1 - (S - min S) / S) x 50 of every sum S: 50 for the lowest."""
    lowest = sums.min()
    others = np.where(sums == lowest, 1.0, sums)
    return np.where(sums == lowest, HALF, HALF * lowest / others if np.isfinite(lowest) else 0.0)


def cec2017_scores(means: Mapping[int, np.ndarray]) -> Values:
    """From mean errors by dimension, (methods, problems) each; only the dimensions of the competition count."""
    counted = {dimension: means[dimension] for dimension in means if dimension in WEIGHTS_2017}
    errors = sum(WEIGHTS_2017[d] * solved_is_zero(m).sum(axis=1) for d, m in counted.items())
    ranks = sum(WEIGHTS_2017[d] * rank_table(m).sum(axis=1) for d, m in counted.items())
    return _halves(np.asarray(errors), np.asarray(ranks))


def normalised_scores(best: np.ndarray, means: np.ndarray) -> Values:
    """From the best and the mean errors of one dimension, (methods, problems)."""
    lowest = solved_is_zero(best)
    largest = lowest.max(axis=0)
    normalised = np.where(lowest < largest, lowest / np.where(largest > 0.0, largest, 1.0), largest > 0.0)
    return _halves(normalised.sum(axis=1), rank_table(means).sum(axis=1))


def _halves(errors: np.ndarray, ranks: np.ndarray) -> Values:
    first, second = share_of_lowest(errors), share_of_lowest(ranks)
    return {"errors": first, "ranks": second, "score": first + second}


def u_scores(errors: Sequence[np.ndarray], evaluations: Sequence[np.ndarray]) -> np.ndarray:
    """(methods,) on one problem, from the final errors and the evaluations at the end of every run, by method."""
    from scipy.stats import rankdata

    final = solved_is_zero(np.concatenate(errors))
    spent = np.where(final == 0.0, np.concatenate(evaluations), np.inf)
    # runs that reached the target come before all others, and are told apart by their evaluations alone
    _, order = np.unique(np.column_stack([spent, final]), axis=0, return_inverse=True)
    ranks = np.split(rankdata(-order.ravel()), np.cumsum([len(e) for e in errors])[:-1])
    return np.array([own.sum() - len(own) * (len(own) + 1) / 2 for own in ranks])


def end_of(checkpoints: np.ndarray, errors: np.ndarray) -> int:
    """The evaluation at which a run reached 1e-8, or its last; from its trajectory."""
    reached = np.flatnonzero(errors < SOLVED)
    return int(checkpoints[reached[0]] if reached.size else checkpoints[-1])


@dataclass(frozen=True)
class CompetitionScore:
    """The scores of all methods in one competition, or in one dimension of it; `notes` are what is missing."""

    title: str
    values: Values
    higher_is_better: bool
    notes: tuple[str, ...]

    @property
    def places(self) -> np.ndarray:
        """(methods,) 1 for the first, by the last of the values."""
        last = list(self.values.values())[-1]
        ordered = -last if self.higher_is_better else last
        return np.array([1 + int((ordered < own).sum()) for own in ordered])


def competition_scores(a: Analysis) -> list[CompetitionScore]:
    """What the runs say about every competition that they have problems of."""
    found: dict[str, dict[int, list[str]]] = defaultdict(lambda: defaultdict(list))
    for problem in a.samples.complete_problems:
        entry = entry_of(problem)
        if entry is not None and entry[1] not in WITHDRAWN.get(entry[0], ()):
            found[entry[0]][entry[2]].append(problem)
    return [score for family in sorted(found) for score in _of_family(a, family, found[family])]


def _of_family(a: Analysis, family: str, problems: dict[int, list[str]]) -> list[CompetitionScore]:
    everything = [p for names in problems.values() for p in names]
    if family == "cec2017" and any(d in WEIGHTS_2017 for d in problems):
        values = cec2017_scores({d: _matrix(a, names, np.mean) for d, names in problems.items()})
        return [CompetitionScore("CEC2017", values, True, _notes(a, family, problems))]
    if family == "cec2020":
        return [
            CompetitionScore(
                f"CEC2020, D = {d}",
                normalised_scores(_matrix(a, names, np.min), _matrix(a, names, np.mean)),
                True,
                _notes(a, family, {d: names}),
            )
            for d, names in sorted(problems.items())
        ]
    if family == "cec2022":
        total = np.sum([_u_scores(a, problem) for problem in everything], axis=0)
        return [CompetitionScore("CEC2022", {"U-score": total}, True, _notes(a, family, problems))]
    known = np.array([p not in a.unknown_optima for p in everything])
    values = {
        "rank of best": mean_ranks(_matrix(a, everything, np.min), known),
        "rank of mean": mean_ranks(_matrix(a, everything, np.mean), known),
    }
    return [CompetitionScore(family.upper(), values, False, _notes(a, family, problems))]


def _matrix(a: Analysis, problems: Sequence[str], summary: Callable[..., Any]) -> np.ndarray:
    """(methods, problems) of a summary of the final errors."""
    return np.array([[summary(a.samples.ranked(m, p)) for p in problems] for m in a.methods])


def _u_scores(a: Analysis, problem: str) -> np.ndarray:
    ends = []
    for method in a.methods:
        group = a.groups[method, problem]
        rows = zip(group["checkpoints"], group["best"], group["optimum"], strict=True)
        ends.append(np.array([end_of(np.asarray(marks), np.asarray(best) - optimum) for marks, best, optimum in rows]))
    return u_scores([a.samples.of(method, problem) for method in a.methods], ends)


def _notes(a: Analysis, family: str, problems: dict[int, list[str]]) -> tuple[str, ...]:
    """How this differs from the competition's own rules."""
    said, year = [], COMPETITIONS[family]
    dimensions = tuple(WEIGHTS_2017) if family in ("cec2014", "cec2017") else year.dimensions
    missing = [d for d in dimensions if d not in problems]
    if missing and family != "cec2020":
        said.append(f"without D = {', '.join(map(str, missing))}")
    count = sum(len(names) for names in problems.values())
    withdrawn = len(WITHDRAWN.get(family, ()))
    whole = sum(len(names_at(family, d)) - withdrawn for d in problems) if year.dimensions else year.functions
    if count < whole:
        said.append(f"{count} of {whole} functions")
    budgets = {d: official_budget(family, d) for d in problems}
    if any(a.plan.budget_of(names[0]) != budgets[d] for d, names in problems.items()):
        said.append("not with the official budget")
    if a.plan.runs != year.runs:
        said.append(f"{a.plan.runs} runs instead of {year.runs}")
    return tuple(said)
