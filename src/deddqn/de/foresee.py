"""Foresight: several trials of the chosen move are made, and the policy picks the one that is evaluated.

What it sees of a trial u is its *outlook*: the mean rank of the parents, 1 for the best and 0 for the worst, weighted
by distance^-8. It is high near to good parents. Distances are measured in widths of the box.

The first trial is the one that would be made without foresight; every other one has donors, guide, F and CR of its own.
"""

from __future__ import annotations

import math

from numba import njit, types

from deddqn.compiled import INNER, caller_of, copy
from deddqn.de.draw import draw_donors
from deddqn.de.propose import propose
from deddqn.de.state import SEARCH, Count

FORESEE_SIGNATURE = types.int64(types.int64, types.int64, types.int64, types.int64)
"""foresee(address of the search, address of the move, i, op) -> 0"""

call_foresee = caller_of(FORESEE_SIGNATURE)
SEARCH_AT = SEARCH.at


@njit(**INNER)
def foresee(address, move, i, op):
    """Write trials of individual `i` by operator `op` into `foreseen`, and their outlooks; note the choice."""
    search = SEARCH_AT(address)
    counts, trial = search.counts, search.trials[i]
    if counts[Count.ARRANGED] != counts[Count.GENERATION] + 1:
        arrange_parents(search)
    for k in range(search.outlook.size):
        if k > 0:
            draw_donors(search, i)
        propose(search, move, i, op)
        copy(trial, search.foreseen[k])
        if search.adapts[op]:
            search.foreseen_scale[k] = search.used_scale[i]
            search.foreseen_crossover[k] = search.used_crossover[i]
        search.outlook[k] = outlook_of(search, trial)
    return 0


@njit(**INNER)
def take_foreseen(search, i, k):
    """Let foreseen trial number `k` be the trial of individual `i`."""
    copy(search.foreseen[k], search.trials[i])
    if search.adapts[search.choices[i]]:
        search.used_scale[i] = search.foreseen_scale[k]
        search.used_crossover[i] = search.foreseen_crossover[k]


@njit(**INNER)
def arrange_parents(search):
    """Write the parents from best to worst as columns, in widths of the box."""
    columns, order, parents = search.columns, search.order, search.parents
    for d in range(columns.shape[0]):
        width = search.upper[d] - search.lower[d]
        search.units[d] = 1.0 / width if width > 0.0 else 0.0
        for k in range(search.counts[Count.POPULATION]):
            columns[d, k] = search.units[d] * parents[order[k], d]
    search.counts[Count.ARRANGED] = search.counts[Count.GENERATION] + 1


@njit(**INNER)
def outlook_of(search, point):
    """What is to be expected of `point`: the mean rank of the parents, weighted by distance^-8."""
    population, columns, squares = search.counts[Count.POPULATION], search.columns, search.squares
    for k in range(population):
        squares[k] = 0.0
    for d in range(point.size):
        x, column = search.units[d] * point[d], columns[d]
        for k in range(population):  # sums side by side
            squares[k] += (x - column[k]) * (x - column[k])
    nearest = math.inf
    for k in range(population):
        nearest = min(nearest, squares[k])
    total, weights = 0.0, 0.0
    for k in range(population):
        ratio = nearest / squares[k] if squares[k] > nearest else 1.0
        weight = ratio * ratio * ratio * ratio
        total += weight * k
        weights += weight
    return max(1.0 - total / (weights * (population - 1)), 0.0)  # rounding may give less
