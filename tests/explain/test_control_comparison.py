"""The control: a policy against its own shares at random, where it is known whether its state matters."""

from dataclasses import replace

import numpy as np
import pytest

from deddqn.de import PAPER, DEConfig
from deddqn.de.config import config_for
from deddqn.explain import (
    EVALUATION_REPEATS,
    Protocol,
    Request,
    against_own_shares,
    measure_shares,
    own_shares,
    run_policy,
)
from deddqn.explain.control_comparison import best_fixed, cannot_tell, compare_errors
from deddqn.explain.decisions import decisions
from deddqn.policies import fixed, load_policy, schedule_policy, softmax_policy
from deddqn.problems import Problem, get
from tests.explain.rigged import SMALL, WIDE_AND_FINE, best_are_refined, by_budget, picking, worst_stay

PROBLEMS = ("cec2005:F1/d10", "cec2005:F6/d10")
WHERE = {name: get(name) for name in PROBLEMS}


def test_a_state_that_helps_is_found():
    found = against_own_shares(best_are_refined(), PROBLEMS, repeats=12, config=SMALL)
    assert [result.verdict for result in found.comparison.results] == ["win", "win"]
    assert "The state matters on 2 of 2 problems: there the policy ends significantly better" in found.verdict


def test_a_state_that_harms_is_found():
    found = against_own_shares(worst_stay(), PROBLEMS, repeats=25, config=SMALL)
    assert [result.verdict for result in found.comparison.results] == ["loss", "loss"]
    assert "The state does not help: on 2 of 2 problems the policy ends significantly worse" in found.verdict


def test_a_state_that_is_only_the_generation_does_not_matter():
    """Whole generations of one strategy: its shares say everything, and the control is the policy itself."""
    config = DEConfig(population_size=20, budget=420)  # 20 generations, half the budget is used up after ten
    found = against_own_shares(by_budget(200.5 / 420), PROBLEMS, repeats=8, config=config)
    for problem in PROBLEMS:
        assert found.shares[problem].tolist() == [[1.0, 0.0]] * 10 + [[0.0, 1.0]] * 10
        np.testing.assert_array_equal(found.policy_errors[problem], found.control_errors[problem])
    assert "No sign that the state matters" in found.verdict


def test_a_policy_without_a_state_ties_with_its_shares():
    found = against_own_shares("random", PROBLEMS, repeats=15, config=SMALL)
    assert found.comparison.tally.ties == 2
    assert (found.policy_errors[PROBLEMS[0]] != found.control_errors[PROBLEMS[0]]).any()


def test_both_sides_play_the_runs_of_a_comparison():
    found = against_own_shares("de3", PROBLEMS[:1], repeats=3, first=0, config=SMALL)
    mine = Protocol(repeats=3, config=SMALL).errors(fixed(2), WHERE[PROBLEMS[0]], 0)
    np.testing.assert_array_equal(found.policy_errors[PROBLEMS[0]], mine)
    np.testing.assert_array_equal(found.control_errors[PROBLEMS[0]], mine)


def test_shares_are_those_of_the_generations():
    table = np.eye(4)[[1, 3, 0, 2, 2]]
    protocol = Protocol(repeats=2, config=DEConfig(population_size=10, budget=70))
    shares = measure_shares(schedule_policy(table), WHERE, protocol)
    for measured in shares.values():
        np.testing.assert_array_equal(measured, table[[0, 1, 2, 3, 4, 4]])


def test_shares_come_from_other_seeds():
    protocol = Protocol(repeats=2, config=SMALL)
    other, same = (
        measure_shares(load_policy("random"), WHERE, protocol, **w) for w in ({}, {"first": EVALUATION_REPEATS})
    )
    assert (other[PROBLEMS[0]] != same[PROBLEMS[0]]).any()
    np.testing.assert_allclose(other[PROBLEMS[0]].mean(axis=0), 0.25, atol=0.05)


def test_runs_that_end_in_their_first_population_have_shares_too():
    protocol = Protocol(repeats=2, config=DEConfig(population_size=10, budget=10))
    shares = measure_shares(load_policy("random"), WHERE, protocol)
    assert shares[PROBLEMS[0]].tolist() == [[0.25] * 4]


def test_watching_changes_nothing():
    for name in ("softmax", "ddqn-r2", "rec-pm"):
        policy, protocol = load_policy(name), Protocol(repeats=3, config=SMALL)
        runs = protocol.runs(policy, WHERE[PROBLEMS[1]], 7)
        made = sum(len(taken.choices) for taken in decisions(runs))
        assert made == 3 * 980
        np.testing.assert_array_equal(runs.errors, protocol.errors(policy, WHERE[PROBLEMS[1]], 7))


def test_the_best_fixed_strategy_by_hand():
    runs = [
        {"a": np.array([1.0, 2.0]), "b": np.array([5.0, 6.0])},
        {"a": np.array([3.0, 4.0]), "b": np.array([1.0, 1.0])},
        {"a": np.array([0.5, 9.0]), "b": np.array([2.0, 2.0])},
    ]
    by_problem, overall = best_fixed(runs)
    assert by_problem == {"a": 0, "b": 1}
    assert overall == 1  # mean ranks: 0: (2.5 + 5.5) / 2, 1: (4.5 + 1.5) / 2, 2: (3.5 + 3.5) / 2


def test_values_below_zero_are_compared_where_no_optimum_is_known():
    problem = Problem.from_function(lambda x: float(x @ x) - 100.0, [(-5, 5)] * 2, name="bowl")
    low, high = {"bowl": np.linspace(-100.0, -99.0, 9)}, {"bowl": np.linspace(-50.0, -40.0, 9)}
    assert compare_errors("low", low, "high", high, {"bowl": problem}).tally.wins == 1
    assert compare_errors("high", high, "low", low, {"bowl": problem}).tally.losses == 1
    played = run_policy(fixed(0), {"bowl": problem}, Protocol(repeats=2, config=SMALL))
    assert (played["bowl"] < -99.0).all()


def test_portfolios_other_than_the_papers():
    protocol = Protocol(repeats=1, portfolio=WIDE_AND_FINE, config=SMALL)
    shares = measure_shares(load_policy("random"), WHERE, protocol)
    assert shares[PROBLEMS[0]].shape == (49, 2)
    assert PAPER != WIDE_AND_FINE


def test_too_few_runs_are_called_so():
    assert "no difference can be significant" in cannot_tell(4, 32)
    assert cannot_tell(25, 32) == ""


class Uncompiled:
    name, needs_features = "mine", False

    def reset(self, n_ops, n_pop, rng): ...
    def choose(self, features, i): ...
    def learn(self, i, op, f_parent, f_trial, f_bsf, f_wsf, reward): ...
    def end_generation(self): ...


@pytest.mark.parametrize(
    ("policy", "problems", "settings", "message"),
    [
        ("sofmax", PROBLEMS, {}, "did you mean 'softmax'"),
        (Uncompiled(), PROBLEMS, {}, "policy must be a compiled one"),
        (3, PROBLEMS, {}, "policy must be a name, a path or an object"),
        ("random", [], {}, "at least one problem"),
        ("random", "cec205-train", {}, "did you mean 'cec2005-train'"),
        ("random", PROBLEMS, {"repeats": 0}, "repeats must be at least 1, got 0"),
        ("random", PROBLEMS, {"share_repeats": 0}, "repeats must be at least 1, got 0"),
        ("random", PROBLEMS, {"seed": -1}, "seed must be at least 0, got -1"),
        ("de7", PROBLEMS, {}, "needs at least 7 operators"),
    ],
)
def test_bad_input_is_refused(policy, problems, settings, message):
    with pytest.raises((ValueError, KeyError), match=message):
        against_own_shares(policy, problems, **{"repeats": 2, "config": SMALL, **settings})


def test_picking_beats_one_trial_of_the_same_operators():
    """Both sides have the same settings; the control takes the one trial that it has, with and without foresight."""
    sphere = Problem.from_function(lambda x: float(x @ x), [(-5, 5)] * 10, optimum=0.0, name="sphere")
    policy = picking(8, PAPER)
    config = config_for(policy.de, population_size=50, budget=1500)
    assert config.n_candidates == 8
    found = against_own_shares(policy, sphere, repeats=20, config=config, first=0)
    assert [result.verdict for result in found.comparison.results] == ["win"]
    assert np.median(found.policy_errors["sphere"]) < 0.05 * np.median(found.control_errors["sphere"])
    control = own_shares(policy.name, found.shares, Protocol(repeats=20, config=config))["sphere"]
    for n_candidates in (8, 1):
        runs = Protocol(repeats=20, config=replace(config, n_candidates=n_candidates)).runs(control, sphere, 0)
        assert not any(spec.prescreens for spec in runs.specs)
        runs.advance()
        np.testing.assert_array_equal(runs.errors, found.control_errors["sphere"])
    np.testing.assert_allclose(found.shares["sphere"].mean(axis=0), 0.25, atol=0.05)


def test_a_policy_that_picks_from_one_trial_ties_with_its_shares():
    """It is the picking that helped above: without it all operators alike are what the control plays."""
    found = against_own_shares(picking(1, PAPER), PROBLEMS, repeats=12, config=SMALL)
    assert found.comparison.tally.ties == 2


def test_watching_a_policy_that_picks_changes_nothing():
    policy, protocol = picking(4, PAPER), Protocol(repeats=3, config=replace(SMALL, n_candidates=4))
    runs = protocol.runs(policy, WHERE[PROBLEMS[1]], 7)
    assert sum(len(taken.choices) for taken in decisions(runs)) == 3 * 980
    np.testing.assert_array_equal(runs.errors, protocol.errors(policy, WHERE[PROBLEMS[1]], 7))


def test_a_policy_plays_with_its_own_settings():
    """The errors are those of runs with the population that shrinks, and the explanation says its size."""
    own = {"population_size": 30, "final_population": 8, "repair": "midpoint"}
    policy = softmax_policy(np.zeros((4, 8)), de=own)
    found = against_own_shares(policy, "cec2005:F6/d10", repeats=3, first=0)
    protocol = Protocol(repeats=3, config=config_for(own))
    expected = protocol.errors(policy, get("cec2005:F6/d10"), 0)
    assert found.policy_errors["cec2005:F6/d10"].tolist() == expected.tolist()
    request = Request(policy=policy, problems="cec2005:F6/d10", budget=900)
    assert request.protocol.config == config_for(own, budget=900)
    other = Request(policy=policy, problems="cec2005:F6/d10", budget=900, population_size=12)
    assert other.protocol.config == config_for(own, budget=900, population_size=12)
