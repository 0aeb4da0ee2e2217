"""The size of the population over a run: a linear schedule (L-SHADE), and new populations for converged ones.

R. Tanabe, A. Fukunaga, "Improving the search performance of SHADE using linear population size reduction", CEC 2014.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from deddqn.compiled import INNER, copy, fill
from deddqn.de.draw import draw_population
from deddqn.de.parameters import forget_lessons
from deddqn.de.pick import trim_archive
from deddqn.de.state import Count, Mark, Model, archive_room
from deddqn.de.statistics import rank_parents
from deddqn.de.targets import target_reached


@njit(**INNER)
def scheduled_size(search):
    """NP now: from the first to the final size, linearly over the budget, rounded."""
    counts = search.counts
    first, final = counts[Count.ALLOCATED], counts[Count.FINAL_POPULATION]
    spent = counts[Count.EVALUATIONS] / counts[Count.BUDGET]
    return np.int64(math.floor(first + (final - first) * spent + 0.5))


@njit(**INNER)
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


@njit(**INNER)
def has_converged(search):
    """True when the parents' values and coordinates are closer together than the tolerance allows."""
    population, marks, fitness = search.counts[Count.POPULATION], search.marks, search.fitness
    tolerance = marks[Mark.RESTART_TOLERANCE]
    best = worst = fitness[0]
    for i in range(1, population):
        best, worst = min(best, fitness[i]), max(worst, fitness[i])
    span = 0.5 * marks[Mark.F_WSF] - 0.5 * marks[Mark.F_BSF]  # halves cannot overflow
    if not worst < math.inf or 0.5 * worst - 0.5 * best > tolerance * span:
        return False
    parents, lower, upper = search.parents, search.lower, search.upper
    for d in range(lower.size):
        low = high = parents[0, d]
        for i in range(1, population):
            low, high = min(low, parents[i, d]), max(high, parents[i, d])
        if high - low > tolerance * (upper[d] - lower[d]):
            return False
    return True


@njit(**INNER)
def restart_if_converged(search):
    """Begin anew with a new population of the same size, where the budget leaves more than its evaluation."""
    counts = search.counts
    population = counts[Count.POPULATION]
    enough = counts[Count.BUDGET] - counts[Count.EVALUATIONS] > population
    if not enough or target_reached(search.marks) or not has_converged(search):
        return
    draw_population(search)
    for i in range(population):
        search.fitness[i] = math.inf
        search.origin[i] = -1
    forget_lessons(search)
    search.model[Model.SIGMA] = 0.0
    counts[Count.ARCHIVED] = counts[Count.INITIALISED] = 0
    counts[Count.RENUMBERED] = 1
    counts[Count.RESTARTS] += 1
