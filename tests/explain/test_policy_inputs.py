"""What a policy sees, and which of it matters: on policies where the answer is known."""

import numpy as np
import pytest

from deddqn.explain import Protocol, permutation_importance
from deddqn.explain.decision_summary import STAGNATION_EDGES, cell_of, summarize_decisions
from deddqn.explain.decisions import decisions
from deddqn.explain.policy_inputs import input_groups, inputs_of, table_1_groups, why_opaque
from deddqn.features.layout import AT, n_features
from deddqn.policies import load_policy, mixture, softmax_policy
from deddqn.policies.softmax import INPUTS, N_INPUTS
from deddqn.problems import get
from tests.explain.rigged import SMALL, WIDE_AND_FINE, best_are_refined, by_budget

PROBLEM = get("cec2005:F6/d10")


def importance(policy, inputs, problems):
    rows = permutation_importance(inputs_of(policy, 2), inputs, problems)
    return {row.group: row for row in rows}


def test_groups_are_the_blocks_of_table_1():
    groups = table_1_groups(4)
    single = [group for group in groups if group.kind != "all"]
    assert sorted(column for group in single for column in group.columns) == list(range(99))
    rows = {group.name: group.rows for group in groups}
    assert rows["donor_distance"] == "7-11" and rows["success_rate"] == "20-35" and rows["stagnation"] == "6"
    halves = {group.name: len(group.columns) for group in groups if group.kind == "all"}
    assert halves == {"all landscape": 19, "all history": 80}
    assert sum(len(group.columns) for group in table_1_groups(12) if group.kind != "all") == n_features(12)


def test_only_the_feature_that_decides_matters():
    """Operator 0 while more than half of the budget is left: permuting changes 2 p (1 - p) of the decisions."""
    rng = np.random.default_rng(3)
    inputs = rng.random((4000, n_features(2)))
    found = importance(by_budget(), inputs, np.zeros(4000, dtype=int))
    p = np.mean(inputs[:, AT["remaining_budget"]] > 0.5)
    for name in ("remaining_budget", "all landscape"):
        assert found[name].changed == pytest.approx(2 * p * (1 - p), abs=0.02)
        assert found[name].regret == pytest.approx(found[name].changed)  # of two operators the second is the worst
    others = [row for name, row in found.items() if name not in ("remaining_budget", "all landscape")]
    assert len(others) == 16
    assert all((row.changed, row.regret, row.changed_within, row.spread) == (0, 0, 0, 0) for row in others)


def test_what_is_constant_on_a_problem_matters_only_between_problems():
    weights = np.zeros((2, N_INPUTS))
    weights[0, INPUTS.index("dimension")], weights[0, INPUTS.index("constant")] = 1000.0, -500.0
    policy = softmax_policy(weights, portfolio=WIDE_AND_FINE)
    rng = np.random.default_rng(0)
    inputs = rng.random((1000, N_INPUTS))
    inputs[:, INPUTS.index("constant")] = 1.0
    problems = np.repeat([0, 1], 500)
    inputs[:, INPUTS.index("dimension")] = np.array([1 / 3, 1.0])[problems]
    found = importance(policy, inputs, problems)
    assert found["dimension"].changed == pytest.approx(0.5, abs=0.05)
    assert found["dimension"].changed_within == 0.0
    assert all(row.changed == 0.0 for name, row in found.items() if name != "dimension")


def test_draws_that_must_change_by_hand():
    """Two states with probabilities .8/.2 and .4/.6: swapped, four draws in ten must change."""
    weights = np.zeros((2, N_INPUTS))
    stagnation = INPUTS.index("stagnation")
    weights[0, 0], weights[0, stagnation] = np.log(4.0), np.log(2.0 / 3.0) - np.log(4.0)
    inputs = np.zeros((2, N_INPUTS))
    inputs[:, 0], inputs[1, stagnation] = 1.0, 1.0
    policy = softmax_policy(weights, portfolio=WIDE_AND_FINE)
    policy_inputs = inputs_of(policy, 2)
    np.testing.assert_allclose(policy_inputs.probabilities(policy_inputs.values(inputs)), [[0.8, 0.2], [0.4, 0.6]])
    rows = permutation_importance(policy_inputs, inputs, np.zeros(2, dtype=int), rounds=40)
    changed = {row.group: row.changed for row in rows}
    assert 0.0 < changed["stagnation"] < 0.4  # swapped in some of the rounds
    assert round(changed["stagnation"] / 0.4 * 40, 6) == round(changed["stagnation"] / 0.4 * 40)
    assert [name for name, share in changed.items() if share] == ["stagnation"]


def test_a_network_plays_the_highest_of_the_values_that_are_shown():
    policy = load_policy("ddqn-r2")
    policy_inputs = inputs_of(policy, 4)
    for taken in decisions(Protocol(repeats=2, config=SMALL).runs(policy, PROBLEM, 0), policy_inputs):
        assert taken.used.all()
        np.testing.assert_array_equal(policy_inputs.values(taken.inputs).argmax(axis=1), taken.choices)
        np.testing.assert_allclose(1.0 - taken.inputs[:, AT["remaining_budget"]], taken.progress)
        np.testing.assert_allclose(taken.inputs[:, AT["stagnation"]], taken.stagnation)


def test_a_softmax_policy_draws_with_the_probabilities_that_are_shown():
    policy = load_policy("softmax")
    policy_inputs = inputs_of(policy, 4)
    expected, played = np.zeros(4), np.zeros(4)
    for taken in decisions(Protocol(repeats=10, config=SMALL).runs(policy, PROBLEM, 0), policy_inputs):
        probabilities = policy_inputs.probabilities(policy_inputs.values(taken.inputs))
        likely = probabilities[np.arange(len(taken.choices)), taken.choices]
        assert likely.min() > 1e-4
        expected += probabilities.sum(axis=0)
        played += np.bincount(taken.choices, minlength=4)
    assert np.abs(played - expected).max() < 4.0 * np.sqrt(expected.max())


def test_facts_are_those_of_the_decision():
    policy = best_are_refined()
    policy_inputs = inputs_of(policy, 2)
    protocol = Protocol(repeats=1, portfolio=WIDE_AND_FINE, config=SMALL)
    (taken,) = decisions(protocol.runs(policy, PROBLEM, 0), policy_inputs)
    ranks = taken.inputs[:, INPUTS.index("rank")]
    np.testing.assert_array_equal(taken.choices, np.where(ranks > 0.08, 0, 1))
    assert sorted(ranks[-20:].tolist()) == pytest.approx(np.linspace(0, 1, 20))


def test_facts_are_grouped_by_what_belongs_together():
    groups = {group.name: group for group in input_groups()}
    assert [groups[name].columns for name in INPUTS] == [(k,) for k in range(N_INPUTS)]
    assert groups["progress with its square"].columns == (1, 2)
    assert len(groups) == N_INPUTS + 1


@pytest.mark.parametrize(
    ("policy", "reason"),
    [
        ("random", "does not use the state"),
        ("de1", "does not use the state"),
        ("pm-adapss", "chooses by the rewards of its operators so far"),
        ("rec-pm", "no features that could be permuted"),
    ],
)
def test_policies_without_values_say_why(policy, reason):
    chosen = load_policy(policy)
    assert inputs_of(chosen, 4) is None
    assert reason in why_opaque(chosen)


def test_pictures_add_up():
    summary, sample, errors = summarize_decisions(
        mixture([0.7, 0.3]),
        PROBLEM,
        Protocol(repeats=4, portfolio=WIDE_AND_FINE, config=SMALL),
        None,
        states=10,
        seed=0,
    )
    assert summary.cells.sum() == 4 * 980
    np.testing.assert_allclose(summary.shares.sum(axis=1), 1.0)
    np.testing.assert_allclose(summary.cells.sum(axis=(0, 1)) / 3920, summary.shares.mean(axis=0))
    assert summary.evaluations.tolist() == list(range(20, 1000, 20))
    assert (summary.gaps, sample.shape, errors.shape) == (None, (0, 0), (4,))
    assert cell_of(np.array([0.0, 0.0007, 0.3, 1.0]), STAGNATION_EDGES).tolist() == [0, 1, 9, 10]


def test_gaps_by_hand():
    """The gap of `by_budget` is the distance of the remaining budget from its limit."""
    protocol = Protocol(repeats=2, portfolio=WIDE_AND_FINE, config=SMALL)
    policy = by_budget()
    summary, sample, _ = summarize_decisions(policy, PROBLEM, protocol, inputs_of(policy, 2), states=200, seed=0)
    middle = 1.0 - (summary.evaluations + 9.5) / 1000
    np.testing.assert_allclose(summary.gaps.median, np.abs(middle - 0.5), atol=1e-6)
    assert summary.gaps.relative == pytest.approx(1.0)
    assert 140 < len(sample) < 260 and sample.shape[1] == n_features(2)
