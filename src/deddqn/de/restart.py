"""Restarts: a converged population is replaced by a new one; for the last part of the budget the best one returns."""

from __future__ import annotations

import math

from deddqn._jit import copy, kernel
from deddqn.de.initialization import draw_population
from deddqn.de.population_statistics import rank_parents
from deddqn.de.state import Count, Mark, Model
from deddqn.de.success_history import forget_lessons
from deddqn.de.termination import target_reached

TIES = 0.02  # of a generation's trials show that there are plateaus
PLATEAU = 8.0  # tolerances: as far apart may coordinates be there


@kernel
def has_converged(search):
    """True when the parents' values and coordinates are closer together than the tolerance allows.

    On a plateau coordinates drift: there they may be farther apart.
    """
    population, marks, fitness = search.counts[Count.POPULATION], search.marks, search.fitness
    tolerance = marks[Mark.RESTART_TOLERANCE]
    best = worst = fitness[0]
    for i in range(1, population):
        best, worst = min(best, fitness[i]), max(worst, fitness[i])
    span = 0.5 * marks[Mark.F_WSF] - 0.5 * marks[Mark.F_BSF]  # halves cannot overflow
    if not worst < math.inf or 0.5 * worst - 0.5 * best > tolerance * span:
        return False
    if on_plateaus(search):
        tolerance *= PLATEAU
    parents, lower, upper = search.parents, search.lower, search.upper
    for d in range(lower.size):
        low = high = parents[0, d]
        for i in range(1, population):
            low, high = min(low, parents[i, d]), max(high, parents[i, d])
        if high - low > tolerance * (upper[d] - lower[d]):
            return False
    return True


@kernel
def on_plateaus(search):
    """True when more than a few trials of the generation had exactly the values of their parents."""
    return search.counts[Count.TIED] > TIES * search.counts[Count.CURSOR]


@kernel
def restart_if_converged(search):
    """Begin anew with a new population of the same size, where the population has converged and there is time."""
    if not is_time_to_restart(search) or target_reached(search.marks) or not has_converged(search):
        return
    counts = search.counts
    if search.kept_fitness.size:
        keep_population(search)
    draw_population(search)
    for i in range(counts[Count.POPULATION]):
        search.fitness[i] = math.inf
    forget_lessons(search)
    search.model[Model.SIGMA] = 0.0
    counts[Count.INITIALISED] = 0
    note_new_population(search)
    counts[Count.RESTARTS] += 1
    counts[Count.BORN] = counts[Count.EVALUATIONS]


@kernel
def is_time_to_restart(search):
    """Whether the budget leaves more than a new population, and before the reserve as much as this one has lived."""
    counts = search.counts
    left = counts[Count.BUDGET] - counts[Count.EVALUATIONS]
    if left <= counts[Count.POPULATION]:
        return False
    lived = counts[Count.EVALUATIONS] - counts[Count.BORN]
    return search.kept_fitness.size == 0 or left - counts[Count.RESERVE] >= lived


@kernel
def note_new_population(search):
    """No individual is one of the last population; what was archived belonged to that."""
    counts = search.counts
    for i in range(counts[Count.POPULATION]):
        search.origin[i] = -1
    counts[Count.ARCHIVED] = 0
    counts[Count.RENUMBERED] = 1


@kernel
def keep_population(search):
    """Keep the parents, which are about to be replaced by new ones, if none that were kept are better."""
    rank_parents(search)
    counts, order, fitness = search.counts, search.order, search.fitness
    if counts[Count.KEPT] and search.kept_fitness[0] <= fitness[order[0]]:
        return
    counts[Count.KEPT] = counts[Count.POPULATION]
    for k in range(counts[Count.POPULATION]):
        search.kept_fitness[k] = fitness[order[k]]
        copy(search.parents[order[k]], search.kept[k])


@kernel
def return_to_kept(search):
    """In the reserve let the kept parents be the population again, as many as there are now, if they are better; once.

    There are never fewer, since populations do not grow.
    """
    counts = search.counts
    if counts[Count.KEPT] == 0 or counts[Count.BUDGET] - counts[Count.EVALUATIONS] > counts[Count.RESERVE]:
        return
    rank_parents(search)
    if search.kept_fitness[0] < search.fitness[search.order[0]]:
        for k in range(counts[Count.POPULATION]):
            search.fitness[k] = search.kept_fitness[k]
            copy(search.kept[k], search.parents[k])
        note_new_population(search)
    counts[Count.KEPT] = 0
