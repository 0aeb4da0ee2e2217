"""A Python function as a compiled objective: called through Python's C API, and its errors come out unchanged."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np

from deddqn._jit import OBJECTIVE_SIGNATURE, PLAIN, call_python_object, kernel

ADDRESS = 0  # slot of the data array
MOST_VIEWS = 100_000


@kernel(OBJECTIVE_SIGNATURE)
def call_python(x, data, work, gauss):
    """Objective kernel: the value that the Python callable at ``data[ADDRESS]`` gives for `x`."""
    return call_python_object(data.view(np.int64)[ADDRESS], x)


class PythonObjective:
    """Keeps one Python function where the kernel finds it, and hands it a copy of every point."""

    def __init__(self, function: Callable[[np.ndarray], Any], dimension: int) -> None:
        self.function = function
        self.data = np.zeros(1)
        self._call = _caller(function, dimension)
        self.data.view(np.int64)[ADDRESS] = id(self._call)
        self.kernel = self._plain if PLAIN else call_python

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
        if isinstance(value, str | bytes) or np.ndim(value) > 1 or np.size(value) != 1 or np.iscomplexobj(value):
            raise TypeError  # of a complex number, float() would take the real part
        return float(value if np.ndim(value) == 0 else value[0])
    except (TypeError, ValueError):
        raise ValueError(f"fun must return one number, got {value!r}") from None
