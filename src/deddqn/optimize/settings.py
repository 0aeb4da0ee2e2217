"""The settings of a search that were given, checked; the policy's own hold for the others."""

from __future__ import annotations

from typing import Any

import numpy as np

from deddqn.de.config import SMALLEST_POPULATION
from deddqn.optimize.arguments import number, whole_number
from deddqn.optimize.stopping import Limits


def limits_of(maxiter: Any, ftarget: Any, tol: Any, atol: Any) -> Limits:
    """When to stop, checked."""
    return Limits(
        None if maxiter is None else whole_number("maxiter", maxiter, 1),
        None if ftarget is None else number("ftarget", ftarget),
        number("tol", tol, 0.0),
        number("atol", atol, 0.0),
    )


def search_settings(
    limits: Limits,
    *,
    final_population: Any,
    restart_tolerance: Any,
    restart_final_fraction: Any,
    n_candidates: Any,
    repair: Any,
) -> dict[str, Any]:
    """Settings of `DEConfig` by name, for those that are not None."""
    given: dict[str, Any] = {"target_value": -np.inf if limits.ftarget is None else limits.ftarget}
    if final_population is not None:
        given["final_population"] = whole_number("final_population", final_population, SMALLEST_POPULATION)
    if restart_tolerance is not None:
        given["restart_tolerance"] = number("restart_tolerance", restart_tolerance, 0.0)
    elif limits.tol > 0.0 or limits.atol > 0.0:
        given["restart_tolerance"] = 0.0  # who wants to stop at convergence does not want a restart there
    if restart_final_fraction is not None:
        given["restart_final_fraction"] = number("restart_final_fraction", restart_final_fraction, 0.0)
    if n_candidates is not None:
        given["n_candidates"] = whole_number("n_candidates", n_candidates, 1)
    if repair is not None:
        given["repair"] = repair
    return given
