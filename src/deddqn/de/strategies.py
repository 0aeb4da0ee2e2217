"""The mutation strategies of Sect. 2.1. One signature for all; the donors r1..r5 are already drawn.

Every kernel writes the mutant into `trial` from the parents of this generation: ``parents`` (NP, D), the
individual `i`, its ``donors`` (5,), the index `best` of the best parent, and the scaling factor F as `scale`.
"""

from __future__ import annotations

from numba import njit

from deddqn.compiled import ENGINE


@njit(**ENGINE)
def rand_1(parents, i, donors, best, scale, trial):
    """x_r1 + F (x_r2 - x_r3)."""
    r1, r2, r3 = donors[0], donors[1], donors[2]
    for d in range(trial.size):
        trial[d] = parents[r1, d] + scale * (parents[r2, d] - parents[r3, d])


@njit(**ENGINE)
def rand_2(parents, i, donors, best, scale, trial):
    """x_r1 + F (x_r2 - x_r3 + x_r4 - x_r5)."""
    r1, r2, r3, r4, r5 = donors[0], donors[1], donors[2], donors[3], donors[4]
    for d in range(trial.size):
        difference = parents[r2, d] - parents[r3, d] + parents[r4, d] - parents[r5, d]
        trial[d] = parents[r1, d] + scale * difference


@njit(**ENGINE)
def rand_to_best_2(parents, i, donors, best, scale, trial):
    """x_r1 + F (x_best - x_r1 + x_r2 - x_r3 + x_r4 - x_r5)."""
    r1, r2, r3, r4, r5 = donors[0], donors[1], donors[2], donors[3], donors[4]
    for d in range(trial.size):
        base = parents[r1, d]
        difference = parents[r2, d] - parents[r3, d] + parents[r4, d] - parents[r5, d]
        trial[d] = base + scale * (parents[best, d] - base + difference)


@njit(**ENGINE)
def curr_to_rand_1(parents, i, donors, best, scale, trial):
    """x_i + F (x_r1 - x_i + x_r2 - x_r3)."""
    r1, r2, r3 = donors[0], donors[1], donors[2]
    for d in range(trial.size):
        base = parents[i, d]
        trial[d] = base + scale * (parents[r1, d] - base + parents[r2, d] - parents[r3, d])


STRATEGIES = {
    "rand/1": rand_1,
    "rand/2": rand_2,
    "rand-to-best/2": rand_to_best_2,
    "curr-to-rand/1": curr_to_rand_1,
}
"""Name -> kernel; a strategy's code in a run is its position here, as `mutate` dispatches it."""


@njit(**ENGINE)
def mutate(code, parents, i, donors, best, scale, trial):
    """Write the mutant of the strategy with this `code` into `trial`."""
    if code == 0:
        rand_1(parents, i, donors, best, scale, trial)
    elif code == 1:
        rand_2(parents, i, donors, best, scale, trial)
    elif code == 2:
        rand_to_best_2(parents, i, donors, best, scale, trial)
    else:
        curr_to_rand_1(parents, i, donors, best, scale, trial)
