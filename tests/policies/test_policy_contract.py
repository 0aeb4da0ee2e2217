"""What every policy promises: run over the registry, so that a new policy is tested by being registered."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from deddqn._utils.validation import UnknownNameError
from deddqn.de import PAPER, DEConfig, Operator, Portfolio
from deddqn.engine import RunSpec, VectorizedRuns
from deddqn.features import n_features
from deddqn.policies import (
    CompiledPolicy,
    Policy,
    fixed,
    load_policy,
    mixture,
    network_policy,
    policy_names,
    register_policy,
    registry,
    schedule_policy,
    uniform_policy,
)
from deddqn.problems import Problem
from tests.policies.learning_policy import learning_policy

POPULATION, GENERATIONS = 8, 6


def random_network(portfolio: Portfolio = PAPER, epsilon: float = 0.0) -> CompiledPolicy:
    rng = np.random.default_rng(1)
    widths = [n_features(len(portfolio)), 16, len(portfolio)]
    weights = [rng.standard_normal((b, a)) for a, b in zip(widths, widths[1:], strict=False)]
    return network_policy(weights, [rng.standard_normal(b) for b in widths[1:]], portfolio=portfolio, epsilon=epsilon)


EVERY: dict[str, Callable[[], Policy]] = {
    **{name: (lambda name=name: load_policy(name)) for name in policy_names()},
    "mixture": lambda: mixture([0.1, 0.2, 0.3, 0.4]),
    "schedule": lambda: schedule_policy(np.array([[0.1, 0.2, 0.3, 0.4], [0.4, 0.3, 0.2, 0.1]])),
    "network": random_network,
    "network, epsilon 0.5": lambda: random_network(epsilon=0.5),
    "learning": learning_policy,
}
every_policy = pytest.mark.parametrize("make", EVERY.values(), ids=EVERY)


def sfc(seed: int) -> np.random.Generator:
    return np.random.Generator(np.random.SFC64(seed))


def play(policy: Policy, rng: np.random.Generator, *, n_ops: int = 4, seed: int = 0) -> list[int]:
    """A run through the Python protocol against made-up outcomes; returns the choices."""
    world = np.random.default_rng(seed)
    policy.reset(n_ops, POPULATION, rng)
    best, worst, choices = 1.0, 2.0, []
    for _ in range(GENERATIONS):
        for i in range(POPULATION):
            features = world.uniform(0.0, 1.0, n_features(n_ops)) if policy.needs_features else np.empty(0)
            op = policy.choose(features, i)
            assert isinstance(op, int) and 0 <= op < n_ops
            parent, trial = world.uniform(-1.0, 3.0, 2)
            trial = np.inf if world.uniform() < 0.1 else trial
            best, worst = min(best, trial), max(worst, parent)
            policy.learn(i, op, parent, trial, best, worst, float(trial < parent))
            choices.append(op)
        policy.end_generation()
    return choices


@every_policy
def test_protocol(make: Callable[[], Policy]) -> None:
    policy = make()
    assert isinstance(policy, Policy)
    assert isinstance(policy.name, str) and policy.name
    assert isinstance(policy.needs_features, bool)
    assert len(play(policy, sfc(0))) == POPULATION * GENERATIONS


@every_policy
def test_two_runs_are_equal(make: Callable[[], Policy]) -> None:
    assert play(make(), sfc(3)) == play(make(), sfc(3))


@every_policy
def test_reset_forgets(make: Callable[[], Policy]) -> None:
    """A used policy plays like a new one, also after a run of another size."""
    policy, new = make(), make()
    first = play(policy, sfc(3), seed=1)
    policy.reset(4, 50, sfc(9))
    assert play(policy, sfc(3), seed=1) == first == play(new, sfc(3), seed=1)


@every_policy
def test_any_numpy_generator_will_do(make: Callable[[], Policy]) -> None:
    rng = np.random.default_rng
    assert play(make(), rng(5)) == play(make(), rng(5))


def sphere(x: np.ndarray) -> float:
    return float(x @ x)


def lanes_of(policy: CompiledPolicy, portfolio: Portfolio, updating: str) -> VectorizedRuns:
    problem = Problem.from_function(sphere, [(-5.0, 5.0)] * 3)
    config = DEConfig(population_size=6, budget=80, updating=updating)
    specs = [RunSpec(problem=problem, policy=policy, portfolio=portfolio, config=config, repeat=r) for r in (0, 1, 0)]
    lanes = VectorizedRuns(specs, threads=1)
    lanes.advance()
    return lanes


@pytest.mark.parametrize("updating", ["sequential", "deferred"])
@every_policy
def test_in_lanes(make: Callable[[], CompiledPolicy], updating: str) -> None:
    portfolio = make().portfolio or PAPER
    lanes = lanes_of(make(), portfolio, updating)
    assert lanes.ended.all() and (lanes.evaluations == 80).all()
    assert [counters.sum() for counters in lanes.strategy_counts] == [74, 74, 74]
    assert lanes.best_values[0] == lanes.best_values[2] != lanes.best_values[1]
    again = lanes_of(make(), portfolio, updating)
    assert again.best_values.tolist() == lanes.best_values.tolist()


@pytest.mark.parametrize("size", [1, 2, 3, 7, 12])
@every_policy
def test_portfolios_of_other_sizes(make: Callable[[], CompiledPolicy], size: int) -> None:
    """A policy takes a portfolio and plays it, or says why it does not."""
    policy = make()
    portfolio = Portfolio(Operator("rand/1", 0.1 * (k + 1)) for k in range(size))
    try:
        policy.check_portfolio(portfolio)
    except ValueError as error:
        assert policy.name in str(error)
        with pytest.raises(ValueError, match="policy"):
            lanes_of(policy, portfolio, "sequential")
    else:
        assert lanes_of(policy, portfolio, "sequential").strategy_counts[0].sum() == 74


def test_fixed_policies_play_their_strategy() -> None:
    for op in range(4):
        assert load_policy(f"de{op + 1}").name == f"de{op + 1}"
        assert set(play(load_policy(f"de{op + 1}"), sfc(0))) == {op}
    assert set(play(load_policy("de12"), sfc(0), n_ops=12)) == {11}


def test_the_loop_and_the_protocol_are_one_policy() -> None:
    """The choices in a lane are those of the Python methods with the lane's policy stream."""
    lanes = lanes_of(uniform_policy(), PAPER, "sequential")
    spec = lanes.specs[0]
    replay = VectorizedRuns([spec], threads=1)
    rng = sfc(0)
    state = rng.bit_generator.state
    state["state"]["state"] = replay.episodes[0].de_state.streams[2].copy()
    rng.bit_generator.state = state
    policy = uniform_policy()
    policy.reset(4, 6, rng)
    chosen = np.bincount([policy.choose(np.empty(0), k % 6) for k in range(74)], minlength=4)
    assert chosen.tolist() == lanes.strategy_counts[0].tolist()


# -- names


@pytest.mark.parametrize(
    ("name", "neighbour"), [("randon", "random"), ("de0", "de"), ("Random", "random"), ("mixture", "mixture:p1,p2,..")]
)
def test_unknown_names_suggest_a_neighbour(name: str, neighbour: str) -> None:
    with pytest.raises(
        UnknownNameError, match=f"unknown policy '{name}'; did you mean '{neighbour}.*Known: random, de1"
    ):
        load_policy(name)


def test_load_policy_passes_policies_through() -> None:
    policy = uniform_policy()
    assert load_policy(policy) is policy
    with pytest.raises(ValueError, match="policy must be a name, a path or an object .* got 3"):
        load_policy(3)  # type: ignore[arg-type]


def test_registering(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_FACTORIES", dict(registry._FACTORIES))
    register_policy("mine", lambda: fixed(1))
    assert "mine" in policy_names() and set(play(load_policy("mine"), sfc(0))) == {1}
    with pytest.raises(ValueError, match="name must be new, but a policy 'random' is already registered"):
        register_policy("random", uniform_policy)


# -- arguments


@pytest.mark.parametrize(
    ("probabilities", "message"),
    [
        ([], "must be finite, not negative and not all zero, got"),
        ([0.5, -0.5, 1.0], "must be finite, not negative"),
        ([0.5, np.nan], "must be finite"),
        ([0.0, 0.0], "not all zero"),
        ([[0.5, 0.5]], "must be finite, not negative and not all zero"),
        ([0.5, 0.4], r"must sum to 1, got \[0.5, 0.4\] with sum 0.9"),
    ],
)
def test_wrong_mixtures(probabilities: list[float], message: str) -> None:
    with pytest.raises(ValueError, match=f"mixture probabilities.*{message}"):
        mixture(probabilities)


def test_mixture_by_name() -> None:
    assert load_policy("mixture:0.25,0.75").setup.tolist() == [0.25, 1.0]
    with pytest.raises(ValueError, match="needs numbers separated by commas, got 'mixture:0.5;0.5'"):
        load_policy("mixture:0.5;0.5")


def test_wrong_operator() -> None:
    with pytest.raises(ValueError, match="op must be 0 or more, got -1"):
        fixed(-1)


# -- shares

DRAWS = 20_000
ERROR_RATE = 1e-6
"""Of a right policy, per comparison; the seeds are fixed, so the tests do not fail by chance."""


def check_shares(policy: CompiledPolicy, expected: list[float]) -> None:
    """Every share within the two-sided normal quantile of ERROR_RATE: 4.9 standard errors."""
    policy.reset(len(expected), 100, sfc(17))
    chosen = np.bincount([policy.choose(np.empty(0), 0) for _ in range(DRAWS)], minlength=len(expected)) / DRAWS
    p = np.array(expected)
    assert np.all(np.abs(chosen - p) <= 4.9 * np.sqrt(p * (1.0 - p) / DRAWS)), chosen


@pytest.mark.parametrize("n_ops", [1, 2, 4, 12])
def test_shares_of_random(n_ops: int) -> None:
    check_shares(uniform_policy(), [1.0 / n_ops] * n_ops)


@pytest.mark.parametrize(
    "p", [[1.0], [0.0, 1.0], [0.3, 0.0, 0.7], [0.01, 0.0, 0.83, 0.16], [1.0, 0.0], [0.25, 0.25, 0.5, 0.0]]
)
def test_shares_of_mixture(p: list[float]) -> None:
    check_shares(mixture(p), p)


def test_shares_of_epsilon() -> None:
    """Greedy but for epsilon: the best operator gets 1 - epsilon + epsilon / 4."""
    weights, biases = [np.zeros((4, 99))], [np.array([0.0, 0.0, 1.0, 0.0])]
    policy = network_policy(weights, biases, epsilon=0.2)
    policy.reset(4, 100, sfc(4))
    chosen = np.bincount([policy.choose(np.zeros(99), 0) for _ in range(DRAWS)], minlength=4) / DRAWS
    p = np.array([0.05, 0.05, 0.85, 0.05])
    assert np.all(np.abs(chosen - p) <= 4.9 * np.sqrt(p * (1.0 - p) / DRAWS)), chosen
