"""Do the methods differ at all? Friedman's test, its F form, and how far apart two mean ranks have to be."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from deddqn.analysis.statistics.ranks import Known, mean_ranks, rank_table


@dataclass(frozen=True)
class Friedman:
    """Friedman's chi-square and the F of Iman and Davenport (1980)."""

    methods: int
    problems: int
    chi_square: float
    p: float
    f_statistic: float
    f_p: float


def friedman(means: np.ndarray, known: Known = True) -> Friedman:
    """The test on mean errors (methods, problems), corrected for ties."""
    k, n = means.shape
    ties = 0.0
    for column in rank_table(means, known).T:
        _, counts = np.unique(column, return_counts=True)
        ties += float((counts.astype(float) ** 3 - counts).sum())
    correction = 1.0 - ties / (n * k * (k * k - 1.0)) if k > 1 and n > 0 else 0.0
    return friedman_of_ranks(mean_ranks(means, known), n, correction)


def friedman_of_ranks(ranks: np.ndarray, problems: int, correction: float = 1.0) -> Friedman:
    """The test from mean ranks over so many problems."""
    from scipy.stats import chi2, f

    k, n = len(ranks), problems
    if k < 2 or n < 1 or correction <= 0.0:
        return Friedman(k, n, 0.0, 1.0, 0.0, 1.0)
    square = 12.0 * n / (k * (k + 1.0)) * float(((np.asarray(ranks) - (k + 1.0) / 2.0) ** 2).sum()) / correction
    room = n * (k - 1.0) - square
    if n < 2:
        statistic, f_p = math.nan, math.nan
    elif room <= 1e-12 * n * k:  # every problem gives the same order
        statistic, f_p = math.inf, 0.0
    else:
        statistic = (n - 1.0) * square / room
        f_p = float(f.sf(statistic, k - 1, (k - 1) * (n - 1)))
    return Friedman(k, n, square, float(chi2.sf(square, k - 1)), statistic, f_p)


def critical_difference(methods: int, problems: int, alpha: float = 0.05) -> float:
    """Nemenyi: two mean ranks differ significantly when they are at least this far apart (Demsar 2006)."""
    from scipy.stats import studentized_range

    q = float(studentized_range.ppf(1.0 - alpha, methods, np.inf)) / math.sqrt(2.0)
    return q * math.sqrt(methods * (methods + 1.0) / (6.0 * problems))
