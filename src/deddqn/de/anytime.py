"""Runs whose end is not known: a schedule that is good at any moment.

A plan over the budget (a population that shrinks, a reserve for the best one) pays only at its end. A run with a
`first_population` has none: it works with a small population that is always about to converge; when it has converged,
a new one of twice the size begins, up to NP (A. Auger, N. Hansen, "A restart CMA evolution strategy with increasing
population size", CEC 2005). The policy, which reads how much of the budget is left, always sees 0.3 of it, or 200
evaluations; only when the most evaluations come so near does it see the end.
"""

from __future__ import annotations

import math

import numpy as np

from deddqn._jit import kernel
from deddqn.de.state import Counter

SHARE = 0.7  # of the horizon that counts as spent
FEWEST_LEFT = 200  # evaluations to the horizon
GROWTH = 2  # of the population at a restart
TOLERANCE = 1e-8  # of restarts: what is left behind is really converged, for nothing returns to it
PER_ROOT = 5.0  # first individuals per square root of D
SMALLEST_FIRST = 10


def first_size(dimension: int, largest: int) -> int:
    """How many individuals a run of unknown end begins with."""
    return min(largest, max(SMALLEST_FIRST, math.floor(PER_ROOT * math.sqrt(dimension) + 0.5)))


@kernel
def slide_horizon(counters):
    """Move the horizon of a run whose end is not known."""
    if counters[Counter.FIRST_POPULATION]:
        made = counters[Counter.EVALUATIONS]
        ahead = max(np.int64(made / SHARE), made + FEWEST_LEFT)
        counters[Counter.HORIZON] = min(ahead, counters[Counter.BUDGET])


@kernel
def restarted_size(counters):
    """NP after a restart: the same, or more where the end is not known."""
    if counters[Counter.FIRST_POPULATION]:
        return min(GROWTH * counters[Counter.POPULATION], counters[Counter.ALLOCATED])
    return counters[Counter.POPULATION]
