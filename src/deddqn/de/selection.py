"""Settle: what an evaluated point does to the marks of a run, and how a generation ends."""

from __future__ import annotations

import math

from deddqn._jit import address_of_record, copy, fill, kernel
from deddqn.de.generation import call_close
from deddqn.de.population_statistics import describe_parents
from deddqn.de.state import Count, End, Fact, Mark
from deddqn.de.termination import target_reached


@kernel
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


@kernel
def settle_parent(search, i, value):
    """Enter the value of individual `i` of the initial population."""
    before = search.marks[Mark.F_BSF]
    search.fitness[i] = note_value(search, search.parents[i], value)
    if search.counts[Count.RESTARTS]:
        count_stagnation(search.counts, search.fitness[i] < before)
    search.counts[Count.CURSOR] += 1


@kernel
def count_stagnation(counts, improved):
    """Count an evaluation that did, or did not, improve f_bsf; those of the first population are not counted."""
    counts[Count.STAGNATION] = 0 if improved else counts[Count.STAGNATION] + 1


@kernel
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
    if value == facts[Fact.PARENT]:
        counts[Count.TIED] += 1
    count_stagnation(counts, value < facts[Fact.BSF])
    search.applications[search.choices[i]] += 1
    counts[Count.CURSOR] += 1


@kernel
def generation_is_over(search):
    """True when every individual of the generation is settled, or the run may stop inside of it."""
    counts = search.counts
    if counts[Count.CURSOR] >= counts[Count.GENERATION_SIZE]:
        return True
    return counts[Count.DEFERRED] == 0 and target_reached(search.marks)


@kernel
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
    counts[Count.TIED] = 0
    fill(search.told, 0)


@kernel
def finish_generation(search, close):
    """Close the generation and begin the next; after a new population only the latter. `close` is an address."""
    counts = search.counts
    if counts[Count.INITIALISED]:
        call_close(close, (address_of_record(search),))
        counts[Count.GENERATION] += 1
    else:
        counts[Count.INITIALISED] = 1
        counts[Count.RENUMBERED] = 0
    begin_generation(search)
