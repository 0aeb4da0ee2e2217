"""All faces give the same run for the same seed, bit for bit."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import deddqn
from deddqn import DEConfig, Optimizer, Problem, RunSpec, VectorizedRuns, minimize
from deddqn.de.config import config_for
from deddqn.policies import load_policy
from deddqn.problems import get
from tests.optimize.objectives import (
    BOX,
    POLICIES,
    SMALL,
    Learner,
    assert_same,
    bowl,
    by_ask_and_tell,
    jitted_bowl,
    many_bowls,
    random_network,
)


def compare_with_lanes(result, updating, policy):
    spec = RunSpec(
        problem=Problem.from_function(bowl, BOX),
        policy=policy,
        config=DEConfig(population_size=20, budget=130, updating=updating),
        seed=7,
    )
    lanes = VectorizedRuns([spec], threads=1)
    lanes.advance()
    de_state = lanes.episodes[0].de_state
    np.testing.assert_array_equal(de_state.parents, result.population)
    np.testing.assert_array_equal(de_state.best_point, result.x)
    np.testing.assert_array_equal(de_state.applications, result.strategy_counts)


@pytest.mark.parametrize("kind", POLICIES)
def test_sequential_faces(kind):
    make = POLICIES[kind]
    plain = minimize(bowl, BOX, policy=make(), history=True, **SMALL)
    assert_same(plain, minimize(jitted_bowl, BOX, policy=make(), history=True, **SMALL))
    assert_same(plain, by_ask_and_tell(Optimizer(BOX, policy=make(), history=True, **SMALL)))
    assert_same(plain, Optimizer(BOX, policy=make(), history=True, **SMALL).optimize(bowl))
    assert_same(plain, minimize(Problem.from_function(bowl, BOX), policy=make(), history=True, **SMALL))
    assert_same(plain, minimize(bowl, BOX, policy=make(), history=True, maxtime=1000, **SMALL))
    if kind != "python":
        policy = make()
        compare_with_lanes(plain, "sequential", load_policy(policy) if isinstance(policy, str) else policy)


@pytest.mark.parametrize("kind", POLICIES)
def test_deferred_faces(kind):
    make, options = POLICIES[kind], {**SMALL, "updating": "deferred", "history": True}
    plain = minimize(bowl, BOX, policy=make(), **options)
    assert_same(plain, minimize(jitted_bowl, BOX, policy=make(), **options))
    assert_same(plain, minimize(many_bowls, BOX, policy=make(), vectorized=True, **options))
    assert_same(plain, minimize(bowl, BOX, policy=make(), workers=map, **options))
    assert_same(plain, by_ask_and_tell(Optimizer(BOX, policy=make(), **options)))
    assert_same(plain, minimize(Problem.from_function(bowl, BOX), policy=make(), **options))
    if kind != "python":
        policy = make()
        compare_with_lanes(plain, "deferred", load_policy(policy) if isinstance(policy, str) else policy)


def test_sequential_and_deferred_differ():
    one = minimize(bowl, BOX, policy=random_network(), **SMALL)
    other = minimize(bowl, BOX, policy=random_network(), updating="deferred", **SMALL)
    assert not np.array_equal(one.population, other.population)


class PlainDraws:
    """A Python policy that makes the same choices as the compiled `random`."""

    name = "random"
    needs_features = False

    def __init__(self):
        self.compiled = load_policy("random")

    def reset(self, n_ops, n_pop, rng):
        self.compiled.reset(n_ops, n_pop, rng)

    def choose(self, features, i):
        return self.compiled.choose(features, i)

    def learn(self, *outcome):
        self.compiled.learn(*outcome)

    def end_generation(self):
        self.compiled.end_generation()


class PlainNetwork(PlainDraws):
    name = "ddqn"
    needs_features = True

    def __init__(self):
        self.compiled = random_network()


@pytest.mark.parametrize("updating", ["sequential", "deferred"])
@pytest.mark.parametrize(("plain", "compiled"), [(PlainDraws, lambda: "random"), (PlainNetwork, random_network)])
def test_python_policy_equals_the_compiled_one(plain, compiled, updating):
    options = {**SMALL, "updating": updating, "history": True}
    expected = minimize(bowl, BOX, policy=compiled(), **options)
    assert_same(expected, minimize(bowl, BOX, policy=plain(), **options))
    assert_same(expected, minimize(jitted_bowl, BOX, policy=plain(), **options))


@pytest.mark.parametrize("updating", ["sequential", "deferred"])
@pytest.mark.parametrize("name", ["cec2005:F9/d10", "cec2005:F4/d10"])
def test_a_problem_with_and_without_noise(name, updating):
    """A noisy problem takes its noise from the run: its own object's generator must not matter."""
    options = {"maxfun": 450, "rng": 3, "updating": updating}
    expected = minimize(get(name), **options)
    used = get(name)
    used(used.lower)
    assert_same(expected, minimize(used, **options))
    assert_same(expected, Optimizer(get(name), **options).optimize())
    if updating == "deferred":
        assert_same(expected, minimize(get(name), workers=2, **options))
        assert_same(expected, minimize(get(name), vectorized=True, **options))
        assert_same(expected, minimize(get(name), workers=map, **options))
    policy = load_policy(deddqn.policies.best_policy())
    spec = RunSpec(
        problem=get(name),
        policy=policy,
        portfolio=policy.portfolio,
        config=config_for(policy.de, budget=450, updating=updating),
        seed=3,
    )
    lanes = VectorizedRuns([spec])
    lanes.advance()
    assert lanes.best_values[0] == expected.fun
    np.testing.assert_array_equal(lanes.episodes[0].de_state.applications, expected.strategy_counts)


def test_workers_change_nothing():
    options = {**SMALL, "updating": "deferred", "history": True}
    expected = minimize(lambda x: bowl(x), BOX, **options)
    for workers in (1, 2, 3, -1):
        assert_same(expected, minimize(lambda x: bowl(x), BOX, workers=workers, **options))
    with ThreadPoolExecutor(2) as pool:
        assert_same(expected, minimize(bowl, BOX, workers=pool.map, **options))


def test_parallel_functions_get_deferred_updating_by_themselves():
    expected = minimize(bowl, BOX, updating="deferred", **SMALL)
    assert_same(expected, minimize(bowl, BOX, workers=map, **SMALL))
    assert_same(expected, minimize(many_bowls, BOX, vectorized=True, **SMALL))


def test_tell_in_any_order_and_in_parts():
    options = {**SMALL, "updating": "deferred", "policy": random_network(), "history": True}
    expected = minimize(bowl, BOX, **options)
    optimizer, shuffle = Optimizer(BOX, **options), np.random.default_rng(5)
    while not optimizer.stop():
        points = np.concatenate([optimizer.ask(3), optimizer.ask()])
        points = points[shuffle.permutation(len(points))]
        for part in np.array_split(points, 4):
            if len(part):
                optimizer.tell(part, [bowl(x) for x in part])
    assert_same(expected, optimizer.result)


@pytest.mark.parametrize("policy", [random_network, Learner])
@pytest.mark.parametrize("updating", ["sequential", "deferred"])
def test_faces_can_be_mixed(policy, updating):
    """Ask and tell, out of order, then `optimize` for the rest, with any kind of function."""
    options = {**SMALL, "updating": updating}
    expected = minimize(bowl, BOX, policy=policy(), **options)
    ways = [{}, {"maxtime": 1000}]
    if updating == "deferred":
        ways += [{"workers": map}, {"workers": 2}]
    for way in ways:
        optimizer = Optimizer(BOX, policy=policy(), **options)
        for _ in range(2):
            for _ in range(7 if updating == "sequential" else 1):
                points = optimizer.ask(11)[::-1]
                optimizer.tell(points[:6], [bowl(x) for x in points[:6]])
            optimizer.optimize(bowl, callback=lambda xk, convergence: True, **way)
        assert_same(expected, optimizer.optimize(bowl, **way))


def test_the_order_of_runs_does_not_matter():
    first = [minimize(bowl, BOX, **{**SMALL, "rng": seed}).fun for seed in (1, 2, 3)]
    again = [minimize(bowl, BOX, **{**SMALL, "rng": seed}).fun for seed in (3, 2, 1)]
    assert first == again[::-1]
    assert len(set(first)) == 3
