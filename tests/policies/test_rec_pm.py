"""RecPM-AOS by hand arithmetic."""

from __future__ import annotations

import math

import numpy as np
import pytest

from deddqn.policies import load_policy
from deddqn.policies.probability_matching import block
from deddqn.policies.rec_pm import Block, rec_pm, solve


def begin(n_ops, **parameters):
    policy = rec_pm(**parameters)
    policy.reset(n_ops, 10, np.random.default_rng(0))
    return policy


def read(policy, which):
    n_ops, first = int(policy._memory[0]), int(block(policy._memory, which))
    return policy._memory[first : first + n_ops]


def apply(policy, op, successes, failures):
    for _ in range(successes):
        policy.learn(0, op, 1.0, 1.0, 0.0, 2.0, 0.0)  # a tie is not worse
    for _ in range(failures):
        policy.learn(0, op, 1.0, 1.5, 0.0, 2.0, 0.0)


def test_two_generations_of_two_operators():
    policy = begin(2, gamma=0.6, p_min=0.0)
    apply(policy, 0, successes=3, failures=1)
    apply(policy, 1, successes=1, failures=3)
    policy.end_generation()
    # r = 0.75, 0.25; p = 1/2 each, so P = [[.5, .5], [.5, .5]] and I - 0.6 P = [[.7, -.3], [-.3, .7]], whose inverse
    # is [[.7, .3], [.3, .7]] / 0.4: V = (0.525 + 0.075, 0.225 + 0.175) / 0.4 = (1.5, 1.0)
    first = math.exp(0.5) / (math.exp(0.5) + 1.0)
    assert read(policy, Block.REWARD) == pytest.approx([0.75, 0.25])
    assert read(policy, Block.PROBABILITY) == pytest.approx([first, 1 - first])
    apply(policy, 1, successes=1, failures=0)  # operator 0 is not applied
    policy.end_generation()
    assert read(policy, Block.REWARD) == pytest.approx([0.375, 1.125])
    # P_ij = (p_i + p_j) / (2 p_i + 1): determinant and solution of the 2 x 2 system by Cramer's rule
    p0, p1 = first, 1 - first
    a, b = 1 - 0.6 * 2 * p0 / (2 * p0 + 1), -0.6 / (2 * p0 + 1)
    c, d = -0.6 / (2 * p1 + 1), 1 - 0.6 * 2 * p1 / (2 * p1 + 1)
    v0, v1 = (0.375 * d - 1.125 * b) / (a * d - b * c), (1.125 * a - 0.375 * c) / (a * d - b * c)
    assert read(policy, Block.PROBABILITY) == pytest.approx([1 / (1 + math.exp(v1 - v0)), 1 / (1 + math.exp(v0 - v1))])


def test_the_least_probability():
    policy = begin(2, gamma=0.6, p_min=0.2)
    apply(policy, 0, successes=3, failures=1)
    apply(policy, 1, successes=1, failures=3)
    policy.end_generation()
    first = math.exp(0.5) / (math.exp(0.5) + 1.0)
    assert read(policy, Block.PROBABILITY) == pytest.approx([0.2 + 0.6 * first, 0.2 + 0.6 * (1 - first)])


def test_offspring_without_a_value_is_no_success():
    policy = begin(1)
    policy.learn(0, 0, np.inf, np.inf, 0.0, 1.0, 0.0)
    policy.learn(0, 0, np.inf, 3.0, 0.0, 3.0, 0.0)
    policy.end_generation()
    assert read(policy, Block.REWARD) == pytest.approx([0.5])
    assert read(policy, Block.PROBABILITY).tolist() == [1.0]


@pytest.mark.parametrize("n", [1, 2, 4, 7])
def test_elimination_agrees_with_numpy(n):
    rng = np.random.default_rng(n)
    transitions = rng.random((n, n))
    matrix = np.eye(n) - 0.95 * transitions / transitions.sum(axis=1, keepdims=True)
    right = rng.random(n)
    memory = np.concatenate([matrix.ravel(), right])
    solve(memory, 0, n * n, n)
    assert memory[n * n :] == pytest.approx(np.linalg.solve(matrix, right), rel=1e-12)


@pytest.mark.parametrize("n_ops", [1, 3, 8])
def test_probabilities_sum_to_one(n_ops):
    policy = begin(n_ops, gamma=0.99, p_min=0.1)
    rng = np.random.default_rng(1)
    for _ in range(30):
        for op in range(n_ops):
            apply(policy, op, *rng.integers(0, 5, 2))
        policy.end_generation()
        p = read(policy, Block.PROBABILITY)
        assert p.sum() == pytest.approx(1.0) and np.all(p >= 0.1 - 1e-12)


def test_parameters_and_names():
    with pytest.raises(ValueError, match=r"gamma must lie in \[0, 1\), got 1.0"):
        rec_pm(gamma=1.0)
    assert load_policy("rec-pm:default").metadata["parameters"] == {"gamma": 0.6, "p_min": 0.0}
    assert load_policy("rec-pm:gamma=0.75,p_min=0.17").metadata["parameters"] == {"gamma": 0.75, "p_min": 0.17}
