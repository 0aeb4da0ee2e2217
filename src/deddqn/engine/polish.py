"""The last mile: scipy's L-BFGS-B from the best point, inside of the bounds and of the evaluation budget."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import Bounds, OptimizeResult
from scipy.optimize import minimize as local_minimize

from deddqn.engine.optimizer import Optimizer


class _BudgetUsed(Exception):
    pass


def polishing_share(maxfun: Any, population_size: Any) -> int:
    """Evaluations that are kept for polishing: a tenth of all, as far as the initial population allows."""
    try:
        return max(0, min(int(maxfun) // 10, int(maxfun) - int(population_size)))
    except (TypeError, ValueError):
        return 0  # the optimizer's own checks say what is wrong


def polish_result(
    result: OptimizeResult, function: Callable[[np.ndarray], float], optimizer: Optimizer, budget: int
) -> OptimizeResult:
    """Improve `result` with at most `budget` evaluations; it changes only for the better."""
    lower, upper = optimizer.bounds
    best: dict[str, Any] = {"x": result.x, "fun": result.fun}
    used = 0

    def counted(x: np.ndarray) -> float:
        nonlocal used
        if used >= budget:
            raise _BudgetUsed
        used += 1
        point = np.clip(x, lower, upper)
        value = function(point.copy())
        if value < best["fun"]:
            best.update(x=point, fun=float(value))
        return value if np.isfinite(value) else 1e300

    if budget > 0:
        try:
            local_minimize(counted, result.x, method="L-BFGS-B", bounds=Bounds(lower, upper))
        except _BudgetUsed:
            pass
    improved = best["fun"] < result.fun
    result.update(best, nfev=result.nfev + used)
    result.message += f" Polishing took {used} evaluations{'' if improved else ' and found nothing better'}."
    return result
