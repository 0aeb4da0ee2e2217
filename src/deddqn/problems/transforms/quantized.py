"""A problem with plateaus: its function sees every coordinate rounded to one of 21 values over the box.

Only coordinates closer to the optimum's than one step are left as they are; so the optimum and its value stay.
Validations use quantised training functions: integers, settings and prices come in steps, too.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from deddqn._jit import OBJECTIVE_SIGNATURE, call_objective, kernel
from deddqn.problems.problem import Objective

STEPS = 20

ADDRESS, COORDINATES = 0, 1  # the data: where the function's code begins, three numbers each, the function's own data


@kernel(OBJECTIVE_SIGNATURE, numeric=True)
def call_quantised(x, data, work, gauss):
    """The function at the rounded point, which is written to the beginning of `work`."""
    dimension = x.size
    own = COORDINATES + 3 * dimension
    for i in range(dimension):
        at = COORDINATES + 3 * i
        origin, lower, step = data[at], data[at + 1], data[at + 2]  # of this coordinate
        near = abs(x[i] - origin) < step or step == 0.0
        work[i] = x[i] if near else lower + step * math.floor((x[i] - lower) / step + 0.5)
    return call_objective(np.int64(data[ADDRESS]), (work[:dimension], data[own:], work[dimension:], gauss))


class QuantisedObjective(Objective):
    """The compiled form of a quantised problem; a copy in another process finds the function's code there."""

    def __init__(self, function: Objective, origin: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> None:
        coordinates = np.column_stack([origin, lower, (upper - lower) / STEPS])
        data = np.concatenate([[float(function.address)], coordinates.ravel(), function.data])
        super().__init__(call_quantised, data, origin.size + function.work_size)
        object.__setattr__(self, "_made_of", (function, origin, lower, upper))

    def __reduce__(self) -> Any:
        return QuantisedObjective, self._made_of  # type: ignore[attr-defined]
