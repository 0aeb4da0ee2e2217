"""A policy or a run says which state it reads; runs that read the paper's have no trace of the other."""

from __future__ import annotations

import numpy as np
import pytest

from deddqn import DEConfig, RunSpec, load_policy
from deddqn.de.state import Counter
from deddqn.engine.run import Run
from deddqn.engine.run_memory import Link
from deddqn.experiments.methods import policy_fingerprint
from deddqn.features import STATES, n_features
from deddqn.features.buffers import AUTHORS_FIELDS
from deddqn.policies.policy import CompiledPolicy
from deddqn.policies.q_network import load_policy_file, network_policy, save_policy
from deddqn.policies.softmax import softmax_policy
from deddqn.problems import get

CONFIG = DEConfig(population_size=20, budget=400)


def network(**made_for: object) -> CompiledPolicy:
    rng, widths = np.random.default_rng(0), [n_features(4), 12, 4]
    weights = [rng.normal(0.0, 0.3, (b, a)) for a, b in zip(widths, widths[1:], strict=False)]
    biases = [-0.2 * weights[0].sum(axis=1), np.zeros(4)]  # centred, so that it selects more than one operator
    return network_policy(weights, biases, **made_for)  # type: ignore[arg-type]


def finished(**settings: object) -> Run:
    run = Run(RunSpec(problem=get("cec2005:F1/d10"), config=CONFIG, **settings))  # type: ignore[arg-type]
    run.advance(CONFIG.budget)
    return run


def test_the_paper_state_takes_no_room_for_the_other() -> None:
    run = finished(policy=network())
    assert run.core.links[Link.LANDSCAPE] == 0
    assert all(getattr(run.observer, field.name).size == 0 for field in AUTHORS_FIELDS)
    unobserved = finished(policy=load_policy("random"), state="authors")
    assert unobserved.core.links[Link.LANDSCAPE] == unobserved.core.links[Link.RECORD] == 0


def test_the_state_of_a_run_is_that_of_its_policy_unless_given() -> None:
    own, given = finished(policy=network(state="authors")), finished(policy=network(), state="authors")
    assert np.array_equal(own.population, given.population)
    assert not np.array_equal(own.population, finished(policy=network()).population)
    assert np.array_equal(
        finished(policy=network(state="authors"), state="paper").population, finished(policy=network()).population
    )


def test_a_policy_without_history_gets_the_whole_state() -> None:
    run = finished(policy=softmax_policy(np.ones((4, 8)), state="authors"))
    assert (
        run.observer.features[19:].any()
        and run.observer.accepted_stagnation[0] < run.de_state.counters[Counter.STAGNATION]
    )


def test_another_state_is_another_method() -> None:
    marks = {policy_fingerprint(network(state=state)) for state in STATES}
    assert len(marks) == 2 and policy_fingerprint(network()) in marks


def test_unknown_states() -> None:
    with pytest.raises(ValueError, match="state must be one of 'paper', 'authors'; .*got 'papers'"):
        network(state="papers")
    with pytest.raises(ValueError, match="state must be one of 'paper', 'authors'; .*got 'nobody'"):
        RunSpec(problem=get("cec2005:F1/d10"), policy=load_policy("random"), state="nobody")


def test_policy_files_hold_the_state(tmp_path) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "policy.safetensors"
    weights, biases = [np.zeros((4, 99), np.float32)], [np.zeros(4, np.float32)]
    save_policy(path, weights, biases, state="authors")
    assert load_policy_file(path).state == "authors"
    save_policy(path, weights, biases)
    assert load_policy_file(path).state == "paper" and "state" not in load_policy_file(path).metadata
