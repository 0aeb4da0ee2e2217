"""A space in a search: arguments, functions and constraints that speak of parameters, as those of coordinates."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from deddqn.optimize.space import Space
from deddqn.problems.constraints import Constraints, ReturnedConstraint
from deddqn.problems.problem import Problem


class OfParams:
    """A function of parameters as one of a point."""

    def __init__(self, space: Space, function: Callable[..., Any]) -> None:
        self.space, self.function = space, function

    def __call__(self, x: np.ndarray, *args: Any) -> Any:
        return self.function(self.space.decode(x), *args)


def of_point(space: Space | None, function: Any, vectorized: Any = False) -> Any:
    """What the search evaluates: `function` itself without a space."""
    if space is None or function is None or not callable(function):
        return function
    if vectorized:
        raise ValueError("vectorized must be False with a space: fun gets the parameters of one point as a dictionary")
    if isinstance(function, Problem):
        raise ValueError(f"fun must be a function of a dictionary with a space, got {function!r}")
    return OfParams(space, function)


def encoded_arguments(space: Any, given: dict[str, Any]) -> dict[str, Any]:
    """The arguments bounds, integrality, constraints, x0 and init in terms of coordinates."""
    if space is None:
        if given["bounds"] is None:
            raise ValueError("bounds must be given as (lower, upper) pairs, or a space in their place, got None")
        return given
    if not isinstance(space, Space):
        raise ValueError(f"space must be a Space of named parameters, got {space!r}")
    for name in ("bounds", "integrality"):
        if given[name] is not None:
            raise ValueError(f"{name} must be left out with a space, which has them, got {given[name]!r}")
    x0, init = given["x0"], given["init"]
    return {
        "bounds": space.bounds,
        "integrality": space.integrality,
        "constraints": encoded_constraints(space, given["constraints"]),
        "x0": x0 if x0 is None else space.encode(x0),
        "init": init if isinstance(init, str) else np.array([space.encode(params) for params in init]),
    }


def encoded_constraints(space: Space | None, constraints: Any) -> Any:
    """Constraints whose functions take parameters, as those of points; linear ones have no meaning there."""
    if space is None or constraints is None or isinstance(constraints, Constraints):
        return constraints
    given = list(constraints) if isinstance(constraints, Sequence) else [constraints]
    return [_encoded_constraint(space, constraint) for constraint in given]


def _encoded_constraint(space: Space, constraint: Any) -> Any:
    if isinstance(constraint, ReturnedConstraint) or not (hasattr(constraint, "lb") and hasattr(constraint, "ub")):
        return constraint
    if not hasattr(constraint, "fun"):
        raise ValueError(
            "constraints must be NonlinearConstraint (fun gets a dictionary) or ReturnedConstraint with a space, "
            f"whose parameters are no vector, got {constraint!r}"
        )
    from scipy.optimize import NonlinearConstraint

    return NonlinearConstraint(OfParams(space, constraint.fun), constraint.lb, constraint.ub)


def decoded(space: Space | None, points: np.ndarray) -> Any:
    """Points as they are handed out: dictionaries where there is a space."""
    return points if space is None else [space.decode(point) for point in points]


def saved_space(described: Any, problem: Problem) -> Space | None:
    """The space of a saved search; ValueError for one that is not that of the problem."""
    if described is None:
        return None
    space = Space.from_dict(described)
    same = np.array_equal(space.bounds, problem.bounds) and np.array_equal(space.integrality, problem.integrality)
    if not same:
        raise ValueError("space must have the bounds of the saved search")
    return space


def told_rows(space: Space | None, told: Any, asked: np.ndarray) -> Any:
    """Told points in terms of coordinates: those of the asked points with the same parameters, else encoded ones."""
    if space is None:
        return told
    waiting: dict[tuple[Any, ...], list[np.ndarray]] = {}
    for point in asked[::-1]:
        waiting.setdefault(_key(space.decode(point)), []).append(point)
    rows = []
    for params in [told] if isinstance(told, Mapping) else told:
        point = space.encode(params)
        same = waiting.get(_key({name: params[name] for name in space if name in params}))
        rows.append(same.pop() if same else point)
    return np.array(rows)


def _key(params: dict[str, Any]) -> tuple[Any, ...]:
    return tuple((name, isinstance(value, bool), value) for name, value in params.items())
