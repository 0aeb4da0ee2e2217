"""Constraints: one total order of points by value f and violation v, as the one number that all of the search compares.

    v = sum_j excess_j / scale_j          excess_j: how far constraint value j is beyond its limits
    key = f                               where v <= level
    key = worst + spread v / (1 + v)      elsewhere

`worst` is the worst value f of any point with v <= level so far, and `spread` how far that is above the best one; while
there is no such point they are 0 and 1. So points that count as feasible are ordered by f and come before all others,
which are ordered by v (K. Deb, "An efficient constraint handling method for genetic algorithms", CMAME 186, 2000), and
keys have the size of values: means, deviations, improvements and features need not know about constraints.

The level is 0 unless some constraint is narrow: an equality, or a band of less than a hundredth of its scale. Then it
begins with the violation that most of the initial population keep to, and shrinks to 0, so that the search comes to the
feasible region from all sides (T. Takahama, S. Sakai, "Constrained optimization by the epsilon constrained differential
evolution", CEC 2006). When `worst` or the level changes, the keys of all stored points are made again from their pairs
(f, v).

Strict constraints have no level: of a point that violates one nothing but v is known. The scales are the mean excesses
in the initial population. The answer of a run is its best point at level 0, whatever the level is. Shares and the
schedule were chosen on random problems (benchmarks/generated_constraints.py).
"""

from __future__ import annotations

import math

from deddqn._jit import caller_of, copy, fill, kernel
from deddqn.de.cma_state import Model
from deddqn.de.constraint_state import Pair
from deddqn.de.population_statistics import sort_by_fitness
from deddqn.de.state import DE_STATE, Counter, Scalar

ASSESS_SIGNATURE = "int64(int64, int64)"
"""assess(address of the DE state, i) -> 0"""
LEVEL_SIGNATURE = "int64(int64)"
"""update_level(address of the DE state) -> 0"""

call_assess, call_level = caller_of(ASSESS_SIGNATURE), caller_of(LEVEL_SIGNATURE)
DE_STATE_AT = DE_STATE.at

LEVEL_SHARE = 0.9  # of the initial population keep to the first level
LEVEL_END = 0.9  # of the budget: then the level is 0
LEVEL_POWER = 5.0
UNPLANNED_POWER = 2.0  # where the end is not known: of the population's size over the evaluations that it lived
LEAST_SHARE = 1e-4  # of the first level; then it is 0
NARROW = 0.01  # of its scale: limits that are closer together need a level
LARGEST_KEY = 1e307  # sums of a few keys are finite
LEAST_SPREAD = 1e-3  # of the worst value: keys of violations keep their digits


@kernel
def excess(de_state, values, j):
    """How far constraint value `j` is beyond its limits and their tolerance; +inf for NaN."""
    value, tolerance = values[j], de_state.constraint_tolerance[j]
    if math.isnan(value):
        return math.inf
    if value < de_state.constraint_lower[j] - tolerance:
        return de_state.constraint_lower[j] - tolerance - value
    if value > de_state.constraint_upper[j] + tolerance:
        return value - tolerance - de_state.constraint_upper[j]
    return 0.0


@kernel
def violation(de_state, values):
    """v of the constraint values of one point."""
    total = 0.0
    for j in range(values.size):
        total += excess(de_state, values, j) / de_state.constraint_scale[j]
    return total


@kernel
def write_pair(de_state, i, value, pair):
    """Write (f, v) of point `i` of the generation; a feasible one without a finite value is the worst."""
    pair[Pair.VALUE] = value if math.isfinite(value) else math.inf
    pair[Pair.VIOLATION] = violation(de_state, de_state.constraint_values[i])
    if pair[Pair.VIOLATION] == 0.0 and pair[Pair.VALUE] == math.inf:
        pair[Pair.VIOLATION] = math.inf


@kernel
def key_of(scalars, pair):
    """The key of a pair (f, v); +inf where the number that counts is not finite."""
    value, amount = pair[Pair.VALUE], pair[Pair.VIOLATION]
    if not amount < math.inf:
        return math.inf
    if amount <= scalars[Scalar.LEVEL]:
        return min(value, LARGEST_KEY) if value < math.inf else math.inf
    return scalars[Scalar.WORST_VALUE] + scalars[Scalar.SPREAD] * (amount / (1.0 + amount))


@kernel
def is_better(pair, other):
    """Whether a pair (f, v) comes before another at level 0."""
    if pair[Pair.VIOLATION] == other[Pair.VIOLATION]:
        return pair[Pair.VALUE] < other[Pair.VALUE]
    return pair[Pair.VIOLATION] < other[Pair.VIOLATION]


@kernel(ASSESS_SIGNATURE)
def assess_point(address, i):
    """Make the value of point `i` of the generation its key, before it is recorded; note the answer of the run."""
    de_state = DE_STATE_AT(address)
    counters, pair = de_state.counters, de_state.trial_pairs[i]
    write_pair(de_state, i, de_state.values[i], pair)
    point = de_state.trials[i]
    if not counters[Counter.INITIALISED]:
        copy(pair, de_state.parent_pairs[i])
        point = de_state.parents[i]
    note_answer(de_state, point, pair, de_state.constraint_values[i])
    if note_extremes(de_state.scalars, pair):
        renew_keys(de_state)
    de_state.values[i] = key_of(de_state.scalars, pair)
    if counters[Counter.EVALUATIONS] == 0 or de_state.values[i] < de_state.scalars[Scalar.F_BSF]:
        copy(pair, de_state.best_pair[0])
    return 0


@kernel
def note_answer(de_state, point, pair, constraint_values):
    """Keep a point that is better than the answer at level 0; the first one in any case."""
    if de_state.counters[Counter.EVALUATIONS] == 0 or is_better(pair, de_state.answer_pair[0]):
        copy(pair, de_state.answer_pair[0])
        copy(point, de_state.answer_point)
        copy(constraint_values, de_state.answer_constraints)
        if pair[Pair.VIOLATION] == 0.0:
            de_state.scalars[Scalar.FEASIBLE_BSF] = pair[Pair.VALUE]


@kernel
def note_extremes(scalars, pair):
    """Note the extremes of values and violations; return whether keys have to be made again."""
    value, amount = pair[Pair.VALUE], pair[Pair.VIOLATION]
    if not amount < math.inf:
        return False
    scalars[Scalar.WORST_VIOLATION] = max(scalars[Scalar.WORST_VIOLATION], amount)
    if amount > scalars[Scalar.LEVEL] or value == math.inf:
        return False
    value = min(max(value, -LARGEST_KEY), LARGEST_KEY)
    if scalars[Scalar.BEST_VALUE] == math.inf:  # the first one
        scalars[Scalar.BEST_VALUE] = scalars[Scalar.WORST_VALUE] = value
        scalars[Scalar.SPREAD] = max(abs(value), 1.0)
        return True
    scalars[Scalar.BEST_VALUE] = min(scalars[Scalar.BEST_VALUE], value)
    if value > scalars[Scalar.WORST_VALUE]:
        scalars[Scalar.WORST_VALUE] = value
        return True
    return False


@kernel
def renew_keys(de_state):
    """Make the keys of all stored points again."""
    counters, scalars = de_state.counters, de_state.scalars
    width = scalars[Scalar.WORST_VALUE] - scalars[Scalar.BEST_VALUE]
    if width > 0.0:  # also: not -inf, when nothing is feasible
        scalars[Scalar.SPREAD] = min(max(width, LEAST_SPREAD * abs(scalars[Scalar.WORST_VALUE])), LARGEST_KEY)
    write_keys(scalars, de_state.parent_pairs, de_state.fitness, counters[Counter.POPULATION])
    recorded = counters[Counter.RECORDED] if counters[Counter.INITIALISED] else 0
    write_keys(scalars, de_state.trial_pairs, de_state.values, recorded)
    recent = min(counters[Counter.RECENT_POINTS], de_state.recent_values.size)
    write_keys(scalars, de_state.recent_pairs, de_state.recent_values, recent)
    samples = int(de_state.model[Model.SAMPLES])
    write_keys(scalars, de_state.model_pairs, de_state.model_values, samples)
    if de_state.model_values.size and de_state.model[Model.BEST] < math.inf:
        de_state.model[Model.BEST] = key_of(scalars, de_state.model_best_pair[0])
    renew_best_population(de_state)
    renew_best(de_state)


@kernel
def write_keys(scalars, pairs, keys, n):
    """Write the keys of the first `n` pairs."""
    for k in range(n):
        keys[k] = key_of(scalars, pairs[k])


@kernel
def renew_best_population(de_state):
    """Keys of the best population that a restart replaced; it stays sorted from best to worst, by insertion."""
    pairs, keys, size = (
        de_state.best_population_pairs,
        de_state.best_population_fitness,
        de_state.counters[Counter.BEST_POPULATION_SIZE],
    )
    write_keys(de_state.scalars, pairs, keys, size)
    for first in range(1, size):
        k = first
        while k > 0 and keys[k] < keys[k - 1]:
            keys[k], keys[k - 1] = keys[k - 1], keys[k]
            swap(pairs[k], pairs[k - 1])
            swap(de_state.best_population[k], de_state.best_population[k - 1])
            k -= 1


@kernel
def swap(one, other):
    """Swap the elements of two vectors."""
    for k in range(one.size):
        one[k], other[k] = other[k], one[k]


@kernel
def renew_best(de_state):
    """Best and worst key so far; another point may be the best one now."""
    counters, scalars = de_state.counters, de_state.scalars
    if counters[Counter.EVALUATIONS] == 0:
        return
    scalars[Scalar.F_BSF] = key_of(scalars, de_state.best_pair[0])
    take_if_better(de_state, de_state.answer_pair[0], de_state.answer_point)
    for i in range(counters[Counter.POPULATION]):
        take_if_better(de_state, de_state.parent_pairs[i], de_state.parents[i])
    largest = scalars[Scalar.WORST_VIOLATION]
    scalars[Scalar.F_WSF] = scalars[Scalar.WORST_VALUE]
    if largest > scalars[Scalar.LEVEL]:
        scalars[Scalar.F_WSF] += scalars[Scalar.SPREAD] * (largest / (1.0 + largest))


@kernel
def take_if_better(de_state, pair, point):
    """Make a point the best so far if its key is lower."""
    key = key_of(de_state.scalars, pair)
    if key < de_state.scalars[Scalar.F_BSF]:
        de_state.scalars[Scalar.F_BSF] = key
        copy(pair, de_state.best_pair[0])
        copy(point, de_state.best_point)


@kernel(LEVEL_SIGNATURE)
def update_level(address):
    """Between two generations: measure the scales once, lower the level, and make all keys again."""
    de_state = DE_STATE_AT(address)
    counters, scalars = de_state.counters, de_state.scalars
    if math.isnan(scalars[Scalar.FIRST_LEVEL]):
        begin_constraints(de_state)
    scalars[Scalar.LEVEL] = scalars[Scalar.FIRST_LEVEL] * level_share(counters)
    for i in range(counters[Counter.POPULATION]):  # a first level is higher than the one that they were recorded at
        note_extremes(scalars, de_state.parent_pairs[i])
    renew_keys(de_state)
    return 0


@kernel
def level_share(counters):
    """What is left of the first level: less and less over the budget; without one, over the life of the population."""
    if counters[Counter.FIRST_POPULATION]:
        lived = counters[Counter.EVALUATIONS] - counters[Counter.POPULATION_START]
        share = (counters[Counter.POPULATION] / max(lived, counters[Counter.POPULATION])) ** UNPLANNED_POWER
        return share if share >= LEAST_SHARE else 0.0
    spent = counters[Counter.EVALUATIONS] / (LEVEL_END * counters[Counter.BUDGET])
    return (1.0 - spent) ** LEVEL_POWER if spent < 1.0 else 0.0


@kernel
def begin_constraints(de_state):
    """Scales, violations, answer and first level from the initial population."""
    counters, scalars, pairs = de_state.counters, de_state.scalars, de_state.parent_pairs
    recorded = counters[Counter.RECORDED]
    write_scales(de_state, recorded)
    scalars[Scalar.WORST_VIOLATION] = 0.0
    for i in range(recorded):
        write_pair(de_state, i, pairs[i, Pair.VALUE], pairs[i])
        if pairs[i, Pair.VIOLATION] < math.inf:
            scalars[Scalar.WORST_VIOLATION] = max(scalars[Scalar.WORST_VIOLATION], pairs[i, Pair.VIOLATION])
    copy(pairs[0], de_state.best_pair[0])
    copy(pairs[0], de_state.answer_pair[0])
    copy(de_state.parents[0], de_state.answer_point)
    copy(de_state.constraint_values[0], de_state.answer_constraints)
    copy(de_state.parents[0], de_state.best_point)
    for i in range(1, recorded):
        note_answer(de_state, de_state.parents[i], pairs[i], de_state.constraint_values[i])
    levelled = has_narrow(de_state) and not counters[Counter.STRICT]
    scalars[Scalar.FIRST_LEVEL] = first_level(de_state, recorded) if levelled else 0.0


@kernel
def has_narrow(de_state):
    """Whether the limits of some constraint are close together."""
    lower, upper, scales = de_state.constraint_lower, de_state.constraint_upper, de_state.constraint_scale
    for j in range(scales.size):
        if lower[j] == upper[j] or upper[j] - lower[j] < NARROW * scales[j]:
            return True
    return False


@kernel
def first_level(de_state, recorded):
    """The violation that most of the first `recorded` parents keep to. Spoils `order` and `values`."""
    order, values = de_state.order, de_state.values
    for k in range(recorded):
        order[k] = k
        values[k] = de_state.parent_pairs[k, Pair.VIOLATION]
    sort_by_fitness(order, values, recorded)
    k = int(LEVEL_SHARE * recorded)
    while k > 0 and values[order[k]] == math.inf:
        k -= 1
    return values[order[k]] if values[order[k]] < math.inf else 0.0


@kernel
def write_scales(de_state, recorded):
    """The mean excess of every constraint over the first `recorded` points; 1 where there is none.

    Of strict constraints the largest one: their violations are never weighed against values.
    """
    scales = de_state.constraint_scale
    fill(scales, 0.0)
    for i in range(recorded):
        for j in range(scales.size):
            amount = excess(de_state, de_state.constraint_values[i], j)
            if amount < math.inf and de_state.counters[Counter.STRICT]:
                scales[j] = max(scales[j], amount)
            elif amount < math.inf:
                scales[j] += amount / recorded
    for j in range(scales.size):
        if not 0.0 < scales[j] < math.inf:
            scales[j] = 1.0
