"""Draw: the initial population, and five distinct donors for an individual before anything is decided."""

from __future__ import annotations

from deddqn._jit import kernel
from deddqn.de.state import DONORS, Count
from deddqn.rng import Stream, integer_below, uniform


@kernel
def draw_population(search):
    """Fill the parents uniformly in the initialisation range, from the init stream."""
    stream, parents, lower, upper = search.streams[Stream.INIT], search.parents, search.lower, search.upper
    for i in range(search.counts[Count.POPULATION]):
        for d in range(lower.size):
            parents[i, d] = lower[d] + uniform(stream) * (upper[d] - lower[d])


@kernel
def draw_donors(search, i):
    """Draw r1..r5 for individual `i`: distinct, and different from `i`."""
    stream = search.streams[Stream.SEARCH]
    population = search.counts[Count.POPULATION]
    donors = search.donors[i]
    drawn = 0
    while drawn < DONORS:
        candidate = integer_below(stream, population)
        fresh = candidate != i
        for k in range(drawn):
            fresh = fresh and donors[k] != candidate
        if fresh:
            donors[drawn] = candidate
            drawn += 1
