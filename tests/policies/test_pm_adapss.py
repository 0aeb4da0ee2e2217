"""PM-AdapSS by hand arithmetic."""

from __future__ import annotations

import numpy as np
import pytest

from deddqn.de import PAPER, Portfolio
from deddqn.policies import load_policy
from deddqn.policies.pm_adapss import Block, pm_adapss, relative_improvement
from deddqn.policies.probability_matching import block

NO_FEATURES = np.zeros(0)


def begin(n_ops=2, **parameters):
    policy = pm_adapss(**parameters)
    policy.reset(n_ops, 10, np.random.default_rng(0))
    return policy


def read(policy, which, n_ops=2):
    first = int(block(policy._memory, which))
    return policy._memory[first : first + n_ops]


def test_relative_improvement_divides_by_the_distance_from_the_best():
    # f' of 4 between 0 (best) and 8 (worst): 1 + 4/8 = 1.5; improvement 10 - 4 = 6; 6 / 1.5 = 4
    assert relative_improvement(10.0, 4.0, 0.0, 8.0) == pytest.approx(4.0)
    assert relative_improvement(10.0, 0.0, 0.0, 10.0) == 10.0  # the best so far: f' = 1
    assert relative_improvement(3.0, 3.0, 0.0, 8.0) == 0.0
    assert relative_improvement(3.0, 5.0, 0.0, 8.0) == 0.0
    assert relative_improvement(5.0, 4.0, 4.0, 4.0) == 1.0  # no span: f' = 1


def test_values_that_are_not_finite():
    # a parent without a value counts as f_wsf = 8: (8 - 4) / (1 + (4 - 0) / 8)
    assert relative_improvement(np.inf, 4.0, 0.0, 8.0) == pytest.approx(4.0 / 1.5)
    assert relative_improvement(4.0, np.inf, 0.0, 8.0) == 0.0
    assert relative_improvement(np.inf, np.inf, np.inf, -np.inf) == 0.0
    assert np.isfinite(relative_improvement(1.7e308, -1.7e308, -1.7e308, 1.7e308))


def test_one_generation():
    policy = begin(alpha=0.6, p_min=0.05, window=50)
    assert read(policy, Block.PROBABILITY).tolist() == [0.5, 0.5]
    # operator 0: improvements 6 / 1.5 = 4 and 0, mean 2; operator 1: 1 / 1 = 1 (u is the best), mean 1
    policy.learn(0, 0, 10.0, 4.0, 0.0, 8.0, 0.0)
    policy.learn(1, 0, 2.0, 3.0, 0.0, 8.0, 0.0)
    policy.learn(2, 1, 1.0, 0.0, 0.0, 8.0, 0.0)
    policy.end_generation()
    # divided by the largest: 1 and 0.5; q = 0.6 and 0.3; p = 0.05 + 0.9 * (2/3, 1/3)
    assert read(policy, Block.QUALITY) == pytest.approx([0.6, 0.3])
    assert read(policy, Block.PROBABILITY) == pytest.approx([0.65, 0.35])
    policy.end_generation()  # windows stay: q = 0.6 + 0.6 * 0.4, 0.3 + 0.6 * 0.2
    assert read(policy, Block.QUALITY) == pytest.approx([0.84, 0.42])


def test_the_window_is_the_last_applications_of_the_operator_itself():
    policy = begin(window=2, alpha=1.0, p_min=0.0)
    for gain in (100.0, 3.0, 1.0):  # 100 leaves the window of operator 0: mean 2
        policy.learn(0, 0, gain, 0.0, 0.0, 8.0, 0.0)
    policy.learn(1, 1, 8.0, 0.0, 0.0, 8.0, 0.0)  # mean 8
    policy.end_generation()
    assert read(policy, Block.PROBABILITY) == pytest.approx([0.2, 0.8])  # 0.25 : 1


def test_without_any_improvement_all_are_equally_likely():
    policy = begin(n_ops=3)
    policy.learn(0, 1, 1.0, 2.0, 0.0, 8.0, 0.0)
    policy.end_generation()
    assert read(policy, Block.PROBABILITY, 3) == pytest.approx([1 / 3] * 3)


def test_the_wheel_follows_the_probabilities():
    policy = begin(alpha=1.0, p_min=0.1)
    policy.learn(0, 0, 1.0, 0.0, 0.0, 8.0, 0.0)
    policy.end_generation()  # p = 0.9, 0.1
    chosen = [policy.choose(NO_FEATURES, i) for i in range(20_000)]
    assert np.mean(chosen) == pytest.approx(0.1, abs=0.01)  # 4.7 standard errors: once in 10^5


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"window": 0}, "window must be an integer of 1 or more, got 0"),
        ({"window": 2.5}, "window must be an integer of 1 or more, got 2.5"),
        ({"alpha": 1.5}, r"alpha must lie in \[0, 1\], got 1.5"),
        ({"p_min": float("nan")}, r"p_min must lie in \[0, 1\], got nan"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        pm_adapss(**parameters)


def test_the_least_probability_must_leave_room():
    with pytest.raises(ValueError, match="p_min must be at most 1/4 for a portfolio of 4 entries, got 0.3"):
        pm_adapss(p_min=0.3).check_portfolio(PAPER)
    pm_adapss(p_min=1.0).check_portfolio(Portfolio(["rand/1"]))


def test_names():
    default = load_policy("pm-adapss:default")
    assert default.name == "pm-adapss:default"
    assert default.metadata["parameters"] == {"window": 50, "alpha": 0.6, "p_min": 0.05}
    assert load_policy("pm-adapss:window=7").metadata["parameters"] == {"window": 7, "alpha": 0.6, "p_min": 0.05}
    assert load_policy("pm-adapss").name == "pm-adapss"
    with pytest.raises(KeyError, match="unknown parameter of pm-adapss 'alfa'; did you mean 'alpha'"):
        load_policy("pm-adapss:alfa=1")
    with pytest.raises(ValueError, match="window must be an integer, got 'x'"):
        load_policy("pm-adapss:window=x")
    with pytest.raises(ValueError, match="needs 'default' or parameters like"):
        load_policy("pm-adapss:tuned")
