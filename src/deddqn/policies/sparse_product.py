"""outputs = bias + sum of weighted rows, in vector registers: the inner loop of the compiled network.

Left to itself the compiler cannot know that outputs and weights do not overlap, and spends more on checking that
than on the sums; so the vector instructions are spelled out (`deddqn._jit.simd`).
"""

from __future__ import annotations

from deddqn._jit import kernel
from deddqn._jit.simd import FLOATS, VECTOR_BYTES, weighted_row_adder

_add_13, _add_4, _add_1 = weighted_row_adder(13), weighted_row_adder(4), weighted_row_adder(1)
_WIDE, _MIDDLE = 13, 4  # 13 vectors hold a layer of 100 and leave registers for the weight and the row


@kernel
def weighted_rows(rows, inputs, indices, found, outputs):
    """outputs = rows[0] + sum of inputs[j] * rows[1 + j] over the first `found` j in `indices`.

    All arrays are float32 (`indices` int32); ``outputs.size`` is the width of `rows`, a multiple of 8.
    """
    row_bytes = 4 * outputs.size
    source, target, left = rows.ctypes.data, outputs.ctypes.data, outputs.size // FLOATS
    x, p = inputs.ctypes.data, indices.ctypes.data
    while left >= _WIDE:
        _add_13(source, row_bytes, x, p, found, target)
        source, target, left = source + _WIDE * VECTOR_BYTES, target + _WIDE * VECTOR_BYTES, left - _WIDE
    while left >= _MIDDLE:
        _add_4(source, row_bytes, x, p, found, target)
        source, target, left = source + _MIDDLE * VECTOR_BYTES, target + _MIDDLE * VECTOR_BYTES, left - _MIDDLE
    while left > 0:
        _add_1(source, row_bytes, x, p, found, target)
        source, target, left = source + VECTOR_BYTES, target + VECTOR_BYTES, left - 1
