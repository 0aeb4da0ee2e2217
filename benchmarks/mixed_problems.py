"""Generated problems with integers and categories, in families; a seed makes an instance."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np


class MixedProblem(NamedTuple):
    """A function of one point, its bounds and its integrality (0 continuous, 1 integer, 2 categorical)."""

    function: Callable[[np.ndarray], float]
    bounds: list[tuple[float, float]]
    integrality: list[int]


def _rotation(rng: np.random.Generator, dimension: int) -> np.ndarray:
    return np.linalg.qr(rng.normal(size=(dimension, dimension)))[0]


def integer_ellipsoid(seed: int) -> MixedProblem:
    """Eight integers in -30..30: a rotated quadratic with axes from 1 to 10, its centre off the lattice."""
    rng = np.random.default_rng([1, seed])
    axes = _rotation(rng, 8) * np.logspace(0.0, 1.0, 8)
    centre = rng.uniform(-20.0, 20.0, 8)
    return MixedProblem(lambda x: float((((x - centre) @ axes) ** 2).sum()), [(-30, 30)] * 8, [1] * 8)


def integer_ripples(seed: int) -> MixedProblem:
    """Ten integers in 0..40: a bowl with deep ripples of period 3 to 7 in every coordinate."""
    rng = np.random.default_rng([2, seed])
    centre, period = rng.uniform(5.0, 35.0, 10), rng.uniform(3.0, 7.0, 10)

    def function(x: np.ndarray) -> float:
        z = x - centre
        return float((0.2 * z**2 + 10.0 * (1.0 - np.cos(2.0 * np.pi * z / period))).sum())

    return MixedProblem(function, [(0, 40)] * 10, [1] * 10)


def bits(seed: int) -> MixedProblem:
    """Twenty-four bits: every one pays a random amount that depends on three others (an NK landscape)."""
    rng = np.random.default_rng([3, seed])
    table = rng.uniform(size=(24, 16))
    partners = np.array([rng.choice(24, 3, replace=False) for _ in range(24)])

    def function(x: np.ndarray) -> float:
        whole = x.astype(int)
        index = whole + 2 * whole[partners[:, 0]] + 4 * whole[partners[:, 1]] + 8 * whole[partners[:, 2]]
        return float(table[np.arange(24), index].sum())

    return MixedProblem(function, [(0, 1)] * 24, [1] * 24)


def categories(seed: int) -> MixedProblem:
    """Eight parameters of six categories: a random cost for each, and for each pair of neighbours."""
    rng = np.random.default_rng([4, seed])
    own, pair = rng.normal(size=(8, 6)), rng.normal(size=(8, 6, 6))

    def function(x: np.ndarray) -> float:
        k, at = x.astype(int), np.arange(8)
        return float(own[at, k].sum() + pair[at, k, np.roll(k, 1)].sum())

    return MixedProblem(function, [(0, 5)] * 8, [2] * 8)


def mixed_valleys(seed: int) -> MixedProblem:
    """Five numbers, three integers and two categories: each pair of categories has a bowl of its own."""
    rng = np.random.default_rng([5, seed])
    floor, centres = rng.uniform(0.0, 5.0, (4, 4)), rng.uniform(-4.0, 4.0, (4, 4, 8))
    axes = _rotation(rng, 8) * np.logspace(0.0, 0.7, 8)

    def function(x: np.ndarray) -> float:
        a, b = int(x[8]), int(x[9])
        return float((((x[:8] - centres[a, b]) @ axes) ** 2).sum() + floor[a, b])

    return MixedProblem(function, [(-5, 5)] * 8 + [(0, 3)] * 2, [0] * 5 + [1] * 3 + [2] * 2)


def mixed_steps(seed: int) -> MixedProblem:
    """Four numbers, four integers, two switches and a category that add, with a coupling of numbers and integers."""
    rng = np.random.default_rng([6, seed])
    centre, scale = rng.uniform(-3.0, 3.0, 8), 10.0 ** rng.uniform(-0.5, 0.5, 8)
    cost, gain = rng.uniform(0.0, 3.0, 5), rng.uniform(-2.0, 2.0, (2, 8))

    def function(x: np.ndarray) -> float:
        z = scale * (x[:8] - centre)
        bowl = (z**2).sum() + 2.0 * abs(z[:4] - z[4:]).sum() + 5.0 * (1.0 - np.cos(2.0 * z)).sum()
        switched = x[8] * (gain[0] @ z) + x[9] * (gain[1] @ z)
        return float(bowl + switched + cost[int(x[10])])

    return MixedProblem(function, [(-8, 8)] * 8 + [(0, 1)] * 2 + [(0, 4)], [0] * 4 + [1] * 6 + [2])


def wide_integers(seed: int) -> MixedProblem:
    """Three integers in 1..1000 and three numbers: smooth in the logarithms, as sizes of models often are."""
    rng = np.random.default_rng([7, seed])
    centre, axes = rng.uniform(1.0, 6.0, 6), _rotation(rng, 6) * np.logspace(0.0, 0.8, 6)

    def function(x: np.ndarray) -> float:
        z = np.concatenate([np.log(x[:3]), x[3:]]) - centre
        return float(((z @ axes) ** 2).sum() + 0.3 * abs(z).sum())

    return MixedProblem(function, [(1, 1000)] * 3 + [(0, 7)] * 3, [1] * 3 + [0] * 3)


FAMILIES: dict[str, Callable[[int], MixedProblem]] = {
    made.__name__: made
    for made in (integer_ellipsoid, integer_ripples, bits, categories, mixed_valleys, mixed_steps, wide_integers)
}
