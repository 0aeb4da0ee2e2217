"""A Python function as a compiled objective: the loop calls back into Python, and errors come out unchanged."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import config, njit, types
from numba.extending import intrinsic

from deddqn.compiled import ENGINE

ADDRESS, FAILED = 0, 1  # slots of the data array


@intrinsic  # type: ignore[misc]
def _call_back(typing_context: Any, address: Any, point: Any) -> Any:
    """Call the C function ``double (double *)`` at `address` with the first element of `point`."""
    from llvmlite import ir

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        double = ir.DoubleType()
        function_type = ir.FunctionType(double, [double.as_pointer()])
        function = builder.inttoptr(values[0], function_type.as_pointer())
        array = context.make_array(signature.args[1])(context, builder, values[1])
        return builder.call(function, [array.data])

    return types.float64(types.int64, point), generate


@njit(**ENGINE)
def call_python(x, data, work, gauss):
    """Objective kernel: the value that the Python function behind ``data[ADDRESS]`` gives for `x`."""
    value = _call_back(data.view(np.int64)[ADDRESS], x)
    if data[FAILED] != 0.0:
        raise RuntimeError("the Python objective raised an exception")
    return value


class PythonObjective:
    """Holds the callback of one Python function, and the exception that it raised, if any."""

    def __init__(self, function: Callable[[np.ndarray], Any], dimension: int) -> None:
        self.function = function
        self.error: BaseException | None = None
        self.data = np.zeros(2)
        point_type = ctypes.c_double * dimension

        def call(pointer: int) -> float:
            try:
                return float(function(np.array(point_type.from_address(pointer))))
            except BaseException as error:
                self.error = error
                self.data[FAILED] = 1.0
                return float("nan")

        self._callback = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_void_p)(call)
        self.data.view(np.int64)[ADDRESS] = ctypes.cast(self._callback, ctypes.c_void_p).value or 0
        self.kernel = self._plain if config.DISABLE_JIT else call_python

    def _plain(self, x: np.ndarray, data: np.ndarray, work: np.ndarray, gauss: float) -> float:
        return float(self.function(x.copy()))

    def take_error(self) -> BaseException | None:
        """Return the exception of the last failed call, and forget it so that the run can go on."""
        error, self.error = self.error, None
        self.data[FAILED] = 0.0
        return error
