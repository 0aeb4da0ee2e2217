"""Functions to minimise, made of + - * / and comparisons in a fixed order: every machine finds the same values."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from deddqn import Problem

WIDTH = 8.0
"""Of every box: squares of it add up without rounding."""


def waves(x):
    """A bowl with a zigzag of slope 2 on it, whose valleys are many, and a weak link between neighbours."""
    total, before = 0.0, 0.0
    for k in range(len(x)):
        z = x[k] - 0.25 * (k % 5)
        total += (1.0 + 0.1 * k) * z * z + 0.125 * z * before
        folded = z if z >= 0.0 else -z
        while folded >= 1.0:
            folded -= 1.0
        total += 2.0 * folded if folded < 0.5 else 2.0 - 2.0 * folded
        before = z
    return total


def holes(x):
    """`waves` with regions of NaN, of infinity and of huge values."""
    if x[0] > 2.5:
        return np.nan
    if x[1] < -3.0:
        return np.inf
    if x[0] < -2.5:
        return 1e300 * (waves(x) + 1.0)
    return waves(x)


jitted = njit(waves)


def plain(x):
    """`waves` as a user's Python function."""
    return waves(x.tolist())


def many(points):
    """`waves` for scipy's (D, S) points."""
    return np.array([waves(column.tolist()) for column in points.T])


def box(dimension: int) -> list[tuple[float, float]]:
    """Boxes that are not centred, and not the same in every coordinate."""
    return [(-3.5 + 0.25 * (k % 3), -3.5 + 0.25 * (k % 3) + WIDTH) for k in range(dimension)]


def problem(dimension: int, function: Any = jitted) -> Problem:
    """The waves as a problem; its optimum is not known exactly, but this bound will do for rewards."""
    return Problem.from_function(function, box(dimension), name=f"waves/d{dimension}", optimum=-64.0)
