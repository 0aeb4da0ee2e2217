"""F and CR that follow success, as in SHADE: every operator remembers what its successful trials were made with.

For each trial one of the operator's H means is drawn, then CR ~ Normal(mean, 0.1), clipped to [0, 1], and
F ~ Cauchy(mean, 0.1), drawn again while it is not positive and cut at 1. When a generation ends, an operator whose
trials improved on their parents forgets its oldest means for

    F: sum w F^2 / sum w F      CR: sum w CR / sum w      w: the improvement

(R. Tanabe, A. Fukunaga, "Success-history based parameter adaptation for differential evolution", CEC 2013.)
"""

from __future__ import annotations

import math

from deddqn._jit import fill, kernel
from deddqn.de.improvement import improvement
from deddqn.de.state import MEANS, Count, Lesson, Mark
from deddqn.rng import Stream, integer_below, standard_normal, uniform

ADAPTS_SCALE, ADAPTS_CROSSOVER = 1, 2  # bits of `adapts`
SPREAD = 0.1  # of both distributions


@kernel
def draw_scale(stream, mean):
    """F ~ Cauchy(mean, 0.1) in (0, 1]."""
    while True:
        value = mean + SPREAD * math.tan(math.pi * (uniform(stream) - 0.5))
        if value > 0.0:
            return min(value, 1.0)


@kernel
def draw_crossover(stream, mean):
    """CR ~ Normal(mean, 0.1) in [0, 1]."""
    return min(max(mean + SPREAD * standard_normal(stream), 0.0), 1.0)


@kernel
def parameters_of(search, i, op):
    """F and CR of the trial of individual `i` by operator `op`; for constants no random number is used."""
    scale, crossover, adapts = search.scale[op], search.crossover[op], search.adapts[op]
    if adapts:
        stream = search.streams[Stream.SEARCH]
        mean = integer_below(stream, MEANS)
        if adapts & ADAPTS_CROSSOVER:
            crossover = draw_crossover(stream, search.crossover_means[op, mean])
        if adapts & ADAPTS_SCALE:
            scale = draw_scale(stream, search.scale_means[op, mean])
        search.used_scale[i] = scale
        search.used_crossover[i] = crossover
    return scale, crossover


@kernel
def forget_lessons(search):
    """All means are the numbers of their entries."""
    for op in range(search.scale_means.shape[0]):
        fill(search.scale_means[op], search.scale[op])
        fill(search.crossover_means[op], search.crossover[op])
        search.taught[op] = 0


@kernel
def learn_parameters(search):
    """What the settled trials of the generation teach; before they replace their parents."""
    lessons = search.lessons
    if lessons.size == 0:
        return
    for op in range(lessons.shape[0]):
        fill(lessons[op], 0.0)
    for i in range(search.counts[Count.CURSOR]):
        op = search.choices[i]
        lessons[op, Lesson.LARGEST] = max(lessons[op, Lesson.LARGEST], _gain(search, i))
    for i in range(search.counts[Count.CURSOR]):
        op = search.choices[i]
        if search.adapts[op] and lessons[op, Lesson.LARGEST] > 0.0:
            weight = _gain(search, i) / lessons[op, Lesson.LARGEST]
            scale = search.used_scale[i]
            lessons[op, Lesson.WEIGHT] += weight
            lessons[op, Lesson.SCALE] += weight * scale
            lessons[op, Lesson.SCALE_SQUARED] += weight * scale * scale
            lessons[op, Lesson.CROSSOVER] += weight * search.used_crossover[i]
    for op in range(lessons.shape[0]):
        _remember(search, op)


@kernel
def _gain(search, i):
    return improvement(search.fitness[i], search.values[i], search.marks[Mark.F_WSF])


@kernel
def _remember(search, op):
    """Write the newest means over the oldest."""
    lesson, adapts = search.lessons[op], search.adapts[op]
    if lesson[Lesson.WEIGHT] > 0.0:
        oldest = search.taught[op] % MEANS
        if adapts & ADAPTS_SCALE:
            search.scale_means[op, oldest] = lesson[Lesson.SCALE_SQUARED] / lesson[Lesson.SCALE]
        if adapts & ADAPTS_CROSSOVER:
            search.crossover_means[op, oldest] = lesson[Lesson.CROSSOVER] / lesson[Lesson.WEIGHT]
        search.taught[op] += 1
