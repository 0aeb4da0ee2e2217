"""Selection: trials replace their parents when a generation ends, with all that goes with it.

In the paper a trial that is not worse replaces its parent, and that is all. Runs that adapt F and CR, keep an archive,
shrink the population, restart or pre-screen use the other kernels; the loop calls the one that a run needs by address.
"""

from __future__ import annotations

from deddqn._jit import Function, caller_of, copy, kernel
from deddqn.de.archive import archive_parent
from deddqn.de.cma_sampling import collect_samples
from deddqn.de.config import DEConfig
from deddqn.de.population_reduction import shrink_population
from deddqn.de.population_statistics import rank_parents
from deddqn.de.portfolio import Portfolio
from deddqn.de.restart import restart_if_converged, return_to_best_population
from deddqn.de.state import DE_STATE, Counter, Scalar, de_state_sizes
from deddqn.de.success_history import update_memory
from deddqn.de.surrogate import remember_recent_point, remember_recent_points

SELECTION_SIGNATURE = "int64(int64)"
"""select(address of the DE state) -> 0"""

call_selection = caller_of(SELECTION_SIGNATURE)
DE_STATE_AT = DE_STATE.at


@kernel
def replace_parents(de_state):
    """Trials replace their parents where they are not worse."""
    for i in range(de_state.counters[Counter.RECORDED]):
        replace_parent(de_state, i)


@kernel
def replace_parent(de_state, i):
    """A trial replaces its parent when it is not worse."""
    if de_state.values[i] <= de_state.fitness[i]:
        de_state.fitness[i] = de_state.values[i]
        copy(de_state.trials[i], de_state.parents[i])
        copy(de_state.trial_pairs[i], de_state.parent_pairs[i])


@kernel
def archive_parents(de_state):
    """Keep the parents that are about to be replaced by better trials."""
    for i in range(de_state.counters[Counter.RECORDED]):
        if de_state.values[i] < de_state.fitness[i]:
            archive_parent(de_state, i)


@kernel
def select_at_once(de_state, i):
    """What selection does with one trial, as soon as it is recorded; parents are ranked again."""
    remember_recent_point(de_state, i)
    if de_state.values[i] < de_state.fitness[i]:
        archive_parent(de_state, i)
    if de_state.values[i] <= de_state.fitness[i]:
        replace_parent(de_state, i)
        rank_parents(de_state)
        de_state.counters[Counter.BEST] = de_state.order[0]


@kernel(SELECTION_SIGNATURE)
def select_paper(address):
    """One-to-one replacement, as in the paper."""
    de_state = DE_STATE_AT(address)
    if not de_state.counters[Counter.ASYNCHRONOUS]:
        replace_parents(de_state)
    return 0


@kernel
def adapt_and_replace(de_state):
    """Update the success history, the recent points and the archive; replace; reduce the population.

    Asynchronous trials have replaced their parents already.
    """
    de_state.counters[Counter.RENUMBERED] = 0
    update_memory(de_state)
    if not de_state.counters[Counter.ASYNCHRONOUS]:
        remember_recent_points(de_state)
        archive_parents(de_state)
        replace_parents(de_state)
    shrink_population(de_state)


@kernel(SELECTION_SIGNATURE)
def select_extended(address):
    """Replacement with adaptation, archive and population reduction."""
    adapt_and_replace(DE_STATE_AT(address))
    return 0


@kernel(SELECTION_SIGNATURE)
def select_and_restart(address):
    """The same; then restart a converged population, or return to the best one."""
    de_state = DE_STATE_AT(address)
    adapt_and_replace(de_state)
    return_to_best_population(de_state)
    restart_if_converged(de_state)
    return 0


@kernel(SELECTION_SIGNATURE)
def select_with_cma(address):
    """The same with the strategy cma, whose distribution is updated from the trials; with or without restarts."""
    de_state = DE_STATE_AT(address)
    collect_samples(de_state, True)
    adapt_and_replace(de_state)
    if de_state.scalars[Scalar.RESTART_TOLERANCE] > 0.0:
        return_to_best_population(de_state)
        restart_if_converged(de_state)
    return 0


@kernel(SELECTION_SIGNATURE)
def collect_cma_samples(address):
    """Let the distribution of the strategy cma learn from the trials recorded so far."""
    collect_samples(DE_STATE_AT(address), False)
    return 0


def selection_kernel(portfolio: Portfolio, config: DEConfig) -> Function:
    """The selection kernel of a run."""
    sizes = de_state_sizes(portfolio, config, 1)
    plain = sizes["rows"] == sizes["NP"] and not any(
        sizes[name] for name in ("renumbered", "adapted", "training_points")
    )
    if sizes["model_D"]:
        return select_with_cma
    if config.restart_tolerance > 0.0:
        return select_and_restart
    return select_paper if plain else select_extended
