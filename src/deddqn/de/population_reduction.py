"""Linear population size reduction (L-SHADE).

R. Tanabe, A. Fukunaga, "Improving the search performance of SHADE using linear population size reduction", CEC 2014.
"""

from __future__ import annotations

import math

import numpy as np

from deddqn._jit import copy, fill, kernel
from deddqn.de.archive import trim_archive
from deddqn.de.population_statistics import rank_parents
from deddqn.de.state import Counter, Scalar, archive_room


@kernel
def scheduled_size(de_state):
    """NP now: from the first to the final size, linearly over the budget, rounded; as it is if the end is not known."""
    counters = de_state.counters
    if counters[Counter.FIRST_POPULATION]:
        return counters[Counter.POPULATION]
    first, final = counters[Counter.ALLOCATED], counters[Counter.FINAL_POPULATION]
    spent = counters[Counter.EVALUATIONS] / counters[Counter.BUDGET]
    return np.int64(math.floor(first + (final - first) * spent + 0.5))


@kernel
def shrink_population(de_state):
    """Remove the worst parents down to the scheduled size; the others keep their order. The archive shrinks too."""
    counters = de_state.counters
    size, population = scheduled_size(de_state), counters[Counter.POPULATION]
    if size >= population:
        return
    rank_parents(de_state)
    order, removed, fitness, parents = de_state.order, de_state.told, de_state.fitness, de_state.parents
    fill(removed, 0)
    for k in range(size, population):
        removed[order[k]] = 1
    slot = 0
    for i in range(population):
        if not removed[i]:
            de_state.origin[slot] = i
            fitness[slot] = fitness[i]
            copy(parents[i], parents[slot])
            copy(de_state.parent_pairs[i], de_state.parent_pairs[slot])
            slot += 1
    for i in range(size, population):
        fitness[i] = math.inf
    counters[Counter.POPULATION] = size
    counters[Counter.RENUMBERED] = 1
    if counters[Counter.ARCHIVE_ROOM]:
        trim_archive(de_state, archive_room(de_state.scalars[Scalar.ARCHIVE], size))
