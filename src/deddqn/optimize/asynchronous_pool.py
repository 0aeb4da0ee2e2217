"""Worker processes that are never idle: whenever a value comes, its worker gets the next point of the run."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import TracebackType
from typing import Any

import numpy as np

from deddqn.engine.run import Run
from deddqn.optimize.asked_points import enter, hand_out
from deddqn.optimize.parallel import process_count
from deddqn.optimize.worker_pool import Evaluated, WorkerPool


class AsynchronousPool:
    """Evaluates the points of an asynchronous run; used as a context so that worker processes end with it.

    Parameters
    ----------
    run : the run; points that are pending are evaluated first.
    function : of one point (D,).
    workers : number of processes (-1: all cores).
    """

    deadline: float | None = None
    """Moment of the monotonic clock after which no evaluation begins."""

    def __init__(self, run: Run, function: Callable[..., Any], workers: Any) -> None:
        self.run = run
        self.function = function
        self._processes = process_count(workers)
        self._pool: WorkerPool | None = None
        self._running: dict[int, int] = {}  # worker -> ticket of its point
        self._handed: set[int] = set()

    def __enter__(self) -> AsynchronousPool:
        self._pool = WorkerPool(self.function, self._processes, self.deadline)
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._pool is not None:  # what still runs when the search is over is not needed
            self._pool.close(at_once=error is not None or bool(self._running))

    def generation(self) -> bool:
        """Evaluate until a generation ends; False when the time was up before, and all that had begun is told."""
        assert self._pool is not None
        while True:
            if self._employ(self._pool):
                return True
            if not self._running:
                return False
            answers = [(self._running.pop(worker), answer) for worker, (_, answer) in self._pool.answers()]
            if self._enter_all(answers):
                return True

    def _employ(self, pool: WorkerPool) -> bool:
        """Give every idle worker a point; return whether a new population became ready with that."""
        ready: list[bool] = []
        for worker in range(self._processes):
            late = self.deadline is not None and time.monotonic() >= self.deadline
            if late or worker in self._running:
                continue
            before = set(self._handed)
            points = hand_out(self.run, self._handed, 1, lambda: ready.append(True))
            if len(points):
                (ticket,) = self._handed - before
                pool.give(worker, (ticket, [points[0]]))
                self._running[worker] = ticket
        return bool(ready)

    def _enter_all(self, answers: list[tuple[int, list[Evaluated]]]) -> bool:
        """Enter the values that came; then raise what was raised, if anything was."""
        over = False
        for ticket, found in answers:
            self._handed.discard(ticket)
            if found and found[0].error is None:
                over = enter(self.run, ticket, np.empty(0), found[0].value) or over
        for _, found in answers:
            if found:
                found[0].checked()
        return over
