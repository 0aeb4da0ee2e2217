"""Drives a run on a function: inside of the compiled loop, or generation by generation through an evaluator."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from types import TracebackType
from typing import Any

import numpy as np

from deddqn.de.state import Counter
from deddqn.engine import stepping
from deddqn.engine.run import Run
from deddqn.optimize.arguments import flag
from deddqn.optimize.asynchronous_pool import AsynchronousPool
from deddqn.optimize.parallel import Evaluator, is_parallel
from deddqn.problems.constraints import ConstrainedFunction
from deddqn.problems.problem import Problem

SHORTEST_TIME = 1e-6  # seconds that evaluations are taken to last at least


class Drive:
    """One call of ``Optimizer.optimize``.

    Parameters
    ----------
    run : the run; it may be in the middle of a generation.
    fun : the function; None to evaluate the run's own problem.
    maxtime : seconds after which no evaluation begins, or None; they do not include the time to compile.
    """

    def __init__(
        self,
        run: Run,
        fun: Callable[..., Any] | None,
        *,
        args: tuple[Any, ...],
        vectorized: bool,
        workers: Any,
        maxtime: float | None,
    ) -> None:
        self.run = run
        self.maxtime = maxtime
        self.deadline: float | None = None  # of the monotonic clock
        self._before = run.evaluations
        parallel = is_parallel(flag("vectorized", vectorized), workers)
        if parallel:
            _check_updating(run.spec.config.updating, vectorized, workers)
        function = self._function(fun, args)
        if isinstance(function, Problem) and (vectorized or function.noisy):
            parallel = False  # it evaluates its points itself, with noise from the run's own stream
        self._evaluator: Evaluator | AsynchronousPool | None = None
        if parallel and run.spec.asynchronous:
            self._evaluator = AsynchronousPool(run, function, workers)
        elif parallel:
            self._evaluator = Evaluator(self._evaluated(function), vectorized, workers)
        if self._evaluator is None:
            run.rebind(replace(run.spec, problem=self._as_problem(function)))

    def _function(self, fun: Callable[..., Any] | None, args: Any) -> Callable[..., Any]:
        own = self.run.spec.problem
        if fun is not None and not callable(fun):
            raise ValueError(f"fun must be callable, got {fun!r}")
        if fun is None and not own.evaluable:
            raise ValueError("fun must be given: the optimizer was made from bounds alone")
        if not isinstance(args, tuple):
            raise ValueError(f"args must be a tuple of further arguments of fun, got {args!r}")
        if fun is None or isinstance(fun, Problem):
            if args:
                raise ValueError(f"args must be left out when fun is a Problem, got {args!r}")
            given = own if fun is None else fun
            if given.dimension != own.dimension:
                raise ValueError(f"fun must have {own.dimension} dimensions like the bounds, got {given!r}")
            return given
        return WithArguments(fun, args) if args else fun

    def _evaluated(self, function: Callable[..., Any]) -> Callable[..., Any]:
        constraints = self.run.spec.problem.constraints
        return function if constraints is None else ConstrainedFunction(function, constraints)

    def _as_problem(self, function: Callable[..., Any]) -> Problem:
        """The function as a problem on the run's box; a jitted one runs inside of the compiled loop."""
        box = self.run.spec.problem
        if isinstance(function, Problem):
            fits = function.objective.work_size <= self.run.core.work.size
            if function is box or (
                box.constraints is None and fits and function.noisy == bool(self.run.de_state.counters[Counter.NOISY])
            ):
                return function
        kept: dict[str, Any] = {"constraints": box.constraints, "integrality": box.integrality}
        return Problem.from_function(function, box.bounds, name=box.name, **kept)

    @property
    def alone(self) -> bool:
        """Whether the function is called in this process, one point after the other."""
        return self._evaluator is None

    def affordable(self) -> int:
        """Evaluations in all that are made at the deadline, at the mean cost of those of this call."""
        assert self.deadline is not None and self.maxtime is not None
        left = self.deadline - time.monotonic()
        new = max(1, self.run.evaluations - self._before)
        return self.run.evaluations + max(0, int(left / max(self.maxtime - left, SHORTEST_TIME) * new))

    def _late(self) -> bool:
        return self.deadline is not None and time.monotonic() >= self.deadline

    def __enter__(self) -> Drive:
        if self.maxtime is not None:
            if self._evaluator is None:
                self.run.advance(0)  # evaluates nothing, but compiles the loop if it has to
            elif self.run.spec.asynchronous:
                self.run.ask_point()
            else:
                self.run.ask()
            self.deadline = time.monotonic() + self.maxtime
        if self._evaluator is not None:
            self._evaluator.deadline = self.deadline
            self._evaluator.__enter__()
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._evaluator is not None:
            self._evaluator.__exit__(kind, error, trace)

    def generation(self) -> bool:
        """Run to the end of the generation; False when the time was up before."""
        if isinstance(self._evaluator, AsynchronousPool):
            return self._evaluator.generation()
        if self._late():
            return False
        if self._evaluator is not None:
            return self._through(self._evaluator)
        while self.run.spec.asynchronous and (rows := self.run.pending).size:
            if self._late():
                return False
            if self.run.tell_point(int(rows[0]), float(stepping.evaluate_here(self.run.address, int(rows[0])))):
                return True
        run, counters = self.run, self.run.de_state.counters
        if not run.spec.asynchronous and not run.told[: int(counters[Counter.TOLD])].all():
            return self._fill_gaps()
        if self.deadline is None:
            run.advance(run.evaluations + int(counters[Counter.GENERATION_SIZE]) - int(counters[Counter.RECORDED]))
            return True
        while not self._late():
            run.advance(run.evaluations + int(counters[Counter.TOLD]) - int(counters[Counter.RECORDED]) + 1)
            if run.between_generations:
                return True
        return False

    def _through(self, evaluator: Evaluator) -> bool:
        """Evaluate what the generation still needs; values that came before an exception are kept."""
        first, last = self.run.ask()
        waiting = [i for i in range(first, last) if not self.run.told[i]]
        values: list[Any] = []
        try:
            return evaluator.collect(self.run.points[waiting], values)
        finally:
            for i, value in zip(waiting, values, strict=False):
                self._tell(i, value)

    def _tell(self, i: int, value: Any) -> None:
        if self.run.spec.problem.constraints is None:
            self.run.tell(i, value)
        else:
            self.run.tell(i, float(value[0]), value[1:])

    def _fill_gaps(self) -> bool:
        """Finish a generation of which some values were told in another order than its own."""
        first, last = self.run.ask()
        for i in [i for i in range(first, last) if not self.run.told[i]]:
            if self._late():
                return False
            self.run.tell(i, float(stepping.evaluate_here(self.run.address, i)))
        return True


def _check_updating(updating: str, vectorized: bool, workers: Any) -> None:
    """Whole generations need deferred updating; processes may be given single points, too."""
    if updating == "sequential":
        raise ValueError(f"updating must be 'deferred' with vectorized or workers, got {updating!r}")
    if updating == "asynchronous" and (vectorized or callable(workers)):
        raise ValueError(f"updating must be 'deferred' with vectorized or a map-like, got {updating!r}")


class WithArguments:
    """``fun(x, *args)`` as a function of x alone; unlike a lambda it can be sent to other processes."""

    def __init__(self, fun: Callable[..., Any], args: tuple[Any, ...]) -> None:
        self.fun, self.args = fun, args

    def __call__(self, x: np.ndarray) -> Any:
        return self.fun(x, *self.args)
