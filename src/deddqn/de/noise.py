"""Noisy objectives: the distribution of the strategy cma under values that differ when a point is evaluated again.

A parent that was lucky once is never replaced, so parents are no guide; the mean of a distribution that follows many
samples is. It never restarts. Every `WINDOW` updates the median values of the samples are compared with those of the
window before: where they are not lower by a tenth of the interquartile range, noise hides the progress, and lambda
doubles, up to `LARGEST_LAMBDA` times the first one of a search without noise (as in population control: M. Hellwig,
H.-G. Beyer, "Evolution under strong noise", PPSN 2016). The means since then are averaged: what noise leaves of the
last one is less in their average. At the end both are evaluated again (`deddqn.optimize.noisy`).
"""

from __future__ import annotations

import math

from deddqn._jit import fill, kernel
from deddqn.de.cma_state import LARGEST_LAMBDA, Model, fewest_samples
from deddqn.de.state import Counter

WINDOW = 10
LEAST_PROGRESS = 0.1  # of the interquartile range of the samples
FIRST_FACTOR = 2  # of lambda


@kernel
def begin_progress(de_state):
    """Nothing is known of the progress of a new distribution."""
    model = de_state.model
    model[Model.WINDOW] = model[Model.WINDOW_SUM] = model[Model.SPREAD_SUM] = model[Model.AVERAGED] = 0.0
    model[Model.LAST_MEDIAN] = math.inf
    fill(de_state.model_average, 0.0)


@kernel
def first_samples(de_state, samples):
    """The lambda of a new distribution: `samples`, or under noise another first one."""
    if de_state.counters[Counter.NOISE_HANDLING]:
        return FIRST_FACTOR * fewest_samples(de_state.model_mean.size)
    return samples


@kernel
def follow_progress(de_state, median, spread):
    """Note median and spread of the values of an update's samples, and the new mean; lambda grows without progress."""
    model, average, mean = de_state.model, de_state.model_average, de_state.model_mean
    if not de_state.counters[Counter.NOISE_HANDLING]:
        return
    model[Model.AVERAGED] += 1.0
    for d in range(average.size):
        average[d] += (mean[d] - average[d]) / model[Model.AVERAGED]
    model[Model.WINDOW] += 1.0
    model[Model.WINDOW_SUM] += median
    model[Model.SPREAD_SUM] += spread
    if model[Model.WINDOW] < WINDOW:
        return
    now = model[Model.WINDOW_SUM] / model[Model.WINDOW]
    largest = LARGEST_LAMBDA * fewest_samples(mean.size)
    least = LEAST_PROGRESS * model[Model.SPREAD_SUM] / model[Model.WINDOW]
    if not now < model[Model.LAST_MEDIAN] - least and model[Model.LAMBDA] < largest:
        model[Model.LAMBDA] = min(2.0 * model[Model.LAMBDA], largest)
        model[Model.AVERAGED] = 0.0
    model[Model.LAST_MEDIAN] = now
    model[Model.WINDOW] = model[Model.WINDOW_SUM] = model[Model.SPREAD_SUM] = 0.0
