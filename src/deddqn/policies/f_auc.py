"""F-AUC: a bandit on the area under the curves of the operators' ranks.

A. Fialho, M. Schoenauer, M. Sebag, "Toward comparison-based adaptive operator selection", Proceedings of the 12th
Annual Conference on Genetic and Evolutionary Computation (GECCO 2010), ACM, 2010, pp. 767-774.

The last W improving offspring are ranked by f(u), the best first: r = 0, 1, ... Rank r weighs w_r = D^r (W - r). The
curve of operator k walks down the ranks: up by w_r where the offspring is its own, to the right by w_r where it is
another's; ranks with equal f(u) share their weights and are walked as one slanted line. With A_k the area under it

    reward_k = A_k / sum A                              (0 if no curve has an area)
    chosen   = an unseen operator, else argmax_k  reward_k + C sqrt(2 ln(sum n) / n_k)

with n_k the occurrences of k in the window (the lowest number wins ties). Rewards depend on ranks only, so any
increasing transformation of f gives the same run.

Readings. The window holds improving offspring only, and two things are left open by that. An operator that has
none in the window would count as unseen and be chosen until it improves, which late in a run may be never: such an
operator counts with its applications since its last improving one instead (n_k), and is unseen only while it has
not been applied. And an operator that no longer improves would live on its old offspring for ever, since nobody
pushes them out: after W fruitless applications in a row its offspring leave the window.
"""

from __future__ import annotations

import math
from enum import IntEnum

import numpy as np
from numba import njit

from deddqn.compiled import ENGINE
from deddqn.policies.kernels import PolicyKernels
from deddqn.policies.matching import check_fraction, check_window
from deddqn.policies.policy import CompiledPolicy


class Setting(IntEnum):
    """Slots of the setup; the weights w_0 .. w_(W-1) follow."""

    WINDOW = 0
    SCALE = 1
    WEIGHTS = 2


class Slot(IntEnum):
    """Single numbers of the memory."""

    N_OPS = 0
    FILLED = 1  # offspring in the window
    ENTERED = 2  # offspring that have entered it since the run began
    CHANGED = 3  # 1 if the rewards do not belong to the window yet
    END = 4


class Block(IntEnum):
    """Blocks of K slots in the memory, after the single numbers; the window follows."""

    OCCURRENCES = 0
    FRUITLESS = 1  # applications since the last improving one
    REWARD = 2
    HEIGHT = 3  # of the curve, while it is walked
    TIED = 4  # offspring among the ranks that are tied
    END = 5


class Column(IntEnum):
    """Columns of W slots: the window, sorted by value."""

    VALUE = 0
    OPERATOR = 1
    ENTRY = 2  # the number of its entry: the lowest is the oldest
    END = 3


@njit(**ENGINE)
def block(memory, which):
    """Where a block of K slots begins."""
    return Slot.END + which * np.int64(memory[Slot.N_OPS])


@njit(**ENGINE)
def column(setup, memory, which):
    """Where a column of the window begins."""
    return block(memory, Block.END) + which * np.int64(setup[Setting.WINDOW])


@njit(**ENGINE)
def reset(setup, memory, n_ops, n_pop):
    """Forget everything."""
    for k in range(memory.size):
        memory[k] = 0.0
    memory[Slot.N_OPS] = n_ops
    return 0


@njit(**ENGINE)
def move(setup, memory, source, target):
    """Copy one offspring of the window to another rank."""
    for which in range(Column.END):
        first = column(setup, memory, which)
        memory[first + target] = memory[first + source]


@njit(**ENGINE)
def drop_oldest(setup, memory):
    """Take the offspring that entered first out of the window."""
    entry, filled = column(setup, memory, Column.ENTRY), np.int64(memory[Slot.FILLED])
    oldest = 0
    for rank in range(1, filled):
        if memory[entry + rank] < memory[entry + oldest]:
            oldest = rank
    op = np.int64(memory[column(setup, memory, Column.OPERATOR) + oldest])
    memory[block(memory, Block.OCCURRENCES) + op] -= 1.0
    for rank in range(oldest, filled - 1):
        move(setup, memory, rank + 1, rank)
    memory[Slot.FILLED] -= 1.0


@njit(**ENGINE)
def drop_operator(setup, memory, op):
    """Take all offspring of an operator out of the window."""
    operator, kept = column(setup, memory, Column.OPERATOR), 0
    for rank in range(np.int64(memory[Slot.FILLED])):
        if np.int64(memory[operator + rank]) != op:
            move(setup, memory, rank, kept)
            kept += 1
    memory[block(memory, Block.OCCURRENCES) + op] = 0.0
    memory[Slot.FILLED] = kept
    memory[Slot.CHANGED] = 1.0


@njit(**ENGINE)
def enter(setup, memory, op, f_trial):
    """Put an offspring into its rank, after its equals."""
    if memory[Slot.FILLED] >= setup[Setting.WINDOW]:
        drop_oldest(setup, memory)
    value, rank = column(setup, memory, Column.VALUE), np.int64(memory[Slot.FILLED])
    while rank > 0 and memory[value + rank - 1] > f_trial:
        move(setup, memory, rank - 1, rank)
        rank -= 1
    memory[value + rank] = f_trial
    memory[column(setup, memory, Column.OPERATOR) + rank] = op
    memory[column(setup, memory, Column.ENTRY) + rank] = memory[Slot.ENTERED]
    memory[Slot.ENTERED] += 1.0
    memory[Slot.FILLED] += 1.0
    memory[Slot.CHANGED] = 1.0
    memory[block(memory, Block.OCCURRENCES) + op] += 1.0


@njit(**ENGINE)
def learn(setup, memory, i, op, f_parent, f_trial, f_bsf, f_wsf, reward):
    """An improving offspring enters the window; any other application is counted."""
    fruitless = block(memory, Block.FRUITLESS) + op
    if f_trial < f_parent:
        enter(setup, memory, op, f_trial)
        memory[fruitless] = 0.0
        return 0
    memory[fruitless] += 1.0
    if memory[fruitless] == setup[Setting.WINDOW] and memory[block(memory, Block.OCCURRENCES) + op] > 0.0:
        drop_operator(setup, memory, op)
    return 0


@njit(**ENGINE)
def walk(setup, memory, first, last):
    """Lengthen all curves by the ranks first .. last - 1, whose values are equal."""
    n_ops, operator = np.int64(memory[Slot.N_OPS]), column(setup, memory, Column.OPERATOR)
    tied, height, area = block(memory, Block.TIED), block(memory, Block.HEIGHT), block(memory, Block.REWARD)
    weight = 0.0
    for op in range(n_ops):
        memory[tied + op] = 0.0
    for rank in range(first, last):
        weight += setup[Setting.WEIGHTS + rank]
        memory[tied + np.int64(memory[operator + rank])] += 1.0
    weight /= last - first
    for op in range(n_ops):
        up = memory[tied + op]
        right = (last - first) - up
        memory[area + op] += weight * right * (memory[height + op] + 0.5 * weight * up)
        memory[height + op] += weight * up


@njit(**ENGINE)
def update_rewards(setup, memory):
    """The areas under the curves of all operators, divided by their sum."""
    n_ops, filled = np.int64(memory[Slot.N_OPS]), np.int64(memory[Slot.FILLED])
    area, height, value = block(memory, Block.REWARD), block(memory, Block.HEIGHT), column(setup, memory, Column.VALUE)
    for op in range(n_ops):
        memory[area + op] = memory[height + op] = 0.0
    rank = 0
    while rank < filled:
        last = rank + 1
        while last < filled and memory[value + last] == memory[value + rank]:
            last += 1
        walk(setup, memory, rank, last)
        rank = last
    total = 0.0
    for op in range(n_ops):
        total += memory[area + op]
    for op in range(n_ops):
        memory[area + op] = memory[area + op] / total if total > 0.0 else 0.0
    memory[Slot.CHANGED] = 0.0


@njit(**ENGINE)
def times_seen(memory, op):
    """n of an operator: its occurrences in the window; if there are none, its fruitless applications."""
    occurrences = memory[block(memory, Block.OCCURRENCES) + op]
    return occurrences if occurrences > 0.0 else memory[block(memory, Block.FRUITLESS) + op]


@njit(**ENGINE)
def choose(setup, memory, features, stream, n_ops, i):
    """An unseen operator, or the one with the highest upper confidence bound."""
    if memory[Slot.CHANGED] > 0.0:
        update_rewards(setup, memory)
    total = 0.0
    for op in range(n_ops):
        seen = times_seen(memory, op)
        if seen == 0.0:
            return op
        total += seen
    reward, doubled = block(memory, Block.REWARD), 2.0 * math.log(total)
    chosen, highest = 0, -math.inf
    for op in range(n_ops):
        bound = memory[reward + op] + setup[Setting.SCALE] * math.sqrt(doubled / times_seen(memory, op))
        if bound > highest:
            chosen, highest = op, bound
    return chosen


def f_auc(*, window: int = 50, decay: float = 0.5, scale: float = 0.5, name: str = "f-auc") -> CompiledPolicy:
    """F-AUC (Fialho, Schoenauer, Sebag 2010).

    Parameters
    ----------
    window : W, how many improving offspring are ranked.
    decay : D, how fast the weight of a rank falls, in [0, 1].
    scale : C, how much exploration counts beside the rewards, 0 or more.
    """
    size, rate = check_window(window), check_fraction("decay", decay)
    if not 0.0 <= scale < math.inf:
        raise ValueError(f"scale must be a finite number of 0 or more, got {scale}")
    ranks = np.arange(size)
    weights = rate**ranks * (size - ranks)
    return CompiledPolicy(
        name,
        PolicyKernels(choose, reset, learn),
        setup=np.concatenate([[float(size), float(scale)], weights]),
        memory_size=lambda n_ops, n_pop: Slot.END + n_ops * Block.END + size * Column.END,
        metadata={"parameters": {"window": size, "decay": rate, "scale": float(scale)}},
    )
