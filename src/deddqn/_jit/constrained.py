"""Jitted functions with jitted constraints as one objective of the compiled loop."""

from __future__ import annotations

from typing import Any, NamedTuple

import numba
import numpy as np

from deddqn._jit.compiler import _OPTIONS, _reason

POINT = numba.types.Array(numba.types.float64, 1, "C")
NUMBERS = (numba.types.Float, numba.types.Integer, numba.types.Boolean)


class Block(NamedTuple):
    """Constraint values that belong together.

    function : a jitted function of a point; None for rows of a matrix, and for what the objective returns.
    size : how many values.
    first : where they begin among all.
    matrix : where the rows begin in the data of the objective; -1: there are none.
    """

    function: Any
    size: int
    first: int
    matrix: int = -1


def constrained_adapter(function: Any, blocks: tuple[Block, ...], returns: bool) -> Any:
    """A jitted objective that leaves constraint values at the start of its scratch, in the form that the loop calls.

    With `returns` the function returns its value and an array of constraint values.
    """
    _compile(function, "fun")
    returned = function.overloads[(POINT,)].signature.return_type
    if returns != isinstance(returned, numba.types.BaseTuple) or (not returns and not isinstance(returned, NUMBERS)):
        wanted = "(value, constraint values)" if returns else "one number"
        raise ValueError(f"fun must return {wanted}, a jitted one that returns {returned} does not")
    write: Any = _nothing
    for block in blocks:
        write = _then(write, block)

    @numba.njit(**_OPTIONS)
    def alone(x, data, work, gauss):  # type: ignore[no-untyped-def]
        value = function(x.copy())
        write(x, data, work, x)
        return np.float64(value)

    @numba.njit(**_OPTIONS)
    def together(x, data, work, gauss):  # type: ignore[no-untyped-def]
        value, values = function(x.copy())
        write(x, data, work, values)
        return np.float64(value)

    return together if returns else alone


def _compile(function: Any, name: str) -> None:
    try:
        function.compile((POINT,))
    except (numba.core.errors.NumbaError, TypeError) as error:
        raise ValueError(f"{name} cannot be compiled for a point x of shape (D,): {_reason(error)}") from error


@numba.njit(**_OPTIONS)
def _nothing(x, data, work, returned):  # type: ignore[no-untyped-def]
    pass


def _then(before: Any, block: Block) -> Any:
    """A function that writes what `before` writes, and the constraint values of a block."""
    if block.matrix >= 0:
        return _rows(before, block)
    function, size, first = block.function, block.size, block.first
    if function is None:
        return _copied(before, block)
    _compile(function, "constraints")
    if isinstance(function.overloads[(POINT,)].signature.return_type, NUMBERS):

        @numba.njit(**_OPTIONS)
        def number(x, data, work, returned):  # type: ignore[no-untyped-def]
            before(x, data, work, returned)
            work[first] = function(x.copy())

        return number

    @numba.njit(**_OPTIONS)
    def several(x, data, work, returned):  # type: ignore[no-untyped-def]
        before(x, data, work, returned)
        values = function(x.copy())
        if len(values) != size:
            raise ValueError("constraints must give as many numbers as they have limits, a jitted one does not")
        for j in range(size):
            work[first + j] = values[j]

    return several


def _copied(before: Any, block: Block) -> Any:
    size, first = block.size, block.first

    @numba.njit(**_OPTIONS)
    def copied(x, data, work, returned):  # type: ignore[no-untyped-def]
        before(x, data, work, returned)
        if len(returned) != size:
            raise ValueError("fun must return as many constraint values as there are limits, a jitted one does not")
        for j in range(size):
            work[first + j] = returned[j]

    return copied


def _rows(before: Any, block: Block) -> Any:
    size, first, start = block.size, block.first, block.matrix

    @numba.njit(**_OPTIONS)
    def rows(x, data, work, returned):  # type: ignore[no-untyped-def]
        before(x, data, work, returned)
        for j in range(size):
            total = 0.0
            for d in range(x.size):
                total += data[start + j * x.size + d] * x[d]
            work[first + j] = total

    return rows
