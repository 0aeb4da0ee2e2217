"""The operator of runs with integers or categories: any operator, whose trial is then brought onto the lattice."""

from __future__ import annotations

from deddqn._jit import kernel
from deddqn.de.bounds import repair
from deddqn.de.discrete import make_discrete
from deddqn.de.operators import OPERATOR_SIGNATURE, operator_with_options
from deddqn.de.state import DE_STATE, Counter
from deddqn.de.trial import cross_over
from deddqn.rng import Stream

DE_STATE_AT = DE_STATE.at
DONE = 1.0


@kernel(OPERATOR_SIGNATURE)
def discrete_operator(address, i, op):
    """Mutation, crossover, repair and rounding. It gives a CR of 1, with which its caller's crossover does nothing."""
    de_state = DE_STATE_AT(address)
    parent, trial = de_state.parents[i], de_state.trials[i]
    crossover = operator_with_options(address, i, op)
    cross_over(crossover, de_state.streams[Stream.SEARCH], parent, trial)
    repair(de_state.counters[Counter.REPAIR], trial, parent, de_state.search_lower, de_state.search_upper)
    make_discrete(de_state, i)
    return DONE
