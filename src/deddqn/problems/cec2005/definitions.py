"""The 25 functions of CEC2005 as a table, and how one of them becomes a `Definition`.

P. N. Suganthan, N. Hansen, J. J. Liang, K. Deb, Y.-P. Chen, A. Auger, S. Tiwari: Problem Definitions and
Evaluation Criteria for the CEC 2005 Special Session on Real-Parameter Optimization. Nanyang Technological
University, 2005.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np

from deddqn.problems.cec2005 import functions
from deddqn.problems.cec2005.composition import composition
from deddqn.problems.cec2005.flat_data import pack
from deddqn.problems.cec2005.memory_map import Array, work_size
from deddqn.problems.cec2005.mixtures import MIXTURES
from deddqn.problems.cec2005.source import read
from deddqn.problems.cec2005.variants import generator, other_matrices, other_shifts

Kernel = Callable[[Array, Array, Array, float], float]

DIMENSIONS: Final = (2, 10, 30, 50)
TRAIN: Final = (1, 2, 5, 6, 8, 10, 11, 12, 13, 14, 15, 19, 20, 21, 22, 24)
TEST: Final = (3, 9, 16, 18, 23)


@dataclass(frozen=True)
class Entry:
    """One row of the table.

    Attributes
    ----------
    kernel : compiled function
    title : str
    optimum : float
        The bias: f at the optimum.
    box : (float, float)
        Lower and upper end, the same for every coordinate.
    shift_of : int
        The function whose shift vectors it uses.
    matrix_of : int
        The function whose matrices it uses; 0 when nothing is rotated.
    noise : float
        What lies above the bias is multiplied by 1 + noise |N(0, 1)|.
    bounded : bool
        False when the box is only where a search begins.
    """

    kernel: Kernel
    title: str
    optimum: float
    box: tuple[float, float]
    shift_of: int
    matrix_of: int = 0
    noise: float = 0.0
    bounded: bool = True


@dataclass(frozen=True, kw_only=True)
class Definition:
    """One function at one dimension, ready to be called as ``kernel(x, data, work, gauss)``.

    Attributes
    ----------
    kernel : compiled function
        `gauss` is one draw of N(0, 1), or 0 for the value without noise.
    data : (n,) array, read-only
        See `layout`. It begins at a multiple of 64 bytes: rotations are faster so.
    work_size : int
        Length of the scratch space that a call overwrites.
    lower, upper : (D,) arrays, read-only
        The search box, or where a search begins when there is none.
    bounded : bool
        Whether the box bounds the search.
    optimum : float
    optimum_point : (D,) array, read-only
    noisy : bool
    title : str
    """

    kernel: Kernel
    data: Array
    work_size: int
    lower: Array
    upper: Array
    bounded: bool
    optimum: float
    optimum_point: Array
    noisy: bool
    title: str


_HUNDRED: Final = (-100.0, 100.0)
_FIVE: Final = (-5.0, 5.0)
_PI: Final = (-math.pi, math.pi)
_ROTATED: Final = "Rotated Hybrid Composition Function"

TABLE: Final = {
    1: Entry(functions.sphere, "Shifted Sphere Function", -450.0, _HUNDRED, 1),
    2: Entry(functions.double_sum, "Shifted Schwefel's Problem 1.2", -450.0, _HUNDRED, 2),
    3: Entry(functions.elliptic, "Shifted Rotated High Conditioned Elliptic Function", -450.0, _HUNDRED, 3, 3),
    4: Entry(
        functions.double_sum,
        "Shifted Schwefel's Problem 1.2 with Noise in Fitness",
        -450.0,
        _HUNDRED,
        2,
        noise=0.4,
    ),
    5: Entry(
        functions.largest_residual,
        "Schwefel's Problem 2.6 with Global Optimum on Bounds",
        -310.0,
        _HUNDRED,
        5,
        5,
    ),
    6: Entry(functions.rosenbrock, "Shifted Rosenbrock's Function", 390.0, _HUNDRED, 6),
    7: Entry(
        functions.griewank,
        "Shifted Rotated Griewank's Function without Bounds",
        -180.0,
        (0.0, 600.0),
        7,
        7,
        bounded=False,
    ),
    8: Entry(
        functions.ackley,
        "Shifted Rotated Ackley's Function with Global Optimum on Bounds",
        -140.0,
        (-32.0, 32.0),
        8,
        8,
    ),
    9: Entry(functions.rastrigin, "Shifted Rastrigin's Function", -330.0, _FIVE, 9),
    10: Entry(functions.rotated_rastrigin, "Shifted Rotated Rastrigin's Function", -330.0, _FIVE, 9, 10),
    11: Entry(functions.weierstrass, "Shifted Rotated Weierstrass Function", 90.0, (-0.5, 0.5), 11, 11),
    12: Entry(functions.fletcher_powell, "Schwefel's Problem 2.13", -460.0, _PI, 12, 12),
    13: Entry(
        functions.griewank_rosenbrock,
        "Shifted Expanded Griewank's plus Rosenbrock's Function",
        -130.0,
        (-3.0, 1.0),
        13,
    ),
    14: Entry(functions.schaffer, "Shifted Rotated Expanded Scaffer's F6 Function", -300.0, _HUNDRED, 14, 14),
    15: Entry(composition, "Hybrid Composition Function 1", 120.0, _FIVE, 15),
    16: Entry(composition, f"{_ROTATED} 1", 120.0, _FIVE, 15, 16),
    17: Entry(composition, f"{_ROTATED} 1 with Noise in Fitness", 120.0, _FIVE, 15, 16, noise=0.2),
    18: Entry(composition, f"{_ROTATED} 2", 10.0, _FIVE, 18, 18),
    19: Entry(composition, f"{_ROTATED} 2 with a Narrow Basin for the Global Optimum", 10.0, _FIVE, 18, 18),
    20: Entry(composition, f"{_ROTATED} 2 with the Global Optimum on the Bounds", 10.0, _FIVE, 20, 18),
    21: Entry(composition, f"{_ROTATED} 3", 360.0, _FIVE, 21, 21),
    22: Entry(composition, f"{_ROTATED} 3 with High Condition Number Matrix", 360.0, _FIVE, 21, 22),
    23: Entry(composition, f"Non-Continuous {_ROTATED} 3", 360.0, _FIVE, 21, 21),
    24: Entry(composition, f"{_ROTATED} 4", 260.0, _FIVE, 24, 24),
    25: Entry(composition, f"{_ROTATED} 4 without Bounds", 260.0, (2.0, 5.0), 24, 24, bounded=False),
}


@cache
def load(function: int, dimension: int, variant: int = 0) -> Definition:
    """Return CEC2005 function number `function` at `dimension`; as a `variant` with other shifts and rotations.

    Raises
    ------
    ValueError
        If there is no such function, or it has no data for that dimension.
    """
    if function not in TABLE:
        raise ValueError(f"function must be a number from 1 to {len(TABLE)}, got {function!r}")
    if dimension not in DIMENSIONS:
        raise ValueError(f"dimension must be one of {', '.join(map(str, DIMENSIONS))}, got {dimension!r}")
    entry = TABLE[function]
    shifts = _shifts(entry.shift_of, dimension)
    matrices = _matrices(entry.matrix_of, dimension) if entry.matrix_of else None
    if variant:
        rng = generator(entry.shift_of, variant)
        shifts = other_shifts(shifts, entry.box, rng)
        matrices = None if matrices is None else other_matrices(matrices, rng)
    return Definition(
        kernel=entry.kernel,
        data=_data(function, dimension, shifts, matrices),
        work_size=work_size(dimension),
        lower=_read_only(np.full(dimension, entry.box[0])),
        upper=_read_only(np.full(dimension, entry.box[1])),
        bounded=entry.bounded,
        optimum=entry.optimum,
        optimum_point=_read_only(shifts[0].copy()),
        noisy=entry.noise > 0.0 or (function in MIXTURES and MIXTURES[function].noisy_sphere),
        title=entry.title,
    )


def _shifts(function: int, dimension: int) -> Array:
    """Return the shift vectors of a function, shape (count, dimension); the first is the optimum."""
    shifts = np.atleast_2d(read(f"F{function}/shift"))[:, :dimension]
    if function == 5:  # as in the organisers' C and Matlab, where the second rule wins at D = 2
        shifts[0, : math.ceil(dimension / 4)] = -100.0
        shifts[0, max(3 * dimension // 4, 1) - 1 :] = 100.0
    if function == 8:
        shifts[0, ::2] = -32.0
    return shifts


def _data(function: int, dimension: int, shifts: Array, matrices: Array | None) -> Array:
    """Return the flat data of a function at `dimension`."""
    entry = TABLE[function]
    mixture = MIXTURES.get(function)
    return pack(
        bias=entry.optimum,
        noise=entry.noise,
        shifts=np.vstack([np.sin(shifts), np.cos(shifts)]) if function == 12 else shifts,
        matrices=matrices,
        rounded=mixture is not None and mixture.rounded,
        fields=mixture.fields(dimension) if mixture is not None else None,
    )


def _matrices(function: int, dimension: int) -> Array:
    """Return the matrices of a function, shape (count, dimension, dimension); they act as z = v M."""
    if function == 5:
        return read("F5/matrix")[np.newaxis, :dimension, :dimension].transpose(0, 2, 1)
    if function == 12:
        both = np.stack([read("F12/sine_matrix"), read("F12/cosine_matrix")])
        return both[:, :dimension, :dimension].transpose(0, 2, 1)
    return read(f"F{function}/matrix/d{dimension}").reshape(-1, dimension, dimension)


def _read_only(array: Array) -> Array:
    """Return the array, closed for writing."""
    array.flags.writeable = False
    return array
