"""Rewards of one application (Sect. 4.2). Each is a compiled function of the outcome of a trial.

A reward has the signature ``reward(outcome, setup) -> float64``: `outcome` as in `deddqn.de.state.Outcome`, `setup` a
vector of its own constants. All are finite: an improvement over a value that is not finite is measured from the
worst finite value so far.
"""

from __future__ import annotations

import math

from deddqn._jit import Function, caller_of, kernel
from deddqn._utils.validation import unknown_name
from deddqn.de.improvement import LARGEST_IMPROVEMENT, improvement
from deddqn.de.state import Outcome

REWARD_SIGNATURE = "float64(float64[::1], float64[::1])"
call_reward = caller_of(REWARD_SIGNATURE)

SMALLEST_ERROR = 1e-8  # of R3's denominator


@kernel(REWARD_SIGNATURE)
def r1(outcome, setup):
    """R1 = max(f(x) - f(u), 0)."""
    return improvement(outcome[Outcome.PARENT], outcome[Outcome.TRIAL], outcome[Outcome.WSF])


@kernel(REWARD_SIGNATURE)
def r2(outcome, setup):
    """R2 = 10 for a new best so far, 1 for an improvement over the parent, else 0."""
    if outcome[Outcome.TRIAL] < outcome[Outcome.BSF]:
        return 10.0
    return 1.0 if outcome[Outcome.TRIAL] < outcome[Outcome.PARENT] else 0.0


@kernel(REWARD_SIGNATURE)
def r3(outcome, setup):
    """R3 = max((f(x) - f(u)) / max(f(u) - f_opt, 1e-8), 0); needs a known optimum."""
    gain = improvement(outcome[Outcome.PARENT], outcome[Outcome.TRIAL], outcome[Outcome.WSF])
    if gain == 0.0 or math.isnan(outcome[Outcome.OPTIMUM]):
        return 0.0
    return min(gain / max(outcome[Outcome.TRIAL] - outcome[Outcome.OPTIMUM], SMALLEST_ERROR), LARGEST_IMPROVEMENT)


@kernel
def potential(value, setup):
    """The potential of a best-so-far `value`: linear between the corners of the table in `setup`, flat beyond them.

    `setup` holds n falling values and then their n rising potentials.
    """
    n = setup.size // 2
    if not value < setup[0]:
        return setup[n]
    if value <= setup[n - 1]:
        return setup[2 * n - 1]
    low, high = 0, n - 1  # setup[low] > value >= setup[high]
    while high - low > 1:
        middle = (low + high) // 2
        if setup[middle] > value:
            low = middle
        else:
            high = middle
    part = (0.5 * setup[low] - 0.5 * value) / (0.5 * setup[low] - 0.5 * setup[high])
    return setup[n + low] + part * (setup[n + high] - setup[n + low])


@kernel(REWARD_SIGNATURE)
def gained_potential(outcome, setup):
    """How far the trial moved the best so far on its problem's table: summed over a run it tells the final value."""
    if not outcome[Outcome.TRIAL] < outcome[Outcome.BSF]:
        return 0.0
    return potential(outcome[Outcome.TRIAL], setup) - potential(outcome[Outcome.BSF], setup)


REWARDS: dict[str, Function] = {
    "R1": r1,
    "R2": r2,
    "R3": r3,
    "progress": gained_potential,
    "rank": gained_potential,
}
"""R1-R3 are the paper's; *progress* and *rank* differ in their tables (`deddqn.training.dqn.reward_tables`)."""

NEEDS_OPTIMUM = frozenset({"R3"})
NEEDS_SETUP = frozenset({"progress", "rank"})


def reward_kernel(name: str) -> Function:
    """The compiled reward of this name."""
    if name not in REWARDS:
        raise unknown_name("reward", name, REWARDS)
    return REWARDS[name]
