"""The compiled form of a policy: up to six small kernels that the loop calls by address.

====================  ================================================================
kernel                signature
====================  ================================================================
``reset``             ``(setup, memory, n_ops, n_pop) -> 0``
``choose``            ``(setup, memory, features, stream, n_ops, i) -> operator``
``select_candidate``  ``(setup, memory, scores, stream) -> number of a candidate``
``learn``             ``(setup, memory, i, op, outcome) -> 0``
``end_generation``    ``(setup, memory) -> 0``
``renumber``          ``(setup, memory, origin) -> 0``
====================  ================================================================

`setup` holds what the policy was made with (shared by all runs, never written), `memory` what it learned in this run,
`stream` is the run's policy stream. `outcome` is what came of the trial, with the slots of
`deddqn.de.state.Outcome`.

`select_candidate` follows `choose` where several candidates of an operator are made (``n_candidates`` of `DEConfig`);
`scores` are those of the surrogate: about 1 is as good as the best point known, about 0 as bad as the worst, and more
far from all training points (`deddqn.de.surrogate`). A policy without `select_candidate` gets one trial. `renumber`
follows `end_generation` when the population has shrunk or was restarted: individual k of the next generation had the
number ``origin[k]`` before, or is new where that is -1. Policies that remember individuals need it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from deddqn._jit import Function, caller_of

_OWN = "float64[::1], float64[::1]"  # setup, memory
RESET_SIGNATURE = f"int64({_OWN}, int64, int64)"
CHOOSE_SIGNATURE = f"int64({_OWN}, float64[::1], uint64[::1], int64, int64)"
SELECT_CANDIDATE_SIGNATURE = f"int64({_OWN}, float64[::1], uint64[::1])"
LEARN_SIGNATURE = f"int64({_OWN}, int64, int64, float64[::1])"
END_SIGNATURE = f"int64({_OWN})"
RENUMBER_SIGNATURE = f"int64({_OWN}, int64[::1])"

call_reset = caller_of(RESET_SIGNATURE)
call_choose = caller_of(CHOOSE_SIGNATURE)
call_select_candidate = caller_of(SELECT_CANDIDATE_SIGNATURE)
call_learn = caller_of(LEARN_SIGNATURE)
call_end_generation = caller_of(END_SIGNATURE)
call_renumber = caller_of(RENUMBER_SIGNATURE)


class PolicyKernels(NamedTuple):
    """The kernels of one policy; what it does not need is None."""

    choose: Function
    reset: Function | None = None
    learn: Function | None = None
    end_generation: Function | None = None
    renumber: Function | None = None
    select_candidate: Function | None = None


NO_SETUP = np.zeros(0)
