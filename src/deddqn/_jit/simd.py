"""Vector instructions that are spelled out, portably: they become SSE, AVX or NEON."""

from __future__ import annotations

from typing import Any

from deddqn._jit.kernels import Function, intrinsic
from deddqn._jit.pointers import floats_at, small_integers_at

FLOATS = 8
"""Single-precision numbers per vector."""
VECTOR_BYTES = 4 * FLOATS


def weighted_row_adder(vectors: int) -> Function:
    """A function ``add(rows, row_bytes, inputs, indices, found, outputs)`` over addresses, `vectors` wide.

    Row 0 is the bias; row ``1 + indices[k]`` is weighted by ``inputs[indices[k]]``, for k below `found`.
    """

    def build() -> Any:
        from deddqn._jit import lowering_simd

        return lowering_simd.weighted_row_adder(vectors)

    def plain(rows: int, row_bytes: int, inputs: int, indices: int, found: int, outputs: int) -> None:
        out = floats_at(outputs, (FLOATS * vectors,))
        out[:] = floats_at(rows, (FLOATS * vectors,))
        for index in small_integers_at(indices, (found,)).tolist():
            weight = floats_at(inputs + 4 * index, (1,))[0]
            out += weight * floats_at(rows + (1 + index) * row_bytes, (FLOATS * vectors,))

    return intrinsic(build, plain)
