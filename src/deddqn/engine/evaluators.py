"""How the points of a generation get their values: at once, through a map, or in other processes."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Any

import numpy as np

from deddqn.engine.arguments import whole_number

_FUNCTION: Callable[[np.ndarray], Any] | None = None  # of a worker process


def _adopt(function: Callable[[np.ndarray], Any]) -> None:
    global _FUNCTION
    _FUNCTION = function


def _call(point: np.ndarray) -> float:
    assert _FUNCTION is not None
    return float(_FUNCTION(point))


class Evaluator:
    """Evaluates batches of points; used as a context so that worker processes end with it.

    Parameters
    ----------
    function : of one point (D,), or of (D, S) points when `vectorized`.
    vectorized : scipy's convention: one call with all points as columns, an array of S values back.
    workers : number of processes (-1: all cores), or a map-like ``workers(function, points)``.
    """

    def __init__(self, function: Callable[..., Any], vectorized: bool, workers: Any) -> None:
        self.function = function
        self.vectorized = vectorized
        self.workers = workers
        self._pool: Any = None

    def __enter__(self) -> Evaluator:
        if not self.vectorized and not callable(self.workers):
            # Forked workers inherit the function, so lambdas and closures need no pickling.
            methods = multiprocessing.get_all_start_methods()
            context = multiprocessing.get_context("fork" if "fork" in methods else None)
            self._pool = context.Pool(process_count(self.workers), _adopt, (self.function,))
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._pool is not None:
            self._pool.terminate()
            self._pool.join()

    def values(self, points: np.ndarray) -> np.ndarray:
        """The values (S,) of points (S, D)."""
        if self.vectorized:
            found = np.asarray(self.function(points.T), dtype=np.float64)
        else:
            found = np.fromiter(map(float, self._mapped(points)), dtype=np.float64)
        if found.shape != (len(points),):
            what = "a vectorized fun" if self.vectorized else "workers"
            raise ValueError(f"{what} must return {len(points)} values for as many points, got shape {found.shape}")
        return found

    def _mapped(self, points: np.ndarray) -> Iterable[Any]:
        if self._pool is None:
            result: Iterable[Any] = self.workers(self.function, list(points))
            return result
        chunk = max(1, len(points) // (4 * self._pool._processes))
        mapped: Iterable[Any] = self._pool.map(_call, list(points), chunksize=chunk)
        return mapped


def process_count(workers: Any) -> int:
    """How many processes `workers` asks for."""
    if isinstance(workers, int | np.integer) and workers == -1:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)
    try:
        return whole_number("workers", workers, 1)
    except ValueError:
        raise ValueError(f"workers must be -1, a whole number of at least 1 or a map-like, got {workers!r}") from None
