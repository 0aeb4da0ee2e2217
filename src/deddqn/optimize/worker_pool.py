"""Worker processes that evaluate points: each has a pipe of its own, so that any may be slow, or die, alone.

No thread stands between: the process that owns the pool sends points to workers and waits for any answer. On platforms
that fork, workers inherit the function; elsewhere it travels by value (cloudpickle) to processes that do not import the
main script. So lambdas and closures work everywhere.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from deddqn.problems.constraints import as_outcome

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

FORKS = hasattr(os, "fork") and sys.platform != "darwin"
"""Whether workers are forked; on macOS system libraries do not survive that."""


class WorkerTraceback(Exception):
    """Where an exception arose in a worker process, shown as the cause of that exception."""

    def __str__(self) -> str:
        return f"in a worker process:\n{self.args[0]}"


class Evaluated(NamedTuple):
    """What came of a point: its value (with constraints: and its constraint values), or what was raised and where."""

    value: Any
    error: BaseException | None = None
    where: str = ""

    def checked(self) -> Any:
        """The value; raises what was raised."""
        if self.error is not None:
            raise self.error from WorkerTraceback(self.where)
        return self.value


Task = tuple[int, list[np.ndarray]]
Answer = tuple[int, list[Evaluated]]


def _serve(connection: Connection, inherited: list[Connection], sent: Any, deadline: float | None) -> None:
    """Evaluate the points of tasks until the other end is closed; `inherited` ends belong to the process that forked.

    An answer is shorter than its task where something was raised, or where it was too late to begin.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to all processes: the first one decides
    _let_interrupts_through()
    for end in inherited:
        end.close()
    try:
        function = pickle.loads(sent) if isinstance(sent, bytes) else sent
        while True:
            number, points = connection.recv()
            found: list[Evaluated] = []
            for point in points:
                if (deadline is not None and time.monotonic() >= deadline) or (found and found[-1].error):
                    break
                found.append(_evaluate(function, point))
            connection.send((number, found))
    except (EOFError, ConnectionError):
        pass  # nobody waits for more


def _evaluate(function: Callable[[np.ndarray], Any], point: np.ndarray) -> Evaluated:
    try:
        return Evaluated(as_outcome(function, function(point)))
    except BaseException as error:
        return Evaluated(np.nan, _portable(error), traceback.format_exc())


def _portable(error: BaseException) -> BaseException:
    """The exception itself if it survives the way to another process, else one that tells what it was."""
    try:
        if type(pickle.loads(pickle.dumps(error))) is type(error):
            return error
    except Exception:
        pass
    return RuntimeError(f"{type(error).__name__}: {error}")


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Hold Ctrl-C back: processes that are started meanwhile do not meet it before they know how to."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _let_interrupts_through() -> None:
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


class WorkerPool:
    """Processes that evaluate `function`; after `deadline`, of the monotonic clock, they begin no evaluation."""

    def __init__(self, function: Callable[[np.ndarray], Any], count: int, deadline: float | None) -> None:
        self._processes: list[BaseProcess] = []
        self._ends: list[Connection] = []
        with _interrupts_held():
            try:
                self._start(function, count, deadline)
            except BaseException:
                self.close(at_once=True)
                raise

    def _start(self, function: Callable[[np.ndarray], Any], count: int, deadline: float | None) -> None:
        context, sent = _context(), function if FORKS else _packed(function)
        for _ in range(count):
            end, far_end = context.Pipe()
            self._ends.append(end)
            process = context.Process(target=_serve, args=(far_end, list(self._ends) if FORKS else [], sent, deadline))
            process.start()
            self._processes.append(process)
            far_end.close()

    def give(self, worker: int, task: Task) -> None:
        """Send a task to a worker that has none: with one at a time no pipe can ever be full at both ends."""
        try:
            self._ends[worker].send(task)
        except ConnectionError:
            raise _died() from None

    def answers(self, timeout: float | None = None) -> list[tuple[int, Answer]]:
        """(worker, answer) of all workers that have answered; waits for the first one, `timeout` seconds at most."""
        from multiprocessing.connection import wait

        ready = wait(self._ends, timeout)
        try:
            return [(k, end.recv()) for k, end in enumerate(self._ends) if end in ready]
        except (EOFError, ConnectionError):
            raise _died() from None

    def close(self, at_once: bool) -> None:
        """End all processes: `at_once`, or when they have finished what they are at."""
        if at_once:
            for process in self._processes:
                process.terminate()
        for end in self._ends:
            end.close()
        for process in self._processes:
            process.join()


def _died() -> Exception:
    from concurrent.futures.process import BrokenProcessPool

    return BrokenProcessPool("a worker process ended before its evaluations did")


def _context() -> Any:
    if FORKS:
        from multiprocessing import get_context

        return get_context("fork")
    from loky.backend import get_context as loky_context

    return loky_context("loky")


def _packed(function: Callable[[np.ndarray], Any]) -> bytes:
    import cloudpickle

    try:
        packed: bytes = cloudpickle.dumps(function)
        return packed
    except Exception as error:
        raise ValueError(
            f"fun must be something that cloudpickle can send to workers, got {function!r}: {error}"
        ) from None
