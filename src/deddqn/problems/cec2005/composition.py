"""F15-F25: hybrid compositions of ten basic functions, all in one kernel driven by the data.

f(x) = sum_c w_c (C f_c(((x - o_c) / lambda_c) M_c) / f_max_c + bias_c) + bias, where the weight w_c falls
with the distance from the shift o_c. Functions, constants and noise stand in the data (see `layout`).
"""

from typing import Final

import numpy as np

from deddqn._jit import OBJECTIVE_SIGNATURE, kernel, part
from deddqn.problems.cec2005 import basic
from deddqn.problems.cec2005.memory_map import (
    BIAS,
    COMPONENT_NOISE,
    COMPONENTS,
    CONDITIONS,
    DECAY,
    FIELDS,
    FREQUENCIES,
    GAIN,
    HEADER,
    KIND,
    MATRICES,
    NOISE,
    OFFSET,
    POINT,
    ROUNDED,
    SCALE,
    SECOND_SPARE,
    SHIFTS,
    SPARE,
    TURNED,
    VECTOR,
    WEIGHTS,
    Array,
    padded,
)
from deddqn.problems.cec2005.transform import rotate

NEGLIGIBLE: Final = 1e-30
"""A component of smaller weight is left out: it cannot move the value by one unit in the last place."""


@kernel(numeric=True, inline=True)
def place(x: Array, dimension: int, data: Array, point: Array) -> None:
    """Write x, padded with 0, to `point`; F23 rounds coordinates far from the optimum to halves."""
    origin = part(data, int(data[SHIFTS]))
    rounded = data[ROUNDED] != 0.0
    for i in range(dimension):
        point[i] = x[i]
        if rounded and abs(x[i] - origin[i]) >= 0.5:
            point[i] = basic.nearest_half(x[i])
    for i in range(dimension, padded(dimension)):
        point[i] = 0.0


@kernel(numeric=True, inline=True)
def weigh(point: Array, data: Array, size: int, weights: Array) -> None:
    """Write the normalised weights of the components at `point`.

    The largest stays, the others are multiplied by 1 - largest^10. Where all vanish, far away, all are equal.
    """
    largest = 0.0
    for c in range(COMPONENTS):
        origin = part(data, int(data[SHIFTS]) + c * size)
        squares = 0.0
        for i in range(size):
            squares += (point[i] - origin[i]) * (point[i] - origin[i])
        weights[c] = np.exp(data[HEADER + c * FIELDS + DECAY] * squares)
        if weights[c] > largest:
            largest = weights[c]
    square = largest * largest
    damping = 1.0 - (square * square) * (square * square) * square
    total = 0.0
    for c in range(COMPONENTS):
        if weights[c] != largest:
            weights[c] *= damping
        total += weights[c]
    for c in range(COMPONENTS):
        weights[c] = weights[c] / total if total != 0.0 else 1.0 / COMPONENTS


@kernel(numeric=True, inline=True)
def transform(data: Array, component: int, dimension: int, work: Array) -> Array:
    """Return z of a component: the point in `work`, shifted, divided by lambda, rotated."""
    size = padded(dimension)
    point = part(work, POINT * size)
    vector = part(work, VECTOR * size)
    origin = part(data, int(data[SHIFTS]) + component * size)
    scale = data[HEADER + component * FIELDS + SCALE]
    for i in range(size):
        vector[i] = (point[i] - origin[i]) * scale
    if data[MATRICES] == 0.0:
        return vector
    z = part(work, TURNED * size)
    rotate(vector, part(data, int(data[MATRICES]) + component * size * size), dimension, z)
    return z


@kernel(numeric=True, inline=True)
def basic_value(kind: int, z: Array, dimension: int, data: Array, work: Array) -> float:
    """Value of the basic function `kind` at z, which may be rounded in place."""
    size = padded(dimension)
    spare = part(work, SPARE * size)
    if kind == basic.ROUNDED_SCHAFFER or kind == basic.ROUNDED_RASTRIGIN:
        basic.round_outer(z, size)
    if kind == basic.RASTRIGIN or kind == basic.ROUNDED_RASTRIGIN:
        return basic.rastrigin(z, size)
    if kind == basic.WEIERSTRASS:
        return basic.weierstrass(z, size, spare, part(work, SECOND_SPARE * size))
    if kind == basic.GRIEWANK:
        return basic.griewank(z, size, part(data, int(data[FREQUENCIES])))
    if kind == basic.ACKLEY:
        return basic.ackley(z, size, dimension)
    if kind == basic.SCHAFFER or kind == basic.ROUNDED_SCHAFFER:
        return basic.schaffer(z, size, dimension, spare)
    if kind == basic.GRIEWANK_ROSENBROCK:
        return basic.griewank_rosenbrock(z, size, dimension, spare)
    if kind == basic.ELLIPTIC:
        return basic.elliptic(z, size, part(data, int(data[CONDITIONS])))
    return basic.sphere(z, size)


@kernel(OBJECTIVE_SIGNATURE, numeric=True)
def composition(x: Array, data: Array, work: Array, gauss: float) -> float:
    """F15-F25. One draw `gauss` serves the noise of the value (F17) and of the sphere in it (F24, F25)."""
    dimension, start, numbers, scratch = x.size, part(x, 0), part(data, 0), part(work, 0)
    size = padded(dimension)
    point = part(scratch, POINT * size)
    weights = part(scratch, WEIGHTS * size)
    place(start, dimension, numbers, point)
    weigh(point, numbers, size, weights)
    total = 0.0
    for c in range(COMPONENTS):
        if weights[c] < NEGLIGIBLE:
            continue
        z = transform(numbers, c, dimension, scratch)
        fields = part(numbers, HEADER + c * FIELDS)
        value = basic_value(int(fields[KIND]), z, dimension, numbers, scratch)
        value *= 1.0 + fields[COMPONENT_NOISE] * abs(gauss)
        total += weights[c] * (fields[GAIN] * value + fields[OFFSET])
    return total * (1.0 + numbers[NOISE] * abs(gauss)) + numbers[BIAS]
