"""The softmax policy: its facts, its probabilities, its file."""

import math

import numpy as np
import pytest

from deddqn.de.config import DEConfig
from deddqn.de.portfolio import EXTENDED
from deddqn.de.state import Counter, Scalar
from deddqn.engine import RunSpec, VectorizedRuns
from deddqn.features.layout import LANDSCAPE
from deddqn.policies import PolicyFileError, load_policy, save_softmax, softmax_policy
from deddqn.policies.softmax import (
    DIVERSITY,
    INPUT,
    INPUTS,
    N_INPUTS,
    SLOTS,
    SUCCESS,
    prescreening_gate_of,
    select_candidate,
    weights_of,
)
from deddqn.problems import get
from deddqn.rng import Stream, streams_at, uniform


def lanes_of(weights, **settings):
    config = DEConfig(population_size=12, budget=600)
    spec = RunSpec(problem=get("cec2005:F6/d10"), policy=softmax_policy(weights), config=config, **settings)
    return VectorizedRuns([spec], threads=1)


def picks_of(prescreening_gate, memory, candidate_scores, draws=4000):
    """What is picked so often, of trials with these scores."""
    setup = softmax_policy(np.zeros((4, N_INPUTS)), prescreening_gate=prescreening_gate).setup
    stream = streams_at(3, "picks", 1, 0)[Stream.POLICY].copy()
    return np.array([select_candidate(setup, memory, np.array(candidate_scores), stream) for _ in range(draws)]), stream


def test_trust_is_the_chance_to_pick_the_highest_score():
    lanes = lanes_of(np.zeros((4, N_INPUTS)))
    lanes.advance(300)  # half of the budget
    memory, candidate_scores = lanes.episodes[0].core.memory, [0.3, 0.1, 0.9, 0.2]
    for chance in (0.0, 0.2, 0.9, 1.0):
        prescreening_gate = np.zeros(N_INPUTS)
        prescreening_gate[0] = np.clip(np.log(max(chance, 1e-300) / max(1.0 - chance, 1e-300)), -1e4, 1e4) - 6.0
        prescreening_gate[INPUTS.index("progress")] = 6.0 / memory[INPUT + 1]
        picked, _ = picks_of(prescreening_gate, memory, candidate_scores)
        assert set(picked) <= {0, 2}
        assert np.mean(picked == 2) == pytest.approx(chance, abs=4 * np.sqrt(chance * (1 - chance) / 4000))


def test_without_trust_the_highest_score_is_picked_and_nothing_drawn():
    lanes = lanes_of(np.zeros((4, N_INPUTS)))
    lanes.advance(300)
    picked, stream = picks_of(None, lanes.episodes[0].core.memory, [0.3, 0.1, 0.9, 0.2], draws=5)
    assert set(picked) == {2}
    assert np.array_equal(stream, streams_at(3, "picks", 1, 0)[Stream.POLICY])


@pytest.mark.parametrize(
    "prescreening_gate", [np.zeros(N_INPUTS + 1), np.zeros((2, N_INPUTS)), np.full(N_INPUTS, np.nan)]
)
def test_wrong_trust_is_refused(prescreening_gate):
    with pytest.raises(
        PolicyFileError, match="prescreening_gate must (have one row and at most 8 columns, got|be finite)"
    ):
        softmax_policy(np.zeros((4, N_INPUTS)), prescreening_gate=prescreening_gate)


def test_the_history_is_kept_only_for_others_who_read_it():
    weights = np.random.default_rng(5).normal(size=(4, N_INPUTS))
    alone, watched = (lanes_of(weights, observe=observe) for observe in (False, True))
    for lanes in (alone, watched):
        lanes.advance(500)
    one, other = (lanes.episodes[0] for lanes in (alone, watched))
    np.testing.assert_array_equal(one.de_state.parents, other.de_state.parents)
    np.testing.assert_array_equal(one.observer.features[:LANDSCAPE], other.observer.features[:LANDSCAPE])
    assert not one.observer.features[LANDSCAPE:].any() and other.observer.features[LANDSCAPE:].any()


def test_ranks_diversity_and_success_are_those_of_the_population():
    """After every generation, against what the engine itself knows about its parents."""
    lanes = lanes_of(np.zeros((4, N_INPUTS)))
    lanes.advance(12)
    de_state, memory = lanes.episodes[0].de_state, lanes.episodes[0].core.memory
    assert memory[SLOTS + 4 : SLOTS + 16].tolist() == [0.5] * 12
    for generation in range(1, 8):
        before = de_state.fitness.copy()
        lanes.advance(12 + 12 * generation)
        assert de_state.counters[Counter.GENERATION] == generation
        order = de_state.order.tolist()
        assert [memory[SLOTS + 4 + i] for i in order] == pytest.approx(np.linspace(0, 1, 12))
        assert memory[SUCCESS] == pytest.approx(np.mean(de_state.fitness < before))
        assert (memory[DIVERSITY] == 0.0) == (generation == 1)
    assert de_state.scalars[Scalar.F_BSF] == de_state.fitness.min()


def test_ranks_follow_a_population_that_shrinks_or_begins_anew():
    config = DEConfig(population_size=20, budget=700, final_population=8, restart_tolerance=0.4)
    spec = RunSpec(problem=get("cec2005:F1/d2"), policy=softmax_policy(np.zeros((4, N_INPUTS))), config=config, seed=2)
    lanes = VectorizedRuns([spec], threads=1)
    de_state, memory = lanes.episodes[0].de_state, lanes.episodes[0].core.memory
    sizes, restarts = set(), 0
    while not lanes.ended[0]:
        lanes.advance(int(lanes.evaluations[0] + de_state.counters[Counter.GENERATION_SIZE]))
        n_pop, generation = int(de_state.counters[Counter.POPULATION]), int(de_state.counters[Counter.GENERATION])
        ranks = memory[SLOTS + 4 : SLOTS + 4 + n_pop]
        if de_state.counters[Counter.RESTARTS] > restarts or generation == 0:
            assert ranks.tolist() == [0.5] * n_pop
            if de_state.counters[Counter.INITIALISED] and generation:
                restarts = int(de_state.counters[Counter.RESTARTS])
        elif not lanes.ended[0]:
            assert ranks[de_state.order[:n_pop]] == pytest.approx(np.linspace(0, 1, n_pop))
            sizes.add(n_pop)
    assert len(sizes) > 5 and restarts > 0


def test_weights_come_back_from_a_policy():
    rng = np.random.default_rng(6)
    weights, prescreening_gate = rng.normal(size=(len(EXTENDED), N_INPUTS)), rng.normal(size=N_INPUTS)
    plain, trusting = (
        softmax_policy(weights, portfolio=EXTENDED, prescreening_gate=given) for given in (None, prescreening_gate)
    )
    assert np.array_equal(weights_of(plain), weights) and np.array_equal(weights_of(trusting), weights)
    assert prescreening_gate_of(plain) is None and np.array_equal(prescreening_gate_of(trusting), prescreening_gate)


def test_columns_that_are_missing_are_zeros():
    """And the decisions are those of a softmax that knows four facts only, draw by draw."""
    weights = np.random.default_rng(4).normal(size=(4, 4))
    wide = np.hstack([weights, np.zeros((4, N_INPUTS - 4))])
    first, second = lanes_of(weights, observe=True, seed=5), lanes_of(wide, observe=True, seed=5)
    memory = first.episodes[0].core.memory
    problem = first.specs[0].problem
    stream = streams_at(5, problem.seed_name, problem.dimension, 0)[Stream.POLICY].copy()
    for _ in range(588):
        action = int(first.record(1).actions[0, 0])
        scores = [sum_in_order(row * memory[INPUT : INPUT + 4]) for row in weights]
        chances = [math.exp(score - max(scores)) for score in scores]
        left, operator = uniform(stream) * sum_in_order(chances), 0
        while operator < 3 and left >= chances[operator]:
            left, operator = left - chances[operator], operator + 1
        assert action == operator
    second.record(588)
    assert first.strategy_counts[0].tolist() == second.strategy_counts[0].tolist()
    for name in ("parents", "fitness", "choices", "streams"):
        assert np.array_equal(getattr(first.episodes[0].de_state, name), getattr(second.episodes[0].de_state, name)), (
            name
        )


def sum_in_order(values):
    total = 0.0
    for value in values:
        total += float(value)
    return total


def test_probabilities_are_the_softmax_of_the_scores():
    weights = np.zeros((4, N_INPUTS))
    weights[:, 0] = np.log([0.1, 0.2, 0.3, 0.4])
    counters = np.sum([lanes_of_done(weights, repeat=r) for r in range(30)], axis=0)
    expected = 30 * 588 * np.array([0.1, 0.2, 0.3, 0.4])
    assert ((counters - expected) ** 2 / expected).sum() < 16.3  # chi-squared, 3 degrees: p = 0.001


def lanes_of_done(weights, **settings):
    lanes = lanes_of(weights, **settings)
    lanes.advance()
    return lanes.strategy_counts[0]


def test_facts_steer_the_choice():
    weights = np.zeros((4, N_INPUTS))
    weights[1, INPUTS.index("progress")] = 2000.0  # operator 1 as soon as half of the budget is used
    weights[1, 0] = -1000.0
    lanes = lanes_of(weights, observe=True)
    actions = lanes.record(588).actions[0]
    assert (actions[300:] == 1).all() and (actions[:280] != 1).all()


def test_huge_weights_do_no_harm():
    weights = np.zeros((4, N_INPUTS))
    weights[2, 0], weights[3, 0] = 1e308, -1e308
    assert lanes_of_done(weights)[2] == 588


def test_the_file_gives_the_policy_back(tmp_path):
    weights, prescreening_gate = np.random.default_rng(0).normal(size=(4, N_INPUTS)), np.arange(float(N_INPUTS))
    save_softmax(
        tmp_path / "p.safetensors", weights, prescreening_gate=prescreening_gate, name="mine", max_dimension=17
    )
    policy = load_policy(tmp_path / "p.safetensors")
    assert (policy.name, policy.max_dimension) == ("mine", 17)
    np.testing.assert_array_equal(weights_of(policy), weights)
    np.testing.assert_array_equal(prescreening_gate_of(policy), prescreening_gate)
    weights[0, 0] = np.inf
    with pytest.raises(PolicyFileError, match="finite"):
        save_softmax(tmp_path / "q.safetensors", weights)
    with pytest.raises(PolicyFileError, match="a row per operator"):
        softmax_policy(np.zeros((3, 8)))


def test_any_operator_is_drawn_while_no_finite_value_is_known():
    """A policy that would always play one strategy must not be stuck with it where everything is NaN."""
    weights = np.zeros((4, N_INPUTS))
    weights[2, 0] = 100.0
    policy = softmax_policy(weights)
    policy.reset(4, 12, np.random.default_rng(3))
    features = np.full(99, 0.5)
    policy.learn(0, 2, np.inf, np.inf, np.inf, -np.inf, 0.0)
    blind = np.bincount([policy.choose(features, 0) for _ in range(400)], minlength=4)
    assert blind.min() > 60
    policy.learn(0, 2, np.inf, 1.0, 1.0, 1.0, 10.0)
    assert {policy.choose(features, 0) for _ in range(50)} == {2}
