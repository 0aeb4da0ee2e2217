"""Drives a run on a function: inside of the compiled loop, or generation by generation through an evaluator."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from types import TracebackType
from typing import Any

import numpy as np
from numba.core.dispatcher import Dispatcher

from deddqn.de.state import Count
from deddqn.engine.evaluators import Evaluator
from deddqn.engine.run import Run
from deddqn.problems.problem import Problem


class OutOfTime(Exception):
    """The deadline has passed before an evaluation."""


class Drive:
    """One call of ``Optimizer.optimize``.

    Parameters
    ----------
    run : the run; it may be in the middle of a generation.
    fun : the function; None to evaluate the run's own problem.
    deadline : moment of the monotonic clock after which no evaluation begins, or None.
    """

    def __init__(
        self,
        run: Run,
        fun: Callable[..., Any] | None,
        *,
        args: tuple[Any, ...],
        vectorized: bool,
        workers: Any,
        deadline: float | None,
    ) -> None:
        self.run = run
        self.deadline = deadline
        parallel = vectorized or callable(workers) or workers != 1
        if parallel and run.spec.config.updating != "deferred":
            raise ValueError(
                f"updating must be 'deferred' with vectorized or workers, got {run.spec.config.updating!r}"
            )
        if fun is not None and not callable(fun):
            raise ValueError(f"fun must be callable, got {fun!r}")
        if fun is None and not run.spec.problem.evaluable:
            raise ValueError("fun must be given: the optimizer was made from bounds alone")
        function = run.spec.problem if fun is None else _with_arguments(fun, args)
        self._evaluator = Evaluator(function, vectorized, workers) if parallel else None
        if self._evaluator is None:
            run.rebind(replace(run.spec, problem=self._as_problem(function)))

    def _as_problem(self, function: Callable[..., Any]) -> Problem:
        """The function as a problem on the run's box; a jitted one runs inside of the compiled loop."""
        box = self.run.spec.problem
        if isinstance(function, Problem):
            return function
        if self.deadline is not None and not isinstance(function, Dispatcher):
            function = self._timed(function)
        return Problem.from_function(function, box.bounds, name=box.name)

    def _timed(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def timed(point: np.ndarray) -> Any:
            if self._late():
                raise OutOfTime
            return function(point)

        return timed

    def _late(self) -> bool:
        return self.deadline is not None and time.monotonic() >= self.deadline

    def __enter__(self) -> Drive:
        if self._evaluator is not None:
            self._evaluator.__enter__()
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._evaluator is not None:
            self._evaluator.__exit__(kind, error, trace)

    def generation(self) -> bool:
        """Run to the end of the generation; False when the time was up before."""
        if self._late():
            return False
        if self._evaluator is None:
            counts = self.run.search.counts
            left = int(counts[Count.GENERATION_SIZE]) - int(counts[Count.CURSOR])
            try:
                self.run.advance(self.run.evaluations + left)
            except OutOfTime:
                return False
            return True
        first, last = self.run.ask()
        waiting = [i for i in range(first, last) if not self.run.told[i]]
        values = self._evaluator.values(self.run.points[waiting].copy())
        for i, value in zip(waiting, values, strict=True):
            self.run.tell(i, float(value))
        return True


def _with_arguments(fun: Callable[..., Any], args: tuple[Any, ...]) -> Callable[..., Any]:
    if not isinstance(args, tuple):
        raise ValueError(f"args must be a tuple of further arguments of fun, got {args!r}")
    if not args:
        return fun
    return lambda x: fun(x, *args)
