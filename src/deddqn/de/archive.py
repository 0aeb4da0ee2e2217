"""Pick: the guide of a trial, and the donor that may come from the archive of replaced parents (JADE)."""

from __future__ import annotations

import numpy as np

from deddqn._jit import copy, kernel
from deddqn.de.mutation import ARCHIVE_DONORS, STRATEGIES
from deddqn.de.state import Count, Mark
from deddqn.rng import Stream, integer_below

ARCHIVE_DONOR = np.array([ARCHIVE_DONORS.get(name, -1) for name in STRATEGIES])
"""By code: which donor may be a member of the archive; -1 for strategies that are guided by the best parent itself."""

FEWEST_GUIDES = 2


@kernel
def draw_guide(search):
    """Any of the p NP best parents, of two at least."""
    population = search.counts[Count.POPULATION]
    guides = max(FEWEST_GUIDES, np.int64(search.marks[Mark.PBEST] * population + 0.5))
    return search.order[integer_below(search.streams[Stream.SEARCH], min(guides, population))]


@kernel
def draw_from_archive(search, i, donor):
    """Write the donors of individual `i` to `picked`; number `donor` is any parent not used before it or archived one.

    That donor is already drawn from the parents that are left; so it stays with their share of the choice.
    """
    counts, picked = search.counts, search.picked
    copy(search.donors[i], picked)
    left = counts[Count.POPULATION] - 1 - donor
    drawn = integer_below(search.streams[Stream.SEARCH], left + counts[Count.ARCHIVED])
    if drawn >= left:
        picked[donor] = counts[Count.ALLOCATED] + drawn - left


@kernel
def archive_parent(search, i):
    """Keep parent `i`, which is about to be replaced by a better trial; a full archive forgets any member."""
    counts = search.counts
    room = counts[Count.ARCHIVE_ROOM]
    if room == 0:
        return
    place = counts[Count.ARCHIVED]
    if place < room:
        counts[Count.ARCHIVED] += 1
    else:
        place = integer_below(search.streams[Stream.SEARCH], room)
    copy(search.parents[i], search.parents[counts[Count.ALLOCATED] + place])


@kernel
def trim_archive(search, room):
    """Make the archive smaller: any members go, and the last ones take their places."""
    counts, parents = search.counts, search.parents
    first = counts[Count.ALLOCATED]
    counts[Count.ARCHIVE_ROOM] = room
    while counts[Count.ARCHIVED] > room:
        gone = integer_below(search.streams[Stream.SEARCH], counts[Count.ARCHIVED])
        counts[Count.ARCHIVED] -= 1
        copy(parents[first + counts[Count.ARCHIVED]], parents[first + gone])
