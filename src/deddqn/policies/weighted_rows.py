"""outputs = bias + sum of weighted rows, in vector registers: the inner loop of the compiled network.

Left to itself the compiler cannot know that outputs and weights do not overlap, and spends more on checking that
than on the sums; so the vector instructions are spelled out here (portably: they become SSE, AVX or NEON).
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import config, njit, types
from numba.core import cgutils
from numba.extending import intrinsic

from deddqn.compiled import ENGINE, floats_at, small_integers_at

LANES = 8  # floats per vector
_BYTES = 4 * LANES
_WORD, _FLOAT, _INDEX = ir.IntType(64), ir.FloatType(), ir.IntType(32)
_VECTOR = ir.VectorType(_FLOAT, LANES)


def _adder(vectors: int) -> Any:
    """A function ``add(rows, row_bytes, inputs, places, found, outputs)`` over addresses, `vectors` wide.

    Row 0 is the bias; row ``1 + places[k]`` is weighted by ``inputs[places[k]]``, for k below `found`.
    """
    if config.DISABLE_JIT:

        def add_plain(rows: int, row_bytes: int, inputs: int, places: int, found: int, outputs: int) -> None:
            out = floats_at(outputs, (LANES * vectors,))
            out[:] = floats_at(rows, (LANES * vectors,))
            for place in small_integers_at(places, (found,)).tolist():
                weight = floats_at(inputs + 4 * place, (1,))[0]
                out += weight * floats_at(rows + (1 + place) * row_bytes, (LANES * vectors,))

        return add_plain

    @intrinsic  # type: ignore[misc]
    def add(context: Any, rows: Any, row_bytes: Any, inputs: Any, places: Any, found: Any, outputs: Any) -> Any:
        return types.void(*[types.int64] * 6), lambda _, builder, __, args: _generate(builder, vectors, *args)

    return add


def _place(builder: Any, address: Any, vector: int) -> Any:
    return builder.inttoptr(builder.add(address, ir.Constant(_WORD, vector * _BYTES)), _VECTOR.as_pointer())


def _load(builder: Any, address: Any, vector: int) -> Any:
    loaded = builder.load(_place(builder, address, vector))
    loaded.align = 4
    return loaded


def _broadcast(builder: Any, value: Any) -> Any:
    undefined = ir.Constant(_VECTOR, ir.Undefined)
    first = builder.insert_element(undefined, value, ir.Constant(_INDEX, 0))
    return builder.shuffle_vector(first, undefined, ir.Constant(ir.VectorType(_INDEX, LANES), [0] * LANES))


def _generate(
    builder: Any, vectors: int, rows: Any, row_bytes: Any, inputs: Any, places: Any, found: Any, outputs: Any
) -> Any:
    """Emit: load the bias, add every weighted row, store; the sums stay in registers."""
    sums = [cgutils.alloca_once_value(builder, _load(builder, rows, v)) for v in range(vectors)]
    place_list = builder.inttoptr(places, _INDEX.as_pointer())
    input_list = builder.inttoptr(inputs, _FLOAT.as_pointer())
    with cgutils.for_range(builder, found) as loop:
        place = builder.sext(builder.load(builder.gep(place_list, [loop.index])), _WORD)
        weight = _broadcast(builder, builder.load(builder.gep(input_list, [place])))
        row = builder.add(rows, builder.mul(builder.add(place, ir.Constant(_WORD, 1)), row_bytes))
        for v, total in enumerate(sums):
            product = builder.fmul(weight, _load(builder, row, v), flags=("contract",))
            builder.store(builder.fadd(builder.load(total), product, flags=("contract",)), total)
    for v, total in enumerate(sums):
        builder.store(builder.load(total), _place(builder, outputs, v)).align = 4
    return ir.Constant(ir.IntType(8).as_pointer(), None)


_add_13, _add_4, _add_1 = _adder(13), _adder(4), _adder(1)
_WIDE, _MIDDLE = 13, 4  # 13 vectors hold a layer of 100 and leave registers for the weight and the row


@njit(**ENGINE)
def weighted_rows(rows, inputs, places, found, outputs):
    """outputs = rows[0] + sum of inputs[j] * rows[1 + j] over the first `found` j in `places`.

    All arrays are float32 (`places` int32); ``outputs.size`` is the width of `rows`, a multiple of 8.
    """
    row_bytes = 4 * outputs.size
    source, target, left = rows.ctypes.data, outputs.ctypes.data, outputs.size // LANES
    x, p = inputs.ctypes.data, places.ctypes.data
    while left >= _WIDE:
        _add_13(source, row_bytes, x, p, found, target)
        source, target, left = source + _WIDE * _BYTES, target + _WIDE * _BYTES, left - _WIDE
    while left >= _MIDDLE:
        _add_4(source, row_bytes, x, p, found, target)
        source, target, left = source + _MIDDLE * _BYTES, target + _MIDDLE * _BYTES, left - _MIDDLE
    while left > 0:
        _add_1(source, row_bytes, x, p, found, target)
        source, target, left = source + _BYTES, target + _BYTES, left - 1
