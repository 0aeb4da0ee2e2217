"""One control against all others, from mean ranks: Li (2008), with Holm beside it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class PostHoc:
    """The control against one other method."""

    control: str
    other: str
    statistic: float
    p: float
    li: float
    holm: float


def li_adjust(p_values: Sequence[float] | np.ndarray) -> np.ndarray:
    """Li (2008): p / (p + 1 - the largest p)."""
    p = np.asarray(p_values, dtype=np.float64)
    if p.size == 0:
        return p
    below = p + (1.0 - p.max())
    return np.minimum(np.divide(p, below, out=np.ones_like(p), where=below > 0.0), 1.0)


def holm(p_values: Sequence[float] | np.ndarray) -> np.ndarray:
    """Holm (1979): step-down adjusted p-values, in the order given."""
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    stepped = np.maximum.accumulate(p[order] * (p.size - np.arange(p.size)))
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted


def li(methods: Sequence[str], ranks: Sequence[float] | np.ndarray, problems: int, control: str) -> list[PostHoc]:
    """Table 5: ``|R_i - R_c| / sqrt(k (k + 1) / (6 N))``, two-sided normal p, adjusted; smallest p first."""
    from scipy.stats import norm

    k, at = len(methods), list(methods).index(control)
    unit = math.sqrt(k * (k + 1.0) / (6.0 * problems))
    others = [i for i in range(k) if i != at]
    statistics = np.array([abs(ranks[i] - ranks[at]) / unit for i in others])
    p = 2.0 * norm.sf(statistics)
    by_li, by_holm = li_adjust(p), holm(p)
    rows = [
        PostHoc(control, methods[i], float(s), float(q), float(a), float(h))
        for i, s, q, a, h in zip(others, statistics, p, by_li, by_holm, strict=True)
    ]
    return sorted(rows, key=lambda row: (row.p, row.other))
