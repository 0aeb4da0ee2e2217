"""The archive of replaced parents, and the p-best parent of a trial (JADE)."""

from __future__ import annotations

import numpy as np

from deddqn._jit import copy, kernel
from deddqn.de.mutation import ARCHIVE_DONORS, STRATEGIES
from deddqn.de.state import Counter, Scalar
from deddqn.rng import Stream, integer_below

ARCHIVE_DONOR = np.array([ARCHIVE_DONORS.get(name, -1) for name in STRATEGIES])
"""By code: which donor may be a member of the archive; -1 for strategies that use the best parent itself."""

FEWEST_PBEST = 2


@kernel
def draw_pbest(de_state):
    """Any of the p NP best parents, of two at least."""
    population = de_state.counters[Counter.POPULATION]
    n_pbest = max(FEWEST_PBEST, np.int64(de_state.scalars[Scalar.PBEST] * population + 0.5))
    return de_state.order[integer_below(de_state.streams[Stream.SEARCH], min(n_pbest, population))]


@kernel
def draw_from_archive(de_state, i, donor):
    """Write the donors of individual `i` to `archive_donors`; number `donor` is any parent not used before it or
    archived one.

    That donor is already drawn from the parents that are left; so it stays with their share of the choice.
    """
    counters, archive_donors = de_state.counters, de_state.archive_donors
    copy(de_state.donors[i], archive_donors)
    left = counters[Counter.POPULATION] - 1 - donor
    drawn = integer_below(de_state.streams[Stream.SEARCH], left + counters[Counter.ARCHIVED])
    if drawn >= left:
        archive_donors[donor] = counters[Counter.ALLOCATED] + drawn - left


@kernel
def archive_parent(de_state, i):
    """Keep parent `i`, which is about to be replaced by a better trial; a full archive forgets any member."""
    counters = de_state.counters
    room = counters[Counter.ARCHIVE_ROOM]
    if room == 0:
        return
    slot = counters[Counter.ARCHIVED]
    if slot < room:
        counters[Counter.ARCHIVED] += 1
    else:
        slot = integer_below(de_state.streams[Stream.SEARCH], room)
    copy(de_state.parents[i], de_state.parents[counters[Counter.ALLOCATED] + slot])


@kernel
def trim_archive(de_state, room):
    """Make the archive smaller: any members go, and the last ones take their places."""
    counters, parents = de_state.counters, de_state.parents
    first = counters[Counter.ALLOCATED]
    counters[Counter.ARCHIVE_ROOM] = room
    while counters[Counter.ARCHIVED] > room:
        gone = integer_below(de_state.streams[Stream.SEARCH], counters[Counter.ARCHIVED])
        counters[Counter.ARCHIVED] -= 1
        copy(parents[first + counters[Counter.ARCHIVED]], parents[first + gone])
