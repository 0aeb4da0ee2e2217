"""How the points of a generation get their values: at once, through a map, or in other processes."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any

import numpy as np

from deddqn.optimize.arguments import whole_number
from deddqn.optimize.worker_pool import Evaluated, WorkerPool
from deddqn.problems.constraints import ConstrainedFunction, as_outcome
from deddqn.problems.python_callback import as_value

TASK_SECONDS = 0.005  # cheap points travel to the workers in bundles that take about so long
TASKS_PER_WORKER = 4  # ... but never so large that workers wait for the last one


class Evaluator:
    """Evaluates batches of points; used as a context so that worker processes end with it.

    Parameters
    ----------
    function : of one point (D,), or of (D, S) points when `vectorized`.
    vectorized : scipy's convention: one call with all points as columns, an array of S values back.
    workers : number of processes (-1: all cores), or a map-like ``workers(function, points)``.
    """

    deadline: float | None = None
    """Moment of the monotonic clock after which worker processes begin no evaluation."""

    def __init__(self, function: Callable[..., Any], vectorized: bool, workers: Any) -> None:
        self.function = function
        self.vectorized = vectorized
        self.workers = workers
        self._processes = 0 if vectorized or callable(workers) else process_count(workers)
        self._pool: WorkerPool | None = None
        self._bundle = 1

    def __enter__(self) -> Evaluator:
        if self._processes:
            self._pool = WorkerPool(self.function, self._processes, self.deadline)
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._pool is not None:  # after an error nobody will take the values of what is being evaluated
            self._pool.close(at_once=error is not None)

    def collect(self, points: np.ndarray, values: list[Any]) -> bool:
        """Append the values of points (S, D) in their order; False if the time was up before the last one.

        When something is raised, `values` holds what was known by then.
        """
        if self.vectorized:
            self._at_once(points, values)
        elif self._pool is None:
            self._mapped(points, values)
        else:
            return self._in_processes(points, values)
        return True

    def _at_once(self, points: np.ndarray, values: list[Any]) -> None:
        if isinstance(self.function, ConstrainedFunction):
            values.extend(self.function.batch(np.ascontiguousarray(points.T)))
            return
        given = self.function(np.ascontiguousarray(points.T))
        rule = f"a vectorized fun must return {len(points)} numbers for x of shape {points.T.shape}"
        try:
            found = np.asarray(given)
            found = found.astype(np.float64) if found.dtype.kind in "biuf" else np.array([as_value(v) for v in found])
        except (TypeError, ValueError):
            raise ValueError(f"{rule}, got {given!r}") from None
        if found.shape != (len(points),):
            raise ValueError(f"{rule}, got shape {found.shape}")
        values.extend(found.tolist())

    def _mapped(self, points: np.ndarray, values: list[Any]) -> None:
        for value in self.workers(self.function, list(points)):
            values.append(as_outcome(self.function, value))
            if len(values) > len(points):
                break
        if len(values) != len(points):
            count = f"{len(values)}" if len(values) < len(points) else "more"
            values.clear()  # nobody knows which value belongs to which point
            raise ValueError(f"workers must give {len(points)} values for as many points, got {count}")

    def _in_processes(self, points: np.ndarray, values: list[Any]) -> bool:
        assert self._pool is not None
        started = time.monotonic()
        starts = iter(range(0, len(points), self._bundle))
        idle, answers = list(range(self._processes)), dict[int, list[Evaluated]]()
        while len(values) < len(points):
            while idle and (first := next(starts, None)) is not None:
                self._pool.give(idle.pop(), (first, list(points[first : first + self._bundle])))
            for worker, (first, found) in self._pool.answers():
                idle.append(worker)
                answers[first] = found
            while (first := len(values)) in answers:
                found = answers.pop(first)
                for one in found:
                    values.append(one.checked())
                if len(values) < min(first + self._bundle, len(points)):
                    return False
        seconds = (time.monotonic() - started) * self._processes / len(points)
        largest = max(1, len(points) // (TASKS_PER_WORKER * self._processes))
        self._bundle = min(max(1, int(TASK_SECONDS / max(seconds, 1e-9))), largest)
        return True


def process_count(workers: Any) -> int:
    """How many processes `workers` asks for."""
    if isinstance(workers, int | np.integer) and workers == -1:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)
    try:
        return whole_number("workers", workers, 1)
    except ValueError:
        raise ValueError(f"workers must be -1, a whole number of at least 1 or a map-like, got {workers!r}") from None


def is_parallel(vectorized: bool, workers: Any) -> bool:
    """Whether whole generations are evaluated, which needs deferred updating."""
    return vectorized or callable(workers) or process_count(workers) != 1 or workers == -1
