"""How the points of a generation get their values: at once, through a map, or in other processes."""

from __future__ import annotations

import os
import pickle
import signal
import time
import traceback
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np

from deddqn.optimize.arguments import whole_number
from deddqn.problems.constraints import ConstrainedFunction
from deddqn.problems.python_callback import as_value

if TYPE_CHECKING:
    from concurrent.futures import ProcessPoolExecutor

TASK_SECONDS = 0.005  # cheap points travel to the workers in bundles that take about so long
TASKS_PER_WORKER = 4  # ... but never so large that workers wait for the last one


class WorkerTraceback(Exception):
    """Where an exception arose in a worker process, shown as the cause of that exception."""

    def __str__(self) -> str:
        return f"in a worker process:\n{self.args[0]}"


class _Worker:
    """What a worker process evaluates."""

    function: Callable[[np.ndarray], Any]
    deadline: float | None


def _adopt(function: Callable[[np.ndarray], Any], deadline: float | None) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to all processes: the first one decides
    _Worker.function = staticmethod(function)
    _Worker.deadline = deadline


def _call(point: np.ndarray) -> tuple[Any, BaseException | None, str] | None:
    """The value of a point, or what was raised; None if it is too late to begin."""
    if _Worker.deadline is not None and time.monotonic() >= _Worker.deadline:
        return None
    try:
        return _outcome(_Worker.function, _Worker.function(point)), None, ""
    except BaseException as error:
        return np.nan, _portable(error), traceback.format_exc()


def _portable(error: BaseException) -> BaseException:
    """The exception itself if it survives the way to another process, else one that tells what it was."""
    try:
        if type(pickle.loads(pickle.dumps(error))) is type(error):
            return error
    except Exception:
        pass
    return RuntimeError(f"{type(error).__name__}: {error}")


def _outcome(function: Callable[..., Any], returned: Any) -> Any:
    """A value; with constraints the vector of value and constraint values, which is already checked."""
    return returned if isinstance(function, ConstrainedFunction) else as_value(returned)


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
        self._pool: ProcessPoolExecutor | None = None
        self._bundle = 1

    def __enter__(self) -> Evaluator:
        if self._processes:
            import multiprocessing
            from concurrent.futures import ProcessPoolExecutor

            # Forked workers inherit the function, so lambdas and closures need no pickling.
            methods = multiprocessing.get_all_start_methods()
            context = multiprocessing.get_context("fork" if "fork" in methods else None)
            self._pool = ProcessPoolExecutor(self._processes, context, _adopt, (self.function, self.deadline))
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._pool is None:
            return
        if error is not None:  # do not wait for evaluations whose values nobody will take
            for process in list((self._pool._processes or {}).values()):
                process.terminate()
        self._pool.shutdown(wait=True, cancel_futures=True)

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
            found = found.astype(np.float64) if found.dtype.kind in "biuf" else np.asarray(list(map(float, found)))
        except (TypeError, ValueError):
            raise ValueError(f"{rule}, got {given!r}") from None
        if found.shape != (len(points),):
            raise ValueError(f"{rule}, got shape {found.shape}")
        values.extend(found.tolist())

    def _mapped(self, points: np.ndarray, values: list[Any]) -> None:
        for value in self.workers(self.function, list(points)):
            values.append(_outcome(self.function, value))
            if len(values) > len(points):
                break
        if len(values) != len(points):
            count = f"{len(values)}" if len(values) < len(points) else "more"
            values.clear()  # nobody knows which value belongs to which point
            raise ValueError(f"workers must give {len(points)} values for as many points, got {count}")

    def _in_processes(self, points: np.ndarray, values: list[Any]) -> bool:
        assert self._pool is not None
        started = time.monotonic()
        for outcome in self._pool.map(_call, list(points), chunksize=self._bundle):
            if outcome is None:
                return False
            value, error, where = outcome
            if error is not None:
                raise error from WorkerTraceback(where)
            values.append(value)
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
