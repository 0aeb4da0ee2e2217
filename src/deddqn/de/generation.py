"""Recording evaluations: best and worst so far, stagnation, outcomes; and how generations begin and end."""

from __future__ import annotations

import math

from deddqn._jit import address_of_record, copy, fill, kernel
from deddqn.de.anytime import slide_horizon
from deddqn.de.constraint_handling import call_level
from deddqn.de.discrete import points_left
from deddqn.de.local_state import Phase
from deddqn.de.population_statistics import describe_parents
from deddqn.de.searchers import call_searchers
from deddqn.de.selection import call_selection
from deddqn.de.state import Counter, End, Outcome, Scalar
from deddqn.de.termination import target_reached


@kernel
def register_value(de_state, point, value):
    """Count one evaluation of `point` and update f_bsf, x_bsf, f_wsf; return the value as it is stored."""
    counters = de_state.counters
    counters[Counter.EVALUATIONS] += 1
    if not math.isfinite(value):
        counters[Counter.NON_FINITE] += 1
    return update_extremes(de_state, point, value)


@kernel
def update_extremes(de_state, point, value):
    """Update f_bsf, x_bsf, f_wsf by the value of `point`; return the value as it is stored.

    A value that is not finite is stored as +inf and never best or worst.
    """
    counters, scalars = de_state.counters, de_state.scalars
    if not math.isfinite(value):
        value = math.inf
    first = counters[Counter.EVALUATIONS] == 1 and scalars[Scalar.F_BSF] == math.inf
    if first or value < scalars[Scalar.F_BSF]:
        scalars[Scalar.F_BSF] = value
        copy(point, de_state.best_point)
    if de_state.constraint_scale.size == 0:
        scalars[Scalar.FEASIBLE_BSF] = scalars[Scalar.F_BSF]
    if value < math.inf:
        scalars[Scalar.F_WSF] = max(scalars[Scalar.F_WSF], value)
    return value


@kernel
def record_parent(de_state, i, value):
    """Record the value of individual `i` of a new population."""
    before = de_state.scalars[Scalar.F_BSF]
    de_state.fitness[i] = register_value(de_state, de_state.parents[i], value)
    counters = de_state.counters
    if counters[Counter.RESTARTS] or counters[Counter.TRIED] or counters[Counter.LOCAL_PHASE]:
        count_stagnation(counters, de_state.fitness[i] < before)
    counters[Counter.RECORDED] += 1


@kernel
def count_stagnation(counters, improved):
    """Count an evaluation that did, or did not, improve f_bsf; those of the first population are not counted."""
    counters[Counter.STAGNATION] = 0 if improved else counters[Counter.STAGNATION] + 1


@kernel
def replace_at_once(de_state, i):
    """Let the trial of individual `i` be its parent from now on, if it is not worse; and the best one, if it is."""
    counters, fitness, value = de_state.counters, de_state.fitness, de_state.values[i]
    if value <= fitness[i]:
        fitness[i] = value
        copy(de_state.trials[i], de_state.parents[i])
        copy(de_state.trial_pairs[i], de_state.parent_pairs[i])
        if value <= fitness[counters[Counter.BEST]]:
            counters[Counter.BEST] = i


@kernel
def record_trial(de_state, i, value):
    """Record the value of the trial of individual `i`; `outcome` holds what was known before it."""
    counters, scalars, outcome = de_state.counters, de_state.scalars, de_state.outcome
    outcome[Outcome.PARENT] = de_state.fitness[i]
    outcome[Outcome.BEST] = de_state.fitness[counters[Counter.BEST]]
    outcome[Outcome.BSF] = scalars[Scalar.F_BSF]
    outcome[Outcome.WSF] = scalars[Scalar.F_WSF]
    outcome[Outcome.MEDIAN] = scalars[Scalar.MEDIAN]
    outcome[Outcome.OPTIMUM] = scalars[Scalar.OPTIMUM]
    value = register_value(de_state, de_state.trials[i], value)
    outcome[Outcome.TRIAL] = value
    outcome[Outcome.NEW_BSF], outcome[Outcome.NEW_WSF] = scalars[Scalar.F_BSF], scalars[Scalar.F_WSF]
    de_state.values[i] = value
    if value == outcome[Outcome.PARENT]:
        counters[Counter.TIED] += 1
    count_stagnation(counters, value < outcome[Outcome.BSF])
    de_state.applications[de_state.choices[i]] += 1
    counters[Counter.RECORDED] += 1
    if counters[Counter.IMMEDIATE]:
        replace_at_once(de_state, i)


@kernel
def generation_is_over(de_state):
    """True when every individual of the generation is recorded, or the run may stop within it."""
    counters = de_state.counters
    if counters[Counter.RECORDED] >= counters[Counter.GENERATION_SIZE]:
        return True
    if counters[Counter.ASYNCHRONOUS] and (
        counters[Counter.EVALUATIONS] >= counters[Counter.BUDGET] or exhausted(de_state)
    ):
        return True
    return counters[Counter.DEFERRED] == 0 and target_reached(de_state.scalars)


@kernel
def begin_generation(de_state, searchers):
    """Compute the statistics of the parents and reset the generation's counters; or set why the run has ended.

    `searchers` is the address of those beside DE (`deddqn.de.searchers`), 0 where there are none.
    """
    counters = de_state.counters
    waited = counters[Counter.INITIALISED] == 0
    describe_parents(de_state)
    if target_reached(de_state.scalars):
        counters[Counter.ENDED] = End.TARGET
    elif exhausted(de_state):
        counters[Counter.ENDED] = End.EXHAUSTED
    elif counters[Counter.EVALUATIONS] >= counters[Counter.WHOLE_BUDGET]:
        counters[Counter.ENDED] = End.BUDGET
    if searchers:
        call_searchers(searchers, (address_of_record(de_state),))
    if waited and counters[Counter.INITIALISED]:  # the population of DE is back
        describe_parents(de_state)
    reset_generation(de_state)


@kernel
def reset_generation(de_state):
    """Nothing of the generation that begins is proposed, told or recorded."""
    counters = de_state.counters
    slide_horizon(counters)
    left = counters[Counter.BUDGET] - counters[Counter.EVALUATIONS]
    if de_state.visited.size and counters[Counter.INITIALISED]:
        left = min(left, points_left(counters))
    counters[Counter.GENERATION_SIZE] = min(counters[Counter.POPULATION], left)
    counters[Counter.DONORS_DRAWN] = counters[Counter.PROPOSED] = counters[Counter.RECORDED] = counters[
        Counter.TOLD
    ] = 0
    counters[Counter.TIED] = 0
    fill(de_state.told, 0)


@kernel
def exhausted(de_state):
    """True when all points of a discrete space have been evaluated; those of a new population are about to be."""
    counters = de_state.counters
    if de_state.visited.size == 0 or counters[Counter.PENDING] > 0:
        return False
    return counters[Counter.INITIALISED] == 1 and points_left(counters) <= 0


@kernel
def finish_generation(de_state, select, update_level, searchers):
    """Select and begin the next generation; after a new population only the latter.

    All but the first are addresses: `update_level` is 0 without constraints, `searchers` where DE is alone.
    """
    counters = de_state.counters
    if counters[Counter.SAMPLING] or counters[Counter.LOCAL_PHASE]:
        counters[Counter.GENERATION] += counters[Counter.LOCAL_PHASE] == Phase.NONE
        counters[Counter.RENUMBERED] = 0
    elif counters[Counter.INITIALISED]:
        call_selection(select, (address_of_record(de_state),))
        counters[Counter.GENERATION] += 1
    else:
        counters[Counter.INITIALISED] = 1
        counters[Counter.RENUMBERED] = 0
    if update_level:
        call_level(update_level, (address_of_record(de_state),))
    begin_generation(de_state, searchers)
