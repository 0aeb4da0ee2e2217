"""Where everything lies in the flat data and in the scratch space of one CEC2005 function.

One layout serves all 25 functions. `count` is the number of components (1 or 2 in F1-F14, 10 in the
compositions) and `size` the padded dimension, a multiple of `LANES`:

==============================  ==============================================================
section of the data             what it holds
==============================  ==============================================================
header (HEADER)                 `BIAS`, `NOISE`, `ROUNDED`, and where the other sections begin
components (count, FIELDS)      numbers of one component: `KIND`, `DECAY`, ...
frequencies (size)              1 / (2 pi sqrt(i)), for Griewank
conditions (size)               10^(6 (i - 1)/(D - 1)), for Elliptic
shifts (count, size)            shift vectors
matrices (count, size, size)    z_j = sum_i v_i M[i, j]; left out when nothing is rotated
==============================  ==============================================================

The scratch space is `ROWS` vectors of length `size`: `POINT`, `VECTOR`, ...

Padding, with zeros, lets every loop run over whole vector registers. A padded coordinate of z is 0, where
each component contributes nothing, so the value is that of the D coordinates alone. Compiled code hands
vectors on as pointers (`deddqn._jit.part`): a slice counts references, which costs more than a basic function.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from deddqn._jit import shared

Array = NDArray[np.float64]

LANES: Final = 8

HEADER: Final = 8
BIAS: Final = 0  # f(optimum)
NOISE: Final = 1  # what lies above the bias is multiplied by 1 + NOISE |gauss|
ROUNDED: Final = 2  # 1: coordinates far from the optimum are rounded to halves (F23)
FREQUENCIES: Final = 3  # position of the frequencies
CONDITIONS: Final = 4  # position of the conditions
SHIFTS: Final = 5  # position of the first shift vector
MATRICES: Final = 6  # position of the first matrix; 0 when nothing is rotated

FIELDS: Final = 8
KIND: Final = 0  # which basic function, a number of `basic`
DECAY: Final = 1  # the raw weight is exp(DECAY |x - shift|^2)
SCALE: Final = 2  # 1 / lambda
GAIN: Final = 3  # C / f_max
OFFSET: Final = 4  # bias of the component
COMPONENT_NOISE: Final = 5  # the component is multiplied by 1 + COMPONENT_NOISE |gauss|

ROWS: Final = 7
POINT: Final = 0  # x, padded
VECTOR: Final = 1  # shifted and scaled
TURNED: Final = 2  # rotated
SPARE: Final = 3  # for a basic function
SECOND_SPARE: Final = 4
WEIGHTS: Final = 5  # of the components; two rows, for there are more than `LANES`

COMPONENTS: Final = 10  # of a composition


@shared
def padded(dimension: int) -> int:
    """Dimension rounded up to whole vector registers."""
    return (dimension + LANES - 1) // LANES * LANES


def work_size(dimension: int) -> int:
    """Length of the scratch space."""
    return int(ROWS * padded(dimension))
