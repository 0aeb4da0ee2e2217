"""The last mile: scipy's L-BFGS-B from the best point, inside of the bounds and of the evaluation budget."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from deddqn.optimize.stopping import NOISE_HINT

if TYPE_CHECKING:
    from scipy.optimize import OptimizeResult

LARGE = 1e300  # what L-BFGS-B gets where there is no finite value


class _Enough(Exception):
    pass


def polishing_share(maxfun: int, population_size: int) -> int:
    """Evaluations that are kept for polishing: a tenth of all, as far as the initial population allows."""
    return max(0, min(maxfun // 10, maxfun - population_size))


SEARCH_SHARE = 0.9  # of the time, where it is the only limit


def polishing_limits(
    maxfun: int | None, maxtime: float | None, made: int, deadline: float | None
) -> tuple[int, float | None]:
    """The evaluations and the deadline for polishing after a search with this deadline.

    Where `maxfun` is not known, up to a ninth of the evaluations `made`, in what the search has left of `maxtime`.
    """
    if maxfun is not None:
        return maxfun - made, deadline
    if deadline is not None and maxtime is not None:
        deadline += (1.0 - SEARCH_SHARE) * maxtime
    return made // 9, deadline


def polishing_bounds(
    bounds: tuple[np.ndarray, np.ndarray], integrality: np.ndarray, x: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The bounds of a local search from `x`: discrete coordinates stay as they are."""
    lower, upper = (np.where(integrality != 0, x, bound) for bound in bounds)
    return lower, upper


class Polish:
    """Local search from a result, which changes only for the better.

    Parameters
    ----------
    function : of one point.
    bounds : lower and upper bounds of the search, infinite where there are none.
    budget : the most evaluations.
    deadline : moment of the monotonic clock after which no evaluation begins, or None.
    """

    def __init__(
        self,
        function: Callable[[np.ndarray], float],
        bounds: tuple[np.ndarray, np.ndarray],
        budget: int,
        deadline: float | None,
    ) -> None:
        self.function, self.bounds, self.budget, self.deadline = function, bounds, budget, deadline
        self.used = self.non_finite = 0

    def improve(self, result: OptimizeResult, *, stoppable: bool = False) -> OptimizeResult:
        """Improve `result`; Ctrl-C ends it with what was found if `stoppable`, else it raises."""
        self.best_point, self.best_value = result.x, result.fun
        self.start, self.two_values = (result.x, result.fun), False
        interrupted = ""
        try:
            if self.budget > 0:
                self._search(result)
        except _Enough:
            pass
        except KeyboardInterrupt:
            if not stoppable:
                raise
            interrupted = " and was interrupted"
        found = "" if self.budget > 0 and self._improved(result) else " and found nothing better"
        result.update(x=self.best_point, fun=self.best_value, nfev=result.nfev + self.used)
        result.non_finite += self.non_finite
        result.message += f" Polishing took {self.used} evaluations{found}{interrupted}."
        if self.two_values and NOISE_HINT not in result.message:
            result.message += f" {NOISE_HINT}"
        return result

    def _search(self, result: OptimizeResult) -> None:
        from scipy.optimize import Bounds
        from scipy.optimize import minimize as local_minimize

        local_minimize(self._value, result.x, method="L-BFGS-B", bounds=Bounds(*self.bounds))

    def _improved(self, result: OptimizeResult) -> bool:
        return bool(self.best_value < result.fun)

    def _spend(self) -> None:
        """Count an evaluation that begins now, if it may."""
        if self.used >= self.budget or (self.deadline is not None and time.monotonic() >= self.deadline):
            raise _Enough
        self.used += 1

    def _value(self, x: np.ndarray) -> float:
        self._spend()
        point = np.clip(x, *self.bounds)
        value = self.function(point.copy())
        if not np.isfinite(value):  # -inf is no best value either
            self.non_finite += 1
            return LARGE
        self.two_values |= value != self.start[1] and np.array_equal(point, self.start[0])
        if value < self.best_value:
            self.best_point, self.best_value = point, value
        return value
