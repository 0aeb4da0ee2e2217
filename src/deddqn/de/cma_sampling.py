"""The strategy ``cma``: samples of a normal distribution that learns from them, as in CMA-ES.

The distribution N(m, sigma^2 C) belongs to the run. It begins with mean and covariance of the better half of the
parents when it is first needed. Every lambda of its evaluated samples update it (N. Hansen, "The CMA evolution
strategy: a tutorial", arXiv:1604.00772, with its default constants and positive weights); whatever the trials became,
repaired or made for an older distribution, is what it learns from, and steps that are longer than samples ever are
count with the length of such (N. Hansen, "Injecting external solutions into CMA-ES", arXiv:1110.4181). A distribution
that has converged, or found nothing better for long, restarts with twice as many samples per update, up to eight
times lambda, and so does it after a restart of the population.

C = U'U with a triangular U' in the slot of the symmetric root (O. Krause, D. R. Arbones, C. Igel, "CMA-ES with optimal
covariance update and storage complexity", NIPS 2016).
"""

from __future__ import annotations

import math

import numpy as np

from deddqn._jit import copy, fill, kernel
from deddqn.de.cma_state import LARGEST_LAMBDA, Model, fewest_samples
from deddqn.de.mutation import CMA, STRATEGIES
from deddqn.de.noise import begin_progress, first_samples, follow_progress
from deddqn.de.population_statistics import sort_by_fitness
from deddqn.de.state import Counter
from deddqn.rng import Stream, standard_normal

CODE = STRATEGIES.index(CMA)
SMALLEST_EXTENT = 1e-12  # of the distribution, in widths of the box
SMALLEST_DEVIATION = 1e-150
SMALLEST_PIVOT = 1e-14  # of a variance: below, coordinates depend on each other


@kernel
def sample_model(de_state, scale, trial):
    """Write m + F sigma U'z into `trial`."""
    collect_samples(de_state, False)
    if not de_state.model[Model.SIGMA] > 0.0:
        begin_model(de_state)
    mean, factor, white = de_state.model_mean, de_state.model_factor, de_state.model_white
    stream, unit = de_state.streams[Stream.SEARCH], scale * de_state.model[Model.SIGMA]
    for d in range(trial.size):
        white[d] = standard_normal(stream)
    colour(factor, white, trial)
    for d in range(trial.size):
        trial[d] = mean[d] + unit * trial[d]


@kernel
def collect_samples(de_state, generation_is_over):
    """Collect the samples evaluated since the last call; every lambda of them update the distribution."""
    model = de_state.model
    if de_state.model_mean.size == 0:
        return
    recorded = de_state.counters[Counter.RECORDED]
    for i in range(np.int64(model[Model.COLLECTED]), recorded):
        if de_state.strategy[de_state.choices[i]] == CODE and model[Model.SIGMA] > 0.0:
            slot = np.int64(model[Model.SAMPLES])
            copy(de_state.trials[i], de_state.model_points[slot])
            de_state.model_values[slot] = de_state.values[i]
            copy(de_state.trial_pairs[i], de_state.model_pairs[slot])
            model[Model.SAMPLES] = slot + 1
            if slot + 1 == model[Model.LAMBDA]:
                update_model(de_state)
    model[Model.COLLECTED] = 0 if generation_is_over else recorded


@kernel
def begin_model(de_state):
    """The distribution of the better half of the parents; what too few of them say about dependence counts less."""
    model, mean, parents, order = de_state.model, de_state.model_mean, de_state.parents, de_state.order
    better, dimension = de_state.counters[Counter.POPULATION] // 2, mean.size
    for d in range(dimension):
        mean[d] = 0.0
        for k in range(better):
            mean[d] += parents[order[k], d] / better
    trusted = better / (better + dimension)
    for a in range(dimension):
        for b in range(a):
            de_state.model_covariance[a, b] = trusted * _covariance(de_state, better, a, b)
        smallest = max(SMALLEST_EXTENT * (de_state.upper[a] - de_state.lower[a]), SMALLEST_DEVIATION)
        de_state.model_covariance[a, a] = max(_covariance(de_state, better, a, a), smallest * smallest)
    model[Model.LAMBDA] = fewest_samples(dimension) * min(2.0 ** model[Model.BEGUN], LARGEST_LAMBDA)
    model[Model.BEGUN] += 1
    model[Model.SIGMA] = 1.0
    model[Model.BEST] = math.inf
    model[Model.SAMPLES] = model[Model.UPDATES] = model[Model.STALE] = 0
    begin_progress(de_state)
    model[Model.LAMBDA] = first_samples(de_state, model[Model.LAMBDA])
    fill(de_state.path_sigma, 0.0)
    fill(de_state.path_covariance, 0.0)
    factorise(de_state.model_covariance, de_state.model_factor)


@kernel
def _covariance(de_state, better, a, b):
    parents, order, mean = de_state.parents, de_state.order, de_state.model_mean
    total = 0.0
    for k in range(better):
        total += (parents[order[k], a] - mean[a]) * (parents[order[k], b] - mean[b]) / better
    return total


@kernel
def factorise(covariance, factor):
    """Write the upper triangular U with U'U = C; False where C is not positive definite. Reads the lower half of C."""
    n = len(covariance)
    for j in range(n):
        row = factor[j]
        for i in range(j, n):
            row[i] = covariance[i, j]
        for k in range(j):
            above, share = factor[k], factor[k, j]
            for i in range(j, n):
                row[i] -= share * above[i]
        if not row[j] > SMALLEST_PIVOT * covariance[j, j]:
            return False
        pivot = math.sqrt(row[j])
        row[j] = pivot
        for i in range(j + 1, n):
            row[i] /= pivot
    return True


@kernel
def colour(factor, white, step):
    """Write U' white into `step`."""
    fill(step, 0.0)
    for k in range(step.size):
        row, share = factor[k], white[k]
        for d in range(k, step.size):
            step[d] += row[d] * share


@kernel
def whiten(factor, step, white):
    """Write the solution of U' white = step into `white`; return its length."""
    copy(step, white)
    square = 0.0
    for a in range(step.size):
        row = factor[a]
        white[a] /= row[a]
        square += white[a] * white[a]
        for b in range(a + 1, step.size):
            white[b] -= row[b] * white[a]
    return math.sqrt(square)


@kernel
def raw_weight(rank, samples):
    """The weight of the sample with this rank, from 0 on, before the weights are made to sum to 1."""
    return math.log(0.5 * (samples + 1.0)) - math.log(rank + 1.0)


@kernel
def path_rate(mass, n):
    """c_c: the share of a step in the evolution path of the covariance."""
    return (4.0 + mass / n) / (n + 4.0 + 2.0 * mass / n)


@kernel
def update_model(de_state):
    """Move the distribution towards the better half of the samples, and learn from the step."""
    model, mean, step = de_state.model, de_state.model_mean, de_state.model_step
    points, values, order = de_state.model_points, de_state.model_values, de_state.model_order
    samples, dimension, sigma = np.int64(model[Model.LAMBDA]), mean.size, model[Model.SIGMA]
    better, total, squares = samples // 2, 0.0, 0.0
    for k in range(better):
        total += raw_weight(k, samples)
        squares += raw_weight(k, samples) * raw_weight(k, samples)
    mass = total * total / squares  # mu_eff
    for k in range(samples):
        order[k] = k
    sort_by_fitness(order, values, samples)
    longest = math.sqrt(dimension) + 2.0 * dimension / (dimension + 2.0)
    fill(step, 0.0)
    for k in range(better):
        point, weight = points[order[k]], raw_weight(k, samples) / total
        for d in range(dimension):
            point[d] = (point[d] - mean[d]) / sigma
        length = whiten(de_state.model_factor, point, de_state.model_white)
        shortened = longest / length if length > longest else 1.0
        for d in range(dimension):
            point[d] *= shortened
            step[d] += weight * point[d]
    for d in range(dimension):
        mean[d] += sigma * step[d]
    model[Model.UPDATES] += 1
    model[Model.SAMPLES] = 0
    moving = move_paths(de_state, mass)
    _learn_covariance(de_state, samples, total, mass, moving)
    _note_best(de_state, order[0], values[order[samples - 1]])
    follow_progress(
        de_state, values[order[better]], values[order[samples - 1 - better // 2]] - values[order[better // 2]]
    )
    if not factorise(de_state.model_covariance, de_state.model_factor) or is_spent(de_state):
        model[Model.SIGMA] = 0.0


@kernel
def move_paths(de_state, mass):
    """Move both evolution paths and sigma by the step; return whether the step size is not about to grow fast."""
    model, step, white = de_state.model, de_state.model_step, de_state.model_white
    path_sigma, path_covariance, n = de_state.path_sigma, de_state.path_covariance, float(step.size)
    rate = (mass + 2.0) / (n + mass + 5.0)
    damping = 1.0 + 2.0 * max(0.0, math.sqrt((mass - 1.0) / (n + 1.0)) - 1.0) + rate
    expected = math.sqrt(n) * (1.0 - 1.0 / (4.0 * n) + 1.0 / (21.0 * n * n))
    whiten(de_state.model_factor, step, white)
    square = 0.0
    for d in range(step.size):
        path_sigma[d] = (1.0 - rate) * path_sigma[d] + math.sqrt(rate * (2.0 - rate) * mass) * white[d]
        square += path_sigma[d] * path_sigma[d]
    length = math.sqrt(square)
    unbiased = length / math.sqrt(1.0 - (1.0 - rate) ** (2.0 * model[Model.UPDATES]))
    moving = unbiased < (1.4 + 2.0 / (n + 1.0)) * expected
    rate_covariance = path_rate(mass, n)
    share = math.sqrt(rate_covariance * (2.0 - rate_covariance) * mass) if moving else 0.0
    for d in range(step.size):
        path_covariance[d] = (1.0 - rate_covariance) * path_covariance[d] + share * step[d]
    model[Model.SIGMA] *= math.exp(min(1.0, rate / damping * (length / expected - 1.0)))
    return moving


@kernel
def _learn_covariance(de_state, samples, total, mass, moving):
    """Rank-one and rank-mu update of the lower half of C."""
    rate_one, rate_mu = covariance_rates(mass, de_state.model_mean.size, 0.0)
    learn_path(de_state, mass, moving, rate_one, rate_mu)
    for k in range(samples // 2):
        add_square(
            de_state.model_covariance,
            de_state.model_points[de_state.model_order[k]],
            rate_mu * raw_weight(k, samples) / total,
        )


@kernel
def covariance_rates(mass, n, more):
    """c_1 and c_mu; `more` is added to mu_eff where the worse samples count, too."""
    rate_one = 2.0 / ((n + 1.3) * (n + 1.3) + mass)
    return rate_one, min(1.0 - rate_one, 2.0 * (mass - 2.0 + 1.0 / mass + more) / ((n + 2.0) * (n + 2.0) + mass))


@kernel
def learn_path(de_state, mass, moving, rate_one, kept_back):
    """Rank-one update of the lower half of C, which keeps 1 - c_1 - `kept_back` of itself."""
    covariance, path = de_state.model_covariance, de_state.path_covariance
    rate_covariance = path_rate(mass, float(path.size))
    lost = 0.0 if moving else rate_one * rate_covariance * (2.0 - rate_covariance)
    for a in range(path.size):
        for b in range(a + 1):
            covariance[a, b] = (1.0 - rate_one - kept_back + lost) * covariance[a, b] + rate_one * path[a] * path[b]


@kernel
def add_square(covariance, point, weight):
    """Add the weighted outer product of `point` with itself to the lower half of C."""
    for a in range(point.size):
        row, share = covariance[a], weight * point[a]
        for b in range(a + 1):
            row[b] += share * point[b]


@kernel
def _note_best(de_state, first, worst):
    model, best = de_state.model, de_state.model_values[first]
    improved = best < model[Model.BEST]
    if improved:
        copy(de_state.model_pairs[first], de_state.model_best_pair[0])
    model[Model.STALE] = 0 if improved else model[Model.STALE] + 1
    model[Model.BEST] = min(best, model[Model.BEST])
    if best == worst:  # a plain without slope: nothing to learn
        model[Model.STALE] = math.inf


@kernel
def is_spent(de_state):
    """True when the distribution has converged, or found nothing better for long."""
    model, covariance = de_state.model, de_state.model_covariance
    if de_state.counters[Counter.NOISE_HANDLING]:  # the parents that it would restart from are the luckiest
        return False
    patience = 10.0 + 30.0 * len(covariance) / model[Model.LAMBDA]
    if model[Model.STALE] > patience:
        return True
    for d in range(len(covariance)):
        extent = model[Model.SIGMA] * math.sqrt(covariance[d, d])
        if extent > SMALLEST_EXTENT * (de_state.upper[d] - de_state.lower[d]):
            return False
    return True
