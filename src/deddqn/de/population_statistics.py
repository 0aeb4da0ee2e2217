"""Order, mean, deviation and median of the parents at the start of a generation, safe for values up to 1e308."""

from __future__ import annotations

import math

from deddqn._jit import kernel
from deddqn.de.state import Counter, Scalar


@kernel
def sort_by_fitness(order, fitness, n):
    """Sort the first `n` indices in `order` by (fitness, index): Shell's sort, quick on nearly sorted input."""
    gap = n // 2
    while gap > 0:
        for k in range(gap, n):
            moving = order[k]
            slot = k
            while slot >= gap:
                other = order[slot - gap]
                if fitness[other] < fitness[moving] or (fitness[other] == fitness[moving] and other < moving):
                    break
                order[slot] = other
                slot -= gap
            order[slot] = moving
        gap //= 2


@kernel
def mean_and_deviation(order, fitness, finite):
    """Mean and standard deviation (ddof 0) of the `finite` best values, measured from the best one.

    Half differences in units of the largest one cannot overflow, and do not lose digits to a large offset.
    """
    best = 0.5 * fitness[order[0]]
    spread = 0.5 * fitness[order[finite - 1]] - best
    if spread == 0.0:
        return fitness[order[0]], 0.0
    total = 0.0
    for k in range(finite):
        total += (0.5 * fitness[order[k]] - best) / spread
    mean = total / finite
    squares = 0.0
    for k in range(finite):
        off = (0.5 * fitness[order[k]] - best) / spread - mean
        squares += off * off
    return 2.0 * (best + spread * mean), 2.0 * (spread * math.sqrt(squares / finite))


@kernel
def rank_parents(de_state):
    """Fill `order`."""
    population, order = de_state.counters[Counter.POPULATION], de_state.order
    for k in range(population):
        order[k] = k
    sort_by_fitness(order, de_state.fitness, population)


@kernel
def describe_parents(de_state):
    """Fill `order`, the index of the best parent, and MEAN, DEVIATION and MEDIAN of the finite values."""
    n = de_state.counters[Counter.POPULATION]
    fitness, order, scalars = de_state.fitness, de_state.order, de_state.scalars
    rank_parents(de_state)
    de_state.counters[Counter.BEST] = order[0]
    finite = 0
    while finite < n and fitness[order[finite]] < math.inf:
        finite += 1
    if finite == 0:
        scalars[Scalar.MEAN] = scalars[Scalar.DEVIATION] = 0.0
        scalars[Scalar.MEDIAN] = math.inf
        return
    scalars[Scalar.MEAN], scalars[Scalar.DEVIATION] = mean_and_deviation(order, fitness, finite)
    low, high = fitness[order[(finite - 1) // 2]], fitness[order[finite // 2]]
    scalars[Scalar.MEDIAN] = 0.5 * low + 0.5 * high
