"""Table 1 rows 1-19: where the individual and the population stand, computed at every step."""

from __future__ import annotations

import math

from numba import njit

from deddqn.compiled import ENGINE, INNER
from deddqn.de.state import DONORS, Count, Mark
from deddqn.features.layout import AT
from deddqn.features.state import Tally

PARENT_FITNESS, MEAN_FITNESS, DEVIATION = AT["parent_fitness"], AT["mean_fitness"], AT["fitness_deviation"]
BUDGET, DIMENSION, STAGNATION = AT["remaining_budget"], AT["dimension"], AT["stagnation"]
DONOR_DISTANCE, BEST_DISTANCE, BSF_DISTANCE = AT["donor_distance"], AT["best_distance"], AT["bsf_distance"]
DONOR_FITNESS, BEST_FITNESS = AT["donor_fitness"], AT["best_fitness"]


@njit(**ENGINE)
def relative_difference(a, b, half_range):
    """(a - b) / (f_wsf - f_bsf) in [-1, 1]; non-finite values saturate. Half differences cannot overflow."""
    if a == math.inf:
        return 0.0 if b == math.inf else 1.0
    if b == math.inf:
        return -1.0
    if not half_range > 0.0:
        return 0.0
    return min(max((0.5 * a - 0.5 * b) / half_range, -1.0), 1.0)


@njit(**ENGINE)
def relative_distance(a, b, diagonal):
    """Euclidean distance of two points over the box diagonal, in [0, 1]; 0 for a box without extent."""
    total = 0.0
    for d in range(a.size):
        off = a[d] - b[d]
        total += off * off
    if not diagonal > 0.0:
        return 0.0
    ratio = math.sqrt(total) / diagonal
    return ratio if ratio < 1.0 else 1.0


@njit(**INNER)
def _write_population(search, observer, half_range):
    counts, marks, features = search.counts, search.marks, observer.features
    best = marks[Mark.F_BSF]
    features[MEAN_FITNESS] = features[DEVIATION] = 0.0
    if marks[Mark.MEDIAN] < math.inf:  # some parent has a finite value
        features[MEAN_FITNESS] = max(relative_difference(marks[Mark.MEAN], best, half_range), 0.0)
        if half_range > 0.0:
            features[DEVIATION] = min(marks[Mark.DEVIATION] / half_range, 1.0)
    budget = counts[Count.BUDGET]
    features[BUDGET] = (budget - counts[Count.EVALUATIONS]) / budget
    features[DIMENSION] = min(counts[Count.DIMENSION] / observer.tallies[Tally.MAX_DIMENSION], 1.0)
    features[STAGNATION] = min(counts[Count.STAGNATION] / budget, 1.0)


@njit(**INNER)
def write_landscape(search, observer, i):
    """Write rows 1-19 for individual `i`, whose donors are drawn, into the observer's features."""
    marks, parents, fitness, features = search.marks, search.parents, search.fitness, observer.features
    half_range = 0.5 * marks[Mark.F_WSF] - 0.5 * marks[Mark.F_BSF]  # -inf while nothing finite is known
    diagonal = marks[Mark.DIAGONAL]
    donors, point, value, best = search.donors[i], parents[i], fitness[i], search.counts[Count.BEST]
    _write_population(search, observer, half_range)
    features[PARENT_FITNESS] = max(relative_difference(value, marks[Mark.F_BSF], half_range), 0.0)
    for k in range(DONORS):
        donor = donors[k]
        features[DONOR_DISTANCE + k] = relative_distance(point, parents[donor], diagonal)
        features[DONOR_FITNESS + k] = relative_difference(value, fitness[donor], half_range)
    features[BEST_DISTANCE] = relative_distance(point, parents[best], diagonal)
    features[BEST_FITNESS] = max(relative_difference(value, fitness[best], half_range), 0.0)
    features[BSF_DISTANCE] = relative_distance(point, search.best_point, diagonal)
