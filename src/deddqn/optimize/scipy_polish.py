"""The last mile of `differential_evolution`: one local search from the best point, as scipy does it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from deddqn.optimize.scipy_functions import MapLike, VectorizedFunction

if TYPE_CHECKING:
    from scipy.optimize import OptimizeResult

    from deddqn.optimize.scipy_search import ScipySearch


def polished(result: OptimizeResult, search: ScipySearch, polish: Any, disp: bool) -> None:
    """Improve `result` by L-BFGS-B, or by the user's own `polish`; taken if it is better, inside and a success."""
    from scipy.optimize import Bounds, OptimizeResult, minimize

    lower, upper = search.bounds
    function = search.original
    if not callable(polish):
        method = "L-BFGS-B"
        polish, function = partial(minimize, method=method), _one_point(search)
        if disp:
            print(f"Polishing solution with '{method}'")
    local = polish(function, result.x.copy(), bounds=Bounds(lower, upper), constraints=())
    if not isinstance(local, OptimizeResult):
        raise ValueError("The result from a user defined polishing function should return an OptimizeResult.")
    result.nfev += local.get("nfev", 0)
    inside = np.all(lower <= local.x) and np.all(local.x <= upper)
    if local.fun < result.fun and local.success and inside:
        result.update(fun=local.fun, x=local.x, jac=local.get("jac"))
        result.population_energies[0], result.population[0] = local.fun, local.x


def _one_point(search: ScipySearch) -> Any:
    """The function of one point that the local search calls: through the user's map, if there is one."""
    function, workers = search.function, search.workers
    if isinstance(function, VectorizedFunction):
        return lambda x: function(x[:, None])[0]
    if isinstance(workers, MapLike):
        return lambda x: workers(function, [x])[0]
    return function
