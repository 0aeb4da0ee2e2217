"""Which coordinates are numbers, integers or categories: `integrality` as in scipy, and what follows for the box."""

from __future__ import annotations

import math
from enum import IntEnum
from typing import Any

import numpy as np

LARGEST_INTEGER = 2.0**53  # beyond, floats skip integers
LARGEST_LOG_INTEGER = 2.0**40  # beyond, logarithms of neighbours are too close
LOG_ROUNDING = 1e-13  # of exp(log(n)), relative


class Integrality(IntEnum):
    """What a coordinate is."""

    CONTINUOUS = 0
    INTEGER = 1
    CATEGORICAL = 2  # the number of a category: neither order nor distance mean anything
    LOG_INTEGER = 3  # the logarithm of a positive integer


def check_integrality(integrality: Any, dimension: int) -> np.ndarray:
    """Codes (D,) int64 from what a user gave: one for all coordinates or one each, bools as in scipy; None: zeros."""
    if integrality is None:
        return np.zeros(dimension, dtype=np.int64)
    rule = "one of 0 (continuous), 1 (integer), 2 (categorical) and 3 (logarithm of an integer)"
    given = np.asarray(integrality)
    if given.dtype.kind not in "biuf" or given.shape not in ((), (1,), (dimension,)):
        raise ValueError(
            f"integrality must be {rule}, for all {dimension} coordinates or for each, got {integrality!r}"
        )
    if not np.isin(given, list(Integrality)).all():
        raise ValueError(f"integrality must be {rule}, got {integrality!r}")
    return np.broadcast_to(given.astype(np.int64), (dimension,)).copy()


def lattice_bounds(lower: np.ndarray, upper: np.ndarray, integrality: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The bounds, with the first and the last integer between them where a coordinate is not continuous."""
    discrete = integrality != Integrality.CONTINUOUS
    low, high = (_integers(bound, integrality) for bound in (lower, upper))
    logarithmic = integrality == Integrality.LOG_INTEGER
    low = np.where(discrete, np.ceil(np.where(logarithmic, low * (1.0 - LOG_ROUNDING), low)), low)
    high = np.where(discrete, np.floor(np.where(logarithmic, high * (1.0 + LOG_ROUNDING), high)), high)
    low = np.where(logarithmic, np.maximum(low, 1.0), low)
    largest = np.where(logarithmic, LARGEST_LOG_INTEGER, LARGEST_INTEGER)
    for wrong, rule in (
        (low > high, "must have an integer between them where integrality is not 0"),
        (discrete & (np.maximum(abs(low), abs(high)) > largest), "of integers must lie within 2**53 of 0"),
    ):
        if wrong.any():
            at = int(np.argmax(wrong))
            raise ValueError(f"bounds {rule}, got ({lower[at]}, {upper[at]}) at coordinate {at}")
    return _coordinates(low + 0.0, integrality), _coordinates(high + 0.0, integrality)  # no -0.0


def _integers(coordinates: np.ndarray, integrality: np.ndarray) -> np.ndarray:
    """What coordinates hold: themselves, or for logarithms what they are the logarithms of (not rounded)."""
    logarithms = np.broadcast_to(integrality == Integrality.LOG_INTEGER, coordinates.shape)
    found = np.array(coordinates, dtype=np.float64)
    found[logarithms] = [math.exp(min(x, 700.0)) for x in found[logarithms]]
    return found


def _coordinates(integers: np.ndarray, integrality: np.ndarray) -> np.ndarray:
    """The inverse, by the logarithm that kernels use, whose last bit may not be numpy's."""
    logarithms = np.broadcast_to(integrality == Integrality.LOG_INTEGER, integers.shape)
    found = np.array(integers, dtype=np.float64)
    found[logarithms] = [math.log(n) for n in found[logarithms]]
    return found


def lattice_points(lower: np.ndarray, upper: np.ndarray, integrality: np.ndarray) -> float:
    """How many points there are between bounds from `lattice_bounds`; inf where a coordinate is continuous."""
    if (integrality == Integrality.CONTINUOUS).any():
        return math.inf
    low, high = (np.round(_integers(bound, integrality)) for bound in (lower, upper))
    with np.errstate(over="ignore"):
        return float(np.prod(high - low + 1.0))


def outer_bounds(lower: np.ndarray, upper: np.ndarray, integrality: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The bounds half an integer further out: what is rounded to the outermost integers lies on both sides of them."""
    half = 0.5 * (integrality != Integrality.CONTINUOUS)
    low, high = _integers(lower, integrality) - half, _integers(upper, integrality) + half
    return _coordinates(low, integrality), _coordinates(high, integrality)


def on_lattice(points: np.ndarray, lower: np.ndarray, upper: np.ndarray, integrality: np.ndarray) -> np.ndarray:
    """Points (.., D) with discrete coordinates rounded to the nearest integer between bounds from `lattice_bounds`."""
    rounded = _coordinates(np.maximum(np.round(_integers(points, integrality)), _least(integrality)), integrality)
    return np.where(integrality != Integrality.CONTINUOUS, np.clip(rounded, lower, upper) + 0.0, points)


def _least(integrality: np.ndarray) -> np.ndarray:
    return np.where(integrality == Integrality.LOG_INTEGER, 1.0, -np.inf)


def spread_on_lattice(design: np.ndarray, lower: np.ndarray, upper: np.ndarray, integrality: np.ndarray) -> np.ndarray:
    """Points of the box from a design (.., D) in [0, 1]: every integer has an equal part of the interval.

    On a logarithmic scale its part is that between the halves around it.
    """
    numbers = np.clip(lower + design * (upper - lower), lower, upper)
    if not integrality.any():
        return numbers
    cells = np.minimum(lower + np.floor(design * (upper - lower + 1.0)), upper)
    low, high = outer_bounds(lower, upper, integrality)
    logarithms = on_lattice(low + design * (high - low), lower, upper, integrality)
    discrete = np.where(integrality == Integrality.LOG_INTEGER, logarithms, cells)
    return np.where(integrality != Integrality.CONTINUOUS, discrete, numbers)
