"""Kernels and arrays by address: how one compiled loop calls any objective, policy or reward.

The loop is compiled once. What differs from run to run (the objective, the policy, the reward) is an address
held in the run's own memory, so a new problem or policy never recompiles the loop, vectorised runs may mix them freely,
and an exception raised by a compiled objective reaches the caller unchanged. With ``NUMBA_DISABLE_JIT=1`` the
"addresses" are keys of a table of plain Python functions, and everything else is the same.
"""

from __future__ import annotations

import ctypes
import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from deddqn._jit.kernels import Function, Kernel, intrinsic, kernel
from deddqn._jit.mode import PLAIN

OBJECTIVE_SIGNATURE = "float64(float64[::1], float64[::1], float64[::1], float64)"
"""objective(x, data, work, gauss) -> value"""

_COUNTING = threading.Lock()
_PLAIN_FUNCTIONS: dict[int, Function] = {}


def address_of(function: Function, signature: str) -> int:
    """Where the code of `function` begins: an entry with this signature, or a function that numba compiled.

    The caller keeps `function` alive for as long as the address is used.
    """
    if PLAIN:
        _PLAIN_FUNCTIONS[id(function)] = function
        return id(function)
    if isinstance(function, Kernel):
        if function.signature != signature:
            raise TypeError(f"{function} must have the signature {signature}, got {function.signature}")
        return function.address
    from deddqn._jit.compiler import guarded_address_of

    return guarded_address_of(function, signature)


def is_jitted(function: Any) -> bool:
    """Whether a user compiled this function with numba (which is then imported, and otherwise is not)."""
    numba = sys.modules.get("numba")
    return numba is not None and not PLAIN and isinstance(function, numba.core.dispatcher.Dispatcher)


def objective_of_jitted(function: Any) -> Any:
    """A jitted function of a point as an objective; made once for a function, and kept by it."""
    if "_deddqn_objective" not in function.__dict__:
        from deddqn._jit.compiler import objective_adapter

        function.__dict__["_deddqn_objective"] = objective_adapter(function)
    return function.__dict__["_deddqn_objective"]


def constrained_of_jitted(function: Any, blocks: tuple[tuple[Any, ...], ...], returns: bool) -> Any:
    """The same for a function with constraints, given as the fields of `constrained.Block`; kept by the function."""
    from deddqn._jit.constrained import Block, constrained_adapter

    known: dict[Any, Any] = function.__dict__.setdefault("_deddqn_constrained", {})
    if (blocks, returns) not in known:
        known[blocks, returns] = constrained_adapter(function, tuple(Block(*block) for block in blocks), returns)
    return known[blocks, returns]


def caller_of(signature: str) -> Function:
    """A function ``call(address, arguments)`` for entries of `signature`; `arguments` is a tuple."""

    def build() -> Any:
        from deddqn._jit import lowering

        return lowering.caller_of(signature)

    return intrinsic(build, lambda address, arguments: _PLAIN_FUNCTIONS[int(address)](*arguments))


def _array_maker(dtype: Any) -> Callable[..., Any]:
    """A function ``make(address, shape)``: the array of that type and shape that lies at a memory address.

    Such a view costs a nanosecond in compiled code (a reshaped slice costs a hundred) and does not keep the
    memory alive: the caller does.
    """

    def build() -> Any:
        from deddqn._jit import lowering

        return lowering.array_maker(np.dtype(dtype).name)

    def plain(address: int, shape: tuple[int, ...]) -> np.ndarray:
        size = int(np.prod(shape))
        if size == 0:
            return np.empty(shape, dtype=dtype)
        raw = (ctypes.c_byte * (size * np.dtype(dtype).itemsize)).from_address(int(address))
        return np.frombuffer(raw, dtype=dtype, count=size).reshape(shape)

    return intrinsic(build, plain)


doubles_at = _array_maker(np.float64)
integers_at = _array_maker(np.int64)
floats_at = _array_maker(np.float32)
small_integers_at = _array_maker(np.int32)


def _build_linked() -> Any:
    from deddqn._jit import lowering

    return lowering.linked()


linked = intrinsic(_build_linked, lambda links, k: doubles_at(links[k], (links[k + 1],)))
"""``linked(links, k)``: the array of doubles whose address and size are the integers k and k + 1 of `links`."""


def _count_plain(address: int) -> int:
    with _COUNTING:
        number = ctypes.c_int64.from_address(int(address))
        number.value += 1
        return number.value - 1


def _build_counter() -> Any:
    from deddqn._jit import lowering

    return lowering.counter()


count_at = intrinsic(_build_counter, _count_plain)
"""``count_at(address)``: the integer at a memory address, which is raised by 1 in the same instant.

Threads that draw their work from one counter need no queue, and none of them waits for a slow one.
"""


def _build_part() -> Any:
    from deddqn._jit import lowering

    return lowering.part()


part = intrinsic(_build_part, lambda array, start: array[start:])
"""``part(array, start)``: an array, or a part of one, from `start` on as a pointer, for reading and writing."""


def _build_python_caller() -> Any:
    from deddqn._jit import lowering

    return lowering.python_caller()


def _call_plain_object(address: int, point: np.ndarray) -> float:
    return float(ctypes.cast(int(address), ctypes.py_object).value(point.ctypes.data))


call_python_object = intrinsic(_build_python_caller, _call_plain_object)
"""``call_python_object(address, point)``: what the Python callable at `address` gives for where `point` lies."""


@kernel
def fill(array, value):
    """Set every element of a vector (compiles ten times faster than ``array[:] = value``)."""
    for k in range(array.size):
        array[k] = value


@kernel
def copy(source, target):
    """Copy a vector into another of the same length."""
    for k in range(source.size):
        target[k] = source[k]


call_objective = caller_of(OBJECTIVE_SIGNATURE)
