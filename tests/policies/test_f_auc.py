"""F-AUC by hand arithmetic."""

from __future__ import annotations

import math

import numpy as np
import pytest

from deddqn.policies import load_policy
from deddqn.policies.f_auc import Block, Column, Slot, block, column, f_auc, update_rewards

NO_FEATURES = np.zeros(0)


def begin(n_ops=2, **parameters):
    policy = f_auc(**parameters)
    policy.reset(n_ops, 10, np.random.default_rng(0))
    return policy


def improve(policy, op, value):
    policy.learn(0, op, np.inf, value, 0.0, 9.0, 0.0)


def fail(policy, op, times=1):
    for _ in range(times):
        policy.learn(0, op, 1.0, 1.0, 0.0, 9.0, 0.0)


def rewards(policy):
    memory = policy._memory
    update_rewards(policy.setup, memory)
    first = int(block(memory, Block.REWARD))
    return memory[first : first + int(memory[Slot.N_OPS])]


def window(policy, which):
    first = int(column(policy.setup, policy._memory, which))
    return policy._memory[first : first + int(policy._memory[Slot.FILLED])].tolist()


def test_the_window_is_sorted_and_forgets_the_oldest():
    policy = begin(window=3)
    for op, value in ((0, 5.0), (1, 2.0), (0, 4.0), (1, 3.0)):
        improve(policy, op, value)
    assert window(policy, Column.VALUE) == [2.0, 3.0, 4.0]
    assert window(policy, Column.OPERATOR) == [1, 1, 0]
    improve(policy, 0, 9.0)  # the oldest is 2.0
    assert window(policy, Column.VALUE) == [3.0, 4.0, 9.0]


def test_the_areas():
    # W = 4, D = 0.5: weights 4, 1.5, 0.5, 0.125. Ranks: 0 1 0 1.
    # operator 0: up 4; right 1.5 (area 6); up 0.5; right 0.125 (area 0.125 * 4.5): 6.5625
    # operator 1: right 4; up 1.5; right 0.5 (area 0.75); up: 0.75
    policy = begin(window=4)
    for op, value in ((0, 1.0), (1, 2.0), (0, 3.0), (1, 4.0)):
        improve(policy, op, value)
    assert rewards(policy) == pytest.approx([6.5625 / 7.3125, 0.75 / 7.3125])


def test_ties_are_shared():
    # ranks 0 and 1 are tied, one of each operator: weight (4 + 1.5) / 2 = 2.75 each, a slanted line with the
    # triangle 2.75^2 / 2 = 3.78125 for both; rank 2 (weight 0.5) is of operator 0: right for operator 1: 0.5 * 2.75
    policy = begin(window=4)
    for op, value in ((0, 1.0), (1, 1.0), (0, 3.0)):
        improve(policy, op, value)
    areas = np.array([3.78125, 3.78125 + 1.375])
    assert rewards(policy) == pytest.approx(areas / areas.sum())


def test_ties_of_several():
    # all four tied: weight 6.125 / 4 = 1.53125; operator 0 has three: areas 0.5 * w^2 * 3 * 1 for both
    policy = begin(window=4)
    for op in (0, 0, 1, 0):
        improve(policy, op, 1.0)
    assert rewards(policy) == pytest.approx([0.5, 0.5])


def test_one_operator_alone_has_no_area():
    policy = begin(window=4)
    improve(policy, 1, 1.0)
    assert rewards(policy).tolist() == [0.0, 0.0]


def test_unseen_operators_come_first():
    policy = begin(n_ops=3)
    for expected in range(3):
        assert policy.choose(NO_FEATURES, 0) == expected
        fail(policy, expected) if expected < 2 else improve(policy, expected, 1.0)
    assert policy.choose(NO_FEATURES, 0) == 0  # n = 1, 1, 1 and no areas: the lowest number
    fail(policy, 0)
    assert policy.choose(NO_FEATURES, 0) == 1  # n = 2, 1, 1


def test_the_upper_confidence_bound():
    policy = begin(window=4, scale=0.5)
    for op, value in ((0, 1.0), (1, 2.0), (0, 3.0), (1, 4.0)):
        improve(policy, op, value)
    improve(policy, 0, 5.0)  # pushes 0 (1.0) out: ranks 1 0 1 0
    # n = 2, 2; areas by the same arithmetic with the operators exchanged: rewards 0.103, 0.897
    assert policy.choose(NO_FEATURES, 0) == 1


def test_exploration_against_reward():
    # W = 5: weights 5, 2, 0.75, 0.25, 0.0625; ranks 0 0 0 1 0: operator 0 has height 7.75 at rank 3: area 1.9375;
    # operator 1: right to rank 3, up 0.25, right 0.0625: area 0.015625. Rewards 0.992 and 0.008; n = 4, 1.
    bounds = [0.992 + c * math.sqrt(2 * math.log(5) / 4) for c in (0.5, 2.0)]
    others = [0.008 + c * math.sqrt(2 * math.log(5) / 1) for c in (0.5, 2.0)]
    assert bounds[0] > others[0] and bounds[1] < others[1]
    for scale, expected in ((0.5, 0), (2.0, 1)):
        policy = begin(window=5, scale=scale)
        for op, value in ((0, 1.0), (0, 2.0), (0, 3.0), (1, 4.0), (0, 5.0)):
            improve(policy, op, value)
        assert rewards(policy) == pytest.approx([1.9375 / 1.953125, 0.015625 / 1.953125])
        assert policy.choose(NO_FEATURES, 0) == expected


def test_fruitless_applications_in_a_row_take_an_operator_out_of_the_window():
    policy = begin(window=4)
    for op, value in ((0, 1.0), (1, 2.0), (0, 3.0)):
        improve(policy, op, value)
    fail(policy, 0, times=3)
    assert window(policy, Column.OPERATOR) == [0, 1, 0]
    fail(policy, 0)
    assert window(policy, Column.OPERATOR) == [1] and window(policy, Column.VALUE) == [2.0]
    assert policy.choose(NO_FEATURES, 0) == 1  # n = 4, 0


def test_an_operator_is_unseen_again_when_its_applications_are_long_ago():
    policy = begin(window=4)
    fail(policy, 0)
    improve(policy, 1, 1.0)
    assert policy.choose(NO_FEATURES, 0) == 0  # n = 1, 1
    for value in (0.9, 0.8):
        improve(policy, 1, value)
    fail(policy, 0)  # applied: 1 1 1 0
    improve(policy, 1, 0.7)
    # n = 1, 3; no area for anybody: the bonus of operator 0 is the higher one
    assert policy.choose(NO_FEATURES, 0) == 0
    for value in (0.6, 0.5, 0.4):
        improve(policy, 1, value)
    patient = begin(window=4, scale=0.0)
    patient._memory[:] = policy._memory
    assert patient.choose(NO_FEATURES, 0) == 0  # not among the last 4: unseen, whatever the scale


def test_an_improvement_ends_the_fruitless_applications():
    policy = begin(window=4)
    fail(policy, 0, times=5)
    improve(policy, 0, 1.0)
    assert policy._memory[int(block(policy._memory, Block.FRUITLESS))] == 0.0


def test_only_ranks_matter():
    rng = np.random.default_rng(5)
    a, b = begin(n_ops=4), begin(n_ops=4)
    for _ in range(300):
        op = a.choose(NO_FEATURES, 0)
        assert op == b.choose(NO_FEATURES, 0)
        value = float(rng.integers(0, 40))
        if rng.random() < 0.5:
            improve(a, op, value), improve(b, op, value**3 - 7.0)
        else:
            fail(a, op), fail(b, op)


def test_parameters_and_names():
    with pytest.raises(ValueError, match="scale must be a finite number of 0 or more, got -1"):
        f_auc(scale=-1.0)
    with pytest.raises(ValueError, match=r"decay must lie in \[0, 1\], got 2"):
        f_auc(decay=2.0)
    assert load_policy("f-auc:default").metadata["parameters"] == {"window": 50, "decay": 0.5, "scale": 0.5}
