"""The surrogate model: kernel ridge regression of ranks, which scores candidate points before they are evaluated.

    score(u) = 1/2 + 1/2 sum_k w_k s(u, x_k) + min_k |u - x_k|^2 / l
    s(u, x) = l / (l + |u - x|^2)      (S + 0.001 I) w = y

The training points x_k are the best parents, then the most recent other points that were evaluated, `surrogate_size` at
the most. The targets y_k are ranks: they fall from 1 for the best to -1 for the worst in equal steps, and tied values
share the mean of theirs; so f and exp(f) give the same scores. The kernel s is inverse-quadratic, distances are
measured in widths of the box (categories are 0 or 1 apart), and the squared length scale l is twenty times the mean
squared distance of the x_k to their mean: wide enough for a smooth model, with a ridge small enough to follow the
points closely. A score is near 1 where a point as good as the best is expected and near 0 where one as bad as the worst
is. The last term is an exploration bonus for points far from all training points, without which pre-screening contracts
the population too early.

Surrogate-assisted DE with rank-based models: Jin, "Surrogate-assisted evolutionary computation", Swarm and Evolutionary
Computation 1 (2011); the inverse-quadratic kernel and the distance bonus are those of radial-basis-function methods
(Gutmann 2001; Regis and Shoemaker 2007).

The model is refitted when a generation begins and at least 20 evaluations were made since the last fit. With n points
that takes n^3 / 6 + n^2 D / 2 multiplications, a score n D.

Loops that start at a number other than 0 run over unsigned integers: of others the compiler does not know that they are
never negative, which in Python means "from the end", and does not vectorise them.
"""

from __future__ import annotations

import math

import numpy as np

from deddqn._jit import copy, kernel
from deddqn.de.population_statistics import sort_by_fitness
from deddqn.de.state import Counter, Scalar
from deddqn.problems.integrality import Integrality

CATEGORICAL = int(Integrality.CATEGORICAL)
REFIT_INTERVAL = 20  # evaluations between two fits, at least
LENGTH_SCALE_FACTOR = 20.0  # l, in mean squared distances
RIDGE = 1e-3
OTHER_CATEGORY = 1.0  # squared distance of two categories, in widths of the box
SMALLEST_LENGTH_SCALE = 1e-300


@kernel
def remember_recent_points(de_state):
    """Store the points of a finished generation that will not be parents: worse trials, and replaced parents."""
    for i in range(de_state.counters[Counter.RECORDED]):
        remember_recent_point(de_state, i)


@kernel
def remember_recent_point(de_state, i):
    """Store the trial of individual `i`, or the parent that it is about to replace."""
    replaced = de_state.values[i] <= de_state.fitness[i]
    point = de_state.parents[i] if replaced else de_state.trials[i]
    slot = enter_recent_point(de_state, point, de_state.fitness[i] if replaced else de_state.values[i])
    if slot >= 0:
        copy(de_state.parent_pairs[i] if replaced else de_state.trial_pairs[i], de_state.recent_pairs[slot])


@kernel
def enter_recent_point(de_state, point, value):
    """Store an evaluated point that is no parent in the place of the oldest one; return that, -1 if there is none."""
    room = de_state.recent_values.size
    if room == 0:
        return -1
    slot = de_state.counters[Counter.RECENT_POINTS] % room
    copy(point, de_state.recent_points[slot])
    de_state.recent_values[slot] = value
    de_state.counters[Counter.RECENT_POINTS] += 1
    return slot


@kernel
def refit_if_stale(de_state):
    """Refit the model to the training points of now, once per generation at most, if it is out of date."""
    counters = de_state.counters
    if counters[Counter.SURROGATE_CHECKED] == counters[Counter.GENERATION] + 1:
        return
    counters[Counter.SURROGATE_CHECKED] = counters[Counter.GENERATION] + 1
    if (
        counters[Counter.TRAINING_POINTS]
        and counters[Counter.EVALUATIONS] - counters[Counter.REFIT_AT] < REFIT_INTERVAL
    ):
        return
    counters[Counter.REFIT_AT] = counters[Counter.EVALUATIONS]
    gather_training_points(de_state)
    write_rank_targets(de_state)
    write_kernel_matrix(de_state)
    solve(de_state.kernel_matrix, de_state.surrogate_weights, counters[Counter.TRAINING_POINTS])


@kernel
def gather_training_points(de_state):
    """Gather the best parents and the most recent other points as columns, in widths of the box, and their values."""
    counters, order, room = de_state.counters, de_state.order, de_state.recent_values.size
    for d in range(de_state.inverse_widths.size):
        width = de_state.upper[d] - de_state.lower[d]
        de_state.inverse_widths[d] = 1.0 / width if width > 0.0 else 0.0
    parents = min(counters[Counter.POPULATION], room)
    for k in range(parents):
        enter_training_point(de_state, k, de_state.parents[order[k]], de_state.fitness[order[k]])
    others = min(counters[Counter.RECENT_POINTS], room - parents)
    for k in range(others):
        slot = (counters[Counter.RECENT_POINTS] - 1 - k) % room
        enter_training_point(de_state, parents + k, de_state.recent_points[slot], de_state.recent_values[slot])
    counters[Counter.TRAINING_POINTS] = parents + others


@kernel
def enter_training_point(de_state, k, point, value):
    """Write `point` as training point number `k`."""
    for d in range(point.size):
        de_state.training_points[d, k] = de_state.inverse_widths[d] * point[d]
    de_state.training_values[k] = value


@kernel
def write_rank_targets(de_state):
    """Write the targets y, from 1 for the best value to -1 for the worst, where the weights will be; ties are equal."""
    n_points, order, ranks = (
        de_state.counters[Counter.TRAINING_POINTS],
        de_state.training_order,
        de_state.surrogate_weights,
    )
    for k in range(n_points):
        order[k] = k
    sort_by_fitness(order, de_state.training_values, n_points)
    first = 0
    while first < n_points:
        last = first
        while (
            last + 1 < n_points and de_state.training_values[order[last + 1]] == de_state.training_values[order[first]]
        ):
            last += 1
        for k in range(first, last + 1):
            ranks[order[k]] = 1.0 - (first + last) / (n_points - 1)
        first = last + 1


@kernel
def write_kernel_matrix(de_state):
    """Write the upper triangle of S + 0.001 I, and l."""
    n_points, training_points, kernel_matrix = (
        de_state.counters[Counter.TRAINING_POINTS],
        de_state.training_points,
        de_state.kernel_matrix,
    )
    spread = 0.0
    for d in range(training_points.shape[0]):
        mean = 0.0
        for k in range(n_points):
            mean += training_points[d, k] / n_points
        for k in range(n_points):
            spread += (training_points[d, k] - mean) * (training_points[d, k] - mean) / n_points
    squared_length_scale = max(LENGTH_SCALE_FACTOR * spread, SMALLEST_LENGTH_SCALE)
    de_state.scalars[Scalar.SQUARED_LENGTH_SCALE] = squared_length_scale
    for k in range(n_points):
        row = kernel_matrix[k]
        for d in range(training_points.shape[0]):
            de_state.scaled_point[d] = training_points[d, k]
        write_squared_distances(training_points, de_state.scaled_point, k, n_points, row)
        if de_state.integrality.size:
            count_other_categories(de_state, k, row)
        for j in range(np.uint64(k), np.uint64(n_points)):
            row[j] = squared_length_scale / (squared_length_scale + row[j])
        row[k] += RIDGE


@kernel
def write_squared_distances(training_points, point, first, last, squared_distances):
    """Write the squared distances of `point` to the columns from `first` up to `last`: sums side by side."""
    start, end = np.uint64(first), np.uint64(last)
    for k in range(start, end):
        squared_distances[k] = 0.0
    whole = point.size - point.size % 4
    for d in range(0, whole, 4):  # four coordinates at once: less is loaded and stored
        x, y, z, w = point[d], point[d + 1], point[d + 2], point[d + 3]
        a, b, c, e = training_points[d], training_points[d + 1], training_points[d + 2], training_points[d + 3]
        for k in range(start, end):
            one = (x - a[k]) * (x - a[k]) + (y - b[k]) * (y - b[k])
            squared_distances[k] += one + ((z - c[k]) * (z - c[k]) + (w - e[k]) * (w - e[k]))
    for d in range(whole, point.size):
        x, a = point[d], training_points[d]
        for k in range(start, end):
            squared_distances[k] += (x - a[k]) * (x - a[k])


@kernel
def count_other_categories(de_state, first, squared_distances):
    """Let another category be `OTHER_CATEGORY` away from the scaled point, whatever the numbers of the two are."""
    point, training_points, last = (
        de_state.scaled_point,
        de_state.training_points,
        de_state.counters[Counter.TRAINING_POINTS],
    )
    for d in range(point.size):
        if de_state.integrality[d] == CATEGORICAL:
            x, a = point[d], training_points[d]
            for k in range(first, last):
                other = OTHER_CATEGORY if x != a[k] else 0.0
                squared_distances[k] += other - (x - a[k]) * (x - a[k])


@kernel
def solve(matrix, right, n):
    """Write the solution over the right side; of the symmetric matrix the upper triangle is read, and spoilt.

    Elimination without a search for pivots, since the matrix is positive definite; four unknowns at once. Of a pivot
    its reciprocal is kept.
    """
    for first in range(0, n, 4):
        last = min(first + 4, n)
        for k in range(first, last):
            matrix[k, k] = 1.0 / matrix[k, k]
            eliminate(matrix, right, k, last, n)
        if last < n:
            eliminate_four(matrix, right, first, n)
    for k in range(n - 1, -1, -1):
        right[k] = (right[k] - product(matrix[k], right, k + 1, n)) * matrix[k, k]


@kernel
def eliminate(matrix, right, k, last, n):
    """Eliminate unknown `k` from the equations after it up to `last`."""
    row = matrix[k]
    for i in range(k + 1, last):
        target, factor = matrix[i], row[i] * row[k]
        for j in range(np.uint64(i), np.uint64(n)):
            target[j] -= factor * row[j]
        right[i] -= factor * right[k]


@kernel
def eliminate_four(matrix, right, k, n):
    """Eliminate four unknowns, from `k` on, from all equations after theirs."""
    a, b, c, e = matrix[k], matrix[k + 1], matrix[k + 2], matrix[k + 3]
    for i in range(k + 4, n):
        target = matrix[i]
        fa, fb, fc, fe = a[i] * a[k], b[i] * b[k + 1], c[i] * c[k + 2], e[i] * e[k + 3]
        for j in range(np.uint64(i), np.uint64(n)):
            target[j] -= (fa * a[j] + fb * b[j]) + (fc * c[j] + fe * e[j])
        right[i] -= (fa * right[k] + fb * right[k + 1]) + (fc * right[k + 2] + fe * right[k + 3])


@kernel
def product(a, b, first, last):
    """The scalar product of the elements from `first` up to `last`; four sums, which need not wait for each other."""
    whole = last - (last - first) % 4
    p, q, r, s = 0.0, 0.0, 0.0, 0.0
    for j in range(first, whole, 4):
        p += a[j] * b[j]
        q += a[j + 1] * b[j + 1]
        r += a[j + 2] * b[j + 2]
        s += a[j + 3] * b[j + 3]
    for j in range(whole, last):
        p += a[j] * b[j]
    return (p + q) + (r + s)


@kernel
def surrogate_score(de_state, point):
    """The score of `point`; see the module's header."""
    n_points, squared_length_scale, squared_distances, weights = (
        de_state.counters[Counter.TRAINING_POINTS],
        de_state.scalars[Scalar.SQUARED_LENGTH_SCALE],
        de_state.squared_distances,
        de_state.surrogate_weights,
    )
    for d in range(point.size):
        de_state.scaled_point[d] = de_state.inverse_widths[d] * point[d]
    write_squared_distances(de_state.training_points, de_state.scaled_point, 0, n_points, squared_distances)
    if de_state.integrality.size:
        count_other_categories(de_state, 0, squared_distances)
    total, nearest = 0.0, math.inf
    for k in range(n_points):
        total += weights[k] * (squared_length_scale / (squared_length_scale + squared_distances[k]))
        nearest = min(nearest, squared_distances[k])
    return 0.5 + 0.5 * total + nearest / squared_length_scale
