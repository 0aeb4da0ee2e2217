"""Rows 1-19 as the authors' released code computes them, for networks that were trained on it.

They depart from Table 1 in these points (`docs/research/interpretations.md` has all of them):

- the first observation of a run is 0 in every row;
- f_wsf is the worst value of a parent: a trial that is worse than its parent does not count, so f_wsf never rises;
- x_bsf is the parent of the trial that improved f_bsf last, not the trial (row 19);
- stagnation counts accepted trials only (row 6);
- the differences of rows 13-17 have no sign.

That row 5 is dim / 50 is a matter of the policy's dim^max.
"""

from __future__ import annotations

import math

from deddqn._jit import copy, kernel
from deddqn.de.state import DE_STATE, DONORS, Counter, Scalar
from deddqn.features.buffers import OBSERVER
from deddqn.features.landscape import (
    BEST_FITNESS,
    DONOR_FITNESS,
    LANDSCAPE_SIGNATURE,
    PARENT_FITNESS,
    STAGNATION,
    relative_difference,
    write_distances,
    write_population,
)

DE_STATE_AT, OBSERVER_AT = DE_STATE.at, OBSERVER.at


@kernel
def _note_parents(de_state, observer):
    """Let the parents of a new generation count for f_wsf; the first ones also give x_bsf."""
    counters, fitness = de_state.counters, de_state.fitness
    if observer.described[0] == 0:
        observer.worst_parent[0] = -math.inf
        copy(de_state.best_point, observer.improved_parent)
    for k in range(counters[Counter.POPULATION]):
        if fitness[k] < math.inf:
            observer.worst_parent[0] = max(observer.worst_parent[0], fitness[k])
    observer.described[0] = counters[Counter.GENERATION] + 1


@kernel(LANDSCAPE_SIGNATURE)
def write_authors_landscape(de_state_address, observer_address, i):
    """Write rows 1-19 for individual `i`, whose donors are drawn, into the observer's features."""
    de_state, observer = DE_STATE_AT(de_state_address), OBSERVER_AT(observer_address)
    counters, scalars, features, fitness = de_state.counters, de_state.scalars, observer.features, de_state.fitness
    first = observer.described[0] == 0
    if observer.described[0] <= counters[Counter.GENERATION]:
        _note_parents(de_state, observer)
    if first:
        return 0  # nothing has been written yet: all features are 0
    half_range = 0.5 * observer.worst_parent[0] - 0.5 * scalars[Scalar.F_BSF]
    write_population(de_state, observer, half_range)
    write_distances(de_state, observer, i, observer.improved_parent)
    value, donors, best = fitness[i], de_state.donors[i], fitness[counters[Counter.BEST]]
    features[STAGNATION] = min(observer.accepted_stagnation[0] / counters[Counter.HORIZON], 1.0)
    features[PARENT_FITNESS] = max(relative_difference(value, scalars[Scalar.F_BSF], half_range), 0.0)
    for k in range(DONORS):
        features[DONOR_FITNESS + k] = abs(relative_difference(value, fitness[donors[k]], half_range))
    features[BEST_FITNESS] = abs(relative_difference(value, best, half_range))
    return 0
