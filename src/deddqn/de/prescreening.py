"""Foresight: several trials of the chosen move are made, and the policy picks the one that is evaluated.

What it sees of a trial is its *outlook*, see `outlook`.

The first trial is the one that would be made without foresight; every other one has donors, guide, F and CR of its own.
"""

from __future__ import annotations

from deddqn._jit import caller_of, copy, kernel
from deddqn.de.initialization import draw_donors
from deddqn.de.state import DE_STATE
from deddqn.de.surrogate import refit_if_stale, surrogate_score
from deddqn.de.trial import propose

CANDIDATES_SIGNATURE = "int64(int64, int64, int64, int64)"
"""foresee(address of the search, address of the move, i, op) -> 0"""

call_make_candidates = caller_of(CANDIDATES_SIGNATURE)
DE_STATE_AT = DE_STATE.at


@kernel(CANDIDATES_SIGNATURE)
def make_candidates(address, move, i, op):
    """Write trials of individual `i` by operator `op` into `foreseen`, and their outlooks; note the choice."""
    de_state = DE_STATE_AT(address)
    trial = de_state.trials[i]
    refit_if_stale(de_state)
    for k in range(de_state.candidate_scores.size):
        if k > 0:
            draw_donors(de_state, i)
        propose(de_state, move, i, op)
        copy(trial, de_state.candidates[k])
        if de_state.adapts[op]:
            de_state.candidate_f[k] = de_state.trial_f[i]
            de_state.candidate_cr[k] = de_state.trial_cr[i]
        de_state.candidate_scores[k] = surrogate_score(de_state, trial)
    return 0


@kernel
def take_candidate(de_state, i, k):
    """Let foreseen trial number `k` be the trial of individual `i`."""
    copy(de_state.candidates[k], de_state.trials[i])
    if de_state.adapts[de_state.choices[i]]:
        de_state.trial_f[i] = de_state.candidate_f[k]
        de_state.trial_cr[i] = de_state.candidate_cr[k]
