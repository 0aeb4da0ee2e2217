"""Rows 20-99 as the authors' released code computes them, for networks that were trained on it.

They depart from Table 1 in these points (`docs/research/interpretations.md` has all of them):

- a trial with its parent's value is a success of OM_1, with an improvement of 0;
- OM_2..OM_4 are recorded for accepted trials only (for OM_4 that makes a difference);
- rows 20-35 pool the generations (successes / applications), and are not normalised over operators;
- rows 52-67 have no sign, count N_tot of a generation without success as 0, and begin after the first generation;
- rows 68-83 add up running sums of the bests, so that newer generations weigh more;
- rows 84-99 hold the mean of OM_m in the window over the elements that improved it;
- the window is no queue: see `enter_authors_window`.
"""

from __future__ import annotations

import math

from deddqn._jit import copy, fill, kernel
from deddqn.de.improvement import LARGEST_IMPROVEMENT
from deddqn.de.state import DE_STATE, Outcome
from deddqn.features.buffers import OBSERVER, Tally
from deddqn.features.history import (
    BEST_CHANGE,
    BEST_IMPROVEMENT,
    MEAN_IMPROVEMENT,
    SUCCESS_RATE,
    metrics_of,
    open_generation,
    write_block,
)
from deddqn.features.layout import LANDSCAPE, METRICS
from deddqn.features.recording import END_RECORD_SIGNATURE, RECORD_SIGNATURE
from deddqn.features.window import WINDOW_BLOCK

NO_SUCCESS = -1.0  # in place of OM_m: an improvement of 0 counts
DE_STATE_AT, OBSERVER_AT = DE_STATE.at, OBSERVER.at


@kernel
def _authors_metrics(outcome):
    """OM_1..OM_4, `NO_SUCCESS` where a trial has none: all of them if it is worse than its parent."""
    if outcome[Outcome.TRIAL] == math.inf or outcome[Outcome.TRIAL] > outcome[Outcome.PARENT]:
        return NO_SUCCESS, NO_SUCCESS, NO_SUCCESS, NO_SUCCESS
    over_parent, over_best, over_bsf, over_median = metrics_of(outcome)
    return (
        over_parent,
        over_best if over_best > 0.0 else NO_SUCCESS,
        over_bsf if over_bsf > 0.0 else NO_SUCCESS,
        over_median if over_median > 0.0 else NO_SUCCESS,
    )


@kernel
def _note_application(observer, op, metrics):
    """Enter one application of operator `op` into the current generation."""
    tallies = observer.tallies
    n_ops = tallies[Tally.N_OPS]
    slot = tallies[Tally.FINISHED] % (tallies[Tally.GENERATIONS] + 1)
    observer.applications[slot, op] += 1.0
    for m in range(METRICS):
        if metrics[m] != NO_SUCCESS:
            at = m * n_ops + op
            observer.successes[slot, at] += 1.0
            observer.sums[slot, at] += metrics[m]
            observer.bests[slot, at] = max(observer.bests[slot, at], metrics[m])


@kernel
def _write_window_means(observer):
    """Rows 84-99."""
    n_ops = observer.tallies[Tally.N_OPS]
    means, counts = observer.scratch[0], observer.scratch[1]
    fill(means, 0.0)
    fill(counts, 0.0)
    for w in range(observer.tallies[Tally.IN_WINDOW]):
        for m in range(METRICS):
            if observer.window_metrics[w, m] != NO_SUCCESS:
                at = m * n_ops + observer.window_op[w]
                means[at] += observer.window_metrics[w, m]
                counts[at] += 1.0
    for at in range(means.size):
        if counts[at] > 0.0:
            means[at] /= counts[at]
    write_block(observer.features, WINDOW_BLOCK, means, n_ops)


@kernel
def _put(observer, place, op, metrics):
    observer.window_op[place] = op
    for m in range(METRICS):
        observer.window_metrics[place, m] = metrics[m]


@kernel
def enter_authors_window(observer, op, metrics):
    """Enter an accepted trial into the window.

    While there is room it takes the next place. Later, every element of its operator but one in the last place is
    overwritten by the element of the next place, and the trial takes the last place; it is dropped if its operator has
    the last place and no other. An operator without elements replaces the largest OM_1, if the trial's is smaller.
    """
    tallies, operators, elements = observer.tallies, observer.window_op, observer.window_metrics
    filled, last = tallies[Tally.IN_WINDOW], operators.size - 1
    if filled <= last:
        _put(observer, filled, op, metrics)
        tallies[Tally.IN_WINDOW] += 1
        return
    for w in range(last):
        if operators[w] == op:
            operators[w] = operators[w + 1]
            copy(elements[w + 1], elements[w])
            _put(observer, last, op, metrics)
    if operators[last] != op:
        largest = last
        for w in range(last - 1, -1, -1):
            if elements[w, 0] > elements[largest, 0]:
                largest = w
        if metrics[0] < elements[largest, 0]:
            _put(observer, largest, op, metrics)


@kernel(RECORD_SIGNATURE)
def record_authors_application(de_state_address, observer_address, i, op):
    """Record the latest trial, which operator `op` made of individual `i`."""
    de_state, observer = DE_STATE_AT(de_state_address), OBSERVER_AT(observer_address)
    metrics = _authors_metrics(de_state.outcome)
    _note_application(observer, op, metrics)
    if metrics[0] == NO_SUCCESS:
        return 0
    if metrics[2] == NO_SUCCESS:
        observer.accepted_stagnation[0] += 1
    else:
        observer.accepted_stagnation[0] = 0
        copy(de_state.parents[i], observer.improved_parent)
    enter_authors_window(observer, op, metrics)
    _write_window_means(observer)
    return 0


@kernel
def _write_generations(observer, current, remembered):
    """Rows 20-35, 36-51 and 68-83, from the slots before `current`."""
    means, best_sums = observer.scratch[0], observer.scratch[1]
    slots, n_ops = observer.applications.shape
    for at in range(means.size):
        succeeded, applied, total, running, best = 0.0, 0.0, 0.0, 0.0, 0.0
        for back in range(1, remembered + 1):
            slot = (current - back) % slots
            applied += observer.applications[slot, at % n_ops]
            succeeded += observer.successes[slot, at]
            total += observer.sums[slot, at]
            if observer.successes[slot, at] > 0.0:
                running += observer.bests[slot, at]
                best += running
        rate = LANDSCAPE + SUCCESS_RATE * METRICS * n_ops + at
        observer.features[rate] = succeeded / applied if applied > 0.0 else 0.0
        means[at] = total / applied if applied > 0.0 else 0.0
        best_sums[at] = best
    write_block(observer.features, MEAN_IMPROVEMENT, means, n_ops)
    write_block(observer.features, BEST_IMPROVEMENT, best_sums, n_ops)


@kernel
def _write_best_change(observer):
    """Rows 52-67; the generation before the first one is an empty one."""
    values, finished = observer.scratch[0], observer.tallies[Tally.FINISHED]
    slots, n_ops = observer.applications.shape
    last, before = (finished - 1) % slots, (finished - 2) % slots
    for at in range(values.size):
        change = abs(observer.bests[last, at] - observer.bests[before, at])
        if observer.bests[before, at] > 0.0:
            change /= observer.bests[before, at]
        more = 0.0
        if observer.successes[last, at] > 0.0:
            more += observer.applications[last, at % n_ops]
        if observer.successes[before, at] > 0.0:
            more -= observer.applications[before, at % n_ops]
        if more != 0.0:
            change /= abs(more)
        values[at] = min(change, LARGEST_IMPROVEMENT)
    write_block(observer.features, BEST_CHANGE, values, n_ops)


@kernel(END_RECORD_SIGNATURE)
def end_authors_generation(address):
    """Close the current generation, rewrite rows 20-83 and open the next one in the oldest slot."""
    observer = OBSERVER_AT(address)
    tallies = observer.tallies
    tallies[Tally.FINISHED] += 1
    current = tallies[Tally.FINISHED] % (tallies[Tally.GENERATIONS] + 1)
    _write_generations(observer, current, min(tallies[Tally.FINISHED], tallies[Tally.GENERATIONS]))
    _write_best_change(observer)
    open_generation(observer, current)
    return 0
