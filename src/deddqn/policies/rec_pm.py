"""RecPM-AOS: probability matching on qualities that look ahead, as the values of a Markov chain of operators.

M. Sharma, M. Lopez-Ibanez, D. Kazakov, "Performance assessment of recursive probability matching for adaptive
operator selection in differential evolution", Parallel Problem Solving from Nature (PPSN XV), LNCS 11102, Springer,
2018, pp. 321-333.

When a generation ends, for every operator k (s_k offspring not worse than their parent, n_k applications in it)

    r_k <- 0.5 r_k + s_k / n_k                          (the fraction is 0 if n_k = 0)
    P_ij = (p_i + p_j) / sum_j (p_i + p_j)              (rows sum to 1)
    Q = softmax((I - gamma P)^-1 r)                     (the Bellman equation V = r + gamma P V, solved)
    p_k = p_min + (1 - K p_min) Q_k / sum Q

and every individual of the next generation draws its operator with those probabilities. At the start r = 0 and
p = 1/K. The matrix is inverted as the paper says (its authors' code takes 1 - gamma P element by element). An
offspring without a finite value is no success, whatever its parent.
"""

from __future__ import annotations

import math
from enum import IntEnum

import numpy as np

from deddqn._jit import kernel
from deddqn._jit.contents import COUNT, ONE, Part, within
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
    choose,
    match,
    probability_parts,
    reset,
)

MEMORY_OF_REWARDS = 0.5  # how much of the last reward stays in the next


class Setting(IntEnum):
    """Slots of the setup."""

    GAMMA = 0
    P_MIN = 1


class Block(IntEnum):
    """Blocks of K slots in the memory, after the first slot, which holds K; the matrix (K rows) follows."""

    PROBABILITY = PROBABILITY
    REWARD = 1
    QUALITY = 2
    APPLICATIONS = 3
    SUCCESSES = 4
    END = 5


@kernel(LEARN_SIGNATURE)
def learn(setup, memory, i, op, outcome):
    """Count an application, and whether its offspring is not worse than the parent."""
    memory[block(memory, Block.APPLICATIONS) + op] += 1.0
    if outcome[Outcome.TRIAL] <= outcome[Outcome.PARENT] and outcome[Outcome.TRIAL] < math.inf:
        memory[block(memory, Block.SUCCESSES) + op] += 1.0
    return 0


@kernel
def update_rewards(memory, n_ops):
    """r_k <- 0.5 r_k + s_k / n_k; the counts are reset."""
    reward = block(memory, Block.REWARD)
    applications, successes = block(memory, Block.APPLICATIONS), block(memory, Block.SUCCESSES)
    for op in range(n_ops):
        memory[reward + op] *= MEMORY_OF_REWARDS
        if memory[applications + op] > 0.0:
            memory[reward + op] += memory[successes + op] / memory[applications + op]
        memory[applications + op] = memory[successes + op] = 0.0


@kernel
def write_system(memory, n_ops, gamma):
    """Write I - gamma P into the matrix and r into the qualities, the right side of the system."""
    matrix, probability = block(memory, Block.END), block(memory, Block.PROBABILITY)
    reward, quality = block(memory, Block.REWARD), block(memory, Block.QUALITY)
    for row in range(n_ops):
        total = 0.0
        for column in range(n_ops):
            total += memory[probability + row] + memory[probability + column]
        for column in range(n_ops):
            weight = (memory[probability + row] + memory[probability + column]) / total
            memory[matrix + row * n_ops + column] = (1.0 if row == column else 0.0) - gamma * weight
        memory[quality + row] = memory[reward + row]


@kernel
def solve(memory, matrix, right, n):
    """Gaussian elimination in place: the n x n system at `matrix`, its right side (then solution) at `right`.

    Rows of I - gamma P are strictly diagonally dominant for gamma < 1, so no row has to be exchanged.
    """
    for pivot in range(n):
        for row in range(pivot + 1, n):
            factor = memory[matrix + row * n + pivot] / memory[matrix + pivot * n + pivot]
            for column in range(pivot, n):
                memory[matrix + row * n + column] -= factor * memory[matrix + pivot * n + column]
            memory[right + row] -= factor * memory[right + pivot]
    for row in range(n - 1, -1, -1):
        for column in range(row + 1, n):
            memory[right + row] -= memory[matrix + row * n + column] * memory[right + column]
        memory[right + row] /= memory[matrix + row * n + row]


@kernel
def softmax(memory, first, n):
    """exp(v - largest v) of n slots, in place; `match` divides by their sum."""
    largest = memory[first]
    for k in range(1, n):
        largest = max(largest, memory[first + k])
    for k in range(n):
        memory[first + k] = math.exp(memory[first + k] - largest)


@kernel(END_SIGNATURE)
def end_generation(setup, memory):
    """Rewards, qualities, probabilities."""
    n_ops, quality = np.int64(memory[0]), block(memory, Block.QUALITY)
    update_rewards(memory, n_ops)
    write_system(memory, n_ops, setup[Setting.GAMMA])
    solve(memory, block(memory, Block.END), quality, n_ops)
    softmax(memory, quality, n_ops)
    match(memory, quality, block(memory, Block.PROBABILITY), n_ops, setup[Setting.P_MIN])
    return 0


def memory_parts(setup: np.ndarray, n_ops: int, n_pop: int) -> list[Part]:
    """What the memory may hold; the matrix is scratch."""
    learned = [("reward", n_ops, within(0, 2 * ONE)), ("quality", n_ops, within(0, ONE))]
    return [*probability_parts(n_ops), *learned, ("applications", n_ops, COUNT), ("successes", n_ops, COUNT)]


def rec_pm(*, gamma: float = 0.6, p_min: float = 0.0, name: str = "rec-pm") -> CompiledPolicy:
    """RecPM-AOS (Sharma, Lopez-Ibanez, Kazakov 2018).

    Parameters
    ----------
    gamma : how much the quality of the operators that may follow counts, in [0, 1).
    p_min : the least probability of an operator, at most 1/K.
    """
    setup = [check_fraction("gamma", gamma, below_one=True), check_fraction("p_min", p_min)]
    policy = MatchingPolicy(
        name,
        PolicyKernels(choose, reset, learn, end_generation),
        setup=np.array(setup, dtype=np.float64),
        memory_size=lambda n_ops, n_pop: 1 + n_ops * (Block.END + n_ops),
        memory_parts=memory_parts,
        metadata={"parameters": {"gamma": setup[0], "p_min": setup[1]}},
    )
    policy.p_min = setup[1]
    return policy
