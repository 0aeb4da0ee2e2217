"""Table 1 rows 1-19: where the individual and the population stand, computed at every step."""

from __future__ import annotations

import math

from deddqn._jit import caller_of, kernel
from deddqn.de.state import DONORS, Counter, Scalar
from deddqn.features.buffers import Tally
from deddqn.features.layout import AT

PARENT_FITNESS, MEAN_FITNESS, DEVIATION = AT["parent_fitness"], AT["mean_fitness"], AT["fitness_deviation"]
BUDGET, DIMENSION, STAGNATION = AT["remaining_budget"], AT["dimension"], AT["stagnation"]
DONOR_DISTANCE, BEST_DISTANCE, BSF_DISTANCE = AT["donor_distance"], AT["best_distance"], AT["bsf_distance"]
DONOR_FITNESS, BEST_FITNESS = AT["donor_fitness"], AT["best_fitness"]

LANDSCAPE_SIGNATURE = "int64(int64, int64, int64)"
"""write(address of the DE state, address of the observer, individual) -> 0, for states that are not the paper's"""

call_landscape = caller_of(LANDSCAPE_SIGNATURE)


@kernel
def relative_difference(a, b, half_range):
    """(a - b) / (f_wsf - f_bsf) in [-1, 1]; non-finite values saturate. Half differences cannot overflow."""
    if a == math.inf:
        return 0.0 if b == math.inf else 1.0
    if b == math.inf:
        return -1.0
    if not half_range > 0.0:
        return 0.0
    return min(max((0.5 * a - 0.5 * b) / half_range, -1.0), 1.0)


@kernel
def relative_distance(square, diagonal):
    """A distance, given its square, over the box diagonal, in [0, 1]; 0 for a box without extent."""
    if not diagonal > 0.0:
        return 0.0
    ratio = math.sqrt(square) / diagonal
    return ratio if ratio < 1.0 else 1.0


@kernel
def squared(z):
    """z^2 as a product: a power would be another last bit without the compiler."""
    return z * z


@kernel
def write_distances(de_state, observer, i, best_point):
    """Rows 7-12, and 19 from `best_point`.

    The seven sums run side by side: one after the other would take three times as long.
    """
    parents, point, donors, diagonal = (
        de_state.parents,
        de_state.parents[i],
        de_state.donors[i],
        de_state.scalars[Scalar.DIAGONAL],
    )
    r1, r2, r3, r4, r5 = donors[0], donors[1], donors[2], donors[3], donors[4]
    best = de_state.counters[Counter.BEST]
    s1, s2, s3, s4, s5, s_best, s_bsf = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for d in range(point.size):
        x = point[d]
        s1 += squared(x - parents[r1, d])
        s2 += squared(x - parents[r2, d])
        s3 += squared(x - parents[r3, d])
        s4 += squared(x - parents[r4, d])
        s5 += squared(x - parents[r5, d])
        s_best += squared(x - parents[best, d])
        s_bsf += squared(x - best_point[d])
    features = observer.features
    features[DONOR_DISTANCE] = relative_distance(s1, diagonal)
    features[DONOR_DISTANCE + 1] = relative_distance(s2, diagonal)
    features[DONOR_DISTANCE + 2] = relative_distance(s3, diagonal)
    features[DONOR_DISTANCE + 3] = relative_distance(s4, diagonal)
    features[DONOR_DISTANCE + 4] = relative_distance(s5, diagonal)
    features[BEST_DISTANCE] = relative_distance(s_best, diagonal)
    features[BSF_DISTANCE] = relative_distance(s_bsf, diagonal)


@kernel
def write_population(de_state, observer, half_range):
    """Rows 2-6; `half_range` is half of f_wsf - f_bsf."""
    counters, scalars, features = de_state.counters, de_state.scalars, observer.features
    best = scalars[Scalar.F_BSF]
    features[MEAN_FITNESS] = features[DEVIATION] = 0.0
    if scalars[Scalar.MEDIAN] < math.inf:  # some parent has a finite value
        features[MEAN_FITNESS] = max(relative_difference(scalars[Scalar.MEAN], best, half_range), 0.0)
        if half_range > 0.0:
            features[DEVIATION] = min(scalars[Scalar.DEVIATION] / half_range, 1.0)
    horizon = counters[Counter.HORIZON]
    features[BUDGET] = (horizon - counters[Counter.EVALUATIONS]) / horizon
    features[DIMENSION] = min(counters[Counter.DIMENSION] / observer.tallies[Tally.MAX_DIMENSION], 1.0)
    features[STAGNATION] = min(counters[Counter.STAGNATION] / horizon, 1.0)


@kernel
def write_landscape(de_state, observer, i):
    """Write rows 1-19 for individual `i`, whose donors are drawn, into the observer's features."""
    scalars, fitness, features = de_state.scalars, de_state.fitness, observer.features
    half_range = 0.5 * scalars[Scalar.F_WSF] - 0.5 * scalars[Scalar.F_BSF]  # -inf while nothing finite is known
    donors, value = de_state.donors[i], fitness[i]
    write_population(de_state, observer, half_range)
    write_distances(de_state, observer, i, de_state.best_point)
    features[PARENT_FITNESS] = max(relative_difference(value, scalars[Scalar.F_BSF], half_range), 0.0)
    for k in range(DONORS):
        features[DONOR_FITNESS + k] = relative_difference(value, fitness[donors[k]], half_range)
    best = fitness[de_state.counters[Counter.BEST]]
    features[BEST_FITNESS] = max(relative_difference(value, best, half_range), 0.0)
