"""Restarts: a converged population is replaced by a new one; for the last part of the budget the best one returns."""

from __future__ import annotations

import math

from deddqn._jit import copy, fill, kernel
from deddqn.de.anytime import restarted_size
from deddqn.de.cma_state import Model
from deddqn.de.discrete import points_left
from deddqn.de.initialization import draw_population
from deddqn.de.population_statistics import rank_parents
from deddqn.de.state import Counter, Scalar, archive_room
from deddqn.de.success_history import reset_memory
from deddqn.de.termination import target_reached

TIES = 0.02  # of a generation's trials show that there are plateaus
PLATEAU = 8.0  # tolerances: as far apart may coordinates be there


@kernel
def has_converged(de_state):
    """True when the parents' values and coordinates are closer together than the tolerance allows.

    On a plateau coordinates drift: there they may be farther apart.
    """
    population, scalars, fitness = de_state.counters[Counter.POPULATION], de_state.scalars, de_state.fitness
    tolerance = scalars[Scalar.RESTART_TOLERANCE]
    best = worst = fitness[0]
    for i in range(1, population):
        best, worst = min(best, fitness[i]), max(worst, fitness[i])
    span = 0.5 * scalars[Scalar.F_WSF] - 0.5 * scalars[Scalar.F_BSF]  # halves cannot overflow
    if not worst < math.inf or 0.5 * worst - 0.5 * best > tolerance * span:
        return False
    if on_plateaus(de_state):
        tolerance *= PLATEAU
    parents, lower, upper = de_state.parents, de_state.lower, de_state.upper
    for d in range(lower.size):
        low = high = parents[0, d]
        for i in range(1, population):
            low, high = min(low, parents[i, d]), max(high, parents[i, d])
        if high - low > tolerance * (upper[d] - lower[d]):
            return False
    return True


@kernel
def on_plateaus(de_state):
    """True when more than a few trials of the generation had exactly the values of their parents."""
    return de_state.counters[Counter.TIED] > TIES * de_state.counters[Counter.RECORDED]


@kernel
def restart_if_converged(de_state):
    """Restart with a new population, where the population has converged and there is time.

    It has the same size; where the end is not known, twice the size.
    """
    counters = de_state.counters
    if not is_time_to_restart(de_state) or target_reached(de_state.scalars) or not has_converged(de_state):
        return
    if de_state.best_population_fitness.size:
        keep_best_population(de_state)
    enlarge_population(de_state, restarted_size(counters))
    draw_population(de_state)
    for i in range(counters[Counter.POPULATION]):
        de_state.fitness[i] = math.inf
        fill(de_state.parent_pairs[i], math.inf)
    reset_memory(de_state)
    de_state.model[Model.SIGMA] = 0.0
    counters[Counter.INITIALISED] = 0
    note_new_population(de_state)
    counters[Counter.RESTARTS] += 1
    counters[Counter.POPULATION_START] = counters[Counter.EVALUATIONS]


@kernel
def is_time_to_restart(de_state):
    """Whether the budget leaves more than a new population, and before the reserve as much as this one has lived."""
    counters = de_state.counters
    left = counters[Counter.BUDGET] - counters[Counter.EVALUATIONS] - counters[Counter.PENDING]
    if left <= restarted_size(counters):
        return False
    if de_state.visited.size and points_left(counters) <= restarted_size(counters):
        return False
    lived = counters[Counter.EVALUATIONS] - counters[Counter.POPULATION_START]
    return de_state.best_population_fitness.size == 0 or left - counters[Counter.FINAL_EVALUATIONS] >= lived


@kernel
def enlarge_population(de_state, size):
    """Let the population have `size` individuals, as many as now or more, and the archive room accordingly."""
    counters = de_state.counters
    if size > counters[Counter.POPULATION]:
        counters[Counter.POPULATION] = size
        if counters[Counter.ARCHIVE_ROOM]:
            counters[Counter.ARCHIVE_ROOM] = archive_room(de_state.scalars[Scalar.ARCHIVE], size)


@kernel
def note_new_population(de_state):
    """No individual is one of the last population; what was archived belonged to that."""
    counters = de_state.counters
    for i in range(counters[Counter.POPULATION]):
        de_state.origin[i] = -1
    counters[Counter.ARCHIVED] = 0
    counters[Counter.RENUMBERED] = 1


@kernel
def keep_best_population(de_state):
    """Keep the parents, which are about to be replaced by new ones, if none that were kept are better."""
    rank_parents(de_state)
    counters, order, fitness = de_state.counters, de_state.order, de_state.fitness
    if counters[Counter.BEST_POPULATION_SIZE] and de_state.best_population_fitness[0] <= fitness[order[0]]:
        return
    counters[Counter.BEST_POPULATION_SIZE] = counters[Counter.POPULATION]
    for k in range(counters[Counter.POPULATION]):
        de_state.best_population_fitness[k] = fitness[order[k]]
        copy(de_state.parents[order[k]], de_state.best_population[k])
        copy(de_state.parent_pairs[order[k]], de_state.best_population_pairs[k])


@kernel
def return_to_best_population(de_state):
    """In the reserve let the kept parents be the population again, as many as there are now, if they are better; once.

    There are fewer only if the population grew since, in an extended run: then it gets their size.
    """
    counters = de_state.counters
    if (
        counters[Counter.BEST_POPULATION_SIZE] == 0
        or counters[Counter.BUDGET] - counters[Counter.EVALUATIONS] > counters[Counter.FINAL_EVALUATIONS]
    ):
        return
    rank_parents(de_state)
    if de_state.best_population_fitness[0] < de_state.fitness[de_state.order[0]]:
        counters[Counter.POPULATION] = min(counters[Counter.POPULATION], counters[Counter.BEST_POPULATION_SIZE])
        for k in range(counters[Counter.POPULATION]):
            de_state.fitness[k] = de_state.best_population_fitness[k]
            copy(de_state.best_population[k], de_state.parents[k])
            copy(de_state.best_population_pairs[k], de_state.parent_pairs[k])
        note_new_population(de_state)
    counters[Counter.BEST_POPULATION_SIZE] = 0
