"""Asynchronous runs: points are asked for one by one, at any time, and their values come in any order.

Every ask makes a trial of the next individual, in turn. When its value comes, it is compared with what the parent is by
then and replaces it at once; a generation is over when as many trials as there are individuals are recorded. The steps
are those of `deddqn.engine.loop`.
"""

from __future__ import annotations

import math

from deddqn._jit import address_of_record, copy, kernel
from deddqn.de.discrete import make_new, points_left, remember_point
from deddqn.de.generation import count_stagnation, generation_is_over, record_parent, register_value, update_extremes
from deddqn.de.initialization import draw_point
from deddqn.de.pending import (
    add_row,
    compete,
    first_pending,
    keep_pending,
    last_unasked,
    next_individual,
    remove_row,
    renumber_pending,
    replace_individual,
    swap_rows,
)
from deddqn.de.pending_state import Orphan
from deddqn.de.selection import call_selection, select_at_once
from deddqn.de.state import Counter, Scalar
from deddqn.de.surrogate import enter_recent_point
from deddqn.de.trial import propose
from deddqn.engine.loop import choose, evaluate, finish, prepare, propose_prescreened, record_evaluation
from deddqn.engine.run_memory import Link, open_run
from deddqn.rng import Stream

NOTHING_LEFT = -1  # to ask for: the run has ended, or the budget is handed out
POINT_ADDED = -2  # without a decision
ENOUGH_VALUES = 0.5  # of a new population, for trials to begin while the others are pending


@kernel
def next_decision(episode):
    """The individual to decide for, with its donors drawn; or `POINT_ADDED` in a new population; or `NOTHING_LEFT`."""
    counters = episode.de_state.counters
    if counters[Counter.ENDED] or counters[Counter.EVALUATIONS] + counters[Counter.PENDING] >= counters[Counter.BUDGET]:
        return NOTHING_LEFT
    asked_for = counters[Counter.INITIALISED] or counters[Counter.CURSOR] >= counters[Counter.POPULATION]
    if episode.de_state.visited.size and asked_for and points_left(counters) <= 0:
        return NOTHING_LEFT
    if not counters[Counter.INITIALISED] and add_untried_point(episode.de_state):
        return POINT_ADDED
    if not counters[Counter.INITIALISED]:
        finish_and_keep(episode)
        if counters[Counter.ENDED]:
            return NOTHING_LEFT
    if counters[Counter.DECIDING] == 0:
        i = next_individual(episode.de_state)
        prepare(episode, i)
        counters[Counter.DONORS_DRAWN] = 0
        counters[Counter.DECIDING] = i + 1
    return counters[Counter.DECIDING] - 1


@kernel
def add_untried_point(de_state):
    """Add a point of a new population, or one more when all are asked for; False if there are values enough."""
    counters = de_state.counters
    population = counters[Counter.POPULATION]
    while counters[Counter.CURSOR] < population and de_state.fitness[counters[Counter.CURSOR]] < math.inf:
        counters[Counter.CURSOR] += 1
    if counters[Counter.CURSOR] < population:
        i = counters[Counter.CURSOR]
        copy(de_state.parents[i], de_state.trials[add_row(de_state, i, 1)])
        counters[Counter.CURSOR] += 1
        return True
    if counters[Counter.RECORDED] >= ENOUGH_VALUES * population:
        return False
    point = de_state.trials[add_row(de_state, Orphan.NO_PARENT, 1)]
    draw_point(de_state, point)
    if de_state.visited.size:
        make_new(de_state, point, de_state.streams[Stream.INIT])
        remember_point(de_state, point)
    return True


@kernel
def add_trial(episode, op):
    """Add the trial of the decided individual by operator `op`; return its row."""
    core, de_state, _ = episode
    counters, links = de_state.counters, core.links
    i = counters[Counter.DECIDING] - 1
    if links[Link.COLLECT]:
        call_selection(links[Link.COLLECT], (address_of_record(de_state),))  # row i is about to be lent
    row = add_row(de_state, i, 0)
    swap_rows(de_state, i, row)
    if links[Link.CANDIDATES]:
        propose_prescreened(episode, i, op)
    else:
        propose(de_state, links[Link.OPERATOR], i, op)
    swap_rows(de_state, i, row)
    counters[Counter.DECIDING] = 0
    counters[Counter.CURSOR] = (i + 1) % counters[Counter.POPULATION]
    return row


@kernel
def last_row(de_state):
    """The row of the newest pending point."""
    return first_pending(de_state.counters) + de_state.counters[Counter.PENDING] - 1


@kernel
def record_pending(episode, row, value):
    """Record the value of a pending point; return the individual whose trial it was, -1 if it was none."""
    de_state = episode.de_state
    counters, i = de_state.counters, de_state.trial_parents[row]
    if de_state.untried[row] or i < 0 or counters[Counter.ENDED]:
        record_without_parent(de_state, row, value)
        return -1
    first = first_pending(counters)
    swap_rows(de_state, i, row)
    de_state.values[i] = value
    de_state.against[i] = de_state.fitness[i]
    record_evaluation(episode, i)
    select_at_once(de_state, i)
    swap_rows(de_state, i, row)
    swap_rows(de_state, row, first)
    counters[Counter.PENDING] -= 1
    counters[Counter.TOLD] = counters[Counter.RECORDED]
    return i


@kernel
def record_without_parent(de_state, row, value):
    """Record the value of a pending point that is no trial, or whose parent is gone."""
    counters, i, point = de_state.counters, de_state.trial_parents[row], de_state.trials[row]
    if not counters[Counter.INITIALISED] and i >= 0:
        record_parent(de_state, i, value)
        counters[Counter.TOLD] = counters[Counter.RECORDED]
    else:
        before = de_state.scalars[Scalar.F_BSF]
        value = register_value(de_state, point, value)
        if counters[Counter.INITIALISED] or counters[Counter.RESTARTS]:
            count_stagnation(counters, value < before)
        if counters[Counter.ENDED] or i == Orphan.OLD_POPULATION:
            enter_recent_point(de_state, point, value)
        elif i >= 0 and value <= de_state.fitness[i]:
            replace_individual(de_state, i, point, value)
        else:
            compete(de_state, point, value)
    remove_row(de_state, row)


@kernel
def record_foreign(de_state, point, value):
    """Enter a value that was found elsewhere: it counts for the best so far, and the point may join the population."""
    counters, before = de_state.counters, de_state.scalars[Scalar.F_BSF]
    counters[Counter.FOREIGN] += 1
    value = update_extremes(de_state, point, value)
    if value < before:
        counters[Counter.STAGNATION] = 0
    if counters[Counter.ENDED] or value == math.inf:
        return
    if de_state.visited.size:
        remember_point(de_state, point)  # as are the points of the population, which therefore keep their places
    i = -1 if counters[Counter.INITIALISED] or de_state.visited.size else last_unasked(de_state)
    if i < 0:
        compete(de_state, point, value)
        return
    replace_individual(de_state, i, point, value)
    counters[Counter.RECORDED] += 1
    counters[Counter.TOLD] = counters[Counter.RECORDED]


@kernel
def finish_and_keep(episode):
    """End the generation; pending points stay, with the numbers that their parents have now."""
    de_state, counters = episode.de_state, episode.de_state.counters
    initialised, recorded = counters[Counter.INITIALISED], first_pending(counters)
    finish(episode)
    keep_pending(de_state, recorded)
    if initialised:
        renumber_pending(de_state)
    counters[Counter.DECIDING] = 0
    if initialised and counters[Counter.INITIALISED]:
        counters[Counter.CURSOR] %= counters[Counter.POPULATION]
    else:
        counters[Counter.CURSOR] = 0


@kernel
def finish_if_due(episode):
    """Finish the generation if it is over; return whether it was."""
    over = not episode.de_state.counters[Counter.ENDED] and generation_is_over(episode.de_state)
    if over:
        finish_and_keep(episode)
    return over


# For callers outside


@kernel("int64(int64)")
def ask_point(run):
    """Add a point by the compiled policy; return its row, -1 if there is nothing left to ask for."""
    episode = open_run(run)
    i = next_decision(episode)
    if i == NOTHING_LEFT:
        return i
    if i == POINT_ADDED:
        return last_row(episode.de_state)
    return add_trial(episode, choose(episode, i))


@kernel("int64(int64)")
def observe_point(run):
    """The individual that a policy outside decides for, with its features written; see `next_decision`."""
    return next_decision(open_run(run))


@kernel("int64(int64, int64)")
def act_point(run, op):
    """Add the trial of the observed individual by operator `op`; return its row."""
    return add_trial(open_run(run), op)


@kernel("int64(int64, int64, float64)")
def record_point(run, row, value):
    """Record the value of a pending point; return the individual whose trial it was, -1 if it was none."""
    return record_pending(open_run(run), row, value)


@kernel("none(int64, float64[::1], float64)")
def record_foreign_point(run, point, value):
    """Enter the value of a point that was not asked for."""
    record_foreign(open_run(run).de_state, point, value)


@kernel("boolean(int64)")
def finish_due(run):
    """Finish the generation if it is over; return whether it was."""
    return finish_if_due(open_run(run))


@kernel("none(int64, int64)")
def advance_asynchronously(run, until):
    """Run with the compiled objective until `until` evaluations are made in all, or the run ends: one at a time."""
    episode = open_run(run)
    counters = episode.de_state.counters
    while counters[Counter.EVALUATIONS] < until:
        row = ask_point(run)
        if row < 0:
            break
        record_pending(episode, row, evaluate(episode, row))
        finish_if_due(episode)
