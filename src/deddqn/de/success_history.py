"""F and CR that follow success, as in SHADE: every operator remembers what its successful trials were made with.

For each trial one of the operator's H means is drawn, then CR ~ Normal(mean, 0.1), clipped to [0, 1], and
F ~ Cauchy(mean, 0.1), drawn again while it is not positive and cut at 1. When a generation ends, an operator whose
trials improved on their parents forgets its oldest means for

    F: sum w F^2 / sum w F      CR: sum w CR / sum w      w: the improvement

(R. Tanabe, A. Fukunaga, "Success-history based parameter adaptation for differential evolution", CEC 2013.)

A share of the trials may have an F that follows s, the share of the last generation's trials that improved on their
parents, instead: F ~ Normal(0.4 + tanh(5 s) / 4, 0.02). The history learns from them, too. (V. Stanovov, E. Semenkin,
"Success rate-based adaptive differential evolution L-SRTDE for CEC 2024 competition", CEC 2024.)
"""

from __future__ import annotations

import math

from deddqn._jit import fill, kernel
from deddqn.de.improvement import improvement
from deddqn.de.state import Counter, Scalar
from deddqn.de.success_state import MEMORY_SIZE, SuccessSum
from deddqn.rng import Stream, integer_below, standard_normal, uniform

ADAPTS_SCALE, ADAPTS_CROSSOVER = 1, 2  # bits of `adapts`
SPREAD = 0.1  # of both distributions
FIRST_RATE = 0.5  # the success rate before the first generation
LOWEST_MEAN, RATE_GAIN, STEEPNESS, RATE_SPREAD = 0.4, 0.25, 5.0, 0.02


@kernel
def draw_scale(stream, mean):
    """F ~ Cauchy(mean, 0.1) in (0, 1]."""
    while True:
        value = mean + SPREAD * math.tan(math.pi * (uniform(stream) - 0.5))
        if value > 0.0:
            return min(value, 1.0)


@kernel
def draw_scale_by_rate(stream, rate):
    """F ~ Normal(0.4 + tanh(5 s) / 4, 0.02) in (0, 1], with the success rate s."""
    mean = LOWEST_MEAN + RATE_GAIN * math.tanh(STEEPNESS * rate)
    return min(max(mean + RATE_SPREAD * standard_normal(stream), RATE_SPREAD), 1.0)


@kernel
def draw_crossover(stream, mean):
    """CR ~ Normal(mean, 0.1) in [0, 1]."""
    return min(max(mean + SPREAD * standard_normal(stream), 0.0), 1.0)


@kernel
def draw_parameters(de_state, i, op):
    """F and CR of the trial of individual `i` by operator `op`; for constants no random number is used."""
    scale, crossover, adapts = de_state.scale[op], de_state.crossover[op], de_state.adapts[op]
    if adapts:
        stream = de_state.streams[Stream.SEARCH]
        mean = integer_below(stream, MEMORY_SIZE)
        if adapts & ADAPTS_CROSSOVER:
            crossover = draw_crossover(stream, de_state.memory_cr[op, mean])
        if adapts & ADAPTS_SCALE:
            share = de_state.scalars[Scalar.RATE_SHARE]
            if share > 0.0 and uniform(stream) < share:
                scale = draw_scale_by_rate(stream, de_state.scalars[Scalar.SUCCESS_RATE])
            else:
                scale = draw_scale(stream, de_state.memory_f[op, mean])
        de_state.trial_f[i] = scale
        de_state.trial_cr[i] = crossover
    return scale, crossover


@kernel
def reset_memory(de_state):
    """All means are the numbers of their entries."""
    de_state.scalars[Scalar.SUCCESS_RATE] = FIRST_RATE
    for op in range(de_state.memory_f.shape[0]):
        fill(de_state.memory_f[op], de_state.scale[op])
        fill(de_state.memory_cr[op], de_state.crossover[op])
        de_state.memory_updates[op] = 0


@kernel
def update_memory(de_state):
    """Update the memory from the successful trials of the generation, before they replace their parents.

    Asynchronous ones have replaced them: `against` holds what the parents were.
    """
    success_sums = de_state.success_sums
    if success_sums.size == 0:
        return
    update_success_rate(de_state)
    for op in range(success_sums.shape[0]):
        fill(success_sums[op], 0.0)
    for i in range(de_state.counters[Counter.RECORDED]):
        op = de_state.choices[i]
        success_sums[op, SuccessSum.LARGEST] = max(success_sums[op, SuccessSum.LARGEST], _gain(de_state, i))
    for i in range(de_state.counters[Counter.RECORDED]):
        op = de_state.choices[i]
        if de_state.adapts[op] and success_sums[op, SuccessSum.LARGEST] > 0.0:
            weight = _gain(de_state, i) / success_sums[op, SuccessSum.LARGEST]
            scale = de_state.trial_f[i]
            success_sums[op, SuccessSum.WEIGHT] += weight
            success_sums[op, SuccessSum.SCALE] += weight * scale
            success_sums[op, SuccessSum.SCALE_SQUARED] += weight * scale * scale
            success_sums[op, SuccessSum.CROSSOVER] += weight * de_state.trial_cr[i]
    for op in range(success_sums.shape[0]):
        _remember(de_state, op)


@kernel
def update_success_rate(de_state):
    """The share of the generation's trials that improved on their parents, where somebody wants to know."""
    counters, scalars = de_state.counters, de_state.scalars
    if scalars[Scalar.RATE_SHARE] == 0.0 or counters[Counter.RECORDED] == 0:
        return
    improved = 0
    for i in range(counters[Counter.RECORDED]):
        improved += _gain(de_state, i) > 0.0
    scalars[Scalar.SUCCESS_RATE] = improved / counters[Counter.RECORDED]


@kernel
def _gain(de_state, i):
    parent = de_state.against[i] if de_state.against.size else de_state.fitness[i]
    return improvement(parent, de_state.values[i], de_state.scalars[Scalar.F_WSF])


@kernel
def _remember(de_state, op):
    """Write the newest means over the oldest."""
    sums, adapts = de_state.success_sums[op], de_state.adapts[op]
    if sums[SuccessSum.WEIGHT] > 0.0:
        oldest = de_state.memory_updates[op] % MEMORY_SIZE
        if adapts & ADAPTS_SCALE:
            de_state.memory_f[op, oldest] = sums[SuccessSum.SCALE_SQUARED] / sums[SuccessSum.SCALE]
        if adapts & ADAPTS_CROSSOVER:
            de_state.memory_cr[op, oldest] = sums[SuccessSum.CROSSOVER] / sums[SuccessSum.WEIGHT]
        de_state.memory_updates[op] += 1
