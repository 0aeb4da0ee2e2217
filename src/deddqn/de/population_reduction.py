"""Linear population size reduction (L-SHADE).

R. Tanabe, A. Fukunaga, "Improving the search performance of SHADE using linear population size reduction", CEC 2014.
"""

from __future__ import annotations

import math

import numpy as np

from deddqn._jit import copy, fill, kernel
from deddqn.de.archive import trim_archive
from deddqn.de.population_statistics import rank_parents
from deddqn.de.state import Count, Mark, archive_room


@kernel
def scheduled_size(search):
    """NP now: from the first to the final size, linearly over the budget, rounded."""
    counts = search.counts
    first, final = counts[Count.ALLOCATED], counts[Count.FINAL_POPULATION]
    spent = counts[Count.EVALUATIONS] / counts[Count.BUDGET]
    return np.int64(math.floor(first + (final - first) * spent + 0.5))


@kernel
def shrink_population(search):
    """Remove the worst parents down to the scheduled size; the others keep their order. The archive shrinks too."""
    counts = search.counts
    size, population = scheduled_size(search), counts[Count.POPULATION]
    if size >= population:
        return
    rank_parents(search)
    order, removed, fitness, parents = search.order, search.told, search.fitness, search.parents
    fill(removed, 0)
    for k in range(size, population):
        removed[order[k]] = 1
    place = 0
    for i in range(population):
        if not removed[i]:
            search.origin[place] = i
            fitness[place] = fitness[i]
            copy(parents[i], parents[place])
            place += 1
    for i in range(size, population):
        fitness[i] = math.inf
    counts[Count.POPULATION] = size
    counts[Count.RENUMBERED] = 1
    if counts[Count.ARCHIVE_ROOM]:
        trim_archive(search, archive_room(search.marks[Mark.ARCHIVE], size))
