"""Problem wrappers: a callback for every evaluation; values, noise and so runs stay the same, bit for bit."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from deddqn._jit import OBJECTIVE_SIGNATURE, PLAIN, kernel
from deddqn.problems.problem import Objective, ObjectiveCall, Problem
from deddqn.problems.python_callback import PythonObjective, call_python

EvaluationCallback = Callable[[np.ndarray, float], None]
"""Receives a point (D,) and its value."""


@kernel(OBJECTIVE_SIGNATURE)
def call_with_noise(x, data, work, gauss):
    """Objective kernel: as `call_python`, with the noise behind the coordinates. Writes `work`."""
    for d in range(x.size):
        work[d] = x[d]
    work[x.size] = gauss
    return call_python(work, data, work, gauss)


def with_callback(problem: Problem, callback: EvaluationCallback) -> Problem:
    """The same problem; `callback` receives every evaluation, in order."""
    call, size = ObjectiveCall(problem.objective), problem.dimension

    def evaluate(packed: np.ndarray) -> float:
        point = packed[:size].copy()
        value = call.at(point, packed[size])
        callback(point, value)
        return value

    python = PythonObjective(evaluate, size + 1)

    def plain(x: np.ndarray, data: np.ndarray, work: np.ndarray, gauss: float) -> float:
        return evaluate(np.append(x, gauss))

    kernel = plain if PLAIN else call_with_noise
    return problem.with_objective(Objective(kernel, python.data, size + 1, python))
