"""What users hand over as `constraints`: scipy's objects and ours, checked, as what the engine takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from deddqn.engine.run import Run
from deddqn.optimize.arguments import floats, number, split_bounds
from deddqn.optimize.space import Space
from deddqn.optimize.space_search import encoded_constraints
from deddqn.problems.constraints import Constraints, LinearPart, Part, ReturnedConstraint
from deddqn.problems.problem import Problem

EQUALITY_TOLERANCE = 1e-4
KINDS = "scipy's LinearConstraint, NonlinearConstraint or Bounds, a ReturnedConstraint, or a sequence of them"


def problem_of(
    given: Any, constraints: Any, tolerance: Any, integrality: Any = None
) -> tuple[Problem, tuple[np.ndarray, np.ndarray]]:
    """What is searched: the problem given, or the box of the bounds given, with the constraints; and the bounds given.

    The bounds of the problem differ from those given where the latter are no integers and should be.
    """
    box = (given.lower, given.upper) if isinstance(given, Problem) else split_bounds(given)
    limits = constraints_of(constraints, tolerance, box)
    if not isinstance(given, Problem):
        return Problem.box(*box, constraints=limits, integrality=integrality), box
    if integrality is not None:
        raise ValueError(f"integrality must be left out for a Problem, which has its own, got {integrality!r}")
    if limits is None:
        return given, box
    if given.noisy or given.constraints is not None:
        raise ValueError(f"constraints must be left out for a problem with noise or constraints, got {given!r}")
    kept: dict[str, Any] = {"constraints": limits, "integrality": given.integrality}
    return Problem.from_function(given, given.bounds, name=given.name, **kept), box


def constraints_of(
    constraints: Any,
    tolerance: Any,
    box: tuple[np.ndarray, np.ndarray],
    *,
    vectorized: bool = False,
    strict: bool = False,
) -> Constraints | None:
    """The constraints on points of a box; None where there are none.

    A function of which the limits do not tell how many values it gives is called once, in the middle of the box.
    """
    allowed = number("constraint_tolerance", tolerance, 0.0)
    if constraints is None or isinstance(constraints, Constraints):
        return constraints
    given = list(constraints) if isinstance(constraints, Sequence) else [constraints]
    middle = 0.5 * box[0] + 0.5 * box[1]
    parts = [_part(constraint, middle, vectorized) for constraint in given]
    return Constraints(parts, allowed, strict) if parts else None


def renew_constraints(run: Run, space: Space | None, given: Any, vectorized: bool) -> None:
    """Let a run, which was loaded, call constraints that are given again; they have the limits that it had."""
    if given is None:
        return
    problem, own = run.spec.problem, run.spec.problem.constraints
    box, encoded = (problem.lower, problem.upper), encoded_constraints(space, given)
    constraints = constraints_of(encoded, 0.0, box, vectorized=vectorized)
    same = own is not None and constraints is not None and own.size == constraints.size
    if not same or not all(np.array_equal(getattr(own, k), getattr(constraints, k)) for k in ("lower", "upper")):
        raise ValueError(f"constraints must have the limits that the search was made with, got {given!r}")
    assert own is not None and constraints is not None
    again = Constraints(constraints.parts, float(own.tolerance.max()), own.strict)
    run.rebind(replace(run.spec, problem=problem.with_constraints(again)))


def _part(constraint: Any, middle: np.ndarray, vectorized: bool) -> Part:
    if isinstance(constraint, dict):
        raise ValueError(
            "constraints must not be dictionaries: instead of {'type': 'ineq', 'fun': f} write "
            f"NonlinearConstraint(f, 0, np.inf), and NonlinearConstraint(f, 0, 0) for 'eq'; got {constraint!r}"
        )
    if not (hasattr(constraint, "lb") and hasattr(constraint, "ub")):
        raise ValueError(f"constraints must be {KINDS}, got {constraint!r}")
    lower, upper = (floats("constraints", limit, "limits of numbers") for limit in (constraint.lb, constraint.ub))
    if isinstance(constraint, ReturnedConstraint):
        return _limited(lower, upper, max(lower.size, upper.size), None)
    if hasattr(constraint, "A"):
        matrix = _matrix(constraint.A, middle.size)
        return _limited(lower, upper, len(matrix), LinearPart(matrix))
    if hasattr(constraint, "fun"):
        function = constraint.fun
        if not callable(function):
            raise ValueError(f"constraints must have a callable fun, got {function!r}")
        size = max(lower.size, upper.size)
        if size == 1:
            size = max(1, np.size(function(middle[:, None].copy() if vectorized else middle.copy())))
        return _limited(lower, upper, size, function)
    return _limited(lower, upper, middle.size, LinearPart(np.eye(middle.size)))


def _matrix(given: Any, dimension: int) -> np.ndarray:
    dense = given.toarray() if hasattr(given, "toarray") else given
    matrix = np.atleast_2d(floats("constraints", np.asarray(dense), "matrices of numbers"))
    if matrix.ndim != 2 or matrix.shape[1] != dimension:
        raise ValueError(f"constraints must have matrices with {dimension} columns, got shape {matrix.shape}")
    return matrix


def _limited(lower: np.ndarray, upper: np.ndarray, size: int, function: Callable[..., Any] | None) -> Part:
    """A part with `size` constraint values; a limit of one number is that of all of them."""
    limits = []
    for name, limit in (("lb", lower), ("ub", upper)):
        if limit.ndim > 1 or limit.size not in (1, size):
            raise ValueError(f"constraints must have one {name}, or one for each of {size} values, got {limit!r}")
        limits.append(np.broadcast_to(limit, (size,)).copy())
    low, high = limits
    wrong = ~(low <= high)
    if wrong.any():
        at = int(np.argmax(wrong))
        raise ValueError(f"constraints must have lb <= ub, got {low[at]} and {high[at]} for value {at}")
    return Part(low, high, function)
