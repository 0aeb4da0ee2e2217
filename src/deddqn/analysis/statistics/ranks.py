"""Errors of all runs, and mean ranks: per problem, of the mean error, ties averaged, within the pool."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

SOLVED = 1e-8
"""Errors below this count as 0 in ranks and tests."""

Known = bool | np.ndarray
"""Whether the optimum is known, so that values are errors: of all problems, or (problems,) of each."""


def solved_is_zero(errors: np.ndarray, known: Known = True) -> np.ndarray:
    """Errors as ranks and tests see them: 0 below 1e-8 (if the optimum is known), +inf where a run has no number."""
    values = np.array(errors, dtype=np.float64)
    values[np.isnan(values)] = np.inf
    return np.where(known & (values < SOLVED), 0.0, values)


@dataclass(frozen=True)
class Samples:
    """The errors of all runs of a pool of methods: ``cells[method, problem]`` is a vector, one number per run.

    On the problems in `unknown` the optimum is not known; their numbers are best values, and none counts as solved.
    """

    methods: tuple[str, ...]
    problems: tuple[str, ...]
    cells: Mapping[tuple[str, str], np.ndarray]
    unknown: Set[str] = frozenset()

    @property
    def complete_problems(self) -> tuple[str, ...]:
        """Problems on which every method has runs: those that ranks and tests are made from."""
        return tuple(p for p in self.problems if all(self.of(m, p).size for m in self.methods))

    def of(self, method: str, problem: str) -> np.ndarray:
        """The errors of one cell; empty where there are no runs."""
        return self.cells.get((method, problem), np.empty(0))

    def ranked(self, method: str, problem: str) -> np.ndarray:
        """The numbers of one cell as ranks and tests see them."""
        return solved_is_zero(self.of(method, problem), problem not in self.unknown)

    @property
    def known(self) -> np.ndarray:
        """(complete problems,) whether the optimum is known."""
        return np.array([p not in self.unknown for p in self.complete_problems], dtype=np.bool_)

    def means(self) -> np.ndarray:
        """Mean errors, (methods, complete problems)."""
        return np.array([[self.of(m, p).mean() for p in self.complete_problems] for m in self.methods])

    def pool(self, methods: Sequence[str]) -> Samples:
        """The same runs of fewer methods."""
        return replace(self, methods=tuple(methods))


@dataclass(frozen=True)
class MeanRank:
    """A method's mean rank with its bootstrap interval."""

    method: str
    rank: float
    low: float
    high: float


Ties = Literal["average", "min", "max"]
"""What equal numbers get: the mean of their ranks, or the lowest or the highest of them."""


def rank_table(means: np.ndarray, known: Known = True, ties: Ties = "average") -> np.ndarray:
    """Ranks per problem, (methods, problems): 1 is the lowest mean error."""
    from scipy.stats import rankdata

    return np.asarray(rankdata(solved_is_zero(means, known), method=ties, axis=0))


def mean_ranks(means: np.ndarray, known: Known = True, ties: Ties = "average") -> np.ndarray:
    """Mean ranks over the problems, (methods,)."""
    return np.asarray(rank_table(means, known, ties).mean(axis=1))


def bootstrap_ranks(
    samples: Samples, *, resamples: int = 2000, confidence: float = 0.95, seed: int = 0
) -> list[MeanRank]:
    """Mean ranks, best first, with percentile intervals: runs are resampled within every cell."""
    from scipy.stats import rankdata

    rng = np.random.default_rng(seed)
    problems = samples.complete_problems
    drawn = np.empty((len(samples.methods), len(problems), resamples))
    for m, method in enumerate(samples.methods):
        for p, problem in enumerate(problems):
            values = samples.of(method, problem)
            drawn[m, p] = values[rng.integers(values.size, size=(resamples, values.size))].mean(axis=1)
    ranks = rankdata(solved_is_zero(drawn, samples.known[:, None]), axis=0).mean(axis=1)
    tail = 50.0 * (1.0 - confidence)
    low, high = np.percentile(ranks, [tail, 100.0 - tail], axis=1)
    exact = mean_ranks(samples.means(), samples.known)
    order = np.argsort(exact, kind="stable")
    return [MeanRank(samples.methods[k], float(exact[k]), float(low[k]), float(high[k])) for k in order]
