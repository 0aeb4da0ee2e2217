"""`simd` as LLVM code. Imported only where something is compiled."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from deddqn._jit.simd import FLOATS, VECTOR_BYTES

_WORD, _FLOAT, _INDEX = ir.IntType(64), ir.FloatType(), ir.IntType(32)
_VECTOR = ir.VectorType(_FLOAT, FLOATS)


def weighted_row_adder(vectors: int) -> Any:
    """Load the bias, add every weighted row, store; the sums stay in registers."""

    @intrinsic  # type: ignore[misc]
    def add(context: Any, rows: Any, row_bytes: Any, inputs: Any, indices: Any, found: Any, outputs: Any) -> Any:
        return types.void(*[types.int64] * 6), lambda _, builder, __, args: _generate(builder, vectors, args)

    return add


def _vector_at(builder: Any, address: Any, vector: int) -> Any:
    return builder.inttoptr(builder.add(address, ir.Constant(_WORD, vector * VECTOR_BYTES)), _VECTOR.as_pointer())


def _load(builder: Any, address: Any, vector: int) -> Any:
    loaded = builder.load(_vector_at(builder, address, vector))
    loaded.align = 4
    return loaded


def _broadcast(builder: Any, value: Any) -> Any:
    undefined = ir.Constant(_VECTOR, ir.Undefined)
    first = builder.insert_element(undefined, value, ir.Constant(_INDEX, 0))
    return builder.shuffle_vector(first, undefined, ir.Constant(ir.VectorType(_INDEX, FLOATS), [0] * FLOATS))


def _generate(builder: Any, vectors: int, addresses: Any) -> Any:
    rows, row_bytes, inputs, indices, found, outputs = addresses
    sums = [cgutils.alloca_once_value(builder, _load(builder, rows, v)) for v in range(vectors)]
    index_list = builder.inttoptr(indices, _INDEX.as_pointer())
    input_list = builder.inttoptr(inputs, _FLOAT.as_pointer())
    with cgutils.for_range(builder, found) as loop:
        index = builder.sext(builder.load(builder.gep(index_list, [loop.index])), _WORD)
        weight = _broadcast(builder, builder.load(builder.gep(input_list, [index])))
        row = builder.add(rows, builder.mul(builder.add(index, ir.Constant(_WORD, 1)), row_bytes))
        for v, total in enumerate(sums):
            product = builder.fmul(weight, _load(builder, row, v), flags=("contract",))
            builder.store(builder.fadd(builder.load(total), product, flags=("contract",)), total)
    for v, total in enumerate(sums):
        builder.store(builder.load(total), _vector_at(builder, outputs, v)).align = 4
    return ir.Constant(ir.IntType(8).as_pointer(), None)
