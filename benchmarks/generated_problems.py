"""Ordinary problems with other shifts and rotations for every instance; none of a benchmark suite.

The box is [-5, 5]^D, the optimum lies anywhere in its inner 80% and has the value 0.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

HALF_WIDTH = 5.0
Function = Callable[[np.ndarray], float]


def sphere(z: np.ndarray) -> float:
    """The squared distance."""
    return float(z @ z)


def ellipsoid(z: np.ndarray) -> float:
    """Axes of different lengths, condition 10^6."""
    return float(10.0 ** (6.0 * np.arange(z.size) / (z.size - 1)) @ z**2)


def rosenbrock(z: np.ndarray) -> float:
    """A bent valley."""
    w = z + 1.0
    return float(100.0 * ((w[1:] - w[:-1] ** 2) ** 2).sum() + (z**2)[:-1].sum())


def rastrigin(z: np.ndarray) -> float:
    """Many regular minima."""
    return float((z**2 - 10.0 * np.cos(2.0 * np.pi * z) + 10.0).sum())


def ackley(z: np.ndarray) -> float:
    """A funnel with a rough wall."""
    bowl = -20.0 * np.exp(-0.2 * np.sqrt((z**2).mean()))
    return float(bowl - np.exp(np.cos(2.0 * np.pi * z).mean()) + 20.0 + np.e)


def griewank(z: np.ndarray) -> float:
    """Waves over a wide bowl."""
    w = 20.0 * z
    return float(1.0 + (w**2).sum() / 4000.0 - np.cos(w / np.sqrt(np.arange(1, z.size + 1))).prod())


def levy(z: np.ndarray) -> float:
    """Ridges across a bowl."""
    w = 1.0 + z / 1.5
    middle = ((w[:-1] - 1.0) ** 2 * (1.0 + 10.0 * np.sin(np.pi * w[:-1] + 1.0) ** 2)).sum()
    last = (w[-1] - 1.0) ** 2 * (1.0 + np.sin(2.0 * np.pi * w[-1]) ** 2)
    return float(np.sin(np.pi * w[0]) ** 2 + middle + last)


def double_well(z: np.ndarray) -> float:
    """2^D minima of two depths, as Styblinski and Tang's."""
    return float((np.minimum(z**2, (z - 2.5) ** 2 * 0.8 + 0.3)).sum())


def steps(z: np.ndarray) -> float:
    """A bowl of plateaus, with a small slope."""
    return float((np.floor(2.0 * np.abs(z) + 0.5) ** 2).sum() / 4.0 + 0.01 * np.abs(z).sum())


def sharp_ridge(z: np.ndarray) -> float:
    """A ridge that has to be followed."""
    return float(z[0] ** 2 + 20.0 * np.sqrt((z[1:] ** 2).sum()))


FUNCTIONS = (sphere, ellipsoid, rosenbrock, rastrigin, ackley, griewank, levy, double_well, steps, sharp_ridge)
"""What is minimised: functions of z = R (x - shift)."""
SEPARABLE = (levy, double_well, steps)
"""Not rotated: their structure lies along the axes."""


def instance(function: Function, dimension: int, number: int) -> Function:
    """``function`` with a shift and a rotation drawn for this instance."""
    rng = np.random.default_rng([FUNCTIONS.index(function), dimension, number])
    shift = rng.uniform(-0.8 * HALF_WIDTH, 0.8 * HALF_WIDTH, dimension)
    rotation = np.linalg.qr(rng.standard_normal((dimension, dimension)))[0]
    if function in SEPARABLE:
        rotation = np.eye(dimension)
    return lambda x: function(rotation @ (x - shift))


def box(dimension: int) -> list[tuple[float, float]]:
    """The bounds."""
    return [(-HALF_WIDTH, HALF_WIDTH)] * dimension
