"""PM-AdapSS: probability matching on the relative improvements of the strategies.

W. Gong, A. Fialho, Z. Cai, "Adaptive strategy selection in differential evolution", Proceedings of the 12th Annual
Conference on Genetic and Evolutionary Computation (GECCO 2010), ACM, 2010, pp. 409-416.

One application of an operator to parent x with trial u earns the relative improvement

    eta = (f'_bsf / f'(u)) max(f(x) - f(u), 0),      f' = 1 + (f - f_bsf) / (f_wsf - f_bsf)

so f'_bsf = 1 and f'(u) lies in [1, 2]; the paper divides raw values, which needs a positive function. When a
generation ends, for every operator k

    r_k = mean of eta over the last W applications of k, divided by the largest such mean      (AvgNorm)
    q_k <- q_k + alpha (r_k - q_k)
    p_k = p_min + (1 - K p_min) q_k / sum q

and every individual of the next generation draws its operator with those probabilities. At the start q = 0 and
p = 1/K.

Readings: the window is the operator's own (its last W applications, failures included as 0), so an operator that is
seldom drawn is judged on as many applications as the others, and keeps its record while it is not drawn. The paper
updates when a generation ends; it empties the record then, where the window of W keeps it. An improvement over a
parent without a finite value is measured from f_wsf.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from deddqn._jit import kernel
from deddqn._jit.contents import COUNT, ONE, Part, within
from deddqn.de.improvement import LARGEST_IMPROVEMENT, improvement
from deddqn.de.state import Outcome
from deddqn.policies.policy import CompiledPolicy
from deddqn.policies.policy_kernels import (
    END_SIGNATURE,
    LEARN_SIGNATURE,
    PolicyKernels,
)
from deddqn.policies.probability_matching import (
    PROBABILITY,
    MatchingPolicy,
    block,
    check_fraction,
    check_window,
    choose,
    match,
    probability_parts,
    reset,
)


class Setting(IntEnum):
    """Slots of the setup."""

    WINDOW = 0
    ALPHA = 1
    P_MIN = 2


class Block(IntEnum):
    """Blocks of K slots in the memory, after the first slot, which holds K; rings of W slots per operator follow."""

    PROBABILITY = PROBABILITY
    QUALITY = 1
    APPLICATIONS = 2
    END = 3


@kernel
def relative_improvement(f_parent, f_trial, f_bsf, f_wsf):
    """eta of one application. Halves keep the differences of huge values finite, and change no quotient."""
    gain = improvement(f_parent, f_trial, f_wsf)
    span = 0.5 * f_wsf - 0.5 * f_bsf
    if gain == 0.0 or not span > 0.0:
        return gain
    return gain / (1.0 + (0.5 * f_trial - 0.5 * f_bsf) / span)


@kernel(LEARN_SIGNATURE)
def learn(setup, memory, i, op, outcome):
    """Enter an application into the window of its operator."""
    window = np.int64(setup[Setting.WINDOW])
    counter = block(memory, Block.APPLICATIONS) + op
    slot = block(memory, Block.END) + op * window + np.int64(memory[counter]) % window
    memory[slot] = relative_improvement(
        outcome[Outcome.PARENT], outcome[Outcome.TRIAL], outcome[Outcome.NEW_BSF], outcome[Outcome.NEW_WSF]
    )
    memory[counter] += 1.0
    return 0


@kernel
def mean_improvement(memory, op, window):
    """The mean over the window of an operator, 0 if it is empty."""
    filled = min(np.int64(memory[block(memory, Block.APPLICATIONS) + op]), window)
    first = block(memory, Block.END) + op * window
    total = 0.0
    for slot in range(first, first + filled):
        total += memory[slot]
    return total / filled if filled else 0.0


@kernel(END_SIGNATURE)
def end_generation(setup, memory):
    """Rewards, qualities, probabilities."""
    n_ops, window = np.int64(memory[0]), np.int64(setup[Setting.WINDOW])
    quality, probability = block(memory, Block.QUALITY), block(memory, Block.PROBABILITY)
    largest = 0.0
    for op in range(n_ops):
        memory[probability + op] = mean_improvement(memory, op, window)  # until the probabilities are written
        largest = max(largest, memory[probability + op])
    for op in range(n_ops):
        earned = memory[probability + op] / largest if largest > 0.0 else 0.0
        memory[quality + op] += setup[Setting.ALPHA] * (earned - memory[quality + op])
    match(memory, quality, probability, n_ops, setup[Setting.P_MIN])
    return 0


def memory_parts(setup: np.ndarray, n_ops: int, n_pop: int) -> list[Part]:
    """What the memory may hold."""
    quality, applications = ("quality", n_ops, within(0, ONE)), ("applications", n_ops, COUNT)
    rings = ("rings", n_ops * int(setup[Setting.WINDOW]), within(0, LARGEST_IMPROVEMENT))
    return [*probability_parts(n_ops), quality, applications, rings]


def pm_adapss(*, window: int = 50, alpha: float = 0.6, p_min: float = 0.05, name: str = "pm-adapss") -> CompiledPolicy:
    """PM-AdapSS (Gong, Fialho, Cai 2010).

    Parameters
    ----------
    window : W, how many of its applications an operator is judged on.
    alpha : adaptation rate of the qualities, in [0, 1].
    p_min : the least probability of an operator, at most 1/K.
    """
    size = check_window(window)
    setup = [size, check_fraction("alpha", alpha), check_fraction("p_min", p_min)]
    policy = MatchingPolicy(
        name,
        PolicyKernels(choose, reset, learn, end_generation),
        setup=np.array(setup, dtype=np.float64),
        memory_size=lambda n_ops, n_pop: 1 + n_ops * (Block.END + size),
        memory_parts=memory_parts,
        metadata={"parameters": {"window": size, "alpha": setup[1], "p_min": setup[2]}},
    )
    policy.p_min = setup[2]
    return policy
