"""What is optimised: a function on a box, callable from Python and from the compiled loop."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

import numpy as np

from deddqn._jit import (
    OBJECTIVE_SIGNATURE,
    Function,
    address_of,
    call_objective,
    doubles_at,
    integers_at,
    is_jitted,
    kernel,
    linked,
    objective_of_jitted,
)
from deddqn.problems.constraints import ConstrainedFunction, ConstrainedPython, Constraints, compiled_together
from deddqn.problems.integrality import check_integrality, lattice_bounds, lattice_points
from deddqn.problems.python_callback import PythonObjective

USER_FUNCTION = "objective"
"""The name of a problem made from a function; constant, so that one seed gives one run through every face."""


@dataclass(frozen=True)
class Objective:
    """The compiled form of a problem: a kernel ``f(x, data, work, gauss)``, its shared data and scratch size."""

    kernel: Function
    data: np.ndarray = field(default_factory=lambda: np.zeros(0))
    work_size: int = 0
    python: PythonObjective | ConstrainedPython | None = None

    @property
    def address(self) -> int:
        """Where the compiled kernel begins."""
        return address_of(self.kernel, OBJECTIVE_SIGNATURE)


class CallLink(IntEnum):
    """Where a call of an objective from Python finds its parts: addresses and sizes."""

    OBJECTIVE = 0
    DATA = 1
    DATA_SIZE = 2
    WORK = 3
    WORK_SIZE = 4


_CALL_LINKS = len(CallLink)


@kernel("float64(int64, int64, int64, float64)")
def evaluate_point(call, point, dimension, gauss):
    """The objective at one point; `call` is where the numbers of `CallLink` lie, `point` where the coordinates do."""
    links = integers_at(call, (_CALL_LINKS,))
    arrays = (doubles_at(point, (dimension,)), linked(links, CallLink.DATA), linked(links, CallLink.WORK))
    return call_objective(links[CallLink.OBJECTIVE], (*arrays, gauss))


@kernel("none(int64, float64[:,::1], float64[::1], float64[::1])")
def evaluate_batch(call, points, gauss, values):
    """The objective at every row of `points`, with ``gauss[k]`` (or 0 where `gauss` is empty). Writes `values`."""
    links = integers_at(call, (_CALL_LINKS,))
    data, work = linked(links, CallLink.DATA), linked(links, CallLink.WORK)
    for k in range(points.shape[0]):
        noise = gauss[k] if gauss.size else 0.0
        values[k] = call_objective(links[CallLink.OBJECTIVE], (points[k], data, work, noise))


class ObjectiveCall:
    """An objective ready to be called from Python, with scratch space of its own."""

    def __init__(self, objective: Objective) -> None:
        self._kept_alive = objective, np.empty(objective.work_size)
        data, work = objective.data, self._kept_alive[1]
        addresses = [objective.address, data.ctypes.data, data.size, work.ctypes.data, work.size]
        self._links = np.array(addresses, dtype=np.int64)
        self._address = self._links.ctypes.data
        self._evaluate = getattr(evaluate_point, "call", evaluate_point)  # a layer less in every evaluation

    def __reduce__(self) -> tuple[type[ObjectiveCall], tuple[Objective]]:
        return ObjectiveCall, (self._kept_alive[0],)  # addresses hold in this process only

    def at(self, point: np.ndarray, gauss: float) -> float:
        """The value at a contiguous point of float64, with one draw of N(0, 1) for the noise."""
        value: float = self._evaluate(self._address, point.ctypes.data, point.size, gauss)
        return value

    def batch(self, points: np.ndarray, gauss: np.ndarray) -> np.ndarray:
        """The values at the rows of `points`."""
        values = np.empty(len(points))
        evaluate_batch(self._address, points, gauss, values)
        return values


class Problem:
    """A function to minimise over a box.

    Parameters
    ----------
    name : as in ``cec2005:F9/d10``; runs are seeded by it (without the dimension).
    lower, upper : the box, shape (D,). Where ``bounded`` is False it is only the range to initialise in.
    objective : the compiled form.
    optimum : the lowest value, None where it is unknown.
    optimum_point : where the lowest value is taken, None where it is unknown.
    noisy : whether the value has noise, drawn by the caller (a run draws it from its noise stream).
    constraints : limits beside the box, or None; the objective leaves constraint values at the start of its scratch.
    integrality : of the coordinates, 0 (continuous), 1 (integer) or 2 (categorical), for all or for each; the bounds of
        discrete coordinates become the first and the last integer between them.
    """

    def __init__(
        self,
        name: str,
        lower: np.ndarray,
        upper: np.ndarray,
        objective: Objective,
        *,
        optimum: float | None = None,
        optimum_point: np.ndarray | None = None,
        noisy: bool = False,
        bounded: bool = True,
        title: str = "",
        constraints: Constraints | None = None,
        integrality: Any = None,
    ) -> None:
        self.name = name
        self.lower, self.upper = check_bounds(lower, upper)
        self.integrality = check_integrality(integrality, self.lower.size)
        if self.integrality.any():
            if not bounded:
                raise ValueError(f"integrality must be left out where bounds are not kept, got {integrality!r}")
            self.lower, self.upper = lattice_bounds(self.lower, self.upper, self.integrality)
        self.objective = objective
        self.optimum = optimum
        self.optimum_point = optimum_point
        self.noisy = noisy
        self.bounded = bounded
        self.title = title
        self.constraints = constraints
        self.dimension = self.lower.size
        self.evaluable = True
        self._shape = (self.dimension,)
        self._call: ObjectiveCall | None = None
        self._noise = np.random.default_rng(0)

    def __repr__(self) -> str:
        return f"<Problem {self.name}, {self.dimension} dimensions>"

    @property
    def points(self) -> float | None:
        """How many points there are: None where no coordinate is discrete, inf where one is continuous."""
        return lattice_points(self.lower, self.upper, self.integrality) if self.integrality.any() else None

    @property
    def bounds(self) -> np.ndarray:
        """The box as (D, 2) pairs."""
        return np.column_stack([self.lower, self.upper])

    @property
    def seed_name(self) -> str:
        """What the runs' random streams are named after: the name without the dimension."""
        return self.name.split("/d")[0]

    def seed_noise(self, seed: int) -> None:
        """Restart the noise of direct calls (runs have their own noise stream)."""
        self._noise = np.random.default_rng(seed)

    def __call__(self, x: np.ndarray | Sequence[float]) -> Any:
        """The value at a point (D,) as a float, or the values of a batch (n, D) as an array."""
        points = np.ascontiguousarray(x, dtype=np.float64)
        if self._call is None:
            self._call = ObjectiveCall(self.objective)
        if points.shape == self._shape:
            gauss = self._noise.standard_normal() if self.noisy else 0.0
            return self._call.at(points, gauss)
        return self._evaluate_batch(points)

    def _evaluate_batch(self, points: np.ndarray) -> np.ndarray:
        if points.ndim != 2 or points.shape[1] != self.dimension:
            raise ValueError(
                f"x must have shape ({self.dimension},) or (n, {self.dimension}) for {self.name}, got {points.shape}"
            )
        assert self._call is not None
        return self._call.batch(points, self._noise.standard_normal(len(points)) if self.noisy else np.empty(0))

    def with_objective(self, objective: Objective) -> Problem:
        """A copy that evaluates `objective`; its scratch and its noise of direct calls are its own."""
        other = copy.copy(self)
        other.objective, other._call = objective, None
        other._noise = np.random.default_rng(0)
        return other

    def with_constraints(self, constraints: Constraints) -> Problem:
        """A copy without a function, whose constraints are these."""
        box: dict[str, Any] = {"name": self.name, "constraints": constraints, "integrality": self.integrality}
        other = Problem.box(self.lower, self.upper, **box)
        other.noisy, other.bounded = self.noisy, self.bounded
        return other

    @classmethod
    def box(
        cls,
        lower: Any,
        upper: Any,
        *,
        name: str = USER_FUNCTION,
        constraints: Constraints | None = None,
        integrality: Any = None,
    ) -> Problem:
        """A problem without a function: its values come from outside, by ask and tell."""
        scratch = 0 if constraints is None else constraints.size + len(lower)
        objective = Objective(_no_objective, work_size=scratch)
        problem = cls(name, lower, upper, objective, constraints=constraints, integrality=integrality)
        problem.evaluable = False
        return problem

    @classmethod
    def from_function(
        cls,
        function: Callable[[np.ndarray], Any],
        bounds: Any,
        *,
        name: str = USER_FUNCTION,
        optimum: float | None = None,
        optimum_point: np.ndarray | None = None,
        constraints: Constraints | None = None,
        integrality: Any = None,
    ) -> Problem:
        """A problem from a Python or a numba-jitted function of one point (D,).

        A jitted function runs inside of the compiled loop; a Python function is called back from it.
        """
        pairs = np.asarray(bounds, dtype=np.float64)
        if pairs.ndim != 2 or pairs.shape[1] != 2:
            raise ValueError(f"bounds must be (lower, upper) pairs, one per coordinate, got shape {pairs.shape}")
        objective = _objective_of(function, len(pairs), constraints)
        known: dict[str, Any] = {"optimum": optimum, "optimum_point": optimum_point}
        known |= {"constraints": constraints, "integrality": integrality}
        return cls(name, pairs[:, 0], pairs[:, 1], objective, **known)


def _no_objective(x: np.ndarray, data: np.ndarray, work: np.ndarray, gauss: float) -> float:
    raise RuntimeError("this problem has no function: its values come from outside")


def _objective_of(function: Callable[[np.ndarray], Any], dimension: int, constraints: Constraints | None) -> Objective:
    if not callable(function):
        raise ValueError(f"function must be callable, got {function!r}")
    if constraints is not None:
        compiled = compiled_together(function, constraints)
        if compiled is not None:
            return Objective(*compiled, constraints.size + dimension)
        together = ConstrainedPython(ConstrainedFunction(function, constraints), dimension)
        return Objective(together.kernel, together.data, together.work_size, together)
    if is_jitted(function):
        return Objective(objective_of_jitted(function))
    python = PythonObjective(function, dimension)
    return Objective(python.kernel, python.data, 0, python)


def check_bounds(lower: Any, upper: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the bounds as two float64 vectors, or raise ValueError."""
    low = np.array(lower, dtype=np.float64, ndmin=1)
    high = np.array(upper, dtype=np.float64, ndmin=1)
    if low.ndim != 1 or low.shape != high.shape or low.size == 0:
        raise ValueError(f"bounds must be two vectors of equal length, got shapes {low.shape} and {high.shape}")
    if not (np.isfinite(low).all() and np.isfinite(high).all()):
        raise ValueError(f"bounds must be finite, got lower {low} and upper {high}")
    if np.any(low > high):
        at = int(np.argmax(low > high))
        raise ValueError(f"bounds must have lower <= upper, got {low[at]} > {high[at]} at coordinate {at}")
    return low, high
