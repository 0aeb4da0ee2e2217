"""Draw: the initial population, and five distinct donors for an individual before anything is decided."""

from __future__ import annotations

from deddqn._jit import kernel
from deddqn.de.discrete import drawn_coordinate, enter_population
from deddqn.de.state import DONORS, Counter
from deddqn.rng import Stream, integer_below, uniform


@kernel
def draw_population(de_state):
    """Fill the parents uniformly in the initialisation range, from the init stream; all integers are equally likely."""
    draw_individuals(de_state, 0)


@kernel
def draw_individuals(de_state, first):
    """The same for the parents from number `first` on."""
    for i in range(first, de_state.counters[Counter.POPULATION]):
        draw_point(de_state, de_state.parents[i])
    if de_state.visited.size:
        enter_population(de_state, first)


@kernel
def draw_point(de_state, point):
    """Write a uniform point in the initialisation range, from the init stream."""
    stream, lower, upper = de_state.streams[Stream.INIT], de_state.lower, de_state.upper
    for d in range(lower.size):
        if de_state.integrality.size and de_state.integrality[d]:
            point[d] = drawn_coordinate(de_state, d, uniform(stream))
        else:
            point[d] = lower[d] + uniform(stream) * (upper[d] - lower[d])


@kernel
def draw_donors(de_state, i):
    """Draw r1..r5 for individual `i`: distinct, and different from `i`."""
    stream = de_state.streams[Stream.SEARCH]
    population = de_state.counters[Counter.POPULATION]
    donors = de_state.donors[i]
    drawn = 0
    while drawn < DONORS:
        candidate = integer_below(stream, population)
        fresh = candidate != i
        for k in range(drawn):
            fresh = fresh and donors[k] != candidate
        if fresh:
            donors[drawn] = candidate
            drawn += 1
