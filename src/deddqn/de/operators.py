"""Moves: mutants written into `trials`, by kernels that the loop calls by address.

A run compiles only what its portfolio uses: the paper's strategies with constant F and CR need no more than their
formulas; adapted parameters, guides, the archive and samples come with the portfolios that have them.
"""

from __future__ import annotations

from deddqn._jit import Function, caller_of, kernel
from deddqn.de.archive import ARCHIVE_DONOR, draw_from_archive, draw_guide
from deddqn.de.cma_sampling import sample_model
from deddqn.de.gaussian_sampling import sample_better_half
from deddqn.de.mutation import CMA, GAUSS, PAPER_STRATEGIES, STRATEGIES, mutate, mutate_further
from deddqn.de.portfolio import Portfolio
from deddqn.de.state import SEARCH, Count
from deddqn.de.success_history import parameters_of

MOVE_SIGNATURE = "float64(int64, int64, int64)"
"""move(address of the search, i, op) -> CR of the trial"""

call_move = caller_of(MOVE_SIGNATURE)
SEARCH_AT = SEARCH.at
GAUSS_CODE, CMA_CODE = STRATEGIES.index(GAUSS), STRATEGIES.index(CMA)


@kernel(MOVE_SIGNATURE)
def paper_move(address, i, op):
    """The paper's strategies with constant F and CR."""
    search = SEARCH_AT(address)
    best, donors = search.counts[Count.BEST], search.donors[i]
    mutate(search.strategy[op], search.parents, i, donors, best, search.scale[op], search.trials[i])
    return search.crossover[op]


@kernel(MOVE_SIGNATURE)
def any_move(address, i, op):
    """Every strategy without a memory; F and CR may be drawn, and so may guide and archived donor."""
    search = SEARCH_AT(address)
    code, guide, donors = search.strategy[op], search.counts[Count.BEST], search.donors[i]
    scale, crossover = parameters_of(search, i, op)
    if code == GAUSS_CODE:
        sample_better_half(search, scale, search.trials[i])
        return crossover
    if ARCHIVE_DONOR[code] >= 0:
        guide = draw_guide(search)
        draw_from_archive(search, i, ARCHIVE_DONOR[code])
        donors = search.picked
    mutate_further(code, search.parents, i, donors, guide, scale, search.trials[i])
    return crossover


@kernel(MOVE_SIGNATURE)
def move_or_sample(address, i, op):
    """The same, and the strategy cma."""
    search = SEARCH_AT(address)
    if search.strategy[op] != CMA_CODE:
        return any_move(address, i, op)
    scale, crossover = parameters_of(search, i, op)
    sample_model(search, scale, search.trials[i])
    return crossover


def move_of(portfolio: Portfolio) -> Function:
    """The kernel that makes the moves of a portfolio."""
    if any(entry.strategy == CMA for entry in portfolio):
        return move_or_sample
    plain = all(entry.strategy in PAPER_STRATEGIES and not entry.adapts for entry in portfolio)
    return paper_move if plain else any_move
