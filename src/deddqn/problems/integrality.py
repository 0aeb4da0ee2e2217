"""Which coordinates are numbers, integers or categories: `integrality` as in scipy, and what follows for the box."""

from __future__ import annotations

import math
from enum import IntEnum
from typing import Any

import numpy as np

LARGEST_INTEGER = 2.0**53  # beyond, floats skip integers


class Integrality(IntEnum):
    """What a coordinate is."""

    CONTINUOUS = 0
    INTEGER = 1
    CATEGORICAL = 2  # the number of a category, from 0 on: neither order nor distance mean anything


def check_integrality(integrality: Any, dimension: int) -> np.ndarray:
    """Codes (D,) int64 from what a user gave: one for all coordinates or one each, bools as in scipy; None: zeros."""
    if integrality is None:
        return np.zeros(dimension, dtype=np.int64)
    rule = "one of 0 (continuous), 1 (integer) and 2 (categorical) for all coordinates, or one for each"
    given = np.asarray(integrality)
    if given.dtype.kind not in "biuf" or given.shape not in ((), (1,), (dimension,)):
        raise ValueError(f"integrality must be {rule} of the {dimension}, got {integrality!r}")
    if not np.isin(given, list(Integrality)).all():
        raise ValueError(f"integrality must be {rule}, got {integrality!r}")
    return np.broadcast_to(given.astype(np.int64), (dimension,)).copy()


def lattice_bounds(lower: np.ndarray, upper: np.ndarray, integrality: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The bounds, with the first and the last integer between them where a coordinate is not continuous."""
    discrete = integrality != Integrality.CONTINUOUS
    low, high = np.where(discrete, np.ceil(lower), lower), np.where(discrete, np.floor(upper), upper)
    for wrong, rule in (
        (low > high, "must have an integer between them where integrality is not 0"),
        (discrete & (np.maximum(abs(low), abs(high)) > LARGEST_INTEGER), "of integers must lie within 2**53 of 0"),
    ):
        if wrong.any():
            at = int(np.argmax(wrong))
            raise ValueError(f"bounds {rule}, got ({lower[at]}, {upper[at]}) at coordinate {at}")
    return low + 0.0, high + 0.0  # no -0.0


def lattice_points(lower: np.ndarray, upper: np.ndarray, integrality: np.ndarray) -> float:
    """How many points there are between bounds from `lattice_bounds`; inf where a coordinate is continuous."""
    if (integrality == Integrality.CONTINUOUS).any():
        return math.inf
    with np.errstate(over="ignore"):
        return float(np.prod(upper - lower + 1.0))


def on_lattice(points: np.ndarray, lower: np.ndarray, upper: np.ndarray, integrality: np.ndarray) -> np.ndarray:
    """Points (.., D) with discrete coordinates rounded to the nearest integer between bounds from `lattice_bounds`."""
    rounded = np.clip(np.round(points), lower, upper) + 0.0
    return np.where(integrality != Integrality.CONTINUOUS, rounded, points)


def spread_on_lattice(design: np.ndarray, lower: np.ndarray, upper: np.ndarray, integrality: np.ndarray) -> np.ndarray:
    """Points of the box from a design (.., D) in [0, 1]: every integer has an equal part of the interval."""
    cells = np.minimum(lower + np.floor(design * (upper - lower + 1.0)), upper)
    numbers = np.clip(lower + design * (upper - lower), lower, upper)
    return np.where(integrality != Integrality.CONTINUOUS, cells, numbers)
