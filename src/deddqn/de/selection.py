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
from deddqn.de.restart import restart_if_converged, return_to_best_population
from deddqn.de.state import DE_STATE, Counter, Scalar, de_state_sizes
from deddqn.de.success_history import update_memory
from deddqn.de.surrogate import remember_recent_points

SELECTION_SIGNATURE = "int64(int64)"
"""close(address of the search) -> 0"""

call_selection = caller_of(SELECTION_SIGNATURE)
DE_STATE_AT = DE_STATE.at


@kernel
def replace_parents(de_state):
    """A settled trial takes its parent's place when it is not worse."""
    parents, fitness, trials, values = de_state.parents, de_state.fitness, de_state.trials, de_state.values
    for i in range(de_state.counters[Counter.RECORDED]):
        if values[i] <= fitness[i]:
            fitness[i] = values[i]
            copy(trials[i], parents[i])


@kernel
def archive_parents(de_state):
    """Keep the parents that are about to be replaced by better trials."""
    for i in range(de_state.counters[Counter.RECORDED]):
        if de_state.values[i] < de_state.fitness[i]:
            archive_parent(de_state, i)


@kernel(SELECTION_SIGNATURE)
def select_paper(address):
    """Replacement alone."""
    replace_parents(DE_STATE_AT(address))
    return 0


@kernel
def adapt_and_replace(de_state):
    """Learn F and CR, note what is beaten, keep what is replaced, replace, shrink."""
    de_state.counters[Counter.RENUMBERED] = 0
    update_memory(de_state)
    remember_recent_points(de_state)
    archive_parents(de_state)
    replace_parents(de_state)
    shrink_population(de_state)


@kernel(SELECTION_SIGNATURE)
def select_extended(address):
    """Replacement with all that may go with it, but for restarts."""
    adapt_and_replace(DE_STATE_AT(address))
    return 0


@kernel(SELECTION_SIGNATURE)
def select_and_restart(address):
    """The same; then begin anew where the population has converged, or return to the best one."""
    de_state = DE_STATE_AT(address)
    adapt_and_replace(de_state)
    return_to_best_population(de_state)
    restart_if_converged(de_state)
    return 0


@kernel(SELECTION_SIGNATURE)
def select_with_cma(address):
    """The same with the strategy cma, which learns from the trials; with or without restarts."""
    de_state = DE_STATE_AT(address)
    collect_samples(de_state, True)
    adapt_and_replace(de_state)
    if de_state.scalars[Scalar.RESTART_TOLERANCE] > 0.0:
        return_to_best_population(de_state)
        restart_if_converged(de_state)
    return 0


def selection_kernel(portfolio: Portfolio, config: DEConfig) -> Function:
    """The kernel that closes the generations of a run."""
    sizes = de_state_sizes(portfolio, config, 1)
    plain = sizes["rows"] == sizes["NP"] and not any(
        sizes[name] for name in ("renumbered", "adapted", "training_points")
    )
    if sizes["model_D"]:
        return select_with_cma
    if config.restart_tolerance > 0.0:
        return select_and_restart
    return select_paper if plain else select_extended
