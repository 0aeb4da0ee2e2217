"""Foresight: several trials of the chosen move are made, and the policy picks the one that is evaluated.

What it sees of a trial is its *outlook*, see `outlook`.

The first trial is the one that would be made without foresight; every other one has donors, guide, F and CR of its own.
"""

from __future__ import annotations

from deddqn._jit import caller_of, copy, kernel
from deddqn.de.initialization import draw_donors
from deddqn.de.state import SEARCH
from deddqn.de.surrogate import outlook_of, renew_model
from deddqn.de.trial import propose

FORESEE_SIGNATURE = "int64(int64, int64, int64, int64)"
"""foresee(address of the search, address of the move, i, op) -> 0"""

call_foresee = caller_of(FORESEE_SIGNATURE)
SEARCH_AT = SEARCH.at


@kernel(FORESEE_SIGNATURE)
def foresee(address, move, i, op):
    """Write trials of individual `i` by operator `op` into `foreseen`, and their outlooks; note the choice."""
    search = SEARCH_AT(address)
    trial = search.trials[i]
    renew_model(search)
    for k in range(search.outlook.size):
        if k > 0:
            draw_donors(search, i)
        propose(search, move, i, op)
        copy(trial, search.foreseen[k])
        if search.adapts[op]:
            search.foreseen_scale[k] = search.used_scale[i]
            search.foreseen_crossover[k] = search.used_crossover[i]
        search.outlook[k] = outlook_of(search, trial)
    return 0


@kernel
def take_foreseen(search, i, k):
    """Let foreseen trial number `k` be the trial of individual `i`."""
    copy(search.foreseen[k], search.trials[i])
    if search.adapts[search.choices[i]]:
        search.used_scale[i] = search.foreseen_scale[k]
        search.used_crossover[i] = search.foreseen_crossover[k]
