"""F-AUC: a bandit on the area under the curves of the operators' ranks.

A. Fialho, M. Schoenauer, M. Sebag, "Toward comparison-based adaptive operator selection", Proceedings of the 12th
Annual Conference on Genetic and Evolutionary Computation (GECCO 2010), ACM, 2010, pp. 767-774.

The last W improving offspring are ranked by f(u), the best first: r = 0, 1, ... Rank r weighs w_r = D^r (W - r). The
curve of operator k walks down the ranks: up by w_r where the offspring is its own, to the right by w_r where it is
another's; ranks with equal f(u) share their weights and are walked as one slanted line. With A_k the area under it

    reward_k = A_k / sum A                              (0 if no curve has an area)
    chosen   = an unseen operator, else argmax_k  reward_k + C sqrt(2 ln(sum n) / n_k)

(the lowest number wins ties). Rewards depend on ranks only, so any increasing transformation of f gives the same run.

Readings. n_k are the applications of k among the last W of all, and an operator without any is unseen. Counted among
the improving offspring, as published, n would be 0 for an operator that has left the window: it would be chosen
until it improves again, which late in a run may be never; and an operator with one lucky offspring in the window
would pass for one that has hardly been tried. Where every offspring improves both counts are the same. And an
operator that no longer improves would live on its old offspring for as long as nobody pushes them out: after W
fruitless applications in a row its offspring leave the window.
"""

from __future__ import annotations

import math
from enum import IntEnum

import numpy as np

from deddqn._jit import kernel
from deddqn._jit.contents import ANYTHING, COUNT, FLAG, ONE, VALUES, Part, index, whole, within
from deddqn.de.state import Outcome
from deddqn.policies.policy import CompiledPolicy
from deddqn.policies.policy_kernels import (
    CHOOSE_SIGNATURE,
    LEARN_SIGNATURE,
    RESET_SIGNATURE,
    PolicyKernels,
)
from deddqn.policies.probability_matching import check_fraction, check_window


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
    APPLIED = 4  # applications since the run began
    END = 5


class Block(IntEnum):
    """Blocks of K slots in the memory, after the single numbers; the window follows."""

    OCCURRENCES = 0  # in the window
    FRUITLESS = 1  # applications since the last improving one
    REWARD = 2
    OWN = 3  # weights of the operator's own offspring among the ranks walked
    TIED = 4  # its offspring among ranks that are tied; 0 between uses
    RECENT = 5  # n: its applications among the last W
    END = 6


class Column(IntEnum):
    """Columns of W slots: the window, sorted by value, and the operators applied last."""

    VALUE = 0
    OPERATOR = 1
    ENTRY = 2  # the number of its entry: the lowest is the oldest
    APPLIED = 3  # a ring, not sorted
    END = 4


@kernel
def block(memory, which):
    """Where a block of K slots begins."""
    return Slot.END + which * np.int64(memory[Slot.N_OPS])


@kernel
def column(setup, memory, which):
    """Where a column of the window begins."""
    return block(memory, Block.END) + which * np.int64(setup[Setting.WINDOW])


@kernel(RESET_SIGNATURE)
def reset(setup, memory, n_ops, n_pop):
    """Forget everything."""
    for k in range(memory.size):
        memory[k] = 0.0
    memory[Slot.N_OPS] = n_ops
    return 0


@kernel
def move(memory, value, window, source, target):
    """Copy one offspring to another rank; `value` is where the columns begin."""
    memory[value + target] = memory[value + source]
    memory[value + window + target] = memory[value + window + source]
    memory[value + 2 * window + target] = memory[value + 2 * window + source]


@kernel
def drop_oldest(setup, memory):
    """Take the offspring that entered first out of the window; return the rank that it leaves free."""
    entry, filled = column(setup, memory, Column.ENTRY), np.int64(memory[Slot.FILLED])
    oldest, lowest = 0, memory[entry]
    for rank in range(1, filled):
        if memory[entry + rank] < lowest:
            oldest, lowest = rank, memory[entry + rank]
    op = np.int64(memory[column(setup, memory, Column.OPERATOR) + oldest])
    memory[block(memory, Block.OCCURRENCES) + op] -= 1.0
    memory[Slot.FILLED] -= 1.0
    return oldest


@kernel
def drop_operator(setup, memory, op):
    """Take all offspring of an operator out of the window."""
    window, value = np.int64(setup[Setting.WINDOW]), column(setup, memory, Column.VALUE)
    kept = 0
    for rank in range(np.int64(memory[Slot.FILLED])):
        if np.int64(memory[value + window * Column.OPERATOR + rank]) != op:
            move(memory, value, window, rank, kept)
            kept += 1
    memory[block(memory, Block.OCCURRENCES) + op] = 0.0
    memory[Slot.FILLED] = kept
    memory[Slot.CHANGED] = 1.0


@kernel
def enter(setup, memory, op, f_trial):
    """Put an offspring into its rank, after its equals; only ranks between it and the free one move."""
    window, value = np.int64(setup[Setting.WINDOW]), column(setup, memory, Column.VALUE)
    rank = np.int64(memory[Slot.FILLED])
    if rank >= window:
        rank = drop_oldest(setup, memory)
    while rank > 0 and memory[value + rank - 1] > f_trial:
        move(memory, value, window, rank - 1, rank)
        rank -= 1
    filled = np.int64(memory[Slot.FILLED])
    while rank < filled and memory[value + rank + 1] <= f_trial:
        move(memory, value, window, rank + 1, rank)
        rank += 1
    memory[value + rank] = f_trial
    memory[value + window * Column.OPERATOR + rank] = op
    memory[value + window * Column.ENTRY + rank] = memory[Slot.ENTERED]
    memory[Slot.ENTERED] += 1.0
    memory[Slot.FILLED] += 1.0
    memory[Slot.CHANGED] = 1.0
    memory[block(memory, Block.OCCURRENCES) + op] += 1.0


@kernel
def note_application(setup, memory, op):
    """Count an application among the last W of all."""
    window, recent = np.int64(setup[Setting.WINDOW]), block(memory, Block.RECENT)
    place = column(setup, memory, Column.APPLIED) + np.int64(memory[Slot.APPLIED]) % window
    if memory[Slot.APPLIED] >= window:
        memory[recent + np.int64(memory[place])] -= 1.0
    memory[place] = op
    memory[recent + op] += 1.0
    memory[Slot.APPLIED] += 1.0


@kernel(LEARN_SIGNATURE)
def learn(setup, memory, i, op, outcome):
    """An improving offspring enters the window; an operator that fails W times in a row leaves it."""
    note_application(setup, memory, op)
    fruitless = block(memory, Block.FRUITLESS) + op
    if outcome[Outcome.TRIAL] < outcome[Outcome.PARENT]:
        enter(setup, memory, op, outcome[Outcome.TRIAL])
        memory[fruitless] = 0.0
        return 0
    memory[fruitless] += 1.0
    if memory[fruitless] == setup[Setting.WINDOW] and memory[block(memory, Block.OCCURRENCES) + op] > 0.0:
        drop_operator(setup, memory, op)
    return 0


@kernel
def walk_tied(setup, memory, first, last, right):
    """`walk_back` for the ranks first .. last - 1 with equal values: one slanted line. Return their weight."""
    operator, area = column(setup, memory, Column.OPERATOR), block(memory, Block.REWARD)
    own, tied = block(memory, Block.OWN), block(memory, Block.TIED)
    weight = 0.0
    for rank in range(first, last):
        weight += setup[Setting.WEIGHTS + rank]
        memory[tied + np.int64(memory[operator + rank])] += 1.0
    weight /= last - first
    for op in range(np.int64(memory[Slot.N_OPS])):
        up = memory[tied + op]
        memory[area + op] += weight * up * (right - memory[own + op] + 0.5 * weight * (last - first - up))
        memory[own + op] += weight * up
        memory[tied + op] = 0.0
    return weight * (last - first)


@kernel
def walk_back(setup, memory):
    """The areas under the curves of all operators, from the last rank to the first.

    A step up by w carries the area w times the way that its curve still goes to the right: the weights of all later
    ranks, less the operator's own among them.
    """
    n_ops, last = np.int64(memory[Slot.N_OPS]), np.int64(memory[Slot.FILLED])
    value, operator = column(setup, memory, Column.VALUE), column(setup, memory, Column.OPERATOR)
    area, own = block(memory, Block.REWARD), block(memory, Block.OWN)
    for op in range(n_ops):
        memory[area + op] = memory[own + op] = 0.0
    right = 0.0
    while last > 0:
        first = last - 1
        while first > 0 and memory[value + first - 1] == memory[value + last - 1]:
            first -= 1
        if last - first > 1:
            right += walk_tied(setup, memory, first, last, right)
        else:
            op, weight = np.int64(memory[operator + first]), setup[Setting.WEIGHTS + first]
            memory[area + op] += weight * (right - memory[own + op])
            memory[own + op] += weight
            right += weight
        last = first


@kernel
def update_rewards(setup, memory):
    """Areas under the curves, divided by their sum."""
    walk_back(setup, memory)
    n_ops, area = np.int64(memory[Slot.N_OPS]), block(memory, Block.REWARD)
    total = 0.0
    for op in range(n_ops):
        total += memory[area + op]
    for op in range(n_ops):
        memory[area + op] = memory[area + op] / total if total > 0.0 else 0.0
    memory[Slot.CHANGED] = 0.0


@kernel(CHOOSE_SIGNATURE)
def choose(setup, memory, features, stream, n_ops, i):
    """An unseen operator, or the one with the highest upper confidence bound."""
    if memory[Slot.CHANGED] > 0.0:
        update_rewards(setup, memory)
    recent = block(memory, Block.RECENT)
    total = 0.0
    for op in range(n_ops):
        seen = memory[recent + op]
        if seen == 0.0:
            return op
        total += seen
    reward, doubled = block(memory, Block.REWARD), 2.0 * math.log(total)
    chosen, highest = 0, -math.inf
    for op in range(n_ops):
        bound = memory[reward + op] + setup[Setting.SCALE] * math.sqrt(doubled / memory[recent + op])
        if bound > highest:
            chosen, highest = op, bound
    return chosen


def memory_parts(setup: np.ndarray, n_ops: int, n_pop: int) -> list[Part]:
    """What the memory may hold."""
    window = int(setup[Setting.WINDOW])
    single = {"K": whole(n_ops, n_ops), "filled": whole(0, window), "entered": COUNT, "changed": FLAG, "applied": COUNT}
    blocks = {"occurrences": whole(0, window), "fruitless": COUNT, "reward": within(0, ONE), "own": ANYTHING}
    blocks |= {"tied": whole(0, 0), "recent": whole(0, window)}
    columns = {"value": VALUES, "operator": index(n_ops), "entry": COUNT, "applied": index(n_ops)}
    sized = ((single, 1), (blocks, n_ops), (columns, window))
    return [(name, size, contents) for parts, size in sized for name, contents in parts.items()]


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
        memory_parts=memory_parts,
        metadata={"parameters": {"window": size, "decay": rate, "scale": float(scale)}},
    )
