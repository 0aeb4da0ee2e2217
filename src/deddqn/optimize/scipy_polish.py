"""The last mile of `differential_evolution`: one local search from the best point, as scipy does it."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from deddqn.optimize.scipy_functions import MapLike, VectorizedFunction

if TYPE_CHECKING:
    from scipy.optimize import OptimizeResult

    from deddqn.optimize.scipy_search import ScipySearch

LARGE = 1e100  # what a local search gets where there is no finite value: at an infinity L-BFGS-B gives up


def polished(result: OptimizeResult, search: ScipySearch, polish: Any, disp: bool) -> None:
    """Improve `result` by a local search, or by the user's own `polish`; taken if it is better, inside and a success.

    That is L-BFGS-B, with constraints trust-constr. Integers stay as they are.
    """
    from scipy.optimize import Bounds, OptimizeResult, minimize

    lower, upper = (np.where(search.integral, result.x, limit) for limit in search.bounds)
    function, constrained = search.original, search.constraints is not None
    if constrained and result.maxcv > 0:
        warnings.warn(
            "differential evolution didn't find a solution satisfying the constraints, "
            "attempting to polish from the least infeasible solution",
            UserWarning,
            stacklevel=4,
        )
    if not callable(polish):
        method = "trust-constr" if constrained else "L-BFGS-B"
        polish, function = partial(minimize, method=method), _one_point(search)
        if disp:
            print(f"Polishing solution with '{method}'")
    local = polish(function, result.x.copy(), bounds=Bounds(lower, upper), constraints=search.given_constraints)
    if not isinstance(local, OptimizeResult):
        raise ValueError("The result from a user defined polishing function should return an OptimizeResult.")
    result.nfev += local.get("nfev", 0)
    inside = np.all(lower <= local.x) and np.all(local.x <= upper)
    if local.fun < result.fun and local.success and inside:
        result.update(fun=local.fun, x=local.x, jac=local.get("jac"))
        result.population_energies[0], result.population[0] = local.fun, local.x


def _one_point(search: ScipySearch) -> Callable[[np.ndarray], float]:
    """The function of one point that the local search calls: through the user's map, if there is one."""
    function, workers = search.function, search.workers

    def value(x: np.ndarray) -> float:
        if isinstance(function, VectorizedFunction):
            found = float(function(x[:, None])[0])
        elif isinstance(workers, MapLike):
            found = float(workers(function, [x])[0])
        else:
            found = float(function(x))
        return found if np.isfinite(found) else LARGE

    return value
