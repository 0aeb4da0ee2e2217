"""The mutation strategies of Sect. 2.1 and their relatives. One signature for all; donors and p-best are already drawn.

Every kernel writes the mutant into `trial` from the parents of this generation: ``parents`` (NP, D), the
individual `i`, its ``donors`` (5,), the index `best` of the best parent, and the scaling factor F as `scale`.

The "pbest" strategies are those with "best" in their place, given another parent as `best` (one of the p NP best
parents) and, as the donor that is subtracted last, perhaps a member of the archive. ``gauss`` is no sum of
differences; it is in `deddqn.de.gaussian_sampling`.
"""

from __future__ import annotations

from deddqn._jit import kernel


@kernel
def rand_1(parents, i, donors, best, scale, trial):
    """x_r1 + F (x_r2 - x_r3)."""
    r1, r2, r3 = donors[0], donors[1], donors[2]
    for d in range(trial.size):
        trial[d] = parents[r1, d] + scale * (parents[r2, d] - parents[r3, d])


@kernel
def rand_2(parents, i, donors, best, scale, trial):
    """x_r1 + F (x_r2 - x_r3 + x_r4 - x_r5)."""
    r1, r2, r3, r4, r5 = donors[0], donors[1], donors[2], donors[3], donors[4]
    for d in range(trial.size):
        difference = parents[r2, d] - parents[r3, d] + parents[r4, d] - parents[r5, d]
        trial[d] = parents[r1, d] + scale * difference


@kernel
def rand_to_best_2(parents, i, donors, best, scale, trial):
    """x_r1 + F (x_best - x_r1 + x_r2 - x_r3 + x_r4 - x_r5)."""
    r1, r2, r3, r4, r5 = donors[0], donors[1], donors[2], donors[3], donors[4]
    for d in range(trial.size):
        base = parents[r1, d]
        difference = parents[r2, d] - parents[r3, d] + parents[r4, d] - parents[r5, d]
        trial[d] = base + scale * (parents[best, d] - base + difference)


@kernel
def curr_to_rand_1(parents, i, donors, best, scale, trial):
    """x_i + F (x_r1 - x_i + x_r2 - x_r3)."""
    r1, r2, r3 = donors[0], donors[1], donors[2]
    for d in range(trial.size):
        base = parents[i, d]
        trial[d] = base + scale * (parents[r1, d] - base + parents[r2, d] - parents[r3, d])


@kernel
def towards(parents, base, pbest, plus, minus, scale, trial):
    """x_base + F (x_target - x_base + x_plus - x_minus): all other strategies, by base and target."""
    for d in range(trial.size):
        x = parents[base, d]
        trial[d] = x + scale * (parents[pbest, d] - x + parents[plus, d] - parents[minus, d])


@kernel
def best_2(parents, i, donors, best, scale, trial):
    """x_best + F (x_r1 - x_r2 + x_r3 - x_r4)."""
    r1, r2, r3, r4 = donors[0], donors[1], donors[2], donors[3]
    for d in range(trial.size):
        difference = parents[r1, d] - parents[r2, d] + parents[r3, d] - parents[r4, d]
        trial[d] = parents[best, d] + scale * difference


PAPER_STRATEGIES = {
    "rand/1": rand_1,
    "rand/2": rand_2,
    "rand-to-best/2": rand_to_best_2,
    "curr-to-rand/1": curr_to_rand_1,
}
"""Name -> kernel of the paper's four; a strategy's code is its position here, as `mutate` dispatches it."""

FURTHER_STRATEGIES = ("best/1", "curr-to-best/1", "curr-to-pbest/1", "rand-to-pbest/1")
"""The others that add differences; their codes go on from there, as `mutate_further` has them."""

GAUSS = "gauss"
CMA = "cma"
CLASSICAL_STRATEGIES = ("rand-to-best/1", "best/2")
"""Two more that add differences: the others of Storn and Price's that other libraries have."""

STRATEGIES = (*PAPER_STRATEGIES, *FURTHER_STRATEGIES, GAUSS, CMA, *CLASSICAL_STRATEGIES)
"""All names; a strategy's code in a run is its position here."""

ARCHIVE_DONORS = {"curr-to-pbest/1": 1, "rand-to-pbest/1": 2}
"""The strategies that are towards by one of the best parents, and which of their donors may be from the archive."""


@kernel
def mutate(code, parents, i, donors, best, scale, trial):
    """Write the mutant of the strategy of the paper with this `code` into `trial`."""
    if code == 0:
        rand_1(parents, i, donors, best, scale, trial)
    elif code == 1:
        rand_2(parents, i, donors, best, scale, trial)
    elif code == 2:
        rand_to_best_2(parents, i, donors, best, scale, trial)
    else:
        curr_to_rand_1(parents, i, donors, best, scale, trial)


@kernel
def mutate_further(code, parents, i, donors, best, scale, trial):
    """Write the mutant of any strategy that adds differences into `trial`.

    best/1 is x_best + F (x_r1 - x_r2); curr-to-(p)best/1 is x_i + F (x_best - x_i + x_r1 - x_r2);
    rand-to-(p)best/1 is x_r1 + F (x_best - x_r1 + x_r2 - x_r3).
    """
    if code < 4:
        mutate(code, parents, i, donors, best, scale, trial)
    elif code == 11:
        best_2(parents, i, donors, best, scale, trial)
    elif code == 7 or code == 10:
        towards(parents, donors[0], best, donors[1], donors[2], scale, trial)
    else:
        towards(parents, best if code == 4 else i, best, donors[0], donors[1], scale, trial)
