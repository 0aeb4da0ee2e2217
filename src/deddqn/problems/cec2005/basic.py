"""The basic functions of CEC2005 on already shifted and rotated coordinates z.

Every trigonometric term is written with sin^2(pi t), which one short polynomial gives without a call, so that
the loops vectorise: 1 - cos(2 pi t) = 2 sin^2(pi t). It is also exact near the optimum, where differences of
cosines cancel. z is a part (see `deddqn._jit.part`) of length `size`; where it is padded it is 0, and so is each
term (a factor is 1).
"""

import math
from typing import Final

import numpy as np

from deddqn._jit import kernel
from deddqn.problems.cec2005.memory_map import Array

SPHERE: Final = 0
RASTRIGIN: Final = 1
WEIERSTRASS: Final = 2
GRIEWANK: Final = 3
ACKLEY: Final = 4
SCHAFFER: Final = 5
GRIEWANK_ROSENBROCK: Final = 6
ELLIPTIC: Final = 7
ROUNDED_SCHAFFER: Final = 8
ROUNDED_RASTRIGIN: Final = 9

# Taylor coefficients of sin(pi r) / r and cos(pi r) in r^2; for |r| <= 1/2 what is left out is below 2e-18.
_SINE: Final = tuple((-1.0) ** k * math.pi ** (2 * k + 1) / math.factorial(2 * k + 1) for k in range(11))
_COSINE: Final = tuple((-1.0) ** k * math.pi ** (2 * k) / math.factorial(2 * k) for k in range(12))
_S0, _S1, _S2, _S3, _S4, _S5, _S6, _S7, _S8, _S9, _S10 = _SINE
_C0, _C1, _C2, _C3, _C4, _C5, _C6, _C7, _C8, _C9, _C10, _C11 = _COSINE

_TRIPLINGS: Final = 7  # blocks of three: k = 0..20 in the Weierstrass sum
_INVERSE_PI: Final = 1.0 / math.pi
_INVERSE_TURN: Final = 0.5 / math.pi


@kernel(numeric=True, inline=True)
def nearest_remainder(turns: float) -> float:
    """What is left of `turns` after the nearest whole number: within [-1/2, 1/2]."""
    return turns - np.floor(turns + 0.5)


@kernel(numeric=True, inline=True)
def sine(remainder: float) -> float:
    """Sine of pi times `remainder`, for |remainder| <= 1/2."""
    u = remainder * remainder
    high = _S6 + u * (_S7 + u * (_S8 + u * (_S9 + u * _S10)))
    return remainder * (_S0 + u * (_S1 + u * (_S2 + u * (_S3 + u * (_S4 + u * (_S5 + u * high))))))


@kernel(numeric=True, inline=True)
def cosine(remainder: float) -> float:
    """Cosine of pi times `remainder`, for |remainder| <= 1/2."""
    u = remainder * remainder
    high = _C6 + u * (_C7 + u * (_C8 + u * (_C9 + u * (_C10 + u * _C11))))
    return _C0 + u * (_C1 + u * (_C2 + u * (_C3 + u * (_C4 + u * (_C5 + u * high)))))


@kernel(numeric=True, inline=True)
def sine_squared(turns: float) -> float:
    """Squared sine of pi times `turns`, for any number of turns."""
    value = sine(nearest_remainder(turns))
    return value * value


@kernel(numeric=True, inline=True)
def nearest_half(z: float) -> float:
    """Multiple of 1/2 nearest to z, ties away from 0."""
    return math.copysign(0.5 * np.floor(2.0 * abs(z) + 0.5), z)


@kernel(numeric=True, inline=True)
def sphere(z: Array, size: int) -> float:
    """Sum of z_i^2."""
    total = 0.0
    for i in range(size):
        total += z[i] * z[i]
    return total


@kernel(numeric=True, inline=True)
def elliptic(z: Array, size: int, condition: Array) -> float:
    """Sum of 10^(6 (i - 1)/(D - 1)) z_i^2."""
    total = 0.0
    for i in range(size):
        total += condition[i] * (z[i] * z[i])
    return total


@kernel(numeric=True, inline=True)
def rastrigin(z: Array, size: int) -> float:
    """Sum of z_i^2 - 10 cos(2 pi z_i) + 10."""
    total = 0.0
    for i in range(size):
        total += z[i] * z[i] + 20.0 * sine_squared(z[i])
    return total


@kernel(numeric=True, inline=True)
def ackley(z: Array, size: int, dimension: int) -> float:
    """20 + e - 20 exp(-0.2 sqrt(mean of z_i^2)) - exp(mean of cos(2 pi z_i))."""
    squares = 0.0
    waves = 0.0
    for i in range(size):
        squares += z[i] * z[i]
        waves += sine_squared(z[i])
    slope = -20.0 * np.expm1(-0.2 * np.sqrt(squares / dimension))
    return slope - math.e * np.expm1(-2.0 * waves / dimension)


@kernel(numeric=True, inline=True)
def griewank(z: Array, size: int, frequency: Array) -> float:
    """Sum of z_i^2 / 4000 - product of cos(z_i / sqrt(i)) + 1."""
    squares = 0.0
    product = 1.0
    for i in range(size):
        squares += z[i] * z[i]
        product *= 1.0 - 2.0 * sine_squared(z[i] * frequency[i])
    return squares / 4000.0 + (1.0 - product)


@kernel(numeric=True, inline=True)
def weierstrass(z: Array, size: int, sines: Array, cosines: Array) -> float:
    """Sum over i and k = 0..20 of 2^-k (cos(2 pi 3^k (z_i + 1/2)) - cos(pi 3^k)).

    The bracket is 2 sin^2(pi 3^k z_i), and the angle triples from k to k + 1: sin 3p = sin p (4 cos^2 p - 1)
    and cos 3p = cos p (1 - 4 sin^2 p). Sine and cosine together keep the phase as exact as calling the cosine
    21 times would; the sine alone would lose it near +-1. Three steps a pass. The last two are scratch.
    """
    for i in range(size):
        remainder = nearest_remainder(z[i])
        sines[i] = sine(remainder)
        cosines[i] = cosine(remainder)
    total = 0.0
    height = 2.0
    for _ in range(_TRIPLINGS):
        part = 0.0
        for i in range(size):
            s = sines[i]
            c = cosines[i]
            q = s * s
            wave = q
            s *= 4.0 * (c * c) - 1.0
            c *= 1.0 - 4.0 * q
            q = s * s
            wave += 0.5 * q
            s *= 4.0 * (c * c) - 1.0
            c *= 1.0 - 4.0 * q
            q = s * s
            wave += 0.25 * q
            sines[i] = s * (4.0 * (c * c) - 1.0)
            cosines[i] = c * (1.0 - 4.0 * q)
            part += wave
        total += height * part
        height *= 0.125
    return total


@kernel(numeric=True, inline=True)
def schaffer(z: Array, size: int, dimension: int, radii: Array) -> float:
    """Schaffer's F6 summed over the ring of pairs (z_i, z_i+1).

    F6 is 0.5 + (sin^2(sqrt(q)) - 0.5) / (1 + 0.001 q)^2 with q = z_i^2 + z_i+1^2. `radii` is scratch for q.
    """
    for i in range(dimension - 1):
        radii[i] = z[i] * z[i] + z[i + 1] * z[i + 1]
    radii[dimension - 1] = z[dimension - 1] * z[dimension - 1] + z[0] * z[0]
    for i in range(dimension, size):
        radii[i] = 0.0
    total = 0.0
    for i in range(size):
        q = radii[i]
        damping = 1.0 + 0.001 * q
        total += 0.5 + (sine_squared(np.sqrt(q) * _INVERSE_PI) - 0.5) / (damping * damping)
    return total


@kernel(numeric=True, inline=True)
def griewank_rosenbrock(z: Array, size: int, dimension: int, valleys: Array) -> float:
    """F8F2: Griewank in one dimension of Rosenbrock, summed over the ring of pairs (z_i, z_i+1).

    With t = 100 (z_i^2 - z_i+1)^2 + (z_i - 1)^2 the term is t^2/4000 - cos t + 1. `valleys` is scratch for t.
    """
    for i in range(dimension):
        following = z[i + 1] if i + 1 < dimension else z[0]
        valley = z[i] * z[i] - following
        valleys[i] = 100.0 * (valley * valley) + (z[i] - 1.0) * (z[i] - 1.0)
    for i in range(dimension, size):
        valleys[i] = 0.0
    total = 0.0
    for i in range(size):
        t = valleys[i]
        total += t * t / 4000.0 + 2.0 * sine_squared(t * _INVERSE_TURN)
    return total


@kernel(numeric=True, inline=True)
def round_outer(z: Array, size: int) -> None:
    """Replace every coordinate outside (-1/2, 1/2) by the nearest half, in place."""
    for i in range(size):
        if abs(z[i]) >= 0.5:
            z[i] = nearest_half(z[i])
