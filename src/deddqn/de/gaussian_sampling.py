"""The strategy ``gauss``: a sample of the normal distribution of the better half of the parents.

With m and C the mean and covariance of the mu better parents, m + F z with z ~ N(0, C) is

    sum c_k x_k,    c_k = 1 / mu + F (w_k - mean w) / sqrt(mu),    w_k ~ N(0, 1)

which takes mu normal numbers and mu D operations, and no matrix. The c_k sum to 1, so that the sum may be taken of
the differences to one of the points: digits are not lost where the population has converged far from 0.
"""

from __future__ import annotations

import math

from deddqn._jit import kernel
from deddqn.de.state import Counter
from deddqn.rng import Stream, standard_normal


@kernel
def draw_weights(de_state, better, scale):
    """Write the c_k of the `better` best parents into `weights`."""
    stream, weights = de_state.streams[Stream.SEARCH], de_state.weights
    total = 0.0
    for k in range(better):
        weights[k] = standard_normal(stream)
        total += weights[k]
    mean, unit = total / better, scale / math.sqrt(better)
    for k in range(better):
        weights[k] = 1.0 / better + unit * (weights[k] - mean)


@kernel
def sample_better_half(de_state, scale, trial):
    """Write m + F z into `trial`."""
    parents, order, weights = de_state.parents, de_state.order, de_state.weights
    better = de_state.counters[Counter.POPULATION] // 2
    draw_weights(de_state, better, scale)
    best = parents[order[0]]
    for d in range(trial.size):
        trial[d] = 0.0
    for k in range(1, better):
        point, weight = parents[order[k]], weights[k]
        for d in range(trial.size):
            trial[d] += weight * (point[d] - best[d])
    for d in range(trial.size):
        trial[d] += best[d]
