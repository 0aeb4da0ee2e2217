"""Compiled functions as addresses: how one compiled loop calls any objective, policy or reward.

The loop is compiled once. What differs from run to run (the objective, the policy, the reward) is an address
held in the run's own memory, so a new problem or policy never recompiles the loop, lanes may mix them freely,
and an exception raised by a compiled objective reaches the caller unchanged. With ``NUMBA_DISABLE_JIT=1`` the
"addresses" are keys of a table of plain Python functions, and everything else is the same.
"""

from __future__ import annotations

import ctypes
import threading
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import carray, config, njit, types
from numba.core import cgutils
from numba.extending import intrinsic

ENGINE: dict[str, Any] = {"cache": True, "no_cfunc_wrapper": True, "nogil": True, "error_model": "numpy"}
"""Options of every kernel of the search: no fastmath, so that results are bit-equal with the jit on and off."""

INNER: dict[str, Any] = {**ENGINE, "no_cpython_wrapper": True}
"""Options of kernels that only kernels call: they compile faster, and Python cannot call them."""

NUMERIC: dict[str, Any] = {**ENGINE, "fastmath": {"contract", "reassoc", "nsz", "arcp"}}
"""Options of objectives and networks: sums may be reordered, NaN and infinity keep their meaning."""

VECTOR = types.float64[::1]
NUMBERS = types.int64[::1]
STREAM = types.uint64[::1]
OBJECTIVE_SIGNATURE = types.float64(VECTOR, VECTOR, VECTOR, types.float64)
"""objective(x, data, work, gauss) -> value"""

Kernel = Callable[..., Any]
_COUNTING = threading.Lock()
_PLAIN_FUNCTIONS: dict[int, Kernel] = {}
_ADDRESSES: weakref.WeakKeyDictionary[Kernel, dict[Any, int]] = weakref.WeakKeyDictionary()


def address_of(kernel: Kernel, signature: Any) -> int:
    """Compile `kernel` for `signature` (from the cache if it is there) and return where its code begins.

    The caller keeps `kernel` alive for as long as the address is used.
    """
    if config.DISABLE_JIT:
        _PLAIN_FUNCTIONS[id(kernel)] = kernel
        return id(kernel)
    known = _ADDRESSES.setdefault(kernel, {})
    if signature not in known:
        dispatcher: Any = kernel
        dispatcher.compile(signature.args)
        result = dispatcher.get_compile_result(signature)
        known[signature] = int(result.library.get_pointer_to_function(result.fndesc.llvm_func_name))
    return known[signature]


def caller_of(signature: Any) -> Any:
    """Return a compiled ``call(address, arguments)`` for functions of `signature`; `arguments` is a tuple."""
    if config.DISABLE_JIT:
        return lambda address, arguments: _PLAIN_FUNCTIONS[int(address)](*arguments)

    @intrinsic  # type: ignore[misc]
    def call(typing_context: Any, address: Any, arguments: Any) -> Any:
        def generate(context: Any, builder: Any, _: Any, values: Any) -> Any:
            convention = context.call_conv
            function_type = convention.get_function_type(signature.return_type, signature.args)
            function = builder.inttoptr(values[0], function_type.as_pointer())
            passed = [
                context.cast(builder, builder.extract_value(values[1], k), given, wanted)
                for k, (given, wanted) in enumerate(zip(arguments.types, signature.args, strict=True))
            ]
            status, result = convention.call_function(builder, function, signature.return_type, signature.args, passed)
            with cgutils.if_unlikely(builder, status.is_error):
                convention.return_status_propagate(builder, status)
            return result

        return signature.return_type(types.int64, arguments), generate

    return call


def _array_maker(element: Any, dtype: Any) -> Any:
    """Return ``make(address, shape)``: the array of that type and shape that lies at a memory address.

    Such a view costs a nanosecond in compiled code (a reshaped slice costs a hundred) and does not keep the
    memory alive: the caller does.
    """
    if config.DISABLE_JIT:

        def make_plain(address: int, shape: tuple[int, ...]) -> np.ndarray:
            size = int(np.prod(shape))
            if size == 0:
                return np.empty(shape, dtype=dtype)
            raw = (ctypes.c_byte * (size * np.dtype(dtype).itemsize)).from_address(int(address))
            return np.frombuffer(raw, dtype=dtype, count=size).reshape(shape)

        return make_plain

    @intrinsic  # type: ignore[misc]
    def pointer(typing_context: Any, address: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            return builder.inttoptr(values[0], context.get_value_type(signature.return_type))

        return types.CPointer(element)(types.int64), generate

    @njit(**ENGINE)
    def make_compiled(address, shape):
        return carray(pointer(address), shape)

    return make_compiled


doubles_at = _array_maker(types.float64, np.float64)
floats_at = _array_maker(types.float32, np.float32)
small_integers_at = _array_maker(types.int32, np.int32)


def _counter() -> Any:
    """Return ``count(address)``: the integer at a memory address, which is raised by 1 in the same instant.

    Threads that draw their work from one counter need no queue, and none of them waits for a slow one.
    """
    if config.DISABLE_JIT:

        def count_plain(address: int) -> int:
            with _COUNTING:
                number = ctypes.c_int64.from_address(int(address))
                number.value += 1
                return number.value - 1

        return count_plain

    @intrinsic  # type: ignore[misc]
    def count_compiled(typing_context: Any, address: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            integer = context.get_value_type(types.int64)
            place = builder.inttoptr(values[0], integer.as_pointer())
            return builder.atomic_rmw("add", place, integer(1), "monotonic")

        return types.int64(types.int64), generate

    return count_compiled


count_at = _counter()


@njit(**INNER)
def fill(array, value):
    """Set every element of a vector (compiles ten times faster than ``array[:] = value``)."""
    for k in range(array.size):
        array[k] = value


@njit(**INNER)
def copy(source, target):
    """Copy a vector into another of the same length."""
    for k in range(source.size):
        target[k] = source[k]


call_objective = caller_of(OBJECTIVE_SIGNATURE)
