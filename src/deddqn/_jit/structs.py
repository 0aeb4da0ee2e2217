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

from deddqn._jit.contents import Contents
from deddqn._jit.kernels import Function, intrinsic

_ADDRESSABLE = 2**40  # elements from an address on: a plain record reads its own size from its table
TABLE_WIDTH = 3  # offset in elements, rows, columns
DTYPES = {"float": np.float64, "int": np.int64, "word": np.uint64}


class Field(NamedTuple):
    """A vector or matrix of a record; dimensions are numbers or names that are given when it is made."""

    name: str
    kind: str  # "float", "int" or "word"
    shape: tuple[int | str, ...]
    meaning: str = ""
    holds: Contents | None = None  # what it may hold, see `contents`; without a declaration nothing from a file


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
            values = memory[offset : offset + rows * columns].view(DTYPES[field.kind])
            setattr(self, field.name, values.reshape(rows, columns) if len(field.shape) == 2 else values)

    def __getattr__(self, name: str) -> np.ndarray:
        raise AttributeError(name)


def _opener(layout: Layout) -> Function:
    """A function ``at(address) -> record`` for compiled code (and for plain Python without the jit)."""
    everything = (ctypes.c_double * _ADDRESSABLE).from_address

    def build() -> Any:
        from deddqn._jit import lowering

        return lowering.record_opener(layout.name)

    def plain(address: int) -> Record:
        memory: Any = everything(int(address))
        return Record(layout, np.frombuffer(memory, dtype=np.float64))

    return intrinsic(build, plain)


def _build_address_taker() -> Any:
    from deddqn._jit import lowering

    return lowering.address_taker()


address_of_record = intrinsic(_build_address_taker, lambda record: record.address)
"""``address_of_record(record)``: the inverse of an opener, for kernels that are called by address themselves."""
