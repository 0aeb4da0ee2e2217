"""Propose: the trial of one individual, by mutation, binomial crossover and repair (Sect. 2.1)."""

from __future__ import annotations

from deddqn._jit import address_of_record, kernel
from deddqn.de.bounds import repair
from deddqn.de.discrete import remember_point
from deddqn.de.operators import call_operator
from deddqn.de.state import Counter
from deddqn.rng import Stream, integer_below, uniform


@kernel
def cross_over(rate, stream, parent, trial):
    """Binomial crossover: a coordinate stays the mutant's with probability CR, and one always does.

    Writes `trial`, which holds the mutant. With CR = 1 no random number is used.
    """
    if rate >= 1.0:
        return
    from_mutant = integer_below(stream, trial.size)
    for d in range(trial.size):
        if uniform(stream) >= rate and d != from_mutant:
            trial[d] = parent[d]


@kernel
def propose(de_state, operator, i, op):
    """Write the trial of individual `i` by operator `op`, which will be evaluated."""
    make_trial(de_state, operator, i, op)
    remember_point(de_state, de_state.trials[i])


@kernel
def make_trial(de_state, operator, i, op):
    """Write the trial of individual `i` by operator `op`, and record the choice; `operator` is an address."""
    parent, trial = de_state.parents[i], de_state.trials[i]
    de_state.choices[i] = op
    crossover = call_operator(operator, (address_of_record(de_state), i, op))
    cross_over(crossover, de_state.streams[Stream.SEARCH], parent, trial)
    repair(de_state.counters[Counter.REPAIR], trial, parent, de_state.search_lower, de_state.search_upper)
