"""Outlooks: what is to be expected of a point, from a model of the ranks of points whose values are known.

    outlook(u) = 1/2 + 1/2 sum_k w_k s(u, x_k) + min_k |u - x_k|^2 / r
    s(u, x) = r / (r + |u - x|^2)      (S + 0.001 I) w = y

x_k are the best parents, then the newest other points that were evaluated, at most `known_points` in all; y_k falls
from 1 for the best to -1 for the worst of them in equal steps, and equal values share the mean of theirs. Distances are
measured in widths of the box, and r is twenty times the mean squared distance of the x_k to their mean: s is so wide
that the model is smooth, and so little is added to S that it follows the points closely. An outlook is near to 1 where
a point as good as the best is to be expected, near to 0 where one as bad as the worst is; the last term favours points
far from all that is known, since picks by the model alone draw the population together too early. Only ranks count: f
and exp(f) have the same outlooks.

The model is renewed when a generation begins and 20 evaluations or more were made since it was renewed last. With n
points that takes n^3 / 6 + n^2 D / 2 multiplications, an outlook n D.

Loops from a number other than 0 run over unsigned integers: of others the compiler does not know that they are never
negative, which Python lets mean "from the end", and it does not do several steps at once.
"""

from __future__ import annotations

import math

import numpy as np

from deddqn._jit import copy, kernel
from deddqn.de.population_statistics import sort_by_fitness
from deddqn.de.state import Count, Mark

RENEWAL = 20  # evaluations
RANGE = 20.0  # r, in mean squared distances
RIDGE = 1e-3
SMALLEST_RANGE = 1e-300


@kernel
def note_beaten(search):
    """Note the points of a settled generation that will not be parents: worse trials, and the parents of the others."""
    counts, room = search.counts, search.beaten_values.size
    if room == 0:
        return
    for i in range(counts[Count.CURSOR]):
        place = counts[Count.BEATEN] % room
        replaced = search.values[i] <= search.fitness[i]
        copy(search.parents[i] if replaced else search.trials[i], search.beaten[place])
        search.beaten_values[place] = search.fitness[i] if replaced else search.values[i]
        counts[Count.BEATEN] += 1


@kernel
def renew_model(search):
    """Fit the model to the points that are known now, if this is the first look at it in a generation and it is old."""
    counts = search.counts
    if counts[Count.LOOKED] == counts[Count.GENERATION] + 1:
        return
    counts[Count.LOOKED] = counts[Count.GENERATION] + 1
    if counts[Count.KNOWN] and counts[Count.EVALUATIONS] - counts[Count.RENEWED] < RENEWAL:
        return
    counts[Count.RENEWED] = counts[Count.EVALUATIONS]
    gather_points(search)
    write_ranks(search)
    write_similarities(search)
    solve(search.similarities, search.known_weights, counts[Count.KNOWN])


@kernel
def gather_points(search):
    """Write the best parents and the newest beaten points as columns, in widths of the box, and their values."""
    counts, order, room = search.counts, search.order, search.beaten_values.size
    for d in range(search.units.size):
        width = search.upper[d] - search.lower[d]
        search.units[d] = 1.0 / width if width > 0.0 else 0.0
    parents = min(counts[Count.POPULATION], room)
    for k in range(parents):
        enter_point(search, k, search.parents[order[k]], search.fitness[order[k]])
    others = min(counts[Count.BEATEN], room - parents)
    for k in range(others):
        place = (counts[Count.BEATEN] - 1 - k) % room
        enter_point(search, parents + k, search.beaten[place], search.beaten_values[place])
    counts[Count.KNOWN] = parents + others


@kernel
def enter_point(search, k, point, value):
    """Let `point` be column number `k`."""
    for d in range(point.size):
        search.columns[d, k] = search.units[d] * point[d]
    search.known_values[k] = value


@kernel
def write_ranks(search):
    """Write y, from 1 for the best value to -1 for the worst, where the weights will be; equal for equal values."""
    known, order, ranks = search.counts[Count.KNOWN], search.known_order, search.known_weights
    for k in range(known):
        order[k] = k
    sort_by_fitness(order, search.known_values, known)
    first = 0
    while first < known:
        last = first
        while last + 1 < known and search.known_values[order[last + 1]] == search.known_values[order[first]]:
            last += 1
        for k in range(first, last + 1):
            ranks[order[k]] = 1.0 - (first + last) / (known - 1)
        first = last + 1


@kernel
def write_similarities(search):
    """Write the upper triangle of S + 0.001 I, and r."""
    known, columns, similarities = search.counts[Count.KNOWN], search.columns, search.similarities
    spread = 0.0
    for d in range(columns.shape[0]):
        mean = 0.0
        for k in range(known):
            mean += columns[d, k] / known
        for k in range(known):
            spread += (columns[d, k] - mean) * (columns[d, k] - mean) / known
    reach = max(RANGE * spread, SMALLEST_RANGE)
    search.marks[Mark.REACH] = reach
    for k in range(known):
        row = similarities[k]
        for d in range(columns.shape[0]):
            search.scaled[d] = columns[d, k]
        write_squares(columns, search.scaled, k, known, row)
        for j in range(np.uint64(k), np.uint64(known)):
            row[j] = reach / (reach + row[j])
        row[k] += RIDGE


@kernel
def write_squares(columns, point, first, last, squares):
    """Write the squared distances of `point` to the columns from `first` up to `last`: sums side by side."""
    start, end = np.uint64(first), np.uint64(last)
    for k in range(start, end):
        squares[k] = 0.0
    whole = point.size - point.size % 4
    for d in range(0, whole, 4):  # four coordinates at once: less is loaded and stored
        x, y, z, w = point[d], point[d + 1], point[d + 2], point[d + 3]
        a, b, c, e = columns[d], columns[d + 1], columns[d + 2], columns[d + 3]
        for k in range(start, end):
            one = (x - a[k]) * (x - a[k]) + (y - b[k]) * (y - b[k])
            squares[k] += one + ((z - c[k]) * (z - c[k]) + (w - e[k]) * (w - e[k]))
    for d in range(whole, point.size):
        x, a = point[d], columns[d]
        for k in range(start, end):
            squares[k] += (x - a[k]) * (x - a[k])


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
def outlook_of(search, point):
    """What is to be expected of `point`."""
    known, reach, squares, weights = (
        search.counts[Count.KNOWN],
        search.marks[Mark.REACH],
        search.squares,
        search.known_weights,
    )
    for d in range(point.size):
        search.scaled[d] = search.units[d] * point[d]
    write_squares(search.columns, search.scaled, 0, known, squares)
    total, nearest = 0.0, math.inf
    for k in range(known):
        total += weights[k] * (reach / (reach + squares[k]))
        nearest = min(nearest, squares[k])
    return 0.5 + 0.5 * total + nearest / reach
