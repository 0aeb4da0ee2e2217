"""F1-F14: one kernel each, except that F4 is F2 with noise in its data.

Every kernel has the signature ``kernel(x, data, work, gauss) -> value``; `layout` says what `data` and `work`
hold. A kernel that calls others takes parts of its arrays first and does not touch the arrays again: so numba
counts no references.
"""

import math
from typing import Final

import numpy as np

from deddqn._jit import OBJECTIVE_SIGNATURE, kernel, part
from deddqn.problems.cec2005 import basic
from deddqn.problems.cec2005.memory_map import (
    BIAS,
    CONDITIONS,
    FREQUENCIES,
    MATRICES,
    NOISE,
    SECOND_SPARE,
    SHIFTS,
    SPARE,
    TURNED,
    VECTOR,
    Array,
    padded,
)
from deddqn.problems.cec2005.transform import add_rotated, rotate, shift

_INVERSE_TURN: Final = 0.5 / math.pi


@kernel(numeric=True, inline=True)
def shifted(x: Array, dimension: int, data: Array, work: Array) -> Array:
    """Return z = x - o, a part of `work`; the arguments are parts too."""
    vector = part(work, VECTOR * padded(dimension))
    shift(x, dimension, part(data, int(data[SHIFTS])), vector)
    return vector


@kernel(numeric=True, inline=True)
def rotated(x: Array, dimension: int, data: Array, work: Array) -> Array:
    """Return z = (x - o) M, a part of `work`; the arguments are parts too."""
    z = part(work, TURNED * padded(dimension))
    rotate(shifted(x, dimension, data, work), part(data, int(data[MATRICES])), dimension, z)
    return z


@kernel(OBJECTIVE_SIGNATURE, numeric=True)
def sphere(x: Array, data: Array, work: Array, gauss: float) -> float:
    """F1, Shifted Sphere."""
    origin = part(data, int(data[SHIFTS]))
    total = 0.0
    for i in range(x.size):
        total += (x[i] - origin[i]) * (x[i] - origin[i])
    return total + data[BIAS]


@kernel(OBJECTIVE_SIGNATURE, numeric=True)
def double_sum(x: Array, data: Array, work: Array, gauss: float) -> float:
    """F2 and F4, Shifted Schwefel 1.2, without and with noise."""
    origin = part(data, int(data[SHIFTS]))
    total = 0.0
    partial = 0.0
    for i in range(x.size):
        partial += x[i] - origin[i]
        total += partial * partial
    return total * (1.0 + data[NOISE] * abs(gauss)) + data[BIAS]


@kernel(OBJECTIVE_SIGNATURE, numeric=True)
def elliptic(x: Array, data: Array, work: Array, gauss: float) -> float:
    """F3, Shifted Rotated High Conditioned Elliptic."""
    dimension, point, numbers, scratch = x.size, part(x, 0), part(data, 0), part(work, 0)
    conditions = part(numbers, int(numbers[CONDITIONS]))
    z = rotated(point, dimension, numbers, scratch)
    return basic.elliptic(z, padded(dimension), conditions) + numbers[BIAS]


@kernel(OBJECTIVE_SIGNATURE, numeric=True)
def largest_residual(x: Array, data: Array, work: Array, gauss: float) -> float:
    """F5, Schwefel 2.6: the largest |A_i x - A_i o|, or their sum where it is not finite."""
    dimension, point, numbers, scratch = x.size, part(x, 0), part(data, 0), part(work, 0)
    z = rotated(point, dimension, numbers, scratch)
    total = 0.0
    largest = 0.0
    for i in range(dimension):
        residual = abs(z[i])
        total += residual
        if residual > largest:
            largest = residual
    return (largest if total < np.inf else total) + numbers[BIAS]


@kernel(OBJECTIVE_SIGNATURE, numeric=True)
def rosenbrock(x: Array, data: Array, work: Array, gauss: float) -> float:
    """F6, Shifted Rosenbrock, with z = x - o + 1."""
    origin = part(data, int(data[SHIFTS]))
    total = 0.0
    for i in range(x.size - 1):
        z = x[i] - origin[i] + 1.0
        valley = z * z - (x[i + 1] - origin[i + 1] + 1.0)
        total += 100.0 * (valley * valley) + (z - 1.0) * (z - 1.0)
    return total + data[BIAS]


@kernel(OBJECTIVE_SIGNATURE, numeric=True)
def griewank(x: Array, data: Array, work: Array, gauss: float) -> float:
    """F7, Shifted Rotated Griewank without bounds."""
    dimension, point, numbers, scratch = x.size, part(x, 0), part(data, 0), part(work, 0)
    frequencies = part(numbers, int(numbers[FREQUENCIES]))
    z = rotated(point, dimension, numbers, scratch)
    return basic.griewank(z, padded(dimension), frequencies) + numbers[BIAS]


@kernel(OBJECTIVE_SIGNATURE, numeric=True)
def ackley(x: Array, data: Array, work: Array, gauss: float) -> float:
    """F8, Shifted Rotated Ackley with the optimum on the bounds."""
    dimension, point, numbers, scratch = x.size, part(x, 0), part(data, 0), part(work, 0)
    z = rotated(point, dimension, numbers, scratch)
    return basic.ackley(z, padded(dimension), dimension) + numbers[BIAS]


@kernel(OBJECTIVE_SIGNATURE, numeric=True)
def rastrigin(x: Array, data: Array, work: Array, gauss: float) -> float:
    """F9, Shifted Rastrigin."""
    dimension, point, numbers, scratch = x.size, part(x, 0), part(data, 0), part(work, 0)
    z = shifted(point, dimension, numbers, scratch)
    return basic.rastrigin(z, padded(dimension)) + numbers[BIAS]


@kernel(OBJECTIVE_SIGNATURE, numeric=True)
def rotated_rastrigin(x: Array, data: Array, work: Array, gauss: float) -> float:
    """F10, Shifted Rotated Rastrigin."""
    dimension, point, numbers, scratch = x.size, part(x, 0), part(data, 0), part(work, 0)
    z = rotated(point, dimension, numbers, scratch)
    return basic.rastrigin(z, padded(dimension)) + numbers[BIAS]


@kernel(OBJECTIVE_SIGNATURE, numeric=True)
def weierstrass(x: Array, data: Array, work: Array, gauss: float) -> float:
    """F11, Shifted Rotated Weierstrass."""
    dimension, point, numbers, scratch = x.size, part(x, 0), part(data, 0), part(work, 0)
    size = padded(dimension)
    z = rotated(point, dimension, numbers, scratch)
    return basic.weierstrass(z, size, part(scratch, SPARE * size), part(scratch, SECOND_SPARE * size)) + numbers[BIAS]


@kernel(OBJECTIVE_SIGNATURE, numeric=True)
def fletcher_powell(x: Array, data: Array, work: Array, gauss: float) -> float:
    """F12, Schwefel 2.13: sum over i of (sum_j a_ij (sin x_j - sin o_j) + b_ij (cos x_j - cos o_j))^2.

    The data hold sin o and cos o as shifts, and the transposes of a and b as matrices.
    """
    dimension, point, numbers, scratch = x.size, part(x, 0), part(data, 0), part(work, 0)
    size = padded(dimension)
    sines = part(scratch, SPARE * size)
    cosines = part(scratch, SECOND_SPARE * size)
    sine_origin = part(numbers, int(numbers[SHIFTS]))
    cosine_origin = part(numbers, int(numbers[SHIFTS]) + size)
    for i in range(dimension):
        half_angle = basic.nearest_remainder(point[i] * _INVERSE_TURN)
        s = basic.sine(half_angle)
        sines[i] = 2.0 * s * basic.cosine(half_angle) - sine_origin[i]
        cosines[i] = 1.0 - 2.0 * (s * s) - cosine_origin[i]
    for i in range(dimension, size):
        sines[i] = 0.0
        cosines[i] = 0.0
    z = part(scratch, TURNED * size)
    rotate(sines, part(numbers, int(numbers[MATRICES])), dimension, z)
    add_rotated(cosines, part(numbers, int(numbers[MATRICES]) + size * size), dimension, z)
    return basic.sphere(z, size) + numbers[BIAS]


@kernel(OBJECTIVE_SIGNATURE, numeric=True)
def griewank_rosenbrock(x: Array, data: Array, work: Array, gauss: float) -> float:
    """F13, Shifted Expanded Griewank plus Rosenbrock (F8F2), with z = x - o + 1."""
    dimension, point, numbers, scratch = x.size, part(x, 0), part(data, 0), part(work, 0)
    size = padded(dimension)
    z = shifted(point, dimension, numbers, scratch)
    for i in range(size):
        z[i] += 1.0
    return basic.griewank_rosenbrock(z, size, dimension, part(scratch, SPARE * size)) + numbers[BIAS]


@kernel(OBJECTIVE_SIGNATURE, numeric=True)
def schaffer(x: Array, data: Array, work: Array, gauss: float) -> float:
    """F14, Shifted Rotated Expanded Schaffer's F6."""
    dimension, point, numbers, scratch = x.size, part(x, 0), part(data, 0), part(work, 0)
    size = padded(dimension)
    z = rotated(point, dimension, numbers, scratch)
    return basic.schaffer(z, size, dimension, part(scratch, SPARE * size)) + numbers[BIAS]
