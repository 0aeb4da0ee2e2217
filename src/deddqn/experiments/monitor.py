"""A problem that records its evaluations, so that a method's own report can be checked (as Gymnasium's Monitor)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from deddqn.problems import Problem


class MonitoredProblem(Problem):
    """Counts evaluations and non-finite values, and keeps the best value within the budget and the box."""

    def __init__(self, problem: Problem, budget: int, stopped: Callable[[], bool] = lambda: False) -> None:
        self.__dict__.update(problem.with_objective(problem.objective).__dict__)  # threads must not share scratch
        self.budget = budget
        self._stopped = stopped
        self.evaluations = 0
        self.non_finite = 0
        self.best_seen = math.inf

    def __call__(self, x: np.ndarray | Sequence[float]) -> Any:
        """As the problem itself; KeyboardInterrupt once the run is to stop."""
        if self._stopped():
            raise KeyboardInterrupt
        values = super().__call__(x)
        if isinstance(values, float):
            self._note(x, values)
            return values
        points = np.asarray(x, dtype=np.float64)
        finite = np.isfinite(values)
        self.non_finite += int(np.count_nonzero(~finite))
        within = np.flatnonzero((values < self.best_seen) & finite)
        for k in within[within < self.budget - self.evaluations]:
            self._consider(points[k], float(values[k]))
        self.evaluations += len(values)
        return values

    def _note(self, x: Any, value: float) -> None:
        self.evaluations += 1
        if not math.isfinite(value):
            self.non_finite += 1
        elif value < self.best_seen and self.evaluations <= self.budget:
            self._consider(np.asarray(x, dtype=np.float64), value)

    def _consider(self, point: np.ndarray, value: float) -> None:
        inside = not self.bounded or bool((point >= self.lower).all() and (point <= self.upper).all())
        if inside and value < self.best_seen:
            self.best_seen = value
