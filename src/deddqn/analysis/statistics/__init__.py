"""The statistics of a comparison; definitions as in Sect. 5.2 of the paper where it gives them."""

from deddqn.analysis.statistics.omnibus import Friedman, critical_difference, friedman, friedman_of_ranks
from deddqn.analysis.statistics.pairwise import (
    ALPHA,
    PairResult,
    WinTieLoss,
    a12,
    compare_pair,
    mann_whitney,
    tost,
    welch,
    win_tie_loss,
)
from deddqn.analysis.statistics.posthoc import PostHoc, holm, li, li_adjust
from deddqn.analysis.statistics.ranks import (
    SOLVED,
    MeanRank,
    Samples,
    bootstrap_ranks,
    mean_ranks,
    rank_table,
    solved_is_zero,
)

__all__ = [
    "ALPHA",
    "SOLVED",
    "Friedman",
    "MeanRank",
    "PairResult",
    "PostHoc",
    "Samples",
    "WinTieLoss",
    "a12",
    "bootstrap_ranks",
    "compare_pair",
    "critical_difference",
    "friedman",
    "friedman_of_ranks",
    "holm",
    "li",
    "li_adjust",
    "mann_whitney",
    "mean_ranks",
    "rank_table",
    "solved_is_zero",
    "tost",
    "welch",
    "win_tie_loss",
]
