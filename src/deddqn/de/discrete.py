"""Integers and categories: trials on the lattice, away from their parents, and at points that are new.

Parents and trials hold integers in their discrete coordinates; a mutant's are rounded. Of categories differences mean
nothing: a mutant whose number is no donor's category takes that of one, sometimes any. A population that agrees on a
value has no differences left to leave it: coordinates take a random step now and then, and a trial that equals its
parent always does. Where all coordinates are discrete, evaluated points are remembered (as hashes, in the arena), and a
trial steps on until it is new; when all points have been evaluated, the run is over.

The constants were chosen on generated problems (`benchmarks/mixed_problems.py`, instances from 100 on); steps twice or
half as frequent or long make no difference there, and none at all are worse on mixed problems.
"""

from __future__ import annotations

import math

import numpy as np

from deddqn._jit import fill, kernel
from deddqn.de.state import DE_STATE, DONORS, Counter
from deddqn.problems.integrality import Integrality
from deddqn.rng import Stream, integer_below, uniform

CATEGORICAL, LOG_INTEGER = int(Integrality.CATEGORICAL), int(Integrality.LOG_INTEGER)
STEPS_PER_TRIAL = 0.2  # random steps, on average
ANY_CATEGORY = 0.1  # probability that a changed category is any one
LONGER = 0.5  # probability that a random step is twice as long
MOST_STEPS = 30  # to a new point; then the nearest in counting order is taken
DE_STATE_AT = DE_STATE.at

_PRIME = np.uint64(0x9E3779B97F4A7C15)
_MIX = np.uint64(0xBF58476D1CE4E5B9)
_SHIFT = np.uint64(29)
_ONE = np.uint64(1)


# Integers and the coordinates that hold them


@kernel
def integer_at(de_state, d, coordinate):
    """The integer that is nearest to what a discrete coordinate holds, within the bounds."""
    if de_state.integrality[d] == LOG_INTEGER:
        coordinate = min(max(coordinate, de_state.lower[d]), de_state.upper[d])
        return math.floor(math.exp(coordinate) + 0.5)
    return min(max(math.floor(coordinate + 0.5), de_state.lower[d]), de_state.upper[d])


@kernel
def coordinate_of(de_state, d, integer):
    """The coordinate that holds an integer."""
    return math.log(integer) if de_state.integrality[d] == LOG_INTEGER else integer


@kernel
def drawn_coordinate(de_state, d, u):
    """A discrete coordinate from a number in [0, 1): all integers have equal parts, on a log scale as there."""
    low, high = de_state.lower[d], de_state.upper[d]
    if de_state.integrality[d] != LOG_INTEGER:
        return low + math.floor(u * (high - low + 1.0))
    low, high = de_state.search_lower[d], de_state.search_upper[d]
    return coordinate_of(de_state, d, integer_at(de_state, d, low + u * (high - low)))


# Trials


@kernel
def make_discrete(de_state, i):
    """Bring the trial of individual `i` onto the lattice; it is not its parent, and new where that is known."""
    trial, parent, stream = de_state.trials[i], de_state.parents[i], de_state.streams[Stream.SEARCH]
    same, rare = True, STEPS_PER_TRIAL / trial.size
    for d in range(trial.size):
        if de_state.integrality[d] == CATEGORICAL:
            if trial[d] != parent[d]:
                trial[d] = category_of(de_state, i, d, stream)
        elif de_state.integrality[d]:
            trial[d] = coordinate_of(de_state, d, integer_at(de_state, d, trial[d]))
        if can_move(de_state, d) and uniform(stream) < rare:
            trial[d] = stepped(de_state, d, trial[d], stream)
        same = same and trial[d] == parent[d]
    if same:
        step_randomly(de_state, trial, stream)
    if de_state.visited.size:
        make_new(de_state, trial, stream)


@kernel
def category_of(de_state, i, d, stream):
    """The category of a mutant in coordinate `d`: its own where a donor has that, else a random donor's; or any."""
    value, donors = de_state.trials[i, d], de_state.donors[i]
    if uniform(stream) < ANY_CATEGORY:
        return drawn_coordinate(de_state, d, uniform(stream))
    for k in range(DONORS):
        if de_state.parents[donors[k], d] == value:
            return value
    return de_state.parents[donors[integer_below(stream, DONORS)], d]


# Random steps


@kernel
def step_randomly(de_state, point, stream):
    """Move one discrete coordinate of `point`, a random one, to another value."""
    movable = 0
    for d in range(point.size):
        movable += can_move(de_state, d)
    if movable == 0:
        return
    chosen = integer_below(stream, movable)
    for d in range(point.size):
        if can_move(de_state, d):
            if chosen == 0:
                point[d] = stepped(de_state, d, point[d], stream)
                return
            chosen -= 1


@kernel
def can_move(de_state, d):
    """1 where a coordinate is discrete and has more than one value, else 0."""
    return 1 if de_state.integrality[d] and de_state.upper[d] > de_state.lower[d] else 0


@kernel
def stepped(de_state, d, coordinate, stream):
    """Another value of a discrete coordinate: any other category; or an integer 1, 2, 4, .. away, rather a near one."""
    low, high = integer_at(de_state, d, de_state.lower[d]), integer_at(de_state, d, de_state.upper[d])
    value = integer_at(de_state, d, coordinate)
    if de_state.integrality[d] == CATEGORICAL:
        other = low + math.floor(uniform(stream) * (high - low))
        return other + 1.0 if other >= value else other
    length = 1.0
    while uniform(stream) < LONGER and 2.0 * length <= high - low:
        length *= 2.0
    length = length if uniform(stream) < 0.5 else -length
    if not low <= value + length <= high:
        length = -length
    return coordinate_of(de_state, d, min(max(value + length, low), high))


# Points that were evaluated


@kernel
def hash_of(de_state, point):
    """A word that stands for `point`, never 0."""
    word = _PRIME
    for d in range(point.size):
        first = integer_at(de_state, d, de_state.lower[d])
        word = (word ^ np.uint64(integer_at(de_state, d, point[d]) - first)) * _MIX
        word ^= word >> _SHIFT
    return word | _ONE


@kernel
def slot_of(visited, word):
    """Where `word` lies in the table, or the empty slot where it would."""
    last = visited.size - 1
    slot = np.int64((word * _PRIME) >> np.uint64(32)) & last
    while visited[slot] != 0 and visited[slot] != word:
        slot = (slot + 1) & last
    return slot


@kernel
def is_new(de_state, point):
    """Whether `point` is not among those that are remembered."""
    return de_state.visited[slot_of(de_state.visited, hash_of(de_state, point))] == 0


@kernel
def remember_point(de_state, point):
    """Remember `point`, which is or will be evaluated; a table that is three quarters full takes no more."""
    visited, counters = de_state.visited, de_state.counters
    if visited.size == 0 or 4 * counters[Counter.VISITED] >= 3 * visited.size:
        return
    word = hash_of(de_state, point)
    slot = slot_of(visited, word)
    if visited[slot] == 0:
        visited[slot] = word
        counters[Counter.VISITED] += 1


@kernel
def make_new(de_state, point, stream):
    """Let `point` step on until it is new; in a space that is all but exhausted, count on to the next that is."""
    for _ in range(MOST_STEPS):
        if is_new(de_state, point):
            return
        step_randomly(de_state, point, stream)
    if points_left(de_state.counters) <= 0:
        return
    while not is_new(de_state, point):
        count_on(de_state, point)


@kernel
def count_on(de_state, point):
    """The next point of the lattice, as a number whose digits are the coordinates."""
    for d in range(point.size):
        if point[d] < de_state.upper[d]:
            point[d] = coordinate_of(de_state, d, integer_at(de_state, d, point[d]) + 1.0)
            return
        point[d] = de_state.lower[d]


@kernel
def points_left(counters):
    """Points of a discrete space that are not remembered."""
    return counters[Counter.POINTS] - counters[Counter.VISITED]


@kernel
def enter_population(de_state, first):
    """Remember the parents from `first` on, which are to be evaluated; one that is not new steps on until it is."""
    stream = de_state.streams[Stream.INIT]
    for i in range(first, de_state.counters[Counter.POPULATION]):
        make_new(de_state, de_state.parents[i], stream)
        remember_point(de_state, de_state.parents[i])


@kernel("none(int64)")
def enter_given_population(address):
    """The same for parents that were written from outside before anything was evaluated."""
    de_state = DE_STATE_AT(address)
    if de_state.visited.size:
        fill(de_state.visited, np.uint64(0))
        de_state.counters[Counter.VISITED] = 0
        enter_population(de_state, 0)
