"""Do coordinates interact? The initial population tells, without a further evaluation.

Its last individuals are the corners of rectangles: x; x with another coordinate i; x with another coordinate j; x with
both. Where i and j do not interact, the change of i changes the value as much with the old j as with the new one: the
test of differential grouping (M. N. Omidvar, X. Li, Y. Mei, X. Yao, "Cooperative co-evolution with differential
grouping for large scale optimization", IEEE Transactions on Evolutionary Computation 18(3), 2014). With many
coordinates, of which every tested pair interacts, CMA-ES searches with the whole budget.
"""

from __future__ import annotations

import math

from deddqn._jit import copy, kernel
from deddqn.de.state import Counter
from deddqn.rng import Stream, integer_below

CORNERS = 4
ROUNDING = 1e-10  # of the values: a smaller difference is none


@kernel
def draw_rectangles(de_state):
    """Make rectangles of the last individuals, which are drawn already."""
    counters, stream, dimension = de_state.counters, de_state.streams[Stream.INIT], de_state.lower.size
    for k in range(counters[Counter.INTERACTION_TESTS]):
        first = counters[Counter.POPULATION] - CORNERS * (k + 1)
        i = integer_below(stream, dimension)
        j = (i + 1 + integer_below(stream, dimension - 1)) % dimension
        parents = de_state.parents
        other_i, other_j = parents[first + 1, i], parents[first + 1, j]
        for corner in range(1, CORNERS):
            copy(parents[first], parents[first + corner])
        parents[first + 1, i] = parents[first + 3, i] = other_i
        parents[first + 2, j] = parents[first + 3, j] = other_j


@kernel
def all_interact(de_state):
    """Whether every tested pair of coordinates interacts; not where a value is not finite."""
    counters, fitness = de_state.counters, de_state.fitness
    for k in range(min(counters[Counter.INTERACTION_TESTS], counters[Counter.POPULATION] // CORNERS)):
        first = counters[Counter.POPULATION] - CORNERS * (k + 1)
        size = 0.0
        for corner in range(CORNERS):
            size += abs(fitness[first + corner])
        change = fitness[first + 1] - fitness[first]
        other = fitness[first + 3] - fitness[first + 2]
        if not math.isfinite(size) or not abs(change - other) > ROUNDING * size:
            return False
    return True
