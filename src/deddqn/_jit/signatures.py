"""Signatures of entries, ``"float64(float64[::1], int64)"``, as numba's types and as ctypes' types."""

from __future__ import annotations

import ctypes
from typing import Any, NamedTuple

SCALARS: dict[str, Any] = {
    "int64": ctypes.c_int64,
    "float64": ctypes.c_double,
    "boolean": ctypes.c_bool,
}


class Argument(NamedTuple):
    """One argument: a scalar, or a contiguous array of a type and a number of axes."""

    element: str
    axes: int


class Signature(NamedTuple):
    """What an entry takes and returns ("none": nothing)."""

    returned: str
    arguments: tuple[Argument, ...]

    @property
    def argtypes(self) -> list[Any]:
        """How the arguments lie on the stack: an array is owner, parent, size, item size, data, shape, strides."""
        kinds: list[Any] = []
        for argument in self.arguments:
            if argument.axes == 0:
                kinds.append(SCALARS[argument.element])
            else:
                kinds += [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p]
                kinds += [ctypes.c_int64] * (2 * argument.axes)
        return kinds


def parse(text: str) -> Signature:
    """Read a signature."""
    returned, _, rest = text.partition("(")
    arguments = []
    for piece in rest.rstrip(")").split(", "):
        if piece:
            element, _, axes = piece.partition("[")
            arguments.append(Argument(element, axes.count(",") + 1 if axes else 0))
    return Signature(returned, tuple(arguments))


def numba_signature(text: str) -> Any:
    """The same for numba."""
    from numba.core import types, typing
    from numba.core.sigutils import normalize_signature

    arguments, returned = normalize_signature(text)
    return typing.signature(types.none if returned is None else returned, *arguments)
