"""Operators: mutation strategies with their F and CR, which write mutants into `trials`, by kernels that the loop calls
by address.

A run compiles only what its portfolio uses: the paper's strategies with constant F and CR need no more than their
formulas; adapted parameters, p-best, the archive and samples come with the portfolios that have them.
"""

from __future__ import annotations

from deddqn._jit import Function, call_python_object, caller_of, kernel
from deddqn.de.archive import ARCHIVE_DONOR, draw_from_archive, draw_pbest
from deddqn.de.bounds import RANDOM, draw_outside_again
from deddqn.de.cma_sampling import sample_model
from deddqn.de.config import DEConfig
from deddqn.de.gaussian_sampling import sample_better_half
from deddqn.de.mutation import CMA, GAUSS, PAPER_STRATEGIES, STRATEGIES, mutate, mutate_further
from deddqn.de.portfolio import Portfolio
from deddqn.de.state import DE_STATE, Counter, Scalar
from deddqn.de.success_history import draw_parameters
from deddqn.rng import Stream, integer_below, uniform

OPERATOR_SIGNATURE = "float64(int64, int64, int64)"
"""operator(address of the DE state, i, op) -> CR of the trial"""

call_operator = caller_of(OPERATOR_SIGNATURE)
DE_STATE_AT = DE_STATE.at
GAUSS_CODE, CMA_CODE = STRATEGIES.index(GAUSS), STRATEGIES.index(CMA)


@kernel(OPERATOR_SIGNATURE)
def paper_operator(address, i, op):
    """The paper's strategies with constant F and CR."""
    de_state = DE_STATE_AT(address)
    best, donors = de_state.counters[Counter.BEST], de_state.donors[i]
    mutate(de_state.strategy[op], de_state.parents, i, donors, best, de_state.scale[op], de_state.trials[i])
    return de_state.crossover[op]


@kernel(OPERATOR_SIGNATURE)
def any_operator(address, i, op):
    """Every strategy without a memory; F and CR may be drawn, and so may p-best and archived donor."""
    de_state = DE_STATE_AT(address)
    code, pbest, donors = de_state.strategy[op], de_state.counters[Counter.BEST], de_state.donors[i]
    scale, crossover = draw_parameters(de_state, i, op)
    if code == GAUSS_CODE:
        sample_better_half(de_state, scale, de_state.trials[i])
        return crossover
    if ARCHIVE_DONOR[code] >= 0:
        pbest = draw_pbest(de_state)
        draw_from_archive(de_state, i, ARCHIVE_DONOR[code])
        donors = de_state.archive_donors
    mutate_further(code, de_state.parents, i, donors, pbest, scale, de_state.trials[i])
    return crossover


@kernel(OPERATOR_SIGNATURE)
def operator_or_cma(address, i, op):
    """The same, and the strategy cma."""
    de_state = DE_STATE_AT(address)
    if de_state.strategy[op] != CMA_CODE:
        return any_operator(address, i, op)
    scale, crossover = draw_parameters(de_state, i, op)
    sample_model(de_state, scale, de_state.trials[i])
    return crossover


@kernel
def cross_over_exponentially(rate, stream, parent, trial):
    """Exponential crossover: from a random coordinate on, as long as uniform numbers stay below CR, the mutant's.

    Writes `trial`, which holds the mutant.
    """
    first, length = integer_below(stream, trial.size), 1
    while length < trial.size and uniform(stream) < rate:
        length += 1
    for k in range(length, trial.size):
        d = (first + k) % trial.size
        trial[d] = parent[d]


@kernel(OPERATOR_SIGNATURE)
def operator_with_options(address, i, op):
    """Every operator, or a Python object in their place; with dither, the repair "random", exponential crossover."""
    de_state = DE_STATE_AT(address)
    counters, scalars, stream = de_state.counters, de_state.scalars, de_state.streams[Stream.SEARCH]
    trial = de_state.trials[i]
    if i == 0 and scalars[Scalar.DITHER] > 0.0:
        scalars[Scalar.DITHERED] = uniform(stream) * scalars[Scalar.DITHER]
    if counters[Counter.PYTHON_STRATEGY]:
        crossover = call_python_object(counters[Counter.PYTHON_STRATEGY], trial)
    else:
        constant = de_state.scale[op]
        de_state.scale[op] = constant + scalars[Scalar.DITHERED]
        crossover = operator_or_cma(address, i, op)
        de_state.scale[op] = constant
    if counters[Counter.REPAIR] == RANDOM:
        draw_outside_again(trial, de_state.search_lower, de_state.search_upper, stream)
    if counters[Counter.EXPONENTIAL]:
        cross_over_exponentially(crossover, stream, de_state.parents[i], trial)
        return 1.0
    return crossover


def operator_kernel(portfolio: Portfolio, config: DEConfig) -> Function:
    """The kernel that applies the operators of a portfolio."""
    if config.dither > 0.0 or config.crossover_kind != "binomial" or config.repair == "random":
        return operator_with_options
    if any(entry.strategy == CMA for entry in portfolio):
        return operator_or_cma
    plain = all(entry.strategy in PAPER_STRATEGIES and not entry.adapts for entry in portfolio)
    return paper_operator if plain else any_operator
