"""Constraints at both ends of a search: constraint values that are told, and what a result says about them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from deddqn.de.constraint_state import Pair
from deddqn.de.state import Scalar
from deddqn.engine.run import Run
from deddqn.optimize.arguments import floats
from deddqn.problems.constraints import Constraints


def told_constraints(constraints: Constraints | None, points: np.ndarray, told: Any) -> Sequence[np.ndarray | None]:
    """The constraint values of told points, a row (m,) for each; None for a run without constraints."""
    if constraints is None:
        if told is not None:
            raise ValueError(f"constraints must be left out: the search was made without, got {told!r}")
        return [None] * len(points)
    if told is None:
        if any(part.function is None for part in constraints.parts):
            raise ValueError("constraints must be told: some have no function that could be called, got None")
        return [constraints.at(point) for point in points]
    rows = floats("constraints", told, "constraint values, (m,) or (k, m)")
    shape = (len(points), constraints.size)
    if rows.ndim < 2 and rows.size == len(points) * constraints.size:
        rows = rows.reshape(shape)
    if rows.shape != shape:
        raise ValueError(f"constraints must be {shape[1]} for each of {shape[0]} points, got shape {rows.shape}")
    return list(rows)


def constraint_fields(run: Run) -> dict[str, Any]:
    """The fields of a result that constraints bring; none for a run without."""
    constraints, de_state = run.spec.problem.constraints, run.de_state
    if constraints is None:
        return {}
    found = run.evaluations > 0
    values = de_state.answer_constraints.copy() if found else np.full(constraints.size, np.nan)
    feasible = de_state.parent_pairs[: len(run.population), Pair.VIOLATION] == 0.0
    fields = {
        **fields_of(constraints, values),
        "population_energies": np.where(feasible, run.fitness, np.inf),
    }
    if found:
        fields |= {"x": de_state.answer_point.copy(), "fun": float(de_state.answer_pair[0, Pair.VALUE])}
    if found and not np.isfinite(de_state.scalars[Scalar.FEASIBLE_BSF]):
        fields["success"] = False
    return fields


def fields_of(constraints: Constraints, values: np.ndarray) -> dict[str, Any]:
    """What a result says about constraint values (m,).

    As in scipy's `differential_evolution`, `constr` are violations, one array per constraint, and `constr_violation`
    and `maxcv` the largest one.
    """
    beyond = constraints.excess(values)
    return {
        "constr": constraints.split(beyond),
        "constr_values": constraints.split(values),
        "constr_violation": float(beyond.max()),
        "maxcv": float(beyond.max()),
    }
