"""The last mile with constraints: scipy's SLSQP from the best point, in units that fit the problem."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from deddqn.optimize.constraint_results import fields_of
from deddqn.optimize.polish import LARGE, Polish
from deddqn.problems.constraints import Constraints

if TYPE_CHECKING:
    from scipy.optimize import OptimizeResult

STEP = 1e-7  # of finite differences, in widths of the box
ACCURACY = 1e-13
MARGINS = (1e-11, 1e-9, 1e-7)
"""How far inside of its limits a constraint value is kept, in widths of the box: rounding must not take it outside."""


class ConstrainedPolish(Polish):
    """Local search from a result with constraints; from a feasible point it goes to better feasible ones only.

    Coordinates are measured in widths of the box, value and constraint values in the lengths of their gradients at the
    start, so that no unit matters. Equalities are bands as wide as their tolerance.

    Parameters
    ----------
    function : of one point; gives (value, constraint values), which is one evaluation.
    bounds, budget, deadline : as in `Polish`.
    constraints : the limits of the constraint values.
    """

    def __init__(
        self,
        function: Callable[[np.ndarray], Any],
        bounds: tuple[np.ndarray, np.ndarray],
        budget: int,
        deadline: float | None,
        *,
        constraints: Constraints,
    ) -> None:
        super().__init__(function, bounds, budget, deadline)
        self.constraints = constraints
        self.low, self.high = constraints.lower - constraints.tolerance, constraints.upper + constraints.tolerance
        width = np.subtract(bounds[1], bounds[0])
        self.width = np.where(np.isfinite(width) & (width > 0.0), width, 1.0)
        self._rows: dict[bytes, np.ndarray] = {}
        self._slopes: dict[bytes, np.ndarray] = {}

    def _search(self, result: OptimizeResult) -> None:
        self.best_row = np.append(result.fun, np.concatenate(result.constr_values))
        for margin in MARGINS:
            before = (np.inf, np.inf)
            while self._rank(self.best_row) < before:
                before = self._rank(self.best_row)
                self._descend(margin)

    def _improved(self, result: OptimizeResult) -> bool:
        old = np.append(result.fun, np.concatenate(result.constr_values))
        result.update(fields_of(self.constraints, self.best_row[1:]))
        result.success = bool(result.success or self._rank(self.best_row)[0] == 0.0)
        return self._rank(self.best_row) < self._rank(old)

    def _rank(self, row: np.ndarray) -> tuple[float, float]:
        beyond = np.maximum(np.maximum(self.low - row[1:], row[1:] - self.high), 0.0)
        return float(np.where(np.isnan(row[1:]), np.inf, beyond).sum()), float(row[0])

    def _descend(self, margin: float) -> None:
        """SLSQP from the best point, with limits that are tighter by `margin`."""
        from scipy.optimize import Bounds
        from scipy.optimize import minimize as local_minimize

        start = self.best_point / self.width
        slopes = np.linalg.norm(self._jacobian(start), axis=1)
        units = np.where((slopes > 0.0) & np.isfinite(slopes), slopes, 1.0)
        inside = np.minimum(margin * units[1:], 0.25 * (self.high - self.low))
        limits = []
        for sign, limit in ((1.0, self.low + inside), (-1.0, self.high - inside)):
            chosen = np.flatnonzero(np.isfinite(limit))
            if chosen.size:
                limits.append(self._one_sided(sign / units[1:][chosen], limit[chosen], 1 + chosen))
        local_minimize(
            lambda u: self._row(u)[0] / units[0],
            start,
            jac=lambda u: self._jacobian(u)[0] / units[0],
            method="SLSQP",
            bounds=Bounds(*(bound / self.width for bound in self.bounds)),
            constraints=limits,
            options={"ftol": ACCURACY, "maxiter": 1000},
        )

    def _one_sided(self, factors: np.ndarray, limits: np.ndarray, chosen: np.ndarray) -> dict[str, Any]:
        return {
            "type": "ineq",
            "fun": lambda u: factors * (self._row(u)[chosen] - limits),
            "jac": lambda u: factors[:, None] * self._jacobian(u)[chosen],
        }

    def _row(self, u: np.ndarray) -> np.ndarray:
        """(value, constraint values) at `u`, in widths of the box; what is not finite becomes large."""
        key = u.tobytes()
        if key not in self._rows:
            self._rows = {key: self._evaluated(np.clip(u * self.width, *self.bounds))}
        return self._rows[key]

    def _evaluated(self, point: np.ndarray) -> np.ndarray:
        self._spend()
        row = np.asarray(self.function(point.copy()))
        if not np.isfinite(row).all():
            self.non_finite += 1
            return np.where(np.isfinite(row), row, LARGE)
        if self._rank(row) < self._rank(self.best_row):
            self.best_point, self.best_value, self.best_row = point, float(row[0]), row
        return row

    def _jacobian(self, u: np.ndarray) -> np.ndarray:
        """The slopes (1 + m, D) at `u` by differences, which take D evaluations."""
        key = u.tobytes()
        if key not in self._slopes:
            row, slopes, high = self._row(u), np.empty((1 + self.constraints.size, u.size)), self.bounds[1] / self.width
            for d in range(u.size):
                step = STEP if u[d] + STEP <= high[d] else -STEP
                moved = u.copy()
                moved[d] += step
                slopes[:, d] = (self._evaluated(np.clip(moved * self.width, *self.bounds)) - row) / step
            self._slopes = {key: slopes}
        return self._slopes[key]
