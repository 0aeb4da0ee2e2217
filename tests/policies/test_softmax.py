"""The softmax policy: its facts, its probabilities, its file."""

import math

import numpy as np
import pytest

from deddqn.de.config import DEConfig
from deddqn.de.portfolio import BEYOND, PAPER
from deddqn.de.state import Count, Mark
from deddqn.de.strategies import STRATEGIES
from deddqn.engine import EpisodeSpec, Lanes
from deddqn.policies import PolicyFileError, load_policy, save_softmax, softmax_policy
from deddqn.policies.softmax import (
    BASES,
    DIVERSITY,
    FACTS,
    GAINS,
    INPUT,
    INPUTS,
    LEANS,
    N_FACTS,
    SLOTS,
    SUCCESS,
    input_weights,
    weights_of,
)
from deddqn.problems import get
from deddqn.streams import Stream, streams_at, uniform


def lanes_of(weights, **settings):
    config = DEConfig(population_size=12, budget=600)
    spec = EpisodeSpec(problem=get("cec2005:F6/d10"), policy=softmax_policy(weights), config=config, **settings)
    return Lanes([spec], threads=1)


def test_ranks_diversity_and_success_are_those_of_the_population():
    """After every generation, against what the engine itself knows about its parents."""
    lanes = lanes_of(np.zeros((4, N_FACTS)))
    lanes.advance(12)
    search, memory = lanes.episodes[0].search, lanes.episodes[0].core.memory
    assert memory[SLOTS + 4 : SLOTS + 16].tolist() == [0.5] * 12
    for generation in range(1, 8):
        before = search.fitness.copy()
        lanes.advance(12 + 12 * generation)
        assert search.counts[Count.GENERATION] == generation
        order = search.order.tolist()
        assert [memory[SLOTS + 4 + i] for i in order] == pytest.approx(np.linspace(0, 1, 12))
        assert memory[SUCCESS] == pytest.approx(np.mean(search.fitness < before))
        assert (memory[DIVERSITY] == 0.0) == (generation == 1)
    assert search.marks[Mark.F_BSF] == search.fitness.min()


def test_ranks_follow_a_population_that_shrinks_or_begins_anew():
    config = DEConfig(population_size=20, budget=700, final_population=8, restart_tolerance=0.4)
    spec = EpisodeSpec(
        problem=get("cec2005:F1/d2"), policy=softmax_policy(np.zeros((4, N_FACTS))), config=config, seed=2
    )
    lanes = Lanes([spec], threads=1)
    search, memory = lanes.episodes[0].search, lanes.episodes[0].core.memory
    sizes, restarts = set(), 0
    while not lanes.ended[0]:
        lanes.advance(int(lanes.evaluations[0] + search.counts[Count.GENERATION_SIZE]))
        n_pop, generation = int(search.counts[Count.POPULATION]), int(search.counts[Count.GENERATION])
        ranks = memory[SLOTS + 4 : SLOTS + 4 + n_pop]
        if search.counts[Count.RESTARTS] > restarts or generation == 0:
            assert ranks.tolist() == [0.5] * n_pop
            if search.counts[Count.INITIALISED] and generation:
                restarts = int(search.counts[Count.RESTARTS])
        elif not lanes.ended[0]:
            assert ranks[search.order[:n_pop]] == pytest.approx(np.linspace(0, 1, n_pop))
            sizes.add(n_pop)
    assert len(sizes) > 5 and restarts > 0


def test_gains_are_those_of_the_population():
    """In standard deviations of the parents, squashed, computed from values and donors."""
    lanes = lanes_of(np.random.default_rng(1).normal(size=(4, N_FACTS)), observe=True)
    lanes.advance(12)
    search, memory = lanes.episodes[0].search, lanes.episodes[0].core.memory
    for generation in range(6):
        values = search.fitness.copy()
        best, deviation = int(np.argmin(values)), np.std(values)
        for i in range(12):
            lanes.observe()
            others = [*search.donors[i].tolist(), best]
            lanes.advance(12 * (generation + 1) + i + 1)
            z = np.array([(values[i] - values[other]) / deviation for other in others])
            assert memory[INPUT + GAINS : SLOTS] == pytest.approx(z / (1.0 + np.abs(z)), abs=1e-12)
    assert INPUTS[GAINS:] == tuple(f"gain of {vector}" for vector in ("r1", "r2", "r3", "r4", "r5", "best"))


def test_lean_and_base_sum_the_gains_of_the_vectors_of_a_move():
    """By the formulas: what a difference adds counts for it, what it subtracts against it."""
    weights = np.zeros((len(BEYOND), N_FACTS))
    weights[:, FACTS.index("lean")], weights[:, FACTS.index("base")] = 2.0, 10.0
    rows = input_weights(weights, BEYOND)
    resolved = {entry.strategy: row[GAINS:].tolist() for entry, row in zip(BEYOND, rows, strict=True)}
    assert resolved["rand/1"] == [10, 2, -2, 0, 0, 0]
    assert resolved["rand/2"] == resolved["rand-to-best/2"] == [10, 2, -2, 2, -2, 0]
    assert resolved["curr-to-rand/1"] == [10, 2, -2, 0, 0, 0]
    assert resolved["best/1"] == [2, -2, 0, 0, 0, 10]
    assert resolved["curr-to-pbest/1"] == [2, 0, 0, 0, 0, 0]  # guide and archived donor are drawn later
    assert resolved["rand-to-pbest/1"] == [10, 2, 0, 0, 0, 0]
    assert resolved["gauss"] == [0] * 6
    assert set(LEANS) == set(STRATEGIES) and set(BASES) <= set(STRATEGIES)


def test_weights_come_back_from_a_policy():
    weights = np.random.default_rng(6).normal(size=(len(BEYOND), N_FACTS))
    for row, entry in zip(weights, BEYOND, strict=True):  # where a strategy has no such vector the weight says nothing
        row[FACTS.index("lean")] *= bool(LEANS[entry.strategy][0])
        row[FACTS.index("base")] *= entry.strategy in BASES
    assert np.array_equal(weights_of(softmax_policy(weights, portfolio=BEYOND)), weights)


def test_a_policy_may_follow_the_lean():
    """With weights on the lean alone, the chosen move leans further upwards than the others."""
    weights = np.zeros((4, N_FACTS))
    weights[:, FACTS.index("lean")] = 50.0
    lanes = lanes_of(weights, observe=True, seed=3)
    memory = lanes.episodes[0].core.memory
    table = input_weights(weights, PAPER) / 50.0
    best = 0
    for _ in range(300):
        action = int(lanes.record(1).actions[0, 0])
        leans = table @ memory[INPUT:SLOTS]
        best += leans[action] > leans.max() - 0.1
    assert best > 290


def test_eight_columns_are_the_same_weights_with_zeros():
    """And the decisions are those of a softmax that knows eight facts only, draw by draw."""
    weights = np.random.default_rng(4).normal(size=(4, 8))
    wide = np.hstack([weights, np.zeros((4, N_FACTS - 8))])
    first, second = lanes_of(weights, observe=True, seed=5), lanes_of(wide, observe=True, seed=5)
    memory = first.episodes[0].core.memory
    problem = first.specs[0].problem
    stream = streams_at(5, problem.seed_name, problem.dimension, 0)[Stream.POLICY].copy()
    for _ in range(588):
        action = int(first.record(1).actions[0, 0])
        scores = [sum_in_order(row * memory[INPUT : INPUT + 8]) for row in weights]
        chances = [math.exp(score - max(scores)) for score in scores]
        left, operator = uniform(stream) * sum_in_order(chances), 0
        while operator < 3 and left >= chances[operator]:
            left, operator = left - chances[operator], operator + 1
        assert action == operator
    second.record(588)
    assert first.strategy_counts[0].tolist() == second.strategy_counts[0].tolist()
    for name in ("parents", "fitness", "choices", "streams"):
        assert np.array_equal(getattr(first.episodes[0].search, name), getattr(second.episodes[0].search, name)), name


def sum_in_order(values):
    total = 0.0
    for value in values:
        total += float(value)
    return total


def test_probabilities_are_the_softmax_of_the_scores():
    weights = np.zeros((4, N_FACTS))
    weights[:, 0] = np.log([0.1, 0.2, 0.3, 0.4])
    counts = np.sum([lanes_of_done(weights, repeat=r) for r in range(30)], axis=0)
    expected = 30 * 588 * np.array([0.1, 0.2, 0.3, 0.4])
    assert ((counts - expected) ** 2 / expected).sum() < 16.3  # chi-squared, 3 degrees: p = 0.001


def lanes_of_done(weights, **settings):
    lanes = lanes_of(weights, **settings)
    lanes.advance()
    return lanes.strategy_counts[0]


def test_facts_steer_the_choice():
    weights = np.zeros((4, N_FACTS))
    weights[1, FACTS.index("progress")] = 2000.0  # operator 1 as soon as half of the budget is used
    weights[1, 0] = -1000.0
    lanes = lanes_of(weights, observe=True)
    actions = lanes.record(588).actions[0]
    assert (actions[300:] == 1).all() and (actions[:280] != 1).all()


def test_huge_weights_do_no_harm():
    weights = np.zeros((4, N_FACTS))
    weights[2, 0], weights[3, 0] = 1e308, -1e308
    assert lanes_of_done(weights)[2] == 588


def test_the_file_gives_the_policy_back(tmp_path):
    weights = np.random.default_rng(0).normal(size=(4, N_FACTS))
    save_softmax(tmp_path / "p.safetensors", weights, name="mine", max_dimension=17)
    policy = load_policy(tmp_path / "p.safetensors")
    assert (policy.name, policy.max_dimension) == ("mine", 17)
    np.testing.assert_array_equal(weights_of(policy), weights)
    weights[0, 0] = np.inf
    with pytest.raises(PolicyFileError, match="finite"):
        save_softmax(tmp_path / "q.safetensors", weights)
    with pytest.raises(PolicyFileError, match="a row per operator"):
        softmax_policy(np.zeros((3, 8)))


def test_any_operator_is_drawn_while_no_finite_value_is_known():
    """A policy that would always play one strategy must not be stuck with it where everything is NaN."""
    weights = np.zeros((4, N_FACTS))
    weights[2, 0] = 100.0
    policy = softmax_policy(weights)
    policy.reset(4, 12, np.random.default_rng(3))
    features = np.full(99, 0.5)
    policy.learn(0, 2, np.inf, np.inf, np.inf, -np.inf, 0.0)
    blind = np.bincount([policy.choose(features, 0) for _ in range(400)], minlength=4)
    assert blind.min() > 60
    policy.learn(0, 2, np.inf, 1.0, 1.0, 1.0, 10.0)
    assert {policy.choose(features, 0) for _ in range(50)} == {2}
