"""The steps of the loop for callers who evaluate, or choose, outside of compiled code.

A run is given by the address of its arena.
"""

from __future__ import annotations

from deddqn._jit import kernel
from deddqn.de.generation import generation_is_over
from deddqn.de.state import Counter
from deddqn.de.trial import propose
from deddqn.engine.loop import evaluate, finish, hold_value, prepare, propose_pending, record_evaluation, record_told
from deddqn.engine.run_memory import Link, open_run


@kernel("int64(int64)")
def ask_points(run):
    """Propose what can be evaluated now with the compiled policy; return how many points of the generation exist."""
    episode = open_run(run)
    counters = episode.de_state.counters
    if counters[Counter.ENDED]:
        return 0
    if counters[Counter.INITIALISED]:
        propose_pending(episode)
    if counters[Counter.DEFERRED]:
        return counters[Counter.GENERATION_SIZE]
    return counters[Counter.TOLD] + 1


@kernel("none(int64, int64, float64)")
def tell_value(run, i, value):
    """Enter the value of point `i` of the generation, and record what can be recorded."""
    episode = open_run(run)
    hold_value(episode.de_state, i, value)
    record_told(episode)


@kernel("int64(int64)")
def observe(run):
    """Draw donors and write the features of the next individual to decide for; return it, or -1 if there is none."""
    episode = open_run(run)
    counters = episode.de_state.counters
    if counters[Counter.ENDED] or not counters[Counter.INITIALISED]:
        return -1
    i = counters[Counter.PROPOSED]
    last = counters[Counter.GENERATION_SIZE] if counters[Counter.DEFERRED] else counters[Counter.TOLD] + 1
    if i >= last:
        return -1
    if counters[Counter.DONORS_DRAWN] <= i:
        prepare(episode, i)
    return i


@kernel("none(int64, int64)")
def act(run, op):
    """Propose the trial of the observed individual by operator `op`, which was chosen outside."""
    core, de_state, _ = open_run(run)
    i = de_state.counters[Counter.PROPOSED]
    propose(de_state, core.links[Link.OPERATOR], i, op)
    de_state.counters[Counter.PROPOSED] = i + 1


@kernel("none(int64, int64, float64)")
def hold_value_of(run, i, value):
    """Enter the value of point `i` of the generation without recording it."""
    hold_value(open_run(run).de_state, i, value)


@kernel("int64(int64)")
def record_next(run):
    """Record the next told point; return it, or -1 if none can be recorded. For policies that learn in Python."""
    episode = open_run(run)
    counters = episode.de_state.counters
    if counters[Counter.RECORDED] >= counters[Counter.TOLD]:
        return -1
    if counters[Counter.DEFERRED] and counters[Counter.TOLD] < counters[Counter.GENERATION_SIZE]:
        return -1
    i = counters[Counter.RECORDED]
    record_evaluation(episode, i)
    return i


@kernel("boolean(int64)")
def finish_if_over(run):
    """Finish the generation if all of it is recorded; return whether it was."""
    episode = open_run(run)
    over = generation_is_over(episode.de_state)
    if over:
        finish(episode)
    return over


@kernel("float64(int64, int64)")
def evaluate_here(run, i):
    """The compiled objective at point `i` of the generation, with noise from the run's stream."""
    return evaluate(open_run(run), i)


@kernel("int64(int64)")
def evaluate_proposed(run):
    """Evaluate the proposed point with the compiled objective and record it; return its number."""
    episode = open_run(run)
    i = episode.de_state.counters[Counter.TOLD]
    hold_value(episode.de_state, i, evaluate(episode, i))
    record_told(episode)
    return i
