"""Policies in Python: what they are shown, what they may return, and how they are found by name."""

import sys

import numpy as np
import pytest

from deddqn import DEConfig, RunSpec, minimize
from deddqn.engine.run import Run
from deddqn.policies import FunctionPolicy, load_python_policy
from deddqn.policies.python_policy import named_source
from deddqn.problems import get
from tests.policies.python_policies import Looking, Vandal, by_distance

HERE = "tests.policies.python_policies"
PROBLEM = "cec2005:F1/d10"


def finished(policy, **settings):
    config = DEConfig(budget=300, population_size=20, **settings)
    run = Run(RunSpec(problem=get(PROBLEM), policy=policy, config=config))
    run.advance(300)
    return run


@pytest.mark.parametrize("updating", ["sequential", "deferred", "asynchronous"])
def test_a_policy_sees_the_search(updating):
    policy, problem = Looking(), get(PROBLEM)
    run = finished(policy, updating=updating)
    assert len(policy.seen) == 280 == run.de_state.applications.sum()
    diagonal = np.linalg.norm(problem.upper - problem.lower)
    for seen in policy.seen:
        i, values, donors = seen.i, seen.values, seen.donors
        assert i == seen.individual and seen.population.shape == (20, 10) and values.shape == (20,)
        assert problem(seen.population[i]) == values[i]
        assert problem(seen.best_point) == seen.best_value <= values.min()
        assert values.max() <= seen.worst_value and 0 <= seen.best < 20
        assert len({i, *donors}) == 6
        distance = np.linalg.norm(seen.population[i] - seen.population[donors[0]]) / diagonal
        assert seen.features[6] == pytest.approx(distance, rel=1e-12)  # Table 1 row 7
        assert seen.features[3] == (300 - seen.evaluations) / 300 and seen.budget == 300
        assert seen.features[5] == seen.stagnation / 300
        assert (seen.lower == problem.lower).all() and (seen.upper == problem.upper).all()
    assert (policy.seen[0].evaluations, policy.seen[-1].generation) == (20, 13)


def test_what_it_chooses_is_what_is_applied():
    policy = Looking()
    run = finished(policy)
    chosen = [int(seen.donors[0]) % 4 for seen in policy.seen]
    assert np.bincount(chosen, minlength=4).tolist() == run.de_state.applications.tolist()


def test_a_function_is_a_policy():
    policy = FunctionPolicy(by_distance, needs_features=False)
    assert policy.name == "by_distance"
    counts = finished(policy).de_state.applications
    assert counts[0] > 0 and counts[3] > 0 and counts[1] == counts[2] == 0
    found = minimize(lambda x: float(x @ x), [(-5, 5)] * 3, policy=f"{HERE}:distance_policy", maxfun=500, rng=1)
    assert found.policy == "by_distance" and sum(found.strategy_counts) == 400


def test_nothing_can_be_written():
    with pytest.raises(ValueError, match="read-only"):
        finished(Vandal())


@pytest.mark.parametrize("wrong", [4, -1, 1.0, None, "rand/1", np.array([1, 2])], ids=str)
def test_a_choice_is_the_number_of_an_operator(wrong):
    with pytest.raises(ValueError, match=r"policy must choose an operator in 0\.\.3, got "):
        finished(FunctionPolicy(lambda features, search: wrong, name="wrong"))


@pytest.mark.parametrize("attribute", ["KeepWhatPays", "keeper"])
def test_names_are_objects_or_make_them(attribute, tmp_path):
    assert load_python_policy(f"{HERE}:{attribute}").name == "keep-what-pays"
    path = sys.modules[HERE].__file__
    assert load_python_policy(f"{path}:{attribute}").name == "keep-what-pays"
    assert named_source(f"{path}:{attribute}") == named_source(f"{HERE}:{attribute}") != b""


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "no_such_module:policy",
            r"importing no_such_module raised ModuleNotFoundError.*write no_such_module\.py:policy",
        ),
        ("no/such/file.py:policy", r"there is no file no/such/file\.py"),
        (f"{HERE}:keeperr", r"has no 'keeperr'; did you mean 'keeper'\?"),
        (f"{HERE}:not_a_policy", r"must be an object with the Policy methods, got \{.*without name, needs_features"),
        (f"{HERE}:NoArguments", r"making it raised TypeError: .*'weight'"),
        ("keeper", r"named module:attribute or path\.py:attribute, got 'keeper'"),
    ],
)
def test_a_name_that_cannot_be_loaded_says_why(name, message):
    with pytest.raises(ValueError, match=message):
        load_python_policy(name)


def test_a_file_that_raises_is_named(tmp_path):
    file = tmp_path / "broken.py"
    file.write_text("1 / 0\n")
    for _ in range(2):
        with pytest.raises(ValueError, match=r"broken\.py raised ZeroDivisionError: division by zero"):
            load_python_policy(f"{file}:policy")
