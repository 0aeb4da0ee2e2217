"""What a method of a comparison is: a name and ``run(problem, budget, rng) -> Trajectory``.

An optimiser from elsewhere becomes a method in ten lines: hand it a `BudgetedObjective` and let it run until
that stops it.

>>> class PureRandomSearch:
...     name = "pure-random-search"
...
...     def run(self, problem, budget, rng):
...         objective = BudgetedObjective(problem, budget, rng)
...         with objective.until_over():
...             while True:
...                 objective(rng.uniform(problem.lower, problem.upper))
...         return objective.trajectory()
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from deddqn.problems import Problem
from deddqn.problems.cec_competitions import official_marks

TARGET_ERROR = 1e-8
"""A run stops when its error is below this, where the optimum is known."""

CHECKPOINTS = 60


def checkpoints(budget: int, problem: str = "") -> np.ndarray:
    """About 60 log-spaced evaluation numbers, increasing, with 1, 100 and `budget` among them.

    Those at which the competition of `problem` asks for the error are there, too, if `budget` is its official one.
    """
    if budget < 1:
        raise ValueError(f"budget must be at least 1 evaluation, got {budget}")
    spaced = np.rint(np.geomspace(1, budget, CHECKPOINTS)).astype(np.int64)
    marks = np.unique(np.concatenate([spaced, [1, 100, budget], official_marks(problem, budget)]))
    return marks[marks <= budget]


@dataclass(frozen=True)
class Trajectory:
    """What came of one run.

    `evaluations` are the `checkpoints` of the budget that the run reached, and the number of its last evaluation;
    a run that ended early keeps its best value from there on.
    """

    evaluations: np.ndarray  # (n,) int64, increasing
    best: np.ndarray  # (n,) the best value so far at those evaluations
    best_point: np.ndarray  # (D,)
    best_value: float
    evaluations_made: int

    def __post_init__(self) -> None:
        if self.evaluations.shape != self.best.shape or self.evaluations.ndim != 1:
            raise ValueError(
                f"evaluations and best must be vectors of equal length, "
                f"got shapes {self.evaluations.shape} and {self.best.shape}"
            )


@runtime_checkable
class Method(Protocol):
    """A method of a comparison. All of its randomness comes from `rng`: the same state gives the same run."""

    @property
    def name(self) -> str:
        """As in tables and results; a plain attribute will do."""

    def run(self, problem: Problem, budget: int, rng: np.random.Generator) -> Trajectory:
        """Minimise `problem` with at most `budget` evaluations."""


class SearchOver(Exception):
    """Raised by a `BudgetedObjective` to end a search; `until_over` catches it."""


class BudgetExhausted(SearchOver):
    """The evaluations are spent."""


class TargetReached(SearchOver):
    """The error is below `TARGET_ERROR`."""


class BudgetedObjective:
    """A problem that counts: every evaluation is charged, and none is made beyond the budget.

    A point outside of the box of a bounded problem is charged and valued, but never counts as the best. A value
    that is not finite is +inf (-inf too). When the budget is spent, or the error of the best point is below
    `TARGET_ERROR`, the call raises (`BudgetExhausted`, `TargetReached`), as does every later one.

    Parameters
    ----------
    problem : what is evaluated.
    budget : the hard cap on evaluations.
    rng : where the noise of a noisy problem is seeded from; nothing is drawn for others.
    """

    def __init__(self, problem: Problem, budget: int, rng: np.random.Generator) -> None:
        if budget < 1:
            raise ValueError(f"budget must be at least 1 evaluation, got {budget}")
        self.problem = problem
        self.budget = int(budget)
        self.evaluations = 0
        self.best_value = math.inf
        self.best_point: np.ndarray | None = None
        self.over: SearchOver | None = None
        self._improvements: list[tuple[int, float]] = []
        self._optimum = math.nan if problem.optimum is None else problem.optimum
        if problem.noisy:
            problem.seed_noise(int(rng.integers(2**63)))

    @property
    def left(self) -> int:
        """Evaluations that may still be made."""
        return self.budget - self.evaluations

    def __call__(self, x: Any) -> float:
        """The value at one point (D,)."""
        self._check_open()
        point = np.asarray(x, dtype=np.float64)
        value = float(self.problem(point))
        self.evaluations += 1
        if not math.isfinite(value):
            value = math.inf
        self._consider(point, value)
        return value

    def batch(self, points: Any) -> np.ndarray:
        """The values of points (n, D), evaluated in their order; raises if the budget does not suffice for all."""
        self._check_open()
        wanted = np.asarray(points, dtype=np.float64)
        rows, first = wanted[: self.left], self.evaluations
        values = np.asarray(self.problem(rows), dtype=np.float64)
        values[~np.isfinite(values)] = np.inf
        candidates = range(len(rows)) if self.best_point is None else np.flatnonzero(values < self.best_value)
        for k in candidates:
            self.evaluations = first + int(k) + 1
            self._consider(rows[k], float(values[k]))
        self.evaluations = first + len(rows)
        if len(rows) < len(wanted):
            self._check_open()
        return values

    @contextmanager
    def until_over(self) -> Iterator[None]:
        """Run the body until the search is over."""
        try:
            yield
        except SearchOver:
            pass

    def trajectory(self) -> Trajectory:
        """The run so far, at the checkpoints of its budget."""
        marks = checkpoints(self.budget, self.problem.name)
        marks = np.append(marks[marks < self.evaluations], max(self.evaluations, 1))
        at = np.array([evaluation for evaluation, _ in self._improvements], dtype=np.int64)
        values = np.array([np.inf, *(value for _, value in self._improvements)])
        return Trajectory(
            evaluations=marks,
            best=values[np.searchsorted(at, marks, side="right")],
            best_point=np.full(self.problem.dimension, np.nan) if self.best_point is None else self.best_point,
            best_value=self.best_value,
            evaluations_made=self.evaluations,
        )

    def _consider(self, point: np.ndarray, value: float) -> None:
        """Take the point as the best if it is, and stop if it is good enough."""
        if not (value < self.best_value or self.best_point is None) or not self._inside(point):
            return
        self.best_value, self.best_point = value, point.copy()
        self._improvements.append((self.evaluations, value))
        if value - self._optimum < TARGET_ERROR:
            self.over = TargetReached(f"the error is below {TARGET_ERROR:g}")
            raise self.over

    def _inside(self, point: np.ndarray) -> bool:
        problem = self.problem
        return not problem.bounded or bool((point >= problem.lower).all() and (point <= problem.upper).all())

    def _check_open(self) -> None:
        if self.over is None and self.left < 1:
            self.over = BudgetExhausted(f"the budget of {self.budget} evaluations is spent")
        if self.over is not None:
            raise self.over
