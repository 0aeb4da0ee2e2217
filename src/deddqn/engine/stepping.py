"""The steps of the loop for callers who evaluate, or choose, outside of compiled code.

A run is given by the address of its arena.
"""

from __future__ import annotations

from deddqn._jit import kernel
from deddqn.de.selection import generation_is_over
from deddqn.de.state import Count
from deddqn.de.trial import propose
from deddqn.engine.loop import evaluate, finish, note_told, prepare, propose_pending, settle, settle_told
from deddqn.engine.run_memory import Link, open_episode


@kernel("int64(int64)")
def ask_points(run):
    """Propose what can be evaluated now with the compiled policy; return how many points of the generation exist."""
    episode = open_episode(run)
    counts = episode.search.counts
    if counts[Count.ENDED]:
        return 0
    if counts[Count.INITIALISED]:
        propose_pending(episode)
    if counts[Count.DEFERRED]:
        return counts[Count.GENERATION_SIZE]
    return counts[Count.TOLD] + 1


@kernel("none(int64, int64, float64)")
def tell_value(run, i, value):
    """Enter the value of point `i` of the generation, and settle what can be settled."""
    episode = open_episode(run)
    note_told(episode.search, i, value)
    settle_told(episode)


@kernel("int64(int64)")
def observe(run):
    """Draw donors and write the features of the next individual to decide for; return it, or -1 if there is none."""
    episode = open_episode(run)
    counts = episode.search.counts
    if counts[Count.ENDED] or not counts[Count.INITIALISED]:
        return -1
    i = counts[Count.PROPOSED]
    last = counts[Count.GENERATION_SIZE] if counts[Count.DEFERRED] else counts[Count.TOLD] + 1
    if i >= last:
        return -1
    if counts[Count.DRAWN] <= i:
        prepare(episode, i)
    return i


@kernel("none(int64, int64)")
def act(run, op):
    """Propose the trial of the observed individual by operator `op`, which was chosen outside."""
    core, search, _ = open_episode(run)
    i = search.counts[Count.PROPOSED]
    propose(search, core.links[Link.MOVE], i, op)
    search.counts[Count.PROPOSED] = i + 1


@kernel("none(int64, int64, float64)")
def note_value(run, i, value):
    """Enter the value of point `i` of the generation without settling it."""
    note_told(open_episode(run).search, i, value)


@kernel("int64(int64)")
def settle_next(run):
    """Settle the next told point; return it, or -1 if none can be settled. For policies that learn in Python."""
    episode = open_episode(run)
    counts = episode.search.counts
    if counts[Count.CURSOR] >= counts[Count.TOLD]:
        return -1
    if counts[Count.DEFERRED] and counts[Count.TOLD] < counts[Count.GENERATION_SIZE]:
        return -1
    i = counts[Count.CURSOR]
    settle(episode, i)
    return i


@kernel("boolean(int64)")
def finish_if_over(run):
    """Finish the generation if all of it is settled; return whether it was."""
    episode = open_episode(run)
    over = generation_is_over(episode.search)
    if over:
        finish(episode)
    return over


@kernel("float64(int64, int64)")
def evaluate_here(run, i):
    """The compiled objective at point `i` of the generation, with noise from the run's stream."""
    return evaluate(open_episode(run), i)


@kernel("int64(int64)")
def evaluate_proposed(run):
    """Evaluate the proposed point with the compiled objective and settle it; return its number."""
    episode = open_episode(run)
    i = episode.search.counts[Count.TOLD]
    note_told(episode.search, i, evaluate(episode, i))
    settle_told(episode)
    return i
