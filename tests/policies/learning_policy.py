"""A policy with all four kernels, whose memory shows what the loop told it: made for tests."""

from __future__ import annotations

from enum import IntEnum

import numpy as np
from numba import njit

from deddqn.de.state import Outcome
from deddqn.policies.policy import CompiledPolicy
from deddqn.policies.policy_kernels import PolicyKernels
from deddqn.rng import integer_below


class Slot(IntEnum):
    """What the memory holds."""

    RESETS = 0
    N_OPS = 1
    N_POP = 2
    CHOICES = 3
    LESSONS = 4
    GENERATIONS = 5
    LAST_I = 6
    LAST_OP = 7
    PARENT = 8
    TRIAL = 9
    BSF = 10
    WSF = 11
    REWARD = 12
    TOTAL_REWARD = 13
    LAST_CHOSEN_FOR = 14
    FIRST_FEATURE = 15


@njit(error_model="numpy")
def reset(setup, memory, n_ops, n_pop):
    memory[Slot.RESETS] += 1.0
    memory[Slot.N_OPS] = n_ops
    memory[Slot.N_POP] = n_pop
    return 0


@njit(error_model="numpy")
def choose(setup, memory, features, stream, n_ops, i):
    """Any operator, or after a reward (every `setup[0]`-th time) the rewarded one again."""
    memory[Slot.CHOICES] += 1.0
    memory[Slot.LAST_CHOSEN_FOR] = i
    memory[Slot.FIRST_FEATURE] = features[0]
    drawn = integer_below(stream, n_ops)
    if memory[Slot.REWARD] > 0.0 and memory[Slot.CHOICES] % setup[0] == 0.0:
        return np.int64(memory[Slot.LAST_OP])
    return drawn


@njit(error_model="numpy")
def learn(setup, memory, i, op, outcome):
    memory[Slot.LESSONS] += 1.0
    memory[Slot.LAST_I] = i
    memory[Slot.LAST_OP] = op
    memory[Slot.PARENT] = outcome[Outcome.PARENT]
    memory[Slot.TRIAL] = outcome[Outcome.TRIAL]
    memory[Slot.BSF] = outcome[Outcome.NEW_BSF]
    memory[Slot.WSF] = outcome[Outcome.NEW_WSF]
    memory[Slot.REWARD] = outcome[Outcome.REWARD]
    memory[Slot.TOTAL_REWARD] += outcome[Outcome.REWARD]
    return 0


@njit(error_model="numpy")
def end_generation(setup, memory):
    memory[Slot.GENERATIONS] += 1.0
    return 0


def learning_policy() -> CompiledPolicy:
    return CompiledPolicy(
        "learning",
        PolicyKernels(choose, reset, learn, end_generation),
        setup=np.array([3.0]),
        memory_size=lambda n_ops, n_pop: len(Slot),
        needs_features=True,
    )
