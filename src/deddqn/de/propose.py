"""Propose: the trial of one individual, by mutation, binomial crossover and repair (Sect. 2.1)."""

from __future__ import annotations

from numba import njit

from deddqn.compiled import ENGINE, INNER
from deddqn.de.bounds import repair
from deddqn.de.gauss import sample_better_half
from deddqn.de.parameters import parameters_of
from deddqn.de.pick import ARCHIVE_DONOR, draw_from_archive, draw_guide
from deddqn.de.state import Count
from deddqn.de.strategies import GAUSS, STRATEGIES, mutate
from deddqn.streams import Stream, integer_below, uniform

GAUSS_CODE = STRATEGIES.index(GAUSS)


@njit(**ENGINE)
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


@njit(**INNER)
def write_mutant(search, i, code, scale):
    """Write the mutant of individual `i` by the strategy with this `code`; guide and archive are drawn on here."""
    parents, donors, trial = search.parents, search.donors[i], search.trials[i]
    if code == GAUSS_CODE:
        sample_better_half(search, scale, trial)
        return
    guide = search.counts[Count.BEST]
    if ARCHIVE_DONOR[code] >= 0:
        guide = draw_guide(search)
        donors = draw_from_archive(search, i, ARCHIVE_DONOR[code])
    mutate(code, parents, i, donors, guide, scale, trial)


@njit(**INNER)
def propose(search, i, op):
    """Write the trial of individual `i` by operator `op`, and note the choice."""
    parent, trial = search.parents[i], search.trials[i]
    search.choices[i] = op
    scale, crossover = parameters_of(search, i, op)
    write_mutant(search, i, search.strategy[op], scale)
    cross_over(crossover, search.streams[Stream.SEARCH], parent, trial)
    repair(search.counts[Count.REPAIR], trial, parent, search.search_lower, search.search_upper)
