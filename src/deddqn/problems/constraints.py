"""Constraints of a problem: what is limited, and how a function gives its value and its constraint values together."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from deddqn._jit import OBJECTIVE_SIGNATURE, PLAIN, Function, constrained_of_jitted, is_jitted, kernel
from deddqn.problems.python_callback import as_value, call_python


@dataclass(frozen=True)
class ReturnedConstraint:
    """Constraint values that the objective returns beside its value, from one expensive simulation.

    ``fun(x)`` then returns ``(value, constraint_values)``, and ``lb <= constraint_values <= ub`` is wanted.

    Parameters
    ----------
    lb, ub : limits, one number per constraint value; one number stands for all of the other's. Equal limits are an
        equality, an infinite one is none.
    """

    lb: Any
    ub: Any


class LinearPart:
    """Values A x."""

    def __init__(self, matrix: np.ndarray) -> None:
        self.matrix = np.ascontiguousarray(matrix, dtype=np.float64)

    def __call__(self, x: np.ndarray) -> np.ndarray:
        points = np.ascontiguousarray(x.reshape(len(x), -1).T)
        values = np.empty((len(points), len(self.matrix)))
        multiply(self.matrix, points, values)
        return values.T.reshape((len(self.matrix), *x.shape[1:]))


@kernel("none(float64[:,::1], float64[:,::1], float64[:,::1])")
def multiply(matrix, points, values):
    """Write A x for every row x of `points`; summed in one order, wherever it is called."""
    for k in range(points.shape[0]):
        for j in range(matrix.shape[0]):
            total = 0.0
            for d in range(matrix.shape[1]):
                total += matrix[j, d] * points[k, d]
            values[k, j] = total


@dataclass(frozen=True)
class Part:
    """One of a user's constraints.

    Parameters
    ----------
    lower, upper : limits (m,).
    function : of a point (D,), or of (D, S) points; None where the objective returns the values.
    """

    lower: np.ndarray
    upper: np.ndarray
    function: Callable[[np.ndarray], Any] | None

    def values(self, given: Any, points: int | None) -> np.ndarray:
        """What was returned, as an array (m,), or (m, points) for several; ValueError for another shape."""
        size = len(self.lower)
        shape = (size,) if points is None else (size, points)
        rule = f"constraints must give {size} number{'s' if size > 1 else ''}"
        if points is not None:
            rule += f" for each point, as an array of shape {shape} or so"
        try:
            found = np.asarray(given, dtype=np.float64)
        except (TypeError, ValueError):
            raise ValueError(f"{rule}, got {given!r}") from None
        if found.size != size * (points or 1) or (size > 1 and found.shape[:1] != (size,)):
            raise ValueError(f"{rule}, got shape {found.shape}")
        return found.reshape(shape)


def forgotten(x: np.ndarray) -> np.ndarray:
    """Stands for the function of a constraint in a search that was loaded."""
    raise ValueError("constraints must be given again: a saved search holds their limits, but not their functions")


class Constraints:
    """All constraints of a problem; constraint values are numbered through them.

    Parameters
    ----------
    parts : the user's constraints.
    tolerance : how far an equality may be missed.
    strict : never evaluate the objective at a point that violates a constraint, as scipy does not: it may be undefined
        there. Then such points are compared by their violation alone, and there is no level that shrinks.
    """

    def __init__(self, parts: Sequence[Part], tolerance: float, strict: bool = False) -> None:
        self.parts = tuple(parts)
        self.strict = strict
        self.lower = np.concatenate([part.lower for part in parts])
        self.upper = np.concatenate([part.upper for part in parts])
        self.tolerance = np.where(self.lower == self.upper, tolerance, 0.0)
        self.size = len(self.lower)

    @property
    def plain(self) -> dict[str, Any]:
        """What a file holds of them: limits, tolerance and matrices, but no functions."""
        parts = [
            {
                "lower": part.lower.tolist(),
                "upper": part.upper.tolist(),
                "returned": part.function is None,
                "matrix": part.function.matrix.tolist() if isinstance(part.function, LinearPart) else None,
            }
            for part in self.parts
        ]
        return {"parts": parts, "tolerance": float(self.tolerance.max()), "strict": self.strict}

    @classmethod
    def from_plain(cls, saved: dict[str, Any], dimension: int) -> Constraints:
        """The constraints of a file, on points of that many coordinates; functions have to be given again."""
        parts = []
        for part in saved["parts"]:
            lower, upper = np.array(part["lower"], dtype=float), np.array(part["upper"], dtype=float)
            function: Any = None if part["returned"] else forgotten
            if part["matrix"] is not None:
                function = LinearPart(np.array(part["matrix"], dtype=float))
            shape = (len(lower), dimension)
            if not len(upper) == len(lower) > 0 or (part["matrix"] is not None and function.matrix.shape != shape):
                raise ValueError(f"constraints must have limits, and matrices of shape {shape}")
            parts.append(Part(lower, upper, function))
        if not parts or not saved["tolerance"] >= 0.0:
            raise ValueError(f"constraints must be some, with a tolerance, got {saved['tolerance']}")
        return cls(parts, float(saved["tolerance"]), saved["strict"])

    def split(self, values: np.ndarray) -> list[np.ndarray]:
        """Numbers of all constraint values, as an array per constraint."""
        return np.split(values, np.cumsum([len(part.lower) for part in self.parts])[:-1])

    def excess(self, values: np.ndarray) -> np.ndarray:
        """How far constraint values (..., m) are beyond their limits; +inf for NaN."""
        beyond = np.maximum(np.maximum(self.lower - values, values - self.upper), 0.0)
        return np.where(np.isnan(values), np.inf, beyond)

    def satisfied(self, values: np.ndarray) -> bool:
        """Whether constraint values (m,) keep to their limits, equalities to the tolerance."""
        low, high = self.lower - self.tolerance, self.upper + self.tolerance
        return bool(np.all((values >= low) & (values <= high)))

    def at(self, x: np.ndarray, returned: Any = None) -> np.ndarray:
        """The constraint values (m,) at a point (D,), or (m, S) at points (D, S)."""
        points = None if x.ndim == 1 else x.shape[1]
        given = [returned if part.function is None else part.function(x.copy()) for part in self.parts]
        pairs = zip(self.parts, _shared_out(given, self.parts), strict=True)
        return np.concatenate([part.values(values, points) for part, values in pairs])


def _shared_out(given: list[Any], parts: Sequence[Part]) -> list[Any]:
    """The returned constraint values belong to the parts without a function, in their order."""
    waiting = [k for k, part in enumerate(parts) if part.function is None]
    if len(waiting) < 2:
        return given
    values = np.asarray(given[waiting[0]], dtype=np.float64)
    ends = np.cumsum([len(parts[k].lower) for k in waiting])
    for k, piece in zip(waiting, np.split(values, ends[:-1]), strict=True):
        given[k] = piece
    return given


class ConstrainedFunction:
    """A function together with its constraints: of one point, or of many where both are vectorised.

    Parameters
    ----------
    function : the objective; it returns (value, constraint values) if a constraint has no function of its own.
    """

    def __init__(self, function: Callable[[np.ndarray], Any], constraints: Constraints) -> None:
        self.function, self.constraints = function, constraints
        self._returns = any(part.function is None for part in constraints.parts)

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """(value, constraint values) as a vector (1 + m,)."""
        if self.constraints.strict:
            return self._value_if_feasible(x)
        value, returned = self._objective(x)
        row = np.empty(1 + self.constraints.size)
        row[0] = as_value(value)
        row[1:] = self.constraints.at(x, returned)
        return row

    def _value_if_feasible(self, x: np.ndarray) -> np.ndarray:
        row = np.full(1 + self.constraints.size, np.nan)
        row[1:] = self.constraints.at(x)
        if self.constraints.satisfied(row[1:]):
            row[0] = as_value(self.function(x.copy()))
        return row

    def _values_if_feasible(self, points: np.ndarray) -> np.ndarray:
        rows = np.full((points.shape[1], 1 + self.constraints.size), np.nan)
        rows[:, 1:] = self.constraints.at(points).T
        feasible = np.array([self.constraints.satisfied(row[1:]) for row in rows])
        if feasible.any():
            rows[feasible, 0] = self.function(np.ascontiguousarray(points[:, feasible]))
        return rows

    def batch(self, points: np.ndarray) -> np.ndarray:
        """The same for vectorised functions: rows (S, 1 + m) for points (D, S)."""
        if self.constraints.strict:
            return self._values_if_feasible(points)
        values, returned = self._objective(points)
        found = np.asarray(values, dtype=np.float64)
        if found.shape != points.shape[1:]:
            raise ValueError(
                f"a vectorized fun must return {points.shape[1]} numbers for x of shape {points.shape}, "
                f"got shape {found.shape}"
            )
        return np.vstack([found, self.constraints.at(points, returned)]).T

    def _objective(self, x: np.ndarray) -> tuple[Any, Any]:
        given = self.function(x.copy())
        if not self._returns:
            return given, None
        if not isinstance(given, tuple | list) or len(given) != 2:
            raise ValueError(f"fun must return (value, constraint values) for a ReturnedConstraint, got {given!r}")
        return given[0], given[1]


def as_outcome(function: Callable[..., Any], returned: Any) -> Any:
    """What a function returned as a float; with constraints the vector that a `ConstrainedFunction` gives."""
    return returned if isinstance(function, ConstrainedFunction) else as_value(returned)


@kernel(OBJECTIVE_SIGNATURE)
def call_constrained(x, data, work, gauss):
    """Objective kernel: a Python function that finds the point at the end of `work`, and writes constraint values."""
    first = work.size - x.size
    for d in range(x.size):
        work[first + d] = x[d]
    return call_python(work, data, work, gauss)


class ConstrainedPython:
    """Keeps a `ConstrainedFunction` where the kernel finds it. Constraint values are left at the start of `work`."""

    def __init__(self, function: ConstrainedFunction, dimension: int) -> None:
        self.function = function
        self.work_size = function.constraints.size + dimension
        self.data = np.zeros(1)
        self._call = self._caller()
        self.data.view(np.int64)[0] = id(self._call)
        self.kernel = self._plain if PLAIN else call_constrained

    def _plain(self, x: np.ndarray, data: np.ndarray, work: np.ndarray, gauss: float) -> float:
        row = self.function(x.copy())
        work[: len(row) - 1] = row[1:]
        return float(row[0])

    def _caller(self) -> Callable[[int], float]:
        function, kind, size = self.function, ctypes.c_double * self.work_size, self.function.constraints.size

        def call(address: int) -> float:
            work = np.ctypeslib.as_array(kind.from_address(address))
            row = function(work[size:].copy())
            work[:size] = row[1:]
            return float(row[0])

        return call


def compiled_together(function: Callable[..., Any], constraints: Constraints) -> tuple[Function, np.ndarray] | None:
    """The kernel and the data of a jitted function with its constraints; None where something is a Python function."""
    if constraints.strict or not is_jitted(function):
        return None
    blocks: list[tuple[Any, ...]] = []
    matrices = [np.empty(0)]
    first = 0
    for part in constraints.parts:
        size = len(part.lower)
        if isinstance(part.function, LinearPart):
            blocks.append((None, size, first, sum(matrix.size for matrix in matrices)))
            matrices.append(part.function.matrix.ravel())
        elif part.function is None or is_jitted(part.function):
            blocks.append((part.function, size, first))
        else:
            return None
        first += size
    returns = [part for part in constraints.parts if part.function is None]
    if len(returns) > 1:
        return None
    return constrained_of_jitted(function, tuple(blocks), bool(returns)), np.concatenate(matrices)
