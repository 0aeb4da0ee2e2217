"""CMA-ES with restarts: the second searcher of a run, which is tried when DE has had a part of the budget.

N. Hansen, "The CMA evolution strategy: a tutorial", arXiv:1604.00772, with its default constants and weights, negative
ones for the worse half among them; C = U'U as in `deddqn.de.cma_sampling`, made anew when C has changed enough. Points
outside of the bounds are mirrored into them, and learned from as what they became.

It is tried where the population of DE has contracted: one that is still wide is better left to go on. It begins in the
middle of the box, whatever DE found, and later ones anywhere. A distribution that has converged, that
finds nothing better, or that could not reach the best value so far with the rest of the budget at its present pace is
replaced by a new one. As DE's population does, the number of samples falls linearly: from a thousandth of the
evaluations that are left when CMA-ES begins to the tutorial's lambda. So long searches sample widely at first.

A generation of samples is to the loop what a new population is: nobody decides anything while it is evaluated. The
population of DE waits meanwhile. At the decision CMA-ES goes on if it has found something better than DE had; otherwise
DE resumes, with as many of its best individuals as its schedule has by then.
"""

from __future__ import annotations

import math

import numpy as np

from deddqn._jit import copy, fill, kernel
from deddqn.de.bounds import reflected
from deddqn.de.cma_sampling import (
    SMALLEST_DEVIATION,
    SMALLEST_EXTENT,
    add_square,
    colour,
    covariance_rates,
    factorise,
    learn_path,
    move_paths,
    raw_weight,
)
from deddqn.de.cma_state import Model, fewest_samples, largest_lambda
from deddqn.de.initialization import draw_point
from deddqn.de.population_reduction import shrink_population
from deddqn.de.state import Counter, Scalar
from deddqn.rng import Stream, standard_normal

FIRST_STEP = 0.2  # sigma, in widths of the box
SMALLEST_RANGE = 1e-12  # of the best values of the last updates
DIGITS = 1e-15  # ... relative to the values
PATIENCE = 5.0  # how much faster than in the last window the rest may be


@kernel
def consider_hand_over(de_state):
    """Let CMA-ES be tried if the population of DE has contracted; from now on everybody plans with the whole budget."""
    counters = de_state.counters
    counters[Counter.TRIED] = 1
    counters[Counter.BUDGET] = counters[Counter.HORIZON] = counters[Counter.WHOLE_BUDGET]
    if counters[Counter.HAND_OVER] == 0 or extent_of_population(de_state) <= de_state.scalars[Scalar.CMA_EXTENT]:
        hand_over(de_state)


@kernel
def extent_of_population(de_state):
    """The mean distance of the parents' coordinates from their means, in widths of the box."""
    population, dimension, parents = de_state.counters[Counter.POPULATION], de_state.lower.size, de_state.parents
    total = 0.0
    for d in range(dimension):
        width = max(de_state.upper[d] - de_state.lower[d], SMALLEST_DEVIATION)
        mean = 0.0
        for i in range(population):
            mean += parents[i, d] / population
        for i in range(population):
            total += abs(parents[i, d] - mean) / width
    return total / (population * dimension)


@kernel
def hand_over(de_state):
    """Let CMA-ES search; the population of DE is kept, if it has values."""
    counters, model = de_state.counters, de_state.model
    counters[Counter.SAMPLING] = 1
    de_state.scalars[Scalar.TO_BEAT] = de_state.scalars[Scalar.F_BSF]
    keep_waiting_population(de_state)
    counters[Counter.INITIALISED] = 0
    model[Model.TAKEN_OVER_AT] = counters[Counter.EVALUATIONS]
    model[Model.BEGUN] = model[Model.SAMPLES] = 0
    begin_distribution(de_state)
    sample_population(de_state)


@kernel
def is_behind(de_state):
    """True at the decision, when CMA-ES has found nothing better than DE had."""
    counters = de_state.counters
    at_decision = (
        counters[Counter.EVALUATIONS] >= counters[Counter.DECISION] and counters[Counter.BEST_POPULATION_SIZE] > 0
    )
    return at_decision and not de_state.scalars[Scalar.F_BSF] < de_state.scalars[Scalar.TO_BEAT]


@kernel
def hand_back(de_state):
    """Let DE resume with the population that was kept."""
    de_state.counters[Counter.SAMPLING] = 0
    resume_population(de_state)
    de_state.model[Model.SIGMA] = de_state.model[Model.BEGUN] = 0


@kernel
def keep_waiting_population(de_state):
    """Keep the population of DE, if it has values, while somebody else searches."""
    counters = de_state.counters
    counters[Counter.BEST_POPULATION_SIZE] = counters[Counter.POPULATION] if counters[Counter.INITIALISED] else 0
    for i in range(counters[Counter.BEST_POPULATION_SIZE]):
        de_state.best_population_fitness[i] = de_state.fitness[i]
        copy(de_state.parents[i], de_state.best_population[i])


@kernel
def resume_population(de_state):
    """Let the population that was kept be that of DE again, as many of it as the schedule has by now."""
    return_population(de_state)
    shrink_population(de_state)


@kernel
def return_population(de_state):
    """Let the whole population that was kept be that of DE again."""
    counters = de_state.counters
    counters[Counter.INITIALISED] = 1
    counters[Counter.POPULATION] = counters[Counter.BEST_POPULATION_SIZE]
    for i in range(counters[Counter.POPULATION]):
        de_state.fitness[i] = de_state.best_population_fitness[i]
        copy(de_state.best_population[i], de_state.parents[i])
    for i in range(counters[Counter.POPULATION], de_state.fitness.size):
        de_state.fitness[i] = math.inf
    counters[Counter.BEST_POPULATION_SIZE] = 0


@kernel
def begin_distribution(de_state):
    """A new distribution: the first in the middle of the box, later ones anywhere."""
    model = de_state.model
    model[Model.SIGMA] = FIRST_STEP
    model[Model.BEGUN] += 1
    model[Model.BEST] = model[Model.FIRST_RANGE] = math.inf
    model[Model.UPDATES] = model[Model.UNFACTORED] = model[Model.NOTED] = 0
    draw_point(de_state, de_state.model_mean)
    for a in range(de_state.model_mean.size):
        if model[Model.BEGUN] == 1:
            de_state.model_mean[a] = 0.5 * de_state.lower[a] + 0.5 * de_state.upper[a]
        width = max(de_state.upper[a] - de_state.lower[a], SMALLEST_DEVIATION)
        fill(de_state.model_covariance[a], 0.0)
        fill(de_state.model_factor[a], 0.0)
        de_state.model_covariance[a, a], de_state.model_factor[a, a] = width * width, width
    fill(de_state.path_sigma, 0.0)
    fill(de_state.path_covariance, 0.0)


@kernel
def scheduled_lambda(de_state):
    """Lambda now: from the first to the fewest samples, linearly over the evaluations of CMA-ES, rounded."""
    counters, start, dimension = de_state.counters, de_state.model[Model.TAKEN_OVER_AT], de_state.model_mean.size
    evaluations = counters[Counter.WHOLE_BUDGET] - start
    first, last = largest_lambda(dimension, evaluations), fewest_samples(dimension)
    spent = (counters[Counter.EVALUATIONS] - start) / evaluations
    samples = math.floor(first + (last - first) * spent + 0.5)
    return min(samples, len(de_state.model_points), de_state.fitness.size)  # an extended search has the room it has


@kernel
def sample_population(de_state):
    """Let lambda samples be the population that is evaluated next."""
    de_state.model[Model.LAMBDA] = scheduled_lambda(de_state)
    counters, model, mean, white = de_state.counters, de_state.model, de_state.model_mean, de_state.model_white
    stream, bounded = de_state.streams[Stream.SEARCH], math.isfinite(de_state.search_lower[0])
    counters[Counter.POPULATION] = np.int64(model[Model.LAMBDA])
    if counters[Counter.POPULATION] > counters[Counter.ALLOCATED]:  # samples take the rows of the archive
        counters[Counter.ARCHIVED] = 0
    for i in range(counters[Counter.POPULATION]):
        step, point, square = de_state.model_points[i], de_state.parents[i], 0.0
        for d in range(mean.size):
            white[d] = standard_normal(stream)
            square += white[d] * white[d]
        de_state.model_values[i] = square
        colour(de_state.model_factor, white, step)
        for d in range(mean.size):
            value = mean[d] + model[Model.SIGMA] * step[d]
            if bounded:
                value = reflected(value, de_state.search_lower[d], de_state.search_upper[d])
            point[d] = value if math.isfinite(value) else de_state.lower[d]
            step[d] = (point[d] - mean[d]) / model[Model.SIGMA]
        de_state.fitness[i] = math.inf
        de_state.order[i] = i
    counters[Counter.BEST] = 0


@kernel
def learn_from_population(de_state):
    """Update the distribution by its samples, of which `order` says how good they are; or begin another one."""
    update_distribution(de_state)
    if is_over(de_state):
        de_state.counters[Counter.RESTARTS] += 1
        begin_distribution(de_state)
    sample_population(de_state)


@kernel
def update_distribution(de_state):
    """Move mean, paths, step size and covariance by the samples."""
    model, mean, step, order = de_state.model, de_state.model_mean, de_state.model_step, de_state.order
    samples = np.int64(model[Model.LAMBDA])
    better, total, squares = samples // 2, 0.0, 0.0
    for k in range(better):
        total += raw_weight(k, samples)
        squares += raw_weight(k, samples) * raw_weight(k, samples)
    mass = total * total / squares  # mu_eff
    fill(step, 0.0)
    for k in range(better):
        point, weight = de_state.model_points[order[k]], raw_weight(k, samples) / total
        for d in range(mean.size):
            step[d] += weight * point[d]
    for d in range(mean.size):
        mean[d] += model[Model.SIGMA] * step[d]
    model[Model.UPDATES] += 1
    moving = move_paths(de_state, mass)
    learn_actively(de_state, samples, total, mass, moving)


@kernel
def learn_actively(de_state, samples, total, mass, moving):
    """Rank-one and rank-mu update of C: directions of better samples gain variance, those of worse ones lose it."""
    model, n = de_state.model, float(de_state.model_mean.size)
    rate_one, rate_mu = covariance_rates(mass, n, 0.25)
    worse, squares = 0.0, 0.0
    for k in range(samples // 2, samples):
        worse -= raw_weight(k, samples)
        squares += raw_weight(k, samples) * raw_weight(k, samples)
    mass_worse = worse * worse / squares if squares > 0.0 else 0.0
    most = min(1.0 + rate_one / rate_mu, 1.0 + 2.0 * mass_worse / (mass + 2.0))
    most = min(most, (1.0 - rate_one - rate_mu) / (n * rate_mu))
    learn_path(de_state, mass, moving, rate_one, rate_mu * (1.0 - most))
    for k in range(samples):
        i = de_state.order[k]
        weight = raw_weight(k, samples)
        weight *= rate_mu / total if k < samples // 2 else rate_mu * most * n / (worse * de_state.model_values[i])
        add_square(de_state.model_covariance, de_state.model_points[i], weight)
    model[Model.UNFACTORED] += 1
    if model[Model.UNFACTORED] * (rate_one + rate_mu) * n * 10.0 >= 1.0:
        model[Model.UNFACTORED] = 0
        if not factorise(de_state.model_covariance, de_state.model_factor):
            model[Model.SIGMA] = 0.0


@kernel
def is_over(de_state):
    """True when the distribution has converged, is none, finds nothing better or comes too late."""
    model, best = de_state.model, de_state.fitness[de_state.order[0]]
    worst = de_state.fitness[de_state.order[np.int64(model[Model.LAMBDA]) - 1]]
    model[Model.BEST] = min(model[Model.BEST], best)
    if model[Model.UPDATES] == 1:
        model[Model.FIRST_RANGE] = worst - best
    if not model[Model.SIGMA] > 0.0 or has_collapsed(de_state) or not best < math.inf:
        return True
    window = min(10 + np.int64(math.ceil(30.0 * de_state.model_mean.size / model[Model.LAMBDA])), de_state.recent.size)
    slot = np.int64(model[Model.NOTED]) % window
    model[Model.NOTED] += 1
    de_state.recent[slot] = best
    if model[Model.NOTED] < window:
        return False
    low = high = best
    for k in range(window):
        low, high = min(low, de_state.recent[k]), max(high, de_state.recent[k])
    smallest = min(SMALLEST_RANGE, SMALLEST_RANGE * model[Model.FIRST_RANGE]) + DIGITS * abs(best)
    if high - low <= smallest and (worst - low <= smallest or high == low):
        return True
    return comes_too_late(de_state, high - low, window)


@kernel
def has_collapsed(de_state):
    """True when the distribution is so small that nothing changes, or no distribution any more."""
    model, covariance = de_state.model, de_state.model_covariance
    for d in range(len(covariance)):
        extent = model[Model.SIGMA] * max(math.sqrt(max(covariance[d, d], 0.0)), abs(de_state.path_covariance[d]))
        if not extent < math.inf:
            return True
        if extent > SMALLEST_EXTENT * (de_state.upper[d] - de_state.lower[d]):
            return False
    return True


@kernel
def comes_too_late(de_state, gained, window):
    """True when the best value so far is out of reach, were every window of updates to gain what the last one did."""
    counters, model = de_state.counters, de_state.model
    behind = model[Model.BEST] - de_state.scalars[Scalar.F_BSF]
    left = counters[Counter.BUDGET] - counters[Counter.EVALUATIONS]
    return PATIENCE * gained * left < behind * window * model[Model.LAMBDA]
