"""Named arrays inside one flat float64 array: how all the memory of a run becomes a single array.

A `Layout` lists fields with their shapes. In memory a record is a table (offset and shape of every field) followed
by the fields. Kernels hold a record as one machine word, its address, and ``record.fitness`` is an array made
from three loads; so passing a record to a kernel costs nothing, and whoever copies the flat array copies it all.
With ``NUMBA_DISABLE_JIT=1`` a record is an object whose attributes are NumPy views of the same memory.
"""

from __future__ import annotations

import ctypes
import math
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.core.datamodel import models
from numba.core.datamodel.registry import register_default
from numba.core.imputils import lower_getattr_generic
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.extending import intrinsic
from numba.np.arrayobj import populate_array

_ADDRESSABLE = 2**40  # elements from an address on: a plain record reads its own size from its table
TABLE_WIDTH = 3  # offset in elements, rows, columns
_TYPES = {
    "float": (types.float64, np.float64),
    "int": (types.int64, np.int64),
    "word": (types.uint64, np.uint64),
}


class Field(NamedTuple):
    """A vector or matrix of a record; dimensions are numbers or names that are given when it is made."""

    name: str
    kind: str  # "float", "int" or "word"
    shape: tuple[int | str, ...]
    meaning: str = ""


class Layout:
    """The fields of a kind of record, in their order in memory."""

    registry: dict[str, Layout] = {}

    def __init__(self, name: str, *fields: Field) -> None:
        self.name = name
        self.fields = fields
        self.position = {field.name: k for k, field in enumerate(fields)}
        self.registry[name] = self
        self.at = _opener(self)

    def _shapes(self, sizes: dict[str, int]) -> list[tuple[int, ...]]:
        return [tuple(sizes[s] if isinstance(s, str) else s for s in field.shape) for field in self.fields]

    def size(self, **sizes: int) -> int:
        """float64 that a record takes, its table included."""
        table = TABLE_WIDTH * len(self.fields)
        return table + sum(math.prod(shape) for shape in self._shapes(sizes))

    def write(self, arena: np.ndarray, start: int, **sizes: int) -> Any:
        """Write the table of a new record at `start` of `arena`, and return the record for use from Python."""
        table = arena[start : start + TABLE_WIDTH * len(self.fields)].view(np.int64).reshape(-1, TABLE_WIDTH)
        offset = table.size
        for row, shape in zip(table, self._shapes(sizes), strict=True):
            row[:] = (offset, shape[0], shape[1] if len(shape) == 2 else 1)
            offset += math.prod(shape)
        return self.view(arena, start)

    def view(self, arena: np.ndarray, start: int) -> Record:
        """The record at `start` of `arena`, for use from Python; its views keep the arena alive."""
        return Record(self, arena[int(start) :])


class Record:
    """A record as Python sees it: attributes are NumPy views of the memory that it begins."""

    def __init__(self, layout: Layout, memory: np.ndarray) -> None:
        self.address = memory.ctypes.data
        table = memory[: TABLE_WIDTH * len(layout.fields)].view(np.int64).reshape(-1, TABLE_WIDTH)
        for field, (offset, rows, columns) in zip(layout.fields, table.tolist(), strict=True):
            values = memory[offset : offset + rows * columns].view(_TYPES[field.kind][1])
            setattr(self, field.name, values.reshape(rows, columns) if len(field.shape) == 2 else values)

    def __getattr__(self, name: str) -> np.ndarray:
        raise AttributeError(name)


class RecordType(types.Type):
    """The numba type of a record."""

    def __init__(self, layout_name: str) -> None:
        self.layout_name = layout_name
        super().__init__(name=f"Record({layout_name})")


@register_default(RecordType)
class _RecordModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, ir.IntType(64))


@infer_getattr
class _RecordAttributes(AttributeTemplate):
    key = RecordType

    def generic_resolve(self, record: Any, name: str) -> Any:
        layout = Layout.registry[record.layout_name]
        if name not in layout.position:
            return None
        field = layout.fields[layout.position[name]]
        return types.Array(_TYPES[field.kind][0], len(field.shape), "C")


@lower_getattr_generic(RecordType)
def _lower_attribute(context: Any, builder: Any, record: Any, address: Any, name: str) -> Any:
    """Build the array struct from the record's table: offset, rows, columns."""
    layout = Layout.registry[record.layout_name]
    position = layout.position[name]
    field = layout.fields[position]
    word = ir.IntType(64)
    table = builder.inttoptr(address, word.as_pointer())

    def entry(k: int) -> Any:
        return builder.load(builder.gep(table, [ir.Constant(word, TABLE_WIDTH * position + k)]))

    array_type = types.Array(_TYPES[field.kind][0], len(field.shape), "C")
    array = context.make_array(array_type)(context, builder)
    eight = ir.Constant(word, 8)
    place = builder.add(address, builder.mul(entry(0), eight))
    data = builder.inttoptr(place, context.get_data_type(array_type.dtype).as_pointer())
    shape = [entry(1 + k) for k in range(len(field.shape))]
    strides = [builder.mul(shape[1], eight), eight] if len(shape) == 2 else [eight]
    populate_array(array, data=data, shape=shape, strides=strides, itemsize=eight, meminfo=None)
    return array._getvalue()


def _opener(layout: Layout) -> Any:
    """A function ``at(address) -> record`` for compiled code (and for plain Python without the jit)."""
    if config.DISABLE_JIT:
        everything = (ctypes.c_double * _ADDRESSABLE).from_address

        def at_plain(address: int) -> Record:
            memory: Any = everything(int(address))
            return Record(layout, np.frombuffer(memory, dtype=np.float64))

        return at_plain
    name = layout.name

    @intrinsic  # type: ignore[misc]
    def at(typing_context: Any, address: Any) -> Any:
        return RecordType(name)(types.int64), lambda context, builder, signature, values: values[0]

    return at


def _address_taker() -> Any:
    """A function ``address(record)``, the inverse of an opener: for kernels that are called by address themselves."""
    if config.DISABLE_JIT:
        return lambda record: record.address

    @intrinsic  # type: ignore[misc]
    def address(typing_context: Any, record: Any) -> Any:
        return types.int64(record), lambda context, builder, signature, values: values[0]

    return address


address_of_record = _address_taker()
