"""Probability matching: what PM-AdapSS and RecPM-AOS do with the qualities of their operators.

p_k = p_min + (1 - K p_min) q_k / sum q, or 1/K for all while no operator has any quality; then a roulette wheel.
(Goldberg, "Probability matching, the magnitude of reinforcement, and classifier system bidding", Machine Learning
5, 1990, 407-425; Thierens, "An adaptive pursuit strategy for allocating operator probabilities", GECCO 2005.)
"""

from __future__ import annotations

import math

import numpy as np

from deddqn._jit import fill, kernel
from deddqn._jit.contents import ONE, Part, whole, within
from deddqn.de.portfolio import Portfolio
from deddqn.policies.policy import CompiledPolicy
from deddqn.policies.policy_kernels import CHOOSE_SIGNATURE, RESET_SIGNATURE
from deddqn.rng import uniform


@kernel
def match(memory, quality, probability, n_ops, p_min):
    """Write the probabilities that go with the qualities; both are `n_ops` slots of `memory` from the place given."""
    total = 0.0
    for op in range(n_ops):
        total += memory[quality + op]
    floor = min(p_min, 1.0 / n_ops)
    for op in range(n_ops):
        if total > 0.0:
            memory[probability + op] = floor + (1.0 - n_ops * floor) * (memory[quality + op] / total)
        else:
            memory[probability + op] = 1.0 / n_ops


@kernel
def spin(memory, probability, n_ops, stream):
    """An operator drawn with the probabilities that begin at that place of `memory`."""
    drawn = uniform(stream)
    op = 0
    passed = memory[probability]
    while op < n_ops - 1 and drawn >= passed:
        op += 1
        passed += memory[probability + op]
    return op


LARGEST_WINDOW = 1_000_000
"""Names of policies come from files, too: they may not ask for more memory than anybody needs."""

PROBABILITY = 0
"""The first block of K slots in the memory of these policies, after the slot that holds K."""


@kernel
def block(memory, which):
    """Where a block of K slots begins."""
    return 1 + which * np.int64(memory[0])


@kernel(RESET_SIGNATURE)
def reset(setup, memory, n_ops, n_pop):
    """Forget everything; all operators are equally likely."""
    fill(memory, 0.0)
    memory[0] = n_ops
    for op in range(n_ops):
        memory[block(memory, PROBABILITY) + op] = 1.0 / n_ops
    return 0


@kernel(CHOOSE_SIGNATURE)
def choose(setup, memory, features, stream, n_ops, i):
    """Spin the roulette wheel."""
    return spin(memory, block(memory, PROBABILITY), n_ops, stream)


def probability_parts(n_ops: int) -> list[Part]:
    """How the memory of these policies begins: K, and the probabilities."""
    return [("K", 1, whole(n_ops, n_ops)), ("probability", n_ops, within(0, ONE))]


def check_fraction(argument: str, value: float, *, below_one: bool = False) -> float:
    """`value` as a float in [0, 1], or in [0, 1) if `below_one`; ValueError otherwise."""
    if not (0.0 <= value < 1.0 or (value == 1.0 and not below_one)):
        raise ValueError(f"{argument} must lie in [0, 1{')' if below_one else ']'}, got {value}")
    return float(value)


def check_window(value: int) -> int:
    """`value` as an integer from 1 to `LARGEST_WINDOW`; ValueError otherwise."""
    if isinstance(value, bool) or not math.isfinite(value) or value != int(value) or value < 1:
        raise ValueError(f"window must be an integer of 1 or more, got {value}")
    if value > LARGEST_WINDOW:
        raise ValueError(f"window must be at most {LARGEST_WINDOW}, got {value}")
    return int(value)


class MatchingPolicy(CompiledPolicy):
    """A policy whose every operator keeps at least the probability `p_min`."""

    p_min = 0.0

    def check_portfolio(self, portfolio: Portfolio) -> None:
        super().check_portfolio(portfolio)
        if self.p_min * len(portfolio) > 1.0:
            raise ValueError(
                f"p_min must be at most 1/{len(portfolio)} for a portfolio of {len(portfolio)} entries, "
                f"got {self.p_min} in policy {self.name!r}"
            )
