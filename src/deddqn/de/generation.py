"""Closing: what happens to the population when a generation is settled, by kernels that the loop calls by address.

In the paper better trials replace their parents, and that is all. Runs that learn F and CR, keep an archive, shrink,
restart or foresee come with the other kernels; a run compiles only the one that it uses.
"""

from __future__ import annotations

from deddqn._jit import Function, caller_of, copy, kernel
from deddqn.de.archive import archive_parent
from deddqn.de.cma_sampling import collect_samples
from deddqn.de.config import DEConfig
from deddqn.de.population_reduction import shrink_population
from deddqn.de.portfolio import Portfolio
from deddqn.de.restart import restart_if_converged, return_to_kept
from deddqn.de.state import SEARCH, Count, Mark, search_sizes
from deddqn.de.success_history import learn_parameters
from deddqn.de.surrogate import note_beaten

CLOSE_SIGNATURE = "int64(int64)"
"""close(address of the search) -> 0"""

call_close = caller_of(CLOSE_SIGNATURE)
SEARCH_AT = SEARCH.at


@kernel
def replace_parents(search):
    """A settled trial takes its parent's place when it is not worse."""
    parents, fitness, trials, values = search.parents, search.fitness, search.trials, search.values
    for i in range(search.counts[Count.CURSOR]):
        if values[i] <= fitness[i]:
            fitness[i] = values[i]
            copy(trials[i], parents[i])


@kernel
def archive_parents(search):
    """Keep the parents that are about to be replaced by better trials."""
    for i in range(search.counts[Count.CURSOR]):
        if search.values[i] < search.fitness[i]:
            archive_parent(search, i)


@kernel(CLOSE_SIGNATURE)
def close_paper(address):
    """Replacement alone."""
    replace_parents(SEARCH_AT(address))
    return 0


@kernel
def learn_and_replace(search):
    """Learn F and CR, note what is beaten, keep what is replaced, replace, shrink."""
    search.counts[Count.RENUMBERED] = 0
    learn_parameters(search)
    note_beaten(search)
    archive_parents(search)
    replace_parents(search)
    shrink_population(search)


@kernel(CLOSE_SIGNATURE)
def close_any(address):
    """Replacement with all that may go with it, but for restarts."""
    learn_and_replace(SEARCH_AT(address))
    return 0


@kernel(CLOSE_SIGNATURE)
def close_or_restart(address):
    """The same; then begin anew where the population has converged, or return to the best one."""
    search = SEARCH_AT(address)
    learn_and_replace(search)
    return_to_kept(search)
    restart_if_converged(search)
    return 0


@kernel(CLOSE_SIGNATURE)
def close_with_samples(address):
    """The same with the strategy cma, which learns from the trials; with or without restarts."""
    search = SEARCH_AT(address)
    collect_samples(search, True)
    learn_and_replace(search)
    if search.marks[Mark.RESTART_TOLERANCE] > 0.0:
        return_to_kept(search)
        restart_if_converged(search)
    return 0


def closing_of(portfolio: Portfolio, config: DEConfig) -> Function:
    """The kernel that closes the generations of a run."""
    sizes = search_sizes(portfolio, config, 1)
    plain = sizes["rows"] == sizes["NP"] and not any(sizes[name] for name in ("renumbered", "adapted", "known"))
    if sizes["model_D"]:
        return close_with_samples
    if config.restart_tolerance > 0.0:
        return close_or_restart
    return close_paper if plain else close_any
