"""Functions as scipy's `differential_evolution` takes them, with its errors for values of a wrong shape.

They are objects and not closures, so that they can be sent to other processes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np


class PointFunction:
    """``func(x, *args)`` with one number as value, whatever array it comes in."""

    def __init__(self, func: Callable[..., Any], args: tuple[Any, ...]) -> None:
        self.func, self.args = func, args

    def __call__(self, x: np.ndarray) -> float:
        """The value at x (D,)."""
        value = self.func(x, *self.args)
        if isinstance(value, float):
            return value
        if np.size(value) != 1:
            raise RuntimeError("func(x, *args) must return a scalar value")
        return float(np.asarray(value).item())


class VectorizedFunction:
    """``func(x, *args)`` of points (D, S) at once with values (S,); counts its calls."""

    def __init__(self, func: Callable[..., Any], args: tuple[Any, ...]) -> None:
        self.func, self.args = func, args
        self.calls = 0

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """The values (S,) at x (D, S)."""
        self.calls += 1
        values = np.atleast_1d(np.squeeze(self.func(x, *self.args)))
        if values.shape != (x.shape[1],):
            raise RuntimeError(
                "The vectorized function must return an array of shape (S,) when given an array of shape (len(x), S)"
            )
        return values


class MapLike:
    """A user's map: ``workers(func, points)``."""

    def __init__(self, workers: Callable[..., Iterable[Any]]) -> None:
        self.workers = workers

    def __call__(self, function: Callable[..., Any], points: list[np.ndarray]) -> list[Any]:
        """The values of `points`, in their order."""
        try:
            values = list(self.workers(function, points))
        except (TypeError, ValueError) as error:
            raise RuntimeError(self._rule) from error
        if len(values) != len(points):
            raise RuntimeError(self._rule)
        return values

    _rule = (
        "The map-like callable must be of the form f(func, iterable), "
        "returning a sequence of numbers the same length as 'iterable'"
    )
