"""The loop of Algorithm 2: draw -> choose -> propose -> evaluate -> settle, the same kernels for every use.

A run is given by the address of its arena. `advance` runs it with a compiled objective; `engine.outside` offers the
same steps to a caller who evaluates or chooses outside.
"""

from __future__ import annotations

from deddqn._jit import address_of_record, call_objective, copy, kernel, linked
from deddqn.de.initialization import draw_donors, draw_population
from deddqn.de.prescreening import call_foresee, take_foreseen
from deddqn.de.selection import finish_generation, generation_is_over, settle_parent, settle_trial
from deddqn.de.state import Count, Fact, Mark
from deddqn.de.trial import propose
from deddqn.engine.run_memory import Link, open_episode
from deddqn.features.buffers import Tally
from deddqn.features.landscape import write_landscape
from deddqn.features.recording import call_finish, call_note
from deddqn.policies.kernels import call_choose, call_end_generation, call_learn, call_pick, call_renumber, call_reset
from deddqn.rewards import call_reward
from deddqn.rng import Stream, standard_normal


@kernel("none(int64, boolean)")
def start(run, draw):
    """Begin a run: its parents are drawn (unless they are already written), the policy is reset."""
    core, search, _ = open_episode(run)
    if draw:
        draw_population(search)
    links, counts = core.links, search.counts
    if links[Link.RESET]:
        setup = linked(links, Link.SETUP)
        call_reset(links[Link.RESET], (setup, core.memory, counts[Count.N_OPS], counts[Count.POPULATION]))


@kernel
def prepare(episode, i):
    """Draw the donors of individual `i` and, if somebody reads them, write its features."""
    _, search, observer = episode
    draw_donors(search, i)
    if observer.tallies[Tally.OBSERVED]:
        write_landscape(search, observer, i)
        if search.counts[Count.DEFERRED]:
            copy(observer.features, observer.states[i])
    search.counts[Count.DRAWN] = i + 1


@kernel
def choose(episode, i):
    """Ask the compiled policy for the operator of individual `i`."""
    core, search, observer = episode
    links, n_ops, stream = core.links, search.counts[Count.N_OPS], search.streams[Stream.POLICY]
    setup = linked(links, Link.SETUP)
    op = call_choose(links[Link.CHOOSE], (setup, core.memory, observer.features, stream, n_ops, i))
    if op < 0 or op >= n_ops:
        raise ValueError("the policy chose an operator that is not in the portfolio")
    return op


@kernel
def propose_picked(episode, i, op):
    """Make several trials of individual `i` by operator `op`, and ask the compiled policy for one of them."""
    core, search, _ = episode
    links, outlook, stream = core.links, search.outlook, search.streams[Stream.POLICY]
    call_foresee(links[Link.FORESEE], (address_of_record(search), links[Link.MOVE], i, op))
    picked = call_pick(links[Link.PICK], (linked(links, Link.SETUP), core.memory, outlook, stream))
    if picked < 0 or picked >= outlook.size:
        raise ValueError("the policy picked a trial that was not made")
    take_foreseen(search, i, picked)


@kernel
def propose_pending(episode):
    """Propose what the next evaluation needs: one trial, or in deferred mode the whole generation."""
    core, search, _ = episode
    counts, move = search.counts, core.links[Link.MOVE]
    wanted = counts[Count.GENERATION_SIZE] if counts[Count.DEFERRED] else counts[Count.TOLD] + 1
    while counts[Count.PROPOSED] < wanted:
        i = counts[Count.PROPOSED]
        if counts[Count.DRAWN] <= i:
            prepare(episode, i)
        op = choose(episode, i)
        if core.links[Link.FORESEE]:
            propose_picked(episode, i, op)
        else:
            propose(search, move, i, op)
        counts[Count.PROPOSED] = i + 1


@kernel
def settle(episode, i):
    """Enter the told value of individual `i`; for a trial also metrics, window, reward and what the policy learns."""
    core, search, observer = episode
    links = core.links
    if not search.counts[Count.INITIALISED]:
        settle_parent(search, i, search.values[i])
        return
    settle_trial(search, i, search.values[i])
    facts, op = search.facts, search.choices[i]
    reward = call_reward(links[Link.REWARD], (facts, linked(links, Link.REWARD_SETUP)))
    core.rewards[i] = reward
    core.total_reward[0] += reward
    if links[Link.NOTE]:
        call_note(links[Link.NOTE], (address_of_record(search), address_of_record(observer), op))
    if links[Link.LEARN]:
        marks = search.marks
        outcome = (facts[Fact.PARENT], facts[Fact.TRIAL], marks[Mark.F_BSF], marks[Mark.F_WSF], reward)
        call_learn(links[Link.LEARN], (linked(links, Link.SETUP), core.memory, i, op) + outcome)


@kernel
def finish(episode):
    """End the generation for the search, the history and the policy."""
    core, search, observer = episode
    links, initialised = core.links, search.counts[Count.INITIALISED]
    finish_generation(search, links[Link.CLOSE])
    if not initialised:
        return
    if links[Link.FINISH]:
        call_finish(links[Link.FINISH], (address_of_record(observer),))
    if links[Link.END_GENERATION]:
        call_end_generation(links[Link.END_GENERATION], (linked(links, Link.SETUP), core.memory))
    counts = search.counts
    if links[Link.RENUMBER] and counts[Count.RENUMBERED]:
        origin = search.origin[: counts[Count.POPULATION]]
        call_renumber(links[Link.RENUMBER], (linked(links, Link.SETUP), core.memory, origin))


@kernel
def note_told(search, i, value):
    """Keep the value of individual `i` until it is settled."""
    search.values[i] = value
    search.told[i] = 1
    search.counts[Count.TOLD] += 1


@kernel
def settle_told(episode):
    """Settle what can be settled: at once in sequential mode, a whole generation in its order in deferred mode."""
    counts = episode.search.counts
    if counts[Count.DEFERRED] and counts[Count.TOLD] < counts[Count.GENERATION_SIZE]:
        return
    while counts[Count.CURSOR] < counts[Count.TOLD]:
        settle(episode, counts[Count.CURSOR])
    if generation_is_over(episode.search):
        finish(episode)


@kernel
def evaluate(episode, i):
    """The compiled objective at point `i` of the generation, with noise from the run's stream."""
    core, search, _ = episode
    links = core.links
    point = search.trials[i] if search.counts[Count.INITIALISED] else search.parents[i]
    gauss = standard_normal(search.streams[Stream.NOISE]) if search.counts[Count.NOISY] else 0.0
    return call_objective(links[Link.OBJECTIVE], (point, linked(links, Link.DATA), core.work, gauss))


@kernel("none(int64, int64)")
def advance(run, until):
    """Run with the compiled objective until `until` evaluations are made in all, or the run ends."""
    episode = open_episode(run)
    search = episode.search
    counts = search.counts
    while not counts[Count.ENDED]:
        if counts[Count.EVALUATIONS] + counts[Count.TOLD] - counts[Count.CURSOR] >= until:
            break
        if counts[Count.INITIALISED]:
            propose_pending(episode)
        i = counts[Count.TOLD]
        note_told(search, i, evaluate(episode, i))
        settle_told(episode)


@kernel("none(int64)")
def evaluate_population(run):
    """Evaluate a population that has no values yet: the first one, and every one after a restart."""
    counts = open_episode(run).search.counts
    while not counts[Count.INITIALISED] and not counts[Count.ENDED]:
        advance(run, counts[Count.EVALUATIONS] - counts[Count.CURSOR] + counts[Count.GENERATION_SIZE])
