"""A Python function as a compiled objective: called through Python's C API, and its errors come out unchanged."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import config, njit, types
from numba.core import cgutils
from numba.extending import intrinsic

from deddqn.compiled import ENGINE

ADDRESS = 0  # slot of the data array
MOST_VIEWS = 100_000


@intrinsic  # type: ignore[misc]
def _call_object(typing_context: Any, address: Any, point: Any) -> Any:
    """``float(callable(pointer))`` for the Python callable at `address`; its exception becomes the kernel's.

    Any exception counts, also one that a signal raises on the way into the function (Ctrl-C), where a callback made
    by ctypes would print it and go on with whatever value lies on the stack.
    """

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        api = context.get_python_api(builder)
        array = context.make_array(signature.args[1])(context, builder, values[1])
        value = cgutils.alloca_once_value(builder, ir.Constant(ir.DoubleType(), 0.0))
        failed = cgutils.alloca_once_value(builder, cgutils.true_bit)
        gil = api.gil_ensure()
        pointer = api.long_from_ssize_t(builder.ptrtoint(array.data, api.py_ssize_t))
        result = api.call_function_objargs(builder.inttoptr(values[0], api.pyobj), (pointer,))
        api.decref(pointer)
        with cgutils.if_likely(builder, cgutils.is_not_null(builder, result)):
            builder.store(api.float_as_double(result), value)
            api.decref(result)
            builder.store(cgutils.is_not_null(builder, api.err_occurred()), failed)
        api.gil_release(gil)
        with cgutils.if_unlikely(builder, builder.load(failed)):
            context.call_conv.return_exc(builder)
        return builder.load(value)

    return types.float64(types.int64, point), generate


@njit(**ENGINE)
def call_python(x, data, work, gauss):
    """Objective kernel: the value that the Python callable at ``data[ADDRESS]`` gives for `x`."""
    return _call_object(data.view(np.int64)[ADDRESS], x)


class PythonObjective:
    """Keeps one Python function where the kernel finds it, and hands it a copy of every point."""

    def __init__(self, function: Callable[[np.ndarray], Any], dimension: int) -> None:
        self.function = function
        self.data = np.zeros(1)
        self._call = _caller(function, dimension)
        self.data.view(np.int64)[ADDRESS] = id(self._call)
        self.kernel = self._plain if config.DISABLE_JIT else call_python

    def _plain(self, x: np.ndarray, data: np.ndarray, work: np.ndarray, gauss: float) -> float:
        return as_value(self.function(x.copy()))


def _caller(function: Callable[[np.ndarray], Any], dimension: int) -> Callable[[int], float]:
    """``call(address)``: the function at a copy of the point that lies there (users keep and change their points)."""
    point_type = ctypes.c_double * dimension
    views: dict[int, np.ndarray] = {}  # the rows of a run's memory come again and again; used only when handed over

    def call(address: int) -> float:
        view = views.get(address)
        if view is None:
            if len(views) >= MOST_VIEWS:
                views.clear()
            view = views[address] = np.ctypeslib.as_array(point_type.from_address(address))
        value = function(view.copy())
        return value if isinstance(value, float) else as_value(value)

    return call


def as_value(value: Any) -> float:
    """What a user's function returned, as a float."""
    try:
        if isinstance(value, str | bytes) or np.ndim(value) > 1 or np.size(value) != 1:
            raise TypeError
        return float(value if np.ndim(value) == 0 else value[0])
    except (TypeError, ValueError):
        raise ValueError(f"fun must return one number, got {value!r}") from None
