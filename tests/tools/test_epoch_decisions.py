"""Changing settings while a search runs: what the actions do, what the twin is, and that Double DQN learns from it."""

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("torch")

from benchmarks.epoch_decisions import Learner, Memory, better, load_network, make_pair, problems, save_network
from benchmarks.epoch_searches import ACTIONS, FEATURES, KEEP, MARGIN, Chooser, Episode, Network, Search, act, begin
from deddqn.de.state import Counter
from deddqn.engine.run import Run
from deddqn.problems.made.recipes import recipe


def is_long_and_rugged(number: int) -> bool:
    made = recipe("made", number)
    return made.title == "single of rastrigin" and 10 <= made.dimension <= 20 and 4000 < made.budget < 9000


NUMBER = next(filter(is_long_and_rugged, range(10_000)))
SEARCH = Search(family="made", number=NUMBER, seed=1)
TAKEN = {name: k for k, name in enumerate(ACTIONS)}


def a_quarter_later() -> Run:
    """A search after a quarter of its budget, between two generations."""
    run = begin(SEARCH)
    run.advance(run.spec.config.budget // 4)
    while not run.between_generations:
        run.advance(run.evaluations + 1)
    return run


@pytest.mark.parametrize(("name", "factor"), [("smaller", 0.6), ("larger", 1.6)])
def test_the_population_changes_and_the_search_goes_on(name: str, factor: float) -> None:
    run = a_quarter_later()
    before, size, best = run.spec.config, len(run.population), run.best_value
    known = {row.tobytes() for row in run.population}
    leaders = {row.tobytes() for row in run.population[np.argsort(run.fitness, kind="stable")[: size // 2]]}
    act(run, TAKEN[name])
    assert run.spec.config == replace(before, population_size=round(factor * before.population_size))
    assert len(run.population) == pytest.approx(factor * size, abs=3)
    now = {row.tobytes() for row in run.population}
    assert leaders <= now and (now <= known) == (name == "smaller")
    run.advance(before.budget)
    assert run.evaluations == before.budget and run.best_value <= best


def test_candidates_have_limits() -> None:
    run = a_quarter_later()
    counts = [run.spec.config.n_candidates]
    for name in ["fewer candidates"] * 4 + ["more candidates"] * 5:
        act(run, TAKEN[name])
        counts.append(run.spec.config.n_candidates)
    assert counts == [3, 2, 1, 1, 1, 2, 3, 4, 4, 4]
    run.advance(run.spec.config.budget)
    assert run.evaluations == run.spec.config.budget


def test_cma_es_is_tried_at_once_for_half_of_what_is_left() -> None:
    run = a_quarter_later()
    begun, budget = run.evaluations, run.spec.config.budget
    act(run, TAKEN["CMA-ES"])
    run.advance(begun + 2 * len(run.population))
    assert run.de_state.counters[Counter.SAMPLING]
    assert run.spec.config.decision == pytest.approx((begun + budget) / 2, abs=2)


def test_who_keeps_the_settings_is_the_twin() -> None:
    episode, reward = make_pair(SEARCH)
    assert reward == 0.0 and set(episode.actions) == {KEEP}
    late = replace(SEARCH, chooser=Chooser(planned=(KEEP, KEEP, TAKEN["smaller"], KEEP)))
    other, reward = make_pair(late)
    np.testing.assert_array_equal(other.features[:3], episode.features[:3])
    assert not np.array_equal(other.features[3], episode.features[3])
    assert reward == better([other.error], [episode.error]) - 0.5


def test_a_choice_needs_more_than_the_margin() -> None:
    bias = np.zeros(len(ACTIONS), dtype=np.float32)
    layers = [(np.zeros((len(ACTIONS), FEATURES), dtype=np.float32), bias)]
    network = Network(layers, np.zeros(FEATURES), np.ones(FEATURES))
    rng = np.random.default_rng(0)
    bias[TAKEN["larger"]] = 0.9 * MARGIN
    assert Chooser(network=network).choose(np.ones(FEATURES), 0, rng) == KEEP
    bias[TAKEN["larger"]] = 1.1 * MARGIN
    assert Chooser(network=network).choose(np.ones(FEATURES), 0, rng) == TAKEN["larger"]
    explored = [Chooser(network=network, epsilon=1.0).choose(np.ones(FEATURES), 0, rng) for _ in range(4000)]
    shares = np.bincount(explored, minlength=len(ACTIONS)) / 4000
    np.testing.assert_allclose(shares, [0.5] + [0.1] * 5, atol=0.03)


def test_double_dqn_learns_when_an_action_pays(tmp_path) -> None:
    """In the second of two moments "larger" gains where the first feature is positive and loses elsewhere."""
    rng, memory, learner = np.random.default_rng(2), Memory(), Learner()
    for _ in range(3000):
        features, last = rng.normal(size=(2, FEATURES)), int(rng.integers(len(ACTIONS)))
        pays = last == TAKEN["larger"]
        memory.add(Episode(SEARCH, features, [KEEP, last], 0.0), pays * (0.5 if features[1, 0] > 0.0 else -0.5))
    network = Network(learner.primary.export(), np.zeros(FEATURES), np.ones(FEATURES))
    for batch in memory.batches(network, 1500, rng):
        learner.update(batch)
    save_network(tmp_path / "network.npz", Network(learner.primary.export(), network.shift, network.scale))
    learned = load_network(tmp_path / "network.npz")
    asked = rng.normal(size=(200, FEATURES))
    asked = asked[np.abs(asked[:, 0]) > 0.3]
    found = np.array([learned.values(features)[TAKEN["larger"]] > 0.1 for features in asked])
    assert (found == (asked[:, 0] > 0.0)).mean() > 0.9


def test_problems_are_those_with_small_budgets() -> None:
    found = [next(problems("made", 500)) for _ in range(2)]
    assert found[0] == found[1] and recipe(*found[0]).budget <= 500
    assert all(recipe("made", n).budget > 500 for n in range(found[0][1]))
