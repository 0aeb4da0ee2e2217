"""Who searches beside DE, CMA-ES and the local search: whose turn it is between two generations.

As with selection, the loop calls the kernel that a run needs by address: what nobody uses need not be compiled.
"""

from __future__ import annotations

from deddqn._jit import Function, caller_of, kernel
from deddqn.de.cma_es import consider_hand_over, hand_back, is_behind, learn_from_population
from deddqn.de.config import DEConfig
from deddqn.de.local_search import (
    begin_local_search,
    close_local_search,
    continue_local_search,
    include_best_point,
    is_time_for_local_search,
)
from deddqn.de.state import DE_STATE, Counter

SEARCHERS_SIGNATURE = "int64(int64)"
"""searchers(address of the DE state) -> 0"""

call_searchers = caller_of(SEARCHERS_SIGNATURE)
DE_STATE_AT = DE_STATE.at


@kernel(SEARCHERS_SIGNATURE)
def local_search_beside(address):
    """Let the local search make the next population, when its time has come and while it goes on."""
    de_state = DE_STATE_AT(address)
    if de_state.counters[Counter.ENDED]:
        show_population(de_state)
        return 0
    if de_state.counters[Counter.LOCAL_PHASE]:
        continue_local_search(de_state)
    if is_time_for_local_search(de_state):
        begin_local_search(de_state)
    return 0


@kernel(SEARCHERS_SIGNATURE)
def cma_es_beside(address):
    """Let CMA-ES or the local search make the next population, when its time has come and while it goes on."""
    de_state = DE_STATE_AT(address)
    counters = de_state.counters
    if counters[Counter.ENDED]:
        show_population(de_state)
        return 0
    if counters[Counter.LOCAL_PHASE]:
        continue_local_search(de_state)
    elif counters[Counter.SAMPLING] and is_behind(de_state):
        hand_back(de_state)
    elif counters[Counter.SAMPLING]:
        learn_from_population(de_state)
    elif counters[Counter.EVALUATIONS] >= counters[Counter.HAND_OVER] and not counters[Counter.TRIED]:
        consider_hand_over(de_state)
    if is_time_for_local_search(de_state):
        begin_local_search(de_state)
    return 0


@kernel
def show_population(de_state):
    """Let the parents of a run that has ended be points with values, the best one among them."""
    counters = de_state.counters
    if counters[Counter.LOCAL_PHASE]:
        close_local_search(de_state)
    elif counters[Counter.SAMPLING]:
        counters[Counter.POPULATION] = counters[Counter.RECORDED]
    if de_state.local_point.size:
        include_best_point(de_state)


def searchers_kernel(config: DEConfig) -> Function | None:
    """The kernel of those beside DE in a run; None where DE is alone."""
    if config.cma_share > 0.0:
        return cma_es_beside
    return local_search_beside if config.local_share > 0.0 else None
