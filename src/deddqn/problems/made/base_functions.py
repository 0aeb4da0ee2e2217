"""Base functions of made problems: published formulas, moved so that f(0) = 0 is the lowest value.

Those of CEC2005 are taken from there. z is a part (see `deddqn._jit.part`) with `n` coordinates, padded with zeros.

Sources: M. Jamil, X.-S. Yang, "A literature survey of benchmark functions for global optimisation problems", 2013;
N. Hansen et al., "Real-parameter black-box optimization benchmarking 2009: noiseless functions definitions";
J. J. Liang, B. Y. Qu, P. N. Suganthan, "Problem definitions and evaluation criteria for the CEC 2014 special session",
2013.
"""

import math
from enum import IntEnum
from typing import Final

import numpy as np

from deddqn._jit import kernel
from deddqn.problems.cec2005.basic import sine_squared
from deddqn.problems.cec2005.memory_map import Array

SCHWEFEL_OPTIMUM: Final = 420.968746359982
STYBLINSKI_OPTIMUM: Final = -2.903534027771177
STYBLINSKI_VALUE: Final = 39.166165703771416  # per coordinate
KATSUURA_TERMS: Final = 32
LUNACEK_OPTIMUM: Final = 2.5
_INVERSE_PI: Final = 1.0 / math.pi


class Base(IntEnum):
    """The base functions, as numbers of the data."""

    SPHERE = 0
    DIFFERENT_POWERS = 1
    BENT_CIGAR = 2
    DISCUS = 3
    ROSENBROCK = 4
    LARGEST = 5
    RASTRIGIN = 6
    ACKLEY = 7
    GRIEWANK = 8
    WEIERSTRASS = 9
    SCHAFFER = 10
    GRIEWANK_ROSENBROCK = 11
    SCHWEFEL = 12
    KATSUURA = 13
    HGBAT = 14
    DOUBLE_SUM = 15
    SHARP_RIDGE = 16
    LEVY = 17
    SALOMON = 18
    HAPPYCAT = 19
    LUNACEK = 20
    STYBLINSKI_TANG = 21
    ZAKHAROV = 22


HALF_WIDTHS: Final = {
    Base.ROSENBROCK: 2.048,
    Base.GRIEWANK_ROSENBROCK: 5.0,
    Base.RASTRIGIN: 5.12,
    Base.ACKLEY: 32.0,
    Base.GRIEWANK: 600.0,
    Base.WEIERSTRASS: 0.5,
    Base.SCHAFFER: 100.0,
    Base.SCHWEFEL: 500.0,
    Base.LEVY: 10.0,
    Base.SALOMON: 20.0,
    Base.ZAKHAROV: 7.5,
}
"""Half of the box that a function is usually searched in; 5 where it is not listed."""

UNIMODAL: Final = frozenset(
    {Base.SPHERE, Base.DIFFERENT_POWERS, Base.BENT_CIGAR, Base.DISCUS, Base.LARGEST}
    | {Base.DOUBLE_SUM, Base.SHARP_RIDGE, Base.ZAKHAROV}
)


@kernel(numeric=True, inline=True)
def different_powers(z: Array, n: int) -> float:
    """Square root of the sum of |z_i|^(2 + 4 (i - 1)/(n - 1))."""
    total = 0.0
    for i in range(n):
        total += abs(z[i]) ** (2.0 + 4.0 * i / max(n - 1, 1))
    return math.sqrt(total)


@kernel(numeric=True, inline=True)
def axis_and_rest(z: Array, n: int, axis: float, rest: float) -> float:
    """axis z_1^2 + rest (sum of the other z_i^2): the bent cigar (without its bend) and the discus."""
    total = 0.0
    for i in range(1, n):
        total += z[i] * z[i]
    return axis * z[0] * z[0] + rest * total


@kernel(numeric=True, inline=True)
def sharp_ridge(z: Array, n: int) -> float:
    """z_1^2 + 100 sqrt(sum of the other z_i^2)."""
    total = 0.0
    for i in range(1, n):
        total += z[i] * z[i]
    return z[0] * z[0] + 100.0 * math.sqrt(total)


@kernel(numeric=True, inline=True)
def rosenbrock(z: Array, n: int) -> float:
    """Sum of 100 (y_i^2 - y_i+1)^2 + (y_i - 1)^2 with y = z + 1; with one coordinate (y - 1)^2."""
    total = z[0] * z[0] if n == 1 else 0.0
    for i in range(n - 1):
        y = z[i] + 1.0
        valley = y * y - (z[i + 1] + 1.0)
        total += 100.0 * (valley * valley) + z[i] * z[i]
    return total


@kernel(numeric=True, inline=True)
def largest(z: Array, n: int) -> float:
    """Largest |z_i| (Schwefel 2.21)."""
    found = 0.0
    for i in range(n):
        found = max(found, abs(z[i]))
    return found


@kernel(numeric=True, inline=True)
def double_sum(z: Array, n: int) -> float:
    """Sum of the squared partial sums (Schwefel 1.2)."""
    total = 0.0
    partial = 0.0
    for i in range(n):
        partial += z[i]
        total += partial * partial
    return total


@kernel(numeric=True, inline=True)
def schwefel_term(y: float) -> float:
    """y sin sqrt|y| inside of [-500, 500]; beyond, folded back and with a penalty (CEC2014)."""
    if abs(y) <= 500.0:
        return y * math.sin(math.sqrt(abs(y)))
    outside = abs(y) - 500.0
    folded = 500.0 - outside % 500.0
    value = folded * math.sin(math.sqrt(folded)) - outside * outside / 10_000.0
    return value if y > 0.0 else value - 2.0 * folded * math.sin(math.sqrt(folded))


@kernel(numeric=True, inline=True)
def schwefel(z: Array, n: int) -> float:
    """Schwefel 2.26: sum of 418.98 - y_i sin sqrt|y_i|, y = z + 420.97: the second best optimum is far away."""
    best = schwefel_term(SCHWEFEL_OPTIMUM)
    total = 0.0
    for i in range(n):
        total += max(best - schwefel_term(z[i] + SCHWEFEL_OPTIMUM), 0.0)
    return total


@kernel(numeric=True, inline=True)
def katsuura(z: Array, n: int) -> float:
    """10/n^2 (prod_i (1 + i sum_j |2^j z_i - round(2^j z_i)| / 2^j)^(10 / n^1.2) - 1): rugged everywhere."""
    logarithm = 0.0
    for i in range(n):
        total = 0.0
        power = 2.0
        for _ in range(KATSUURA_TERMS):
            turned = power * z[i]
            total += abs(turned - np.floor(turned + 0.5)) / power
            power *= 2.0
        logarithm += math.log1p((i + 1.0) * total)
    return 10.0 / (n * n) * math.expm1(logarithm * 10.0 / n**1.2)


@kernel(numeric=True, inline=True)
def ring_valley(z: Array, n: int, squared: bool) -> float:
    """HappyCat and, `squared`, HGBat, with y = z - 1, s = |y|^2 and t = sum y: a valley around a sphere.

    |s - n|^(1/4), or |s^2 - t^2|^(1/2), plus (s/2 + t)/n + 1/2; written in z, so that nothing cancels at the optimum.
    """
    squares = 0.0
    off = 0.0  # s - n
    above = 0.0  # s + t
    below = 0.0  # s - t
    for i in range(n):
        squares += z[i] * z[i]
        off += z[i] * (z[i] - 2.0)
        above += z[i] * (z[i] - 1.0)
        below += (z[i] - 1.0) * (z[i] - 2.0)
    distance = math.sqrt(abs(above * below)) if squared else math.sqrt(math.sqrt(abs(off)))
    return distance + 0.5 * squares / n


@kernel(numeric=True, inline=True)
def levy(z: Array, n: int) -> float:
    """Levy's function of w = 1 + z/4."""
    total = sine_squared(z[0] / 4.0)
    for i in range(n - 1):
        step = z[i] / 4.0
        total += step * step * (1.0 + 10.0 * sine_squared(step + 1.0 + _INVERSE_PI))
    step = z[n - 1] / 4.0
    return total + step * step * (1.0 + sine_squared(2.0 * step))


@kernel(numeric=True, inline=True)
def salomon(z: Array, n: int) -> float:
    """1 - cos(2 pi |z|) + 0.1 |z|: rings."""
    squares = 0.0
    for i in range(n):
        squares += z[i] * z[i]
    radius = math.sqrt(squares)
    return 2.0 * sine_squared(radius) + 0.1 * radius


@kernel(numeric=True, inline=True)
def lunacek(z: Array, n: int) -> float:
    """Lunacek's bi-Rastrigin: two funnels, of which the worse is the wider, and waves; y = z + 2.5."""
    wide = 1.0 - 1.0 / (2.0 * math.sqrt(n + 20.0) - 8.2)
    other = -math.sqrt((LUNACEK_OPTIMUM * LUNACEK_OPTIMUM - 1.0) / wide)
    near = 0.0
    far = 0.0
    waves = 0.0
    for i in range(n):
        near += z[i] * z[i]
        off = z[i] + LUNACEK_OPTIMUM - other
        far += off * off
        waves += sine_squared(z[i])
    return min(near, n + wide * far) + 20.0 * waves


@kernel(numeric=True, inline=True)
def styblinski_tang(z: Array, n: int) -> float:
    """Half of the sum of y^4 - 16 y^2 + 5 y, above its lowest value; y = z - 2.9035."""
    total = 0.0
    for i in range(n):
        y = z[i] + STYBLINSKI_OPTIMUM
        square = y * y
        total += 0.5 * (square * square - 16.0 * square + 5.0 * y) + STYBLINSKI_VALUE
    return max(total, 0.0)


@kernel(numeric=True, inline=True)
def zakharov(z: Array, n: int) -> float:
    """Sum of z_i^2, plus the second and fourth power of the sum of i z_i / 2."""
    squares = 0.0
    slope = 0.0
    for i in range(n):
        squares += z[i] * z[i]
        slope += 0.5 * (i + 1.0) * z[i]
    steep = slope * slope
    return squares + steep + steep * steep
