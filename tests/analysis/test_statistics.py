"""Statistics against hand arithmetic, against scipy and scikit-posthocs, and against the paper's own tables."""

import math

import numpy as np
import pytest
from scipy import stats

from deddqn.analysis.paper_tables import (
    CONTROL,
    MISPRINT,
    RankLine,
    paper_friedman,
    recompute_li,
    recompute_ranks,
    table_3,
)
from deddqn.analysis.statistics import (
    Samples,
    a12,
    bootstrap_ranks,
    compare_pair,
    critical_difference,
    friedman,
    holm,
    li,
    li_adjust,
    mann_whitney,
    mean_ranks,
    rank_table,
    solved_is_zero,
    tost,
    welch,
    win_tie_loss,
)


def test_small_errors_are_zero_and_missing_numbers_are_worst():
    assert solved_is_zero(np.array([9e-9, 1e-8, 2.0, math.nan])).tolist() == [0.0, 1e-8, 2.0, math.inf]


def test_ranks_by_hand():
    means = np.array([[1.0, 5e-9], [2.0, 3e-9], [2.0, 7.0]])  # the first two tie on the second problem
    assert mean_ranks(means).tolist() == [(1 + 1.5) / 2, (2.5 + 1.5) / 2, (2.5 + 3) / 2]


def test_without_a_known_optimum_no_value_counts_as_solved():
    """Negative best values, and those that differ by less than 1e-8, keep their order; the neighbour is solved."""
    cells = {
        ("a", "open"): np.array([-7.0, -6.0, np.nan]),
        ("b", "open"): np.array([-3.0, -2.0, -1.0]),
        ("a", "solved"): np.array([1e-9, 3e-9, 2e-9]),
        ("b", "solved"): np.array([4e-9, 5e-9, 6e-9]),
    }
    samples = Samples(("a", "b"), ("open", "solved"), cells, frozenset({"open"}))
    assert samples.ranked("a", "open").tolist() == [-7.0, -6.0, math.inf]
    assert samples.pool(("b", "a")).ranked("a", "solved").tolist() == [0.0, 0.0, 0.0]
    assert [row.a12 for row in compare_pair(samples, "a", "b")] == [2 / 3, 0.5]
    means = np.array([[-6.5, 2e-9], [-2.0, 5e-9]])
    assert rank_table(means, samples.known).tolist() == [[1.0, 1.5], [2.0, 1.5]]
    assert friedman(means, samples.known).chi_square == 1.0
    assert rank_table(means).tolist() == [[1.5, 1.5], [1.5, 1.5]]
    finite = {**cells, ("a", "open"): np.array([1e-12, 2e-12, 3e-12]), ("b", "open"): np.array([4e-12, 5e-12, 6e-12])}
    ranks = bootstrap_ranks(Samples(("b", "a"), ("open", "solved"), finite, frozenset({"open"})), resamples=20)
    assert [(r.method, r.rank, r.low, r.high) for r in ranks] == [("a", 1.25, 1.25, 1.25), ("b", 1.75, 1.75, 1.75)]


def test_holm_by_hand():
    assert holm([0.01, 0.04, 0.03]).tolist() == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.9, 0.8]).tolist() == [1.0, 1.0]
    assert holm([]).size == 0


def test_li_by_hand():
    assert li_adjust([0.01, 0.2, 0.5]).tolist() == pytest.approx([0.01 / 0.51, 0.2 / 0.7, 0.5])
    assert li_adjust([0.01, 1.0]).tolist() == [1.0, 1.0]  # with a tie the procedure says nothing
    rows = li(["a", "b", "c"], [1.0, 2.0, 3.0], problems=8, control="a")
    assert [row.other for row in rows] == ["c", "b"]
    assert rows[0].statistic == pytest.approx(2.0 / math.sqrt(3 * 4 / (6 * 8)))
    assert rows[1].p == pytest.approx(2 * stats.norm.sf(2.0))


def test_friedman_agrees_with_scipy_with_ties():
    means = np.round(np.random.default_rng(1).exponential(size=(5, 9)), 1) + 1.0
    test = friedman(means)
    theirs = stats.friedmanchisquare(*means)
    assert (test.chi_square, test.p) == pytest.approx((theirs.statistic, theirs.pvalue))
    k, n = means.shape
    assert test.f_statistic == pytest.approx((n - 1) * test.chi_square / (n * (k - 1) - test.chi_square))


def test_friedman_at_its_limits():
    same_order = np.arange(4.0)[:, None] + np.zeros((4, 6))
    assert friedman(same_order).f_p == 0.0
    assert friedman(np.ones((4, 6))).p == 1.0
    assert friedman(np.ones((1, 6))).p == 1.0


def test_critical_difference_of_the_textbook():
    assert critical_difference(4, 14) == pytest.approx(1.25, abs=0.005)  # Demsar (2006), Sect. 3.2.2


def test_critical_difference_agrees_with_scikit_posthocs():
    posthocs = pytest.importorskip("scikit_posthocs")
    means = np.random.default_rng(3).normal(size=(4, 12))
    p = posthocs.posthoc_nemenyi_friedman(means.T).to_numpy()
    ranks, width = mean_ranks(means, known=False), critical_difference(4, 12)
    for i in range(4):
        for j in range(i):
            assert (p[i, j] < 0.05) == (abs(ranks[i] - ranks[j]) > width)


def test_effect_size_by_hand():
    assert a12(np.array([1.0, 2.0]), np.array([2.0, 3.0])) == (3 + 0.5) / 4
    assert a12(np.array([0.0]), np.array([math.inf])) == 1.0


def test_mann_whitney_agrees_with_scipy_and_bears_constants_and_infinities():
    rng = np.random.default_rng(0)
    first, second = rng.normal(size=25), rng.normal(0.5, size=25)
    assert mann_whitney(first, second) == pytest.approx(stats.mannwhitneyu(first, second).pvalue)
    assert mann_whitney(np.zeros(25), np.zeros(25)) == 1.0
    assert mann_whitney(np.full(25, np.inf), np.zeros(25)) < 1e-6


def test_pairs_count_wins_ties_and_losses():
    low, high = np.arange(25.0) + 1, np.arange(25.0) + 101
    cells = {("a", "p"): low, ("b", "p"): high, ("a", "q"): high, ("b", "q"): low, ("a", "r"): low, ("b", "r"): low}
    rows = compare_pair(Samples(("a", "b"), ("p", "q", "r"), cells), "a", "b")
    assert [row.verdict for row in rows] == ["win", "loss", "tie"]
    assert [row.a12 for row in rows] == [1.0, 0.0, 0.5]
    score = win_tie_loss(rows)
    assert (score.wins, score.ties, score.losses, score.mean_a12) == (1, 1, 1, 0.5)


def test_welch_agrees_with_scipy():
    rng = np.random.default_rng(5)
    ours, theirs = rng.normal(size=25), rng.normal(0.7, 2.0, size=25)
    expected = stats.ttest_ind(ours, theirs, equal_var=False).pvalue
    assert welch(ours, theirs.mean(), theirs.std(ddof=1), 25) == pytest.approx(expected)
    assert welch(np.ones(3), 1.0, 0.0, 25) == 1.0
    assert welch(np.ones(3), 2.0, 0.0, 25) == 0.0
    assert math.isnan(welch(np.ones(1), 2.0, 1.0, 25))


def test_tost_by_hand_and_against_scipys_one_sided_tests():
    rng = np.random.default_rng(4)
    ours, theirs = rng.normal(10, 2, 20), rng.normal(10.5, 3, 25)
    published = (theirs.mean(), theirs.std(ddof=1), 25)
    below = stats.ttest_ind(ours, theirs + 2.0, equal_var=False, alternative="less").pvalue
    above = stats.ttest_ind(ours, theirs - 2.0, equal_var=False, alternative="greater").pvalue
    assert tost(ours, *published, 2.0) == pytest.approx(max(below, above))
    assert tost(ours, *published, 0.0) >= 0.5  # nothing is equivalent within nothing
    assert tost(np.ones(3), 1.0, 0.0, 25, 0.1) == 0.0 and tost(np.ones(3), 2.0, 0.0, 25, 0.1) == 1.0
    assert math.isnan(tost(np.array([1.0, np.inf]), 2.0, 1.0, 25, 0.1))


def test_bootstrap_intervals_hold_the_rank_and_shrink_to_it_without_noise():
    rng = np.random.default_rng(2)
    noisy = {(m, p): rng.normal(k, 3.0, 25) + 20 for k, m in enumerate("abc") for p in "xyz"}
    for rank in bootstrap_ranks(Samples(tuple("abc"), tuple("xyz"), noisy), resamples=300):
        assert rank.low <= rank.rank <= rank.high
        assert rank.high > rank.low
    exact = {(m, p): np.full(25, k + 1.0) for k, m in enumerate("abc") for p in "xyz"}
    ranks = bootstrap_ranks(Samples(tuple("abc"), tuple("xyz"), exact), resamples=50)
    assert [(r.method, r.rank, r.low, r.high) for r in ranks] == [("a", 1, 1, 1), ("b", 2, 2, 2), ("c", 3, 3, 3)]


def test_ranks_use_only_problems_that_all_methods_ran_on():
    cells = {("a", "p"): np.ones(3), ("b", "p"): np.zeros(3), ("a", "q"): np.zeros(3)}
    samples = Samples(("a", "b"), ("p", "q"), cells)
    assert samples.complete_problems == ("p",)
    assert [r.method for r in bootstrap_ranks(samples, resamples=10)] == ["b", "a"]


def test_the_papers_table_4_follows_from_its_table_3_but_for_equal_printed_means():
    """Table 3 and Table 4."""
    assert len(table_3()) == 130
    lines = recompute_ranks()
    assert len(lines) == 13
    assert all(line.agrees for line in lines)
    assert [line.method for line in lines][:2] == ["ipop-cmaes", CONTROL]
    exact = {line.method: line.computed for line in lines}
    assert exact["ipop-cmaes"] == pytest.approx(2.3) and exact["lr-cmaes"] == pytest.approx(4.4)
    assert {line.method for line in lines if line.remark} == {
        *("ddqn-r1", "ddqn-r3", "pm-adapss", "de1", "de2", "de3", "de4")
    }
    assert not RankLine("de1", 11.61, 11.55, 11.5, 11.6).agrees
    assert paper_friedman().p < 0.01


def test_the_papers_table_5_follows_from_its_table_4_except_for_the_misprint():
    """Table 4 and Table 5."""
    lines = recompute_li()
    assert len(lines) == 12
    assert [line.other for line in lines if not line.agrees] == [MISPRINT]
    misprint = next(line for line in lines if line.other == MISPRINT)
    assert round(misprint.p, 5) == 0.00001
    assert misprint.statistic == pytest.approx(misprint.printed_statistic, abs=1e-5)
