"""The loop of Algorithm 2: draw -> choose -> propose -> evaluate -> record, the same kernels for every use.

A run is given by the address of its arena. `advance` runs it with a compiled objective; `engine.stepping` offers the
same steps to a caller who evaluates or chooses outside.
"""

from __future__ import annotations

from deddqn._jit import address_of_record, call_objective, copy, kernel, linked
from deddqn.de.constraint_handling import call_assess
from deddqn.de.discrete import enter_population
from deddqn.de.generation import begin_generation, finish_generation, generation_is_over, record_parent, record_trial
from deddqn.de.initialization import draw_donors, draw_population
from deddqn.de.prescreening import call_make_candidates, take_candidate
from deddqn.de.state import Counter, Outcome, known_individuals
from deddqn.de.trial import propose
from deddqn.engine.run_memory import Link, open_run
from deddqn.features.buffers import Tally
from deddqn.features.landscape import call_landscape, write_landscape
from deddqn.features.recording import call_end_record, call_record
from deddqn.policies.policy_kernels import (
    call_choose,
    call_end_generation,
    call_learn,
    call_renumber,
    call_reset,
    call_select_candidate,
)
from deddqn.rewards import call_reward
from deddqn.rng import Stream, standard_normal


@kernel("none(int64, boolean)")
def start(run, draw):
    """Begin a run: its parents are drawn (unless they are already written), the policy is reset."""
    core, de_state, _ = open_run(run)
    if draw:
        draw_population(de_state)
    elif de_state.visited.size:
        enter_population(de_state, 0)
    links, counters = core.links, de_state.counters
    if links[Link.RESET]:
        setup = linked(links, Link.SETUP)
        call_reset(links[Link.RESET], (setup, core.memory, counters[Counter.N_OPS], counters[Counter.POPULATION]))
    if counters[Counter.HAND_OVER] == 0:
        begin_generation(de_state, links[Link.SEARCHERS])


@kernel
def prepare(episode, i):
    """Draw the donors of individual `i` and, if somebody reads them, write its features."""
    core, de_state, observer = episode
    draw_donors(de_state, i)
    if observer.tallies[Tally.OBSERVED]:
        if core.links[Link.LANDSCAPE]:
            call_landscape(core.links[Link.LANDSCAPE], (address_of_record(de_state), address_of_record(observer), i))
        else:
            write_landscape(de_state, observer, i)
        if de_state.counters[Counter.DEFERRED]:
            copy(observer.features, observer.states[i])
    de_state.counters[Counter.DONORS_DRAWN] = i + 1


@kernel
def choose(episode, i):
    """Ask the compiled policy for the operator of individual `i`."""
    core, de_state, observer = episode
    links, n_ops, stream = core.links, de_state.counters[Counter.N_OPS], de_state.streams[Stream.POLICY]
    setup = linked(links, Link.SETUP)
    op = call_choose(links[Link.CHOOSE], (setup, core.memory, observer.features, stream, n_ops, i))
    if op < 0 or op >= n_ops:
        raise ValueError("the policy chose an operator that is not in the portfolio")
    return op


@kernel
def propose_prescreened(episode, i, op):
    """Make several trials of individual `i` by operator `op`, and ask the compiled policy for one of them."""
    core, de_state, _ = episode
    links, candidate_scores, stream = core.links, de_state.candidate_scores, de_state.streams[Stream.POLICY]
    call_make_candidates(links[Link.CANDIDATES], (address_of_record(de_state), links[Link.OPERATOR], i, op))
    selected = call_select_candidate(
        links[Link.SELECT_CANDIDATE], (linked(links, Link.SETUP), core.memory, candidate_scores, stream)
    )
    if selected < 0 or selected >= candidate_scores.size:
        raise ValueError("the policy selected a candidate that was not made")
    take_candidate(de_state, i, selected)


@kernel
def propose_pending(episode):
    """Propose what the next evaluation needs: one trial, or in deferred mode the whole generation."""
    core, de_state, _ = episode
    counters, operator = de_state.counters, core.links[Link.OPERATOR]
    wanted = counters[Counter.GENERATION_SIZE] if counters[Counter.DEFERRED] else counters[Counter.TOLD] + 1
    while counters[Counter.PROPOSED] < wanted:
        i = counters[Counter.PROPOSED]
        if counters[Counter.DONORS_DRAWN] <= i:
            prepare(episode, i)
        op = choose(episode, i)
        if core.links[Link.CANDIDATES]:
            propose_prescreened(episode, i, op)
        else:
            propose(de_state, operator, i, op)
        counters[Counter.PROPOSED] = i + 1


@kernel
def record_evaluation(episode, i):
    """Enter the told value of individual `i`; for a trial also metrics, window, reward and what the policy learns."""
    core, de_state, observer = episode
    links = core.links
    if links[Link.ASSESS]:
        call_assess(links[Link.ASSESS], (address_of_record(de_state), i))
    if not de_state.counters[Counter.INITIALISED]:
        record_parent(de_state, i, de_state.values[i])
        return
    record_trial(de_state, i, de_state.values[i])
    outcome, op = de_state.outcome, de_state.choices[i]
    reward = call_reward(links[Link.REWARD], (outcome, linked(links, Link.REWARD_SETUP)))
    outcome[Outcome.REWARD] = core.rewards[i] = reward
    core.total_reward[0] += reward
    if links[Link.RECORD]:
        call_record(links[Link.RECORD], (address_of_record(de_state), address_of_record(observer), i, op))
    if links[Link.LEARN]:
        call_learn(links[Link.LEARN], (linked(links, Link.SETUP), core.memory, i, op, outcome))


@kernel
def finish(episode):
    """End the generation for the DE state, the history and the policy."""
    core, de_state, observer = episode
    links, initialised = core.links, de_state.counters[Counter.INITIALISED]
    finish_generation(de_state, links[Link.SELECTION], links[Link.LEVEL], links[Link.SEARCHERS])
    if initialised and links[Link.END_RECORD]:
        call_end_record(links[Link.END_RECORD], (address_of_record(observer),))
    if initialised and links[Link.END_GENERATION]:
        call_end_generation(links[Link.END_GENERATION], (linked(links, Link.SETUP), core.memory))
    if links[Link.RENUMBER] and de_state.counters[Counter.RENUMBERED]:
        origin = de_state.origin[: known_individuals(de_state.counters)]
        call_renumber(links[Link.RENUMBER], (linked(links, Link.SETUP), core.memory, origin))


@kernel
def hold_value(de_state, i, value):
    """Hold the value of individual `i` until it is recorded."""
    de_state.values[i] = value
    de_state.told[i] = 1
    de_state.counters[Counter.TOLD] += 1


@kernel
def record_told(episode):
    """Record what can be recorded: at once in sequential mode, a whole generation in its order in deferred mode."""
    counters = episode.de_state.counters
    if counters[Counter.DEFERRED] and counters[Counter.TOLD] < counters[Counter.GENERATION_SIZE]:
        return
    while counters[Counter.RECORDED] < counters[Counter.TOLD]:
        record_evaluation(episode, counters[Counter.RECORDED])
    if generation_is_over(episode.de_state):
        finish(episode)


@kernel
def evaluate(episode, i):
    """The compiled objective at point `i` of the generation, with noise from the run's stream.

    Constraint values, which the objective leaves at the start of its scratch, are written to the DE state.
    """
    core, de_state, _ = episode
    links = core.links
    counters = de_state.counters
    in_trials = counters[Counter.INITIALISED] or counters[Counter.ASYNCHRONOUS]
    point = de_state.trials[i] if in_trials else de_state.parents[i]
    gauss = standard_normal(de_state.streams[Stream.NOISE]) if de_state.counters[Counter.NOISY] else 0.0
    value = call_objective(links[Link.OBJECTIVE], (point, linked(links, Link.DATA), core.work, gauss))
    for j in range(de_state.constraint_lower.size):
        de_state.constraint_values[i, j] = core.work[j]
    return value


@kernel("none(int64, int64)")
def advance(run, until):
    """Run with the compiled objective until `until` evaluations are made in all, or the run ends."""
    episode = open_run(run)
    de_state = episode.de_state
    counters = de_state.counters
    while not counters[Counter.ENDED]:
        if counters[Counter.EVALUATIONS] + counters[Counter.TOLD] - counters[Counter.RECORDED] >= until:
            break
        if counters[Counter.INITIALISED]:
            propose_pending(episode)
        i = counters[Counter.TOLD]
        hold_value(de_state, i, evaluate(episode, i))
        record_told(episode)


@kernel("none(int64)")
def evaluate_population(run):
    """Evaluate a population that has no values yet: the first one, and every one after a restart."""
    counters = open_run(run).de_state.counters
    while not counters[Counter.INITIALISED] and not counters[Counter.ENDED]:
        advance(run, counters[Counter.EVALUATIONS] - counters[Counter.RECORDED] + counters[Counter.GENERATION_SIZE])
