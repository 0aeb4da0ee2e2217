"""The paper's Tables 3, 4 and 5 as data, and the last two computed again from the first.

Table 3 holds means and standard deviations of 25 runs as printed, with three digits. Where two printed means are equal
the means themselves need not be: the printed ranks then lie anywhere between those of the two orders.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np

from deddqn.analysis.statistics import Friedman, friedman, li, mean_ranks
from deddqn.experiments.methods import PAPER_METHODS
from deddqn.experiments.plan import PAPER_RUNS

PRINTED_NAMES = (
    "Random",
    "DE1",
    "DE2",
    "DE3",
    "DE4",
    "AdapSS",
    "FAUC",
    "RecPM",
    "LR",
    "IPOP",
    "DDQN1",
    "DDQN2",
    "DDQN3",
)
"""The methods as the paper's tables name them, in the order of `PAPER_METHODS`."""

OURS = dict(zip(PRINTED_NAMES, PAPER_METHODS, strict=True)) | {"Rec-PM": "rec-pm"}
PRINTED = dict(zip(PAPER_METHODS, PRINTED_NAMES, strict=True))
CONTROL = "ddqn-r2"
MISPRINT = "de4"  # Table 5 gives .00008 for DE4: more than for DE2, whose statistic is smaller
P_TOLERANCE = 5.1e-6  # half of the last of five digits


@dataclass(frozen=True)
class Cell:
    """One entry of Table 3."""

    problem: str
    method: str
    mean: float
    std: float
    runs: int = PAPER_RUNS


@dataclass(frozen=True)
class RankLine:
    """A mean rank as printed in Table 4, and as it follows from the printed means: ties shared, and at either end."""

    method: str
    printed: float
    computed: float
    lowest: float
    highest: float

    @property
    def difference(self) -> float:
        """Computed minus printed."""
        return self.computed - self.printed

    @property
    def agrees(self) -> bool:
        """Whether the printed rank follows from the printed means in some order of those that are equal."""
        return self.lowest - 1e-9 <= self.printed <= self.highest + 1e-9

    @property
    def remark(self) -> str:
        """What to say about a difference."""
        if not self.agrees:
            return "differs"
        return "" if abs(self.difference) < 1e-9 else "equal printed means"


@dataclass(frozen=True)
class LiLine:
    """A comparison as printed in Table 5, and as it follows from the printed ranks."""

    other: str
    printed_statistic: float
    statistic: float
    printed_p: float
    p: float

    @property
    def agrees(self) -> bool:
        """Both numbers, to the printed digits."""
        return abs(self.statistic - self.printed_statistic) < 1e-4 and abs(self.p - self.printed_p) < P_TOLERANCE

    @property
    def remark(self) -> str:
        """What to say about a difference."""
        if self.agrees:
            return ""
        return "a misprint in the paper" if self.other == MISPRINT else "differs"


@cache
def table_3() -> dict[tuple[str, str], Cell]:
    """Mean errors and standard deviations, by (method, problem) in our names."""
    cells = {}
    for row in _read("paper_results.csv"):
        problem = f"cec2005:{row['function']}/d{row['dimension']}"
        method = OURS[row["method"]]
        cells[method, problem] = Cell(problem, method, float(row["mean_error"]), float(row["std_error"]))
    return cells


@cache
def table_4() -> dict[str, float]:
    """Printed mean ranks by method."""
    return {OURS[row["method"]]: float(row["mean_rank"]) for row in _read("paper_ranks.csv")}


@cache
def table_5() -> dict[str, tuple[float, float]]:
    """Printed statistic and adjusted p-value of DE-DDQN2 against each other method."""
    return {
        OURS[row["other"]]: (float(row["statistic"]), float(row["adjusted_p"])) for row in _read("paper_posthoc_li.csv")
    }


def _read(name: str) -> list[dict[str, str]]:
    text = files("deddqn.analysis").joinpath("data", name).read_text()
    return list(csv.DictReader(text.splitlines()))


def paper_problems() -> tuple[str, ...]:
    """The ten test problems in the order of Table 3."""
    return tuple(dict.fromkeys(problem for _, problem in table_3()))


def paper_means() -> np.ndarray:
    """Table 3's means, (13 methods, 10 problems)."""
    return np.array([[table_3()[m, p].mean for p in paper_problems()] for m in PAPER_METHODS])


def recompute_ranks() -> list[RankLine]:
    """Table 4 from Table 3, in the order of Table 4; as the paper does, from the means as they are."""
    orders = [mean_ranks(paper_means(), known=False, ties=ties) for ties in ("average", "min", "max")]
    computed = dict(zip(PAPER_METHODS, np.transpose(orders).tolist(), strict=True))
    return [RankLine(method, printed, *computed[method]) for method, printed in table_4().items()]


def recompute_li() -> list[LiLine]:
    """Table 5 from Table 4, in the order of Table 5."""
    printed = table_5()
    ranks = table_4()
    found = {row.other: row for row in li(list(ranks), list(ranks.values()), len(paper_problems()), CONTROL)}
    return [LiLine(other, *_both(found[other].statistic, found[other].li, printed[other])) for other in printed]


def _both(statistic: float, p: float, printed: tuple[float, float]) -> tuple[float, float, float, float]:
    return printed[0], statistic, printed[1], p


def paper_friedman() -> Friedman:
    """Friedman's test on Table 3's means, as they are."""
    return friedman(paper_means(), known=False)
