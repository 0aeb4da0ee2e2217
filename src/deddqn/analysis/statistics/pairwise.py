"""Two methods on one problem: Mann-Whitney with an effect size; and a sample against a published mean and std."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from deddqn.analysis.statistics.posthoc import holm
from deddqn.analysis.statistics.ranks import Samples

ALPHA = 0.05


@dataclass(frozen=True)
class PairResult:
    """A control against another method on one problem; `a12` is the chance that the control's error is lower."""

    control: str
    other: str
    problem: str
    p: float
    adjusted: float
    a12: float

    @property
    def verdict(self) -> str:
        """win, tie or loss of the control."""
        if not self.adjusted < ALPHA or self.a12 == 0.5:
            return "tie"
        return "win" if self.a12 > 0.5 else "loss"


@dataclass(frozen=True)
class WinTieLoss:
    """How often the control is significantly better, neither, or worse."""

    control: str
    other: str
    wins: int
    ties: int
    losses: int
    mean_a12: float


def a12(lower: np.ndarray, other: np.ndarray) -> float:
    """Vargha and Delaney (2000): P(first < second) + P(equal) / 2, for errors, where less is better."""
    less = (lower[:, None] < other[None, :]).mean()
    equal = (lower[:, None] == other[None, :]).mean()
    return float(less + 0.5 * equal)


def mann_whitney(first: np.ndarray, second: np.ndarray) -> float:
    """The two-sided p-value; 1 where all values are the same."""
    from scipy.stats import mannwhitneyu

    together = np.concatenate([first, second])
    if np.all(together == together[0]):
        return 1.0
    ranked = np.unique(together, return_inverse=True)[1].astype(np.float64)  # ranks only: infinities are fine
    return float(mannwhitneyu(ranked[: first.size], ranked[first.size :], alternative="two-sided").pvalue)


def compare_pair(samples: Samples, control: str, other: str) -> list[PairResult]:
    """One result per problem that both have runs on; Holm over these problems."""
    problems = [p for p in samples.problems if samples.of(control, p).size and samples.of(other, p).size]
    pairs = [(samples.ranked(control, p), samples.ranked(other, p)) for p in problems]
    p_values = [mann_whitney(mine, theirs) for mine, theirs in pairs]
    return [
        PairResult(control, other, problem, p, float(adjusted), a12(mine, theirs))
        for problem, p, adjusted, (mine, theirs) in zip(problems, p_values, holm(p_values), pairs, strict=True)
    ]


def win_tie_loss(results: Sequence[PairResult]) -> WinTieLoss:
    """The results of one pair, counted."""
    verdicts = [result.verdict for result in results]
    return WinTieLoss(
        control=results[0].control,
        other=results[0].other,
        wins=verdicts.count("win"),
        ties=verdicts.count("tie"),
        losses=verdicts.count("loss"),
        mean_a12=float(np.mean([result.a12 for result in results])),
    )


def welch(sample: np.ndarray, mean: float, std: float, n: int) -> float:
    """Two-sided p-value of Welch's t-test of a sample against a published mean and std of n runs."""
    from scipy.stats import ttest_ind_from_stats

    own_mean, own_std = float(np.mean(sample)), float(np.std(sample, ddof=1)) if sample.size > 1 else 0.0
    if sample.size < 2 or not math.isfinite(own_mean):
        return math.nan
    if own_std == 0.0 and std == 0.0:
        return 1.0 if own_mean == mean else 0.0
    test = ttest_ind_from_stats(own_mean, own_std, sample.size, mean, std, n, equal_var=False)
    return float(test.pvalue)


def tost(sample: np.ndarray, mean: float, std: float, n: int, margin: float) -> float:
    """p-value of two one-sided tests (Schuirmann 1987) of a sample against a published mean and std of n runs.

    Small if the means are shown to differ by less than `margin` either way; Welch's standard error and degrees of
    freedom; NaN for a sample without two finite numbers.
    """
    from scipy.stats import t

    if sample.size < 2 or not np.isfinite(sample).all():
        return math.nan
    own, other = float(np.var(sample, ddof=1)) / sample.size, std**2 / n
    difference, error = float(np.mean(sample)) - mean, math.sqrt(own + other)
    if error == 0.0:
        return 0.0 if abs(difference) < margin else 1.0
    freedom = (own + other) ** 2 / (own**2 / (sample.size - 1) + other**2 / (n - 1))
    return float(max(t.sf((difference + margin) / error, freedom), t.cdf((difference - margin) / error, freedom)))
