"""A problem that is stretched: f(o + T (x - o)), where o is the optimum and T stretches along random directions.

T = R diag(s) R' with a random rotation R and s_i = 10^u_i, u_i uniform in [-0.75, 0.75]. So a function that was equally
wide in all directions is up to 30 times as wide in some as in others, and a quadratic has condition numbers up to 10^3.
The optimum and its value stay. Trainings and validations use stretched training functions, which alone are few.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from deddqn._jit import OBJECTIVE_SIGNATURE, call_objective, kernel
from deddqn.problems.cec2005.variants import random_rotation
from deddqn.problems.problem import Objective

LARGEST_EXPONENT = 0.75

ADDRESS, ORIGIN = 0, 1  # the data: where the function's code begins, o, T, then the function's own data


@kernel(OBJECTIVE_SIGNATURE, numeric=True)
def call_stretched(x, data, work, gauss):
    """The function at o + T (x - o), which is written to the beginning of `work`."""
    dimension = x.size
    rows = ORIGIN + dimension
    own = rows + dimension * dimension
    for i in range(dimension):
        total = data[ORIGIN + i]
        for j in range(dimension):
            total += data[rows + i * dimension + j] * (x[j] - data[ORIGIN + j])
        work[i] = total
    return call_objective(np.int64(data[ADDRESS]), (work[:dimension], data[own:], work[dimension:], gauss))


class StretchedObjective(Objective):
    """The compiled form of a stretched problem; a copy in another process finds the function's code there."""

    def __init__(self, function: Objective, origin: np.ndarray, matrix: np.ndarray) -> None:
        data = np.concatenate([[float(function.address)], origin, matrix.ravel(), function.data])
        super().__init__(call_stretched, data, origin.size + function.work_size)
        object.__setattr__(self, "_made_of", (function, origin, matrix))

    def __reduce__(self) -> Any:
        return StretchedObjective, self._made_of  # type: ignore[attr-defined]


def random_stretch(dimension: int, rng: np.random.Generator) -> np.ndarray:
    """T, a (D, D) matrix."""
    rotation = random_rotation(dimension, rng)
    return (rotation * 10.0 ** rng.uniform(-LARGEST_EXPONENT, LARGEST_EXPONENT, dimension)) @ rotation.T
