"""Points that were asked for and wait for their values, in asynchronous runs.

Trials lie in rows that are not those of their parents: first the recorded trials of this generation in the order in
which their values came, then the pending points. A row is lent to the kernels that know one trial per individual by
swapping it with the row of that number, and swapping back.
"""

from __future__ import annotations

import math

import numpy as np

from deddqn._jit import copy, kernel
from deddqn.de.archive import archive_parent
from deddqn.de.pending_state import Orphan
from deddqn.de.population_statistics import rank_parents
from deddqn.de.state import Counter
from deddqn.de.surrogate import enter_recent_point


@kernel
def first_pending(counters):
    """The row of the first pending point; a new population has no recorded trials."""
    return counters[Counter.RECORDED] if counters[Counter.INITIALISED] else 0


@kernel
def swap_rows(de_state, a, b):
    """Swap two rows of the trials, with all that belongs to them."""
    if a == b:
        return
    one, other = de_state.trials[a], de_state.trials[b]
    for d in range(one.size):
        one[d], other[d] = other[d], one[d]
    _swap(de_state.values, a, b)
    _swap(de_state.choices, a, b)
    _swap(de_state.against, a, b)
    _swap(de_state.trial_parents, a, b)
    _swap(de_state.untried, a, b)
    _swap(de_state.tickets, a, b)
    if de_state.trial_f.size:
        _swap(de_state.trial_f, a, b)
        _swap(de_state.trial_cr, a, b)


@kernel
def _swap(column, a, b):
    column[a], column[b] = column[b], column[a]


@kernel
def add_row(de_state, parent, untried):
    """Begin a pending point in the row after the last one; return the row."""
    counters = de_state.counters
    row = first_pending(counters) + counters[Counter.PENDING]
    de_state.trial_parents[row] = parent
    de_state.untried[row] = untried
    de_state.choices[row] = 0
    de_state.tickets[row] = counters[Counter.TICKETS]
    counters[Counter.TICKETS] += 1
    counters[Counter.PENDING] += 1
    return row


@kernel
def remove_row(de_state, row):
    """Forget a pending point; the last one takes its row."""
    counters = de_state.counters
    swap_rows(de_state, row, first_pending(counters) + counters[Counter.PENDING] - 1)
    counters[Counter.PENDING] -= 1


@kernel
def awaits_value(de_state, i):
    """Whether the value of individual `i` of a new population is still pending."""
    first = first_pending(de_state.counters)
    for row in range(first, first + de_state.counters[Counter.PENDING]):
        if de_state.untried[row] and de_state.trial_parents[row] == i:
            return True
    return False


@kernel
def next_individual(de_state):
    """Move the cursor to the next individual that has its value, in turn; return it."""
    counters = de_state.counters
    population = counters[Counter.POPULATION]
    for _ in range(population):
        counters[Counter.CURSOR] %= population
        if not awaits_value(de_state, counters[Counter.CURSOR]):
            break
        counters[Counter.CURSOR] += 1
    counters[Counter.CURSOR] %= population
    return counters[Counter.CURSOR]


@kernel
def worst_with_value(de_state):
    """The worst individual that has its value; -1 if none has."""
    counters, fitness = de_state.counters, de_state.fitness
    known = counters[Counter.POPULATION] if counters[Counter.INITIALISED] else counters[Counter.CURSOR]
    worst = -1
    for i in range(known):
        if (worst < 0 or fitness[i] > fitness[worst]) and not awaits_value(de_state, i):
            worst = i
    return worst


@kernel
def is_parent(de_state, point):
    """Whether a point is one of the parents already."""
    for i in range(de_state.counters[Counter.POPULATION]):
        same = True
        for d in range(point.size):
            same = same and point[d] == de_state.parents[i, d]
        if same:
            return True
    return False


@kernel
def replace_individual(de_state, i, point, value):
    """Let an evaluated point be individual `i`; the parents are ranked again."""
    de_state.fitness[i] = value
    copy(point, de_state.parents[i])
    if de_state.counters[Counter.INITIALISED]:
        rank_parents(de_state)
        de_state.counters[Counter.BEST] = de_state.order[0]


@kernel
def compete(de_state, point, value):
    """A point without a parent replaces the worst individual if it is better; copies of a parent do not."""
    worst = worst_with_value(de_state)
    if worst < 0 or not value < de_state.fitness[worst] or is_parent(de_state, point):
        enter_recent_point(de_state, point, value)
        return
    enter_recent_point(de_state, de_state.parents[worst], de_state.fitness[worst])
    archive_parent(de_state, worst)
    replace_individual(de_state, worst, point, value)


@kernel
def last_unasked(de_state):
    """The last individual of a new population that was neither asked for nor has a value; -1 if there is none."""
    counters = de_state.counters
    for i in range(counters[Counter.POPULATION] - 1, counters[Counter.CURSOR] - 1, -1):
        if de_state.fitness[i] == math.inf:
            return i
    return -1


@kernel
def keep_pending(de_state, recorded):
    """After a generation: the pending points move to the front, over the `recorded` trials."""
    for k in range(de_state.counters[Counter.PENDING]):
        swap_rows(de_state, k, recorded + k)


@kernel
def renumber_pending(de_state):
    """After a generation: pending points follow their parents to new numbers, or have none any more.

    So do points of the new population that is not new now: their individuals go on without their values.
    """
    counters, parents = de_state.counters, de_state.trial_parents
    renumbered = counters[Counter.RENUMBERED] == 1
    for row in range(counters[Counter.PENDING]):
        if renumbered and de_state.origin[0] < 0:
            parents[row] = Orphan.OLD_POPULATION
        elif parents[row] >= 0:
            parents[row] = _new_number(de_state, row) if renumbered else parents[row]
            if de_state.untried[row]:
                parents[row] = Orphan.NO_PARENT


@kernel
def _new_number(de_state, row):
    for k in range(de_state.counters[Counter.POPULATION]):
        if de_state.origin[k] == de_state.trial_parents[row]:
            return k
    return np.int64(Orphan.NO_PARENT)
