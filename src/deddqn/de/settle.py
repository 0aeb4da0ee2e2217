"""Settle: what an evaluated point does to the marks of a run, and how a generation ends."""

from __future__ import annotations

import math

from numba import njit

from deddqn.compiled import ENGINE, INNER, copy, fill
from deddqn.de.state import Count, End, Fact, Mark
from deddqn.de.statistics import describe_parents

LARGEST_IMPROVEMENT = 1e300  # keeps every sum of improvements finite


@njit(**ENGINE)
def improvement(reference, value, worst):
    """How far `value` is below `reference`: 0 if it is not, at most 1e300.

    A reference without a finite value counts as `worst`, the worst finite value known before.
    """
    if not math.isfinite(value):
        return 0.0
    if reference == math.inf:
        reference = worst
    if not value < reference:  # also when `worst` is -inf: nothing finite is known yet
        return 0.0
    return min(reference - value, LARGEST_IMPROVEMENT)


@njit(**INNER)
def note_value(search, point, value):
    """Count one evaluation of `point` and move f_bsf, x_bsf, f_wsf; return the value as it is stored.

    A value that is not finite is stored as +inf and never best or worst.
    """
    counts, marks = search.counts, search.marks
    counts[Count.EVALUATIONS] += 1
    if not math.isfinite(value):
        counts[Count.NON_FINITE] += 1
        value = math.inf
    if counts[Count.EVALUATIONS] == 1 or value < marks[Mark.F_BSF]:
        marks[Mark.F_BSF] = value
        copy(point, search.best_point)
    if value < math.inf:
        marks[Mark.F_WSF] = max(marks[Mark.F_WSF], value)
    return value


@njit(**INNER)
def settle_parent(search, i, value):
    """Enter the value of individual `i` of the initial population."""
    search.fitness[i] = note_value(search, search.parents[i], value)
    search.counts[Count.CURSOR] += 1


@njit(**INNER)
def settle_trial(search, i, value):
    """Enter the value of the trial of individual `i`; `facts` tells what was known before it."""
    counts, marks, facts = search.counts, search.marks, search.facts
    facts[Fact.PARENT] = search.fitness[i]
    facts[Fact.BEST] = search.fitness[counts[Count.BEST]]
    facts[Fact.BSF] = marks[Mark.F_BSF]
    facts[Fact.WSF] = marks[Mark.F_WSF]
    facts[Fact.MEDIAN] = marks[Mark.MEDIAN]
    facts[Fact.OPTIMUM] = marks[Mark.OPTIMUM]
    value = note_value(search, search.trials[i], value)
    facts[Fact.TRIAL] = value
    search.values[i] = value
    if value < facts[Fact.BSF]:
        counts[Count.STAGNATION] = 0
    else:
        counts[Count.STAGNATION] += 1
    search.applications[search.choices[i]] += 1
    counts[Count.CURSOR] += 1


@njit(**ENGINE)
def target_reached(marks):
    """True when the best so far is good enough to stop."""
    best = marks[Mark.F_BSF]
    return best <= marks[Mark.TARGET_VALUE] or best - marks[Mark.OPTIMUM] < marks[Mark.TARGET_ERROR]


@njit(**INNER)
def generation_is_over(search):
    """True when every individual of the generation is settled, or the run may stop inside of it."""
    counts = search.counts
    if counts[Count.CURSOR] >= counts[Count.GENERATION_SIZE]:
        return True
    return counts[Count.DEFERRED] == 0 and target_reached(search.marks)


@njit(**INNER)
def replace_parents(search):
    """A settled trial takes its parent's place when it is not worse."""
    parents, fitness, trials, values = search.parents, search.fitness, search.trials, search.values
    for i in range(search.counts[Count.CURSOR]):
        if values[i] <= fitness[i]:
            fitness[i] = values[i]
            copy(trials[i], parents[i])


@njit(**INNER)
def begin_generation(search):
    """Describe the parents and clear the counters of the generation; or note why the run has ended."""
    counts = search.counts
    describe_parents(search)
    if target_reached(search.marks):
        counts[Count.ENDED] = End.TARGET
    elif counts[Count.EVALUATIONS] >= counts[Count.BUDGET]:
        counts[Count.ENDED] = End.BUDGET
    left = counts[Count.BUDGET] - counts[Count.EVALUATIONS]
    counts[Count.GENERATION_SIZE] = min(counts[Count.POPULATION], left)
    counts[Count.DRAWN] = counts[Count.PROPOSED] = counts[Count.CURSOR] = counts[Count.TOLD] = 0
    fill(search.told, 0)


@njit(**INNER)
def finish_generation(search):
    """Replacement and the start of the next generation; after the initial population only the latter."""
    counts = search.counts
    if counts[Count.INITIALISED]:
        replace_parents(search)
        counts[Count.GENERATION] += 1
    else:
        counts[Count.INITIALISED] = 1
        counts[Count.STAGNATION] = 0
    begin_generation(search)
