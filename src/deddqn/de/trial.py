"""Propose: the trial of one individual, by mutation, binomial crossover and repair (Sect. 2.1)."""

from __future__ import annotations

from deddqn._jit import address_of_record, kernel
from deddqn.de.bounds import repair
from deddqn.de.operators import call_move
from deddqn.de.state import Count
from deddqn.rng import Stream, integer_below, uniform


@kernel
def cross_over(rate, stream, parent, trial):
    """Binomial crossover: a coordinate stays the mutant's with probability CR, and one always does.

    Writes `trial`, which holds the mutant. With CR = 1 no random number is used.
    """
    if rate >= 1.0:
        return
    kept = integer_below(stream, trial.size)
    for d in range(trial.size):
        if uniform(stream) >= rate and d != kept:
            trial[d] = parent[d]


@kernel
def propose(search, move, i, op):
    """Write the trial of individual `i` by operator `op`, and note the choice; `move` is the address of a move."""
    parent, trial = search.parents[i], search.trials[i]
    search.choices[i] = op
    crossover = call_move(move, (address_of_record(search), i, op))
    cross_over(crossover, search.streams[Stream.SEARCH], parent, trial)
    repair(search.counts[Count.REPAIR], trial, parent, search.search_lower, search.search_upper)
