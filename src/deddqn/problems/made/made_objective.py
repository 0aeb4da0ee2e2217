"""The kernel of made problems: one for all of them, driven by the data.

    f(x) = bias + sum_c w_c (gain_c f_c(z_c) + offset_c)
    z_c = scale_c L_c A_c(O_c(R_c P_c(u - o_c)))        u = x in widths of the box, from -5 to 5

P rounds to steps (plateaus), R rotates (fully, in blocks or not at all), O oscillates and A is asymmetric as in BBOB,
L conditions; o is the optimum. A *single* problem has one component; the components of a *hybrid* have coordinates of
their own, or rows of one rotation of all of them, and all weights are 1; those of a *composition* have all
coordinates, and weights that fall with the distance to their own o, as in CEC2005 or, infinite at o, as in CEC2014.
Offsets are 0 for the first component and positive for the others, so its o is the optimum. A hybrid within a
composition has one weight. Pointers cannot be indexed by enums, so positions are plain numbers.
"""

import math
from typing import Final

import numpy as np

from deddqn._jit import OBJECTIVE_SIGNATURE, kernel, part
from deddqn.problems.cec2005 import basic
from deddqn.problems.cec2005.memory_map import Array, padded
from deddqn.problems.made import base_functions as base
from deddqn.problems.made.base_functions import Base

NEGLIGIBLE: Final = 1e-30


# The beginning of the data, in this order.
HEAD_BIAS: Final = 0
HEAD_COMPONENTS: Final = 1
HEAD_WEIGHED: Final = 2  # how components are weighed
HEAD_LOWER: Final = 3  # position of the lower bounds
HEAD_INVERSE_WIDTH: Final = 4  # position of 10 / width of every coordinate
HEAD_FREQUENCIES: Final = 5  # position of Griewank's frequencies
HEAD_FIRST: Final = 6  # position of the first component's numbers
HEADS: Final = 7

# How components are weighed.
ADDED: Final = 0  # not at all
WEIGHED: Final = 1  # by distance, as in CEC2005
POINTED: Final = 2  # by distance, infinitely at the optimum of a component, as in CEC2014

# The numbers of a component.
PART_BASE: Final = 0
PART_SCALE: Final = 1
PART_GAIN: Final = 2
PART_OFFSET: Final = 3
PART_DECAY: Final = 4  # the raw weight is exp(DECAY |u - o|^2)
PART_STEP: Final = 5  # width of the plateaus; 0: none
PART_FINE: Final = 6  # 1: no plateau within one step of the optimum
PART_OSCILLATES: Final = 7
PART_ASYMMETRY: Final = 8  # beta; 0: none
PART_COUNT: Final = 9  # coordinates
PART_BLOCK: Final = 10  # size of the blocks that are rotated; 0: no rotation; `TURNED`: rows for all inputs
PART_COORDINATES: Final = 11  # position of the numbers of its coordinates
PART_ORIGIN: Final = 12  # position of o, one number per input
PART_CONDITION: Final = 13  # position of the diagonal of L
PART_MATRIX: Final = 14  # position of the rows of R, block by block
PART_INPUTS: Final = 15  # coordinates of x that it reads
PART_FIRST: Final = 16  # 0: it shares the weight of the component before it
FIELDS: Final = 17
TURNED: Final = -1
WORK_ROWS: Final = 4  # shifted, rotated, two spare rows


@kernel(numeric=True, inline=True)
def stepped(y: float, step: float, fine: bool) -> float:
    """The nearest multiple of `step`; `fine` leaves what is nearer to 0 than a step as it is."""
    if step == 0.0 or (fine and abs(y) < step):
        return y
    return step * np.floor(y / step + 0.5)


@kernel(numeric=True, inline=True)
def oscillated(y: float) -> float:
    """BBOB's T_osz: smooth waves that leave 0, signs and magnitudes roughly as they are."""
    if y == 0.0:
        return 0.0
    level = math.log(abs(y))
    slow, fast = (10.0, 7.9) if y > 0.0 else (5.5, 3.1)
    return math.copysign(math.exp(level + 0.049 * (math.sin(slow * level) + math.sin(fast * level))), y)


@kernel(numeric=True, inline=True)
def asymmetric(y: float, beta: float, share: float) -> float:
    """BBOB's T_asy: positive coordinates grow faster, the later ones the more; `share` is (i - 1)/(n - 1)."""
    return y ** (1.0 + beta * share * math.sqrt(y)) if y > 0.0 else y


@kernel(numeric=True, inline=True)
def squared_distance(x: Array, data: Array, fields: Array) -> float:
    """|u - o|^2 of a component."""
    coordinates, origin = part(data, int(fields[PART_COORDINATES])), part(data, int(fields[PART_ORIGIN]))
    lower, inverse = part(data, int(data[HEAD_LOWER])), part(data, int(data[HEAD_INVERSE_WIDTH]))
    total = 0.0
    for k in range(int(fields[PART_INPUTS])):
        d = int(coordinates[k])
        off = (x[d] - lower[d]) * inverse[d] - 5.0 - origin[k]
        total += off * off
    return total


@kernel(numeric=True, inline=True)
def shift_and_rotate(x: Array, data: Array, fields: Array, moved: Array, z: Array) -> None:
    """Write R P(u - o) to `z`; `moved` is scratch."""
    coordinates, origin = part(data, int(fields[PART_COORDINATES])), part(data, int(fields[PART_ORIGIN]))
    lower, inverse = part(data, int(data[HEAD_LOWER])), part(data, int(data[HEAD_INVERSE_WIDTH]))
    n, block, step, fine = int(fields[PART_COUNT]), int(fields[PART_BLOCK]), fields[PART_STEP], fields[PART_FINE] != 0.0
    inputs = int(fields[PART_INPUTS])
    for k in range(inputs):
        d = int(coordinates[k])
        moved[k] = stepped((x[d] - lower[d]) * inverse[d] - 5.0 - origin[k], step, fine)
    if block == 0:
        for k in range(n):
            z[k] = moved[k]
        return
    rows = int(fields[PART_MATRIX])
    if block == TURNED:
        for i in range(n):
            row, total = part(data, rows + i * inputs), 0.0
            for j in range(inputs):
                total += row[j] * moved[j]
            z[i] = total
        return
    for first in range(0, n, block):
        width = min(block, n - first)
        for i in range(width):
            row, total = part(data, rows + i * width), 0.0
            for j in range(width):
                total += row[j] * moved[first + j]
            z[first + i] = total
        rows += width * width


@kernel(numeric=True, inline=True)
def shape(data: Array, fields: Array, z: Array) -> None:
    """Let z oscillate, be asymmetric and conditioned, and bring it to the base function's scale; pad it with 0."""
    n, oscillates, beta = int(fields[PART_COUNT]), fields[PART_OSCILLATES] != 0.0, fields[PART_ASYMMETRY]
    condition = part(data, int(fields[PART_CONDITION]))
    for k in range(n):
        value = oscillated(z[k]) if oscillates else z[k]
        if beta > 0.0:
            value = asymmetric(value, beta, k / max(n - 1, 1))
        z[k] = fields[PART_SCALE] * (condition[k] * value)
    for k in range(n, padded(n)):
        z[k] = 0.0


@kernel(numeric=True, inline=True)
def smooth_value(kind: int, z: Array, n: int) -> float:
    """The base functions without waves."""
    if kind == Base.DIFFERENT_POWERS:
        return base.different_powers(z, n)
    if kind == Base.BENT_CIGAR:
        return base.axis_and_rest(z, n, 1.0, 1e6)
    if kind == Base.DISCUS:
        return base.axis_and_rest(z, n, 1e6, 1.0)
    if kind == Base.ROSENBROCK:
        return base.rosenbrock(z, n)
    if kind == Base.LARGEST:
        return base.largest(z, n)
    if kind == Base.DOUBLE_SUM:
        return base.double_sum(z, n)
    if kind == Base.SHARP_RIDGE:
        return base.sharp_ridge(z, n)
    if kind == Base.HAPPYCAT or kind == Base.HGBAT:
        return base.ring_valley(z, n, kind == Base.HGBAT)
    if kind == Base.STYBLINSKI_TANG:
        return base.styblinski_tang(z, n)
    if kind == Base.ZAKHAROV:
        return base.zakharov(z, n)
    return basic.sphere(z, padded(n))


@kernel(numeric=True, inline=True)
def base_value(kind: int, z: Array, n: int, frequencies: Array, spare: Array) -> float:
    """The base function `kind` at z; `spare` is scratch of two rows."""
    size = padded(n)
    if kind == Base.RASTRIGIN:
        return basic.rastrigin(z, size)
    if kind == Base.ACKLEY:
        return basic.ackley(z, size, n)
    if kind == Base.GRIEWANK:
        return basic.griewank(z, size, frequencies)
    if kind == Base.WEIERSTRASS:
        return basic.weierstrass(z, size, spare, part(spare, size))
    if kind == Base.SCHAFFER:
        return basic.schaffer(z, size, n, spare)
    if kind == Base.GRIEWANK_ROSENBROCK:
        for k in range(n):
            z[k] += 1.0
        return basic.griewank_rosenbrock(z, size, n, spare)
    if kind == Base.SCHWEFEL:
        return base.schwefel(z, n)
    if kind == Base.KATSUURA:
        return base.katsuura(z, n)
    if kind == Base.LEVY:
        return base.levy(z, n)
    if kind == Base.SALOMON:
        return base.salomon(z, n)
    if kind == Base.LUNACEK:
        return base.lunacek(z, n)
    return smooth_value(kind, z, n)


@kernel(numeric=True, inline=True)
def weigh(x: Array, data: Array, weights: Array) -> None:
    """Write the weights of the components: all 1, or for a composition as in CEC2005 (see `cec2005.composition`)."""
    count, first = int(data[HEAD_COMPONENTS]), int(data[HEAD_FIRST])
    largest = 0.0
    for c in range(count):
        weights[c] = 1.0
        if data[HEAD_WEIGHED] != 0.0:
            fields = part(data, first + c * FIELDS)
            weights[c] = math.exp(fields[PART_DECAY] * squared_distance(x, data, fields))
            largest = max(largest, weights[c])
    if data[HEAD_WEIGHED] == 0.0:
        return
    damping, total = 1.0 - largest**10, 0.0
    for c in range(count):
        if weights[c] != largest:
            weights[c] *= damping
        total += weights[c]
    for c in range(count):
        weights[c] = weights[c] / total if total != 0.0 else 1.0 / count


@kernel(numeric=True, inline=True)
def weigh_pointed(x: Array, data: Array, weights: Array) -> None:
    """Write the weights exp(DECAY |u - o|^2) / |u - o|, of which a hybrid has one (CEC2014); they add up to 1."""
    count, first, total = int(data[HEAD_COMPONENTS]), int(data[HEAD_FIRST]), 0.0
    for c in range(count):
        fields = part(data, first + c * FIELDS)
        distance = max(squared_distance(x, data, fields), NEGLIGIBLE)
        weights[c] = math.exp(fields[PART_DECAY] * distance) / math.sqrt(distance)
        if fields[PART_FIRST] != 0.0:
            total += weights[c]
    for c in range(count):
        weights[c] = weights[c] / total if total != 0.0 else 1.0 / count


@kernel(OBJECTIVE_SIGNATURE, numeric=True)
def made_objective(x: Array, data: Array, work: Array, gauss: float) -> float:
    """The value of a made problem; `work` holds `WORK_ROWS` padded rows and a number per component."""
    point, numbers, scratch = part(x, 0), part(data, 0), part(work, 0)
    size = padded(max(x.size, HEADS))
    z, spare, weights = part(scratch, size), part(scratch, 2 * size), part(scratch, 4 * size)
    if numbers[HEAD_WEIGHED] == POINTED:
        weigh_pointed(point, numbers, weights)
    else:
        weigh(point, numbers, weights)
    total = 0.0
    for c in range(int(numbers[HEAD_COMPONENTS])):
        if weights[c] < NEGLIGIBLE:
            continue
        fields = part(numbers, int(numbers[HEAD_FIRST]) + c * FIELDS)
        shift_and_rotate(point, numbers, fields, scratch, z)
        shape(numbers, fields, z)
        frequencies = part(numbers, int(numbers[HEAD_FREQUENCIES]))
        value = base_value(int(fields[PART_BASE]), z, int(fields[PART_COUNT]), frequencies, spare)
        total += weights[c] * (fields[PART_GAIN] * value + fields[PART_OFFSET])
    return total + numbers[HEAD_BIAS]


def work_size(dimension: int, components: int) -> int:
    """Length of the scratch space."""
    return WORK_ROWS * int(padded(max(dimension, HEADS))) + int(padded(components))
