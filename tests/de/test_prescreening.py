"""Foresight: scores by hand, the trials that are made and the one that is picked, and the run through all faces."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from numba import njit
from scipy.spatial.distance import cdist
from scipy.stats import kendalltau, rankdata

from deddqn.de import EXTENDED, PAPER, DEConfig, Portfolio
from deddqn.de.state import Counter
from deddqn.de.surrogate import refit_if_stale, surrogate_score
from deddqn.engine import RunSpec, VectorizedRuns
from deddqn.engine.run import Run
from deddqn.engine.run_memory import open_run
from deddqn.engine.stepping import ask_points, tell_value
from deddqn.features import n_features
from deddqn.policies import CompiledPolicy, load_policy, network_policy, schedule_policy, softmax_policy
from deddqn.policies.softmax import N_INPUTS
from deddqn.problems import Problem
from tests.engine.stepped_runs import states_of, step
from tests.parity.parity_runs import digest
from tests.policies.learning_policy import learning_policy

MOVES = Portfolio(
    [("cma", 1.0, 1.0), ("curr-to-pbest/1", 0.5, 0.5, "F+CR"), ("rand/1", 0.5, 0.9), ("gauss", 1.0, 0.8, "CR")]
)
SMALL = DEConfig(population_size=10, budget=150, final_population=7, n_candidates=4)


@njit
def valley(x):
    total = 0.0
    for d in range(x.size):
        total += 10.0**d * (x[d] - 0.3 * d) ** 2
    return total


@cache
def problem(dimension: int = 3) -> Problem:
    return Problem.from_function(valley, [(-5.0, 5.0 + d) for d in range(dimension)])


def softmax(portfolio: Portfolio = MOVES) -> CompiledPolicy:
    weights = np.random.default_rng(3).normal(size=(len(portfolio), N_INPUTS))
    return softmax_policy(weights, portfolio=portfolio)


def network(portfolio: Portfolio = MOVES) -> CompiledPolicy:
    rng, sizes = np.random.default_rng(8), [n_features(len(portfolio)), 9, len(portfolio)]
    weights = [rng.standard_normal((b, a)) for a, b in zip(sizes, sizes[1:], strict=False)]
    biases = [rng.standard_normal(len(weight)) for weight in weights]
    return network_policy(weights, biases, portfolio=portfolio, epsilon=0.2)


def spec(**changes: Any) -> RunSpec:
    settings: dict[str, Any] = {
        "problem": problem(),
        "policy": softmax(),
        "portfolio": MOVES,
        "config": SMALL,
        "observe": True,
        "generations": 3,
        "window": 8,
    }
    return RunSpec(**{**settings, **changes})


# -- scores by hand


@njit
def score_at(run, points, scores):
    de_state = open_run(run).de_state
    refit_if_stale(de_state)
    for k in range(len(points)):
        scores[k] = surrogate_score(de_state, points[k])


def known_search(points: Any, values: Any, widths: Any, population: int = 6) -> VectorizedRuns:
    """A search whose first points are the parents; the others were beaten, the last of them last."""
    points, values = np.asarray(points, dtype=float), np.asarray(values, dtype=float)
    config = DEConfig(population_size=population, budget=1000, n_candidates=2)
    lanes = VectorizedRuns([spec(problem=problem(len(widths)), config=config)], threads=1)
    de_state, recent_points = lanes.episodes[0].de_state, len(points) - population
    de_state.lower[:], de_state.upper[:] = 0.0, widths
    de_state.parents[:population], de_state.fitness[:] = points[:population], values[:population]
    de_state.order[:] = np.argsort(values[:population], kind="stable")
    for k in range(recent_points):
        place = k % len(de_state.recent_values)
        de_state.recent_points[place], de_state.recent_values[place] = points[population + k], values[population + k]
    de_state.counters[Counter.RECENT_POINTS] = recent_points
    return lanes


def scores(lanes: VectorizedRuns, points: Any) -> np.ndarray:
    points = np.asarray(points, dtype=float)
    found = np.empty(len(points))
    score_at(lanes.arenas[0].ctypes.data, points, found)
    return found


def expected(known: np.ndarray, values: np.ndarray, points: np.ndarray) -> np.ndarray:
    """By linear algebra, for boxes with the width 1."""
    ranks = 1.0 - 2.0 * (rankdata(values) - 1.0) / (len(values) - 1)
    squared_length_scale = 20.0 * ((known - known.mean(axis=0)) ** 2).sum(axis=1).mean()
    similar = 1.0 / (1.0 + cdist(known, known, "sqeuclidean") / squared_length_scale)
    weights = np.linalg.solve(similar + 0.001 * np.eye(len(known)), ranks)
    squares = cdist(points, known, "sqeuclidean")
    return (
        0.5
        + 0.5 * (1.0 / (1.0 + squares / squared_length_scale)) @ weights
        + squares.min(axis=1) / squared_length_scale
    )


@pytest.mark.parametrize("dimension", [1, 2, 3, 4, 5, 9])
@pytest.mark.parametrize("known", [6, 7, 8, 9, 30, 120])
def test_an_score_is_what_the_model_says(dimension: int, known: int) -> None:
    rng = np.random.default_rng(known)
    points, values, new = rng.random((known, dimension)), rng.normal(size=known), rng.random((5, dimension))
    found = scores(known_search(points, values, [1.0] * dimension), new)
    np.testing.assert_allclose(found, expected(points, values, new), rtol=0.0, atol=1e-9)


def test_on_a_bowl_scores_order_new_points_as_values_do() -> None:
    rng = np.random.default_rng(0)
    points, new = rng.random((60, 4)), rng.random((40, 4))
    lanes = known_search(points, ((points - 0.4) ** 2).sum(axis=1), [1.0] * 4)
    assert kendalltau(scores(lanes, new), -((new - 0.4) ** 2).sum(axis=1)).statistic > 0.9
    assert scores(lanes, points).max() == pytest.approx(1.0, abs=0.2)
    assert scores(lanes, points).min() == pytest.approx(0.0, abs=0.2)


def test_distances_are_in_widths_of_the_box_and_values_are_ranks() -> None:
    rng = np.random.default_rng(1)
    points, values, new, widths = rng.random((20, 3)), rng.random(20), rng.random((4, 3)), np.array([1.0, 8.0, 0.25])
    plain = scores(known_search(points, values, [1.0] * 3), new)
    stretched = scores(known_search(points * widths, 2.0**values, widths), new * widths)
    np.testing.assert_allclose(stretched, plain, rtol=1e-9)


def test_coordinates_without_a_width_are_left_out() -> None:
    rng = np.random.default_rng(2)
    points, values = rng.random((9, 1)), rng.random(9)
    flat = np.hstack([points, np.full((9, 1), 3.0)])
    assert scores(known_search(flat, values, [1.0, 0.0]), [[0.3, 5.0]]) == scores(
        known_search(points, values, [1.0]), [[0.3]]
    )


def test_points_in_one_place_promise_nothing_but_news_elsewhere() -> None:
    lanes = known_search(np.full((8, 2), 0.5), np.arange(8), [1.0, 1.0])
    here, elsewhere = scores(lanes, [[0.5, 0.5], [0.2, 0.9]])
    assert here == pytest.approx(0.5, abs=1e-9) and 1.0 < elsewhere < np.inf


def test_of_two_points_that_promise_the_same_the_farther_one_is_preferred() -> None:
    """Far from all points the model says 1/2 everywhere."""
    points = np.random.default_rng(4).random((20, 3))
    far, farther = scores(known_search(points, points.sum(axis=1), [1.0] * 3), [[1e4] * 3, [2e4] * 3])
    squared_length_scale = 20.0 * ((points - points.mean(axis=0)) ** 2).sum(axis=1).mean()
    assert farther - far == pytest.approx(9e8 / squared_length_scale, rel=1e-3)


def test_values_that_are_not_finite_are_the_worst() -> None:
    points = np.linspace(0.0, 1.0, 8)[:, None]
    values = np.array([3.0, np.inf, 1.0, np.inf, 2.0, 0.0, 5.0, np.inf])
    found = scores(known_search(points, values, [1.0]), points)
    np.testing.assert_allclose(found, expected(points, values, points), rtol=0.0, atol=1e-9)
    assert np.all(np.isfinite(found))


@pytest.mark.parametrize(("dimension", "room"), [(1, 120), (20, 120), (25, 96), (30, 80), (100, 80)])
def test_the_best_parents_and_the_newest_others_are_known(dimension: int, room: int) -> None:
    rng = np.random.default_rng(3)
    points, values = rng.random((180, dimension)), rng.random(180)
    de_state = (lanes := known_search(points, values, [1.0] * dimension)).episodes[0].de_state
    scores(lanes, points[:1])
    newest = [*np.argsort(values[:6]), *range(179, 185 - room, -1)]
    np.testing.assert_array_equal(de_state.training_points, points[newest].T)
    de_state = (
        (lanes := known_search(points[:130], values[:130], [1.0] * dimension, population=130)).episodes[0].de_state
    )
    scores(lanes, points[:1])
    np.testing.assert_array_equal(de_state.training_points, points[np.argsort(values[:130])[:room]].T)


@pytest.mark.parametrize("updating", ["sequential", "deferred"])
def test_beaten_points_are_those_that_are_no_parents(updating: str) -> None:
    """Trials that are worse than their parents, and the parents of the others."""
    config = replace(SMALL, updating=updating, final_population=None, budget=110)
    lanes = VectorizedRuns([spec(config=config)], threads=1)
    de_state = lanes.episodes[0].de_state
    seen = {}
    for evaluations in range(1, 111):
        lanes.advance(evaluations)
        points = de_state.parents[:10] if evaluations <= 10 else de_state.trials
        seen.update({tuple(point): valley(point) for point in points})
    assert de_state.counters[Counter.RECENT_POINTS] == 100
    recent_points = {
        tuple(point): value
        for point, value in zip(de_state.recent_points.tolist(), de_state.recent_values, strict=True)
    }
    recent_points.pop((0.0, 0.0, 0.0))  # room that is not used yet
    parents = {tuple(point) for point in de_state.parents[:10].tolist()}
    assert 95 <= len(recent_points) <= 100 and not parents & recent_points.keys()  # some trials are equal
    for point, value in recent_points.items():
        assert value == valley(np.array(point)) and (updating == "deferred" or point in seen)


@pytest.mark.parametrize("updating", ["sequential", "deferred"])
def test_the_model_is_renewed_between_generations_after_twenty_evaluations(updating: str) -> None:
    lanes = VectorizedRuns([spec(config=replace(SMALL, updating=updating))], threads=1)
    de_state, renewed, began = lanes.episodes[0].de_state, [], {}
    for evaluations in range(10, 151):
        lanes.advance(evaluations)
        began.setdefault(int(de_state.counters[Counter.GENERATION]), int(de_state.counters[Counter.EVALUATIONS]))
        if de_state.counters[Counter.TRAINING_POINTS] and de_state.counters[Counter.REFIT_AT] not in renewed:
            renewed.append(int(de_state.counters[Counter.REFIT_AT]))
    assert set(renewed) <= set(began.values())
    assert renewed[0] == 10 and min(np.diff(renewed)) >= 20 and max(np.diff(renewed)) < 30


# -- trials


@pytest.mark.parametrize("updating", ["sequential", "deferred"])
def test_the_picked_trial_has_the_highest_score(updating: str) -> None:
    lanes = VectorizedRuns([spec(config=replace(SMALL, updating=updating))], threads=1)
    de_state, arena = lanes.episodes[0].de_state, lanes.arenas[0]
    picks, chosen, distinct = [], set(), []
    lanes.advance(10)
    while not de_state.counters[Counter.ENDED]:
        last = ask_points(arena.ctypes.data) - 1
        distinct.append(len(np.unique(de_state.candidates, axis=0)))
        picked = int(de_state.candidate_scores.argmax())
        np.testing.assert_array_equal(de_state.trials[last], de_state.candidates[picked])
        picks.append(picked)
        if de_state.adapts[de_state.choices[last]]:
            assert de_state.trial_f[last] == de_state.candidate_f[picked]
            assert de_state.trial_cr[last] == de_state.candidate_cr[picked]
        chosen |= set(de_state.choices[: last + 1].tolist())
        for k in range(int(de_state.counters[Counter.TOLD]), last + 1):
            tell_value(arena.ctypes.data, k, valley(de_state.trials[k]))
    assert np.mean(distinct) > 3.9  # every trial is drawn for itself; seldom two have the same donors
    assert set(picks) == chosen == {0, 1, 2, 3}
    assert de_state.counters[Counter.EVALUATIONS] == 150  # trials that are not picked are not evaluated


@pytest.mark.parametrize("entry", [*PAPER.values, ("curr-to-pbest/1", 0.5, 0.5, "F+CR"), ("cma", 1.0, 1.0)], ids=str)
def test_the_first_trial_is_the_one_without_prescreening(entry: Any) -> None:
    portfolio = Portfolio([entry])
    one, other = (
        VectorizedRuns(
            [spec(policy=softmax(portfolio), portfolio=portfolio, config=replace(SMALL, n_candidates=k))], threads=1
        )
        for k in (1, 3)
    )
    for lanes in (one, other):
        lanes.advance(10)
        ask_points(lanes.arenas[0].ctypes.data)
    np.testing.assert_array_equal(other.episodes[0].de_state.candidates[0], one.episodes[0].de_state.trials[0])
    np.testing.assert_array_equal(*(lanes.episodes[0].observer.features for lanes in (one, other)))


def test_without_prescreening_there_is_no_memory_for_it() -> None:
    de_state = VectorizedRuns([spec(config=replace(SMALL, n_candidates=1))], threads=1).episodes[0].de_state
    names = (
        "candidates",
        "candidate_scores",
        "training_points",
        "inverse_widths",
        "squared_distances",
        "kernel_matrix",
        "recent_points",
        "candidate_f",
    )
    for name in (*names, "candidate_cr"):
        assert getattr(de_state, name).size == 0


# -- policies

WITHOUT_PICK = {
    **{name: lambda name=name: load_policy(name) for name in ("random", "de2", "rec-pm", "f-auc", "pm-adapss")},
    "mixture": lambda: load_policy("mixture:0.1,0.2,0.3,0.4"),
    "schedule": lambda: schedule_policy(np.full((3, 4), 0.25)),
    "network": network,
    "learning": learning_policy,
}


@pytest.mark.parametrize("updating", ["sequential", "deferred"])
@pytest.mark.parametrize("kind", WITHOUT_PICK)
def test_a_policy_that_does_not_pick_plays_as_without_prescreening(kind: str, updating: str) -> None:
    policy = WITHOUT_PICK[kind]()
    config = replace(SMALL, updating=updating, restart_tolerance=0.2)
    runs = [spec(policy=policy, config=replace(config, n_candidates=n_candidates)) for n_candidates in (1, 2, 16)]
    assert not any(run.prescreens for run in runs)
    lanes = VectorizedRuns(runs, threads=1)
    lanes.advance()
    one, *others = lanes.episodes
    for other in others:
        for name in ("parents", "fitness", "streams", "donors", "trials", "model", "memory_f", "memory_cr"):
            np.testing.assert_array_equal(getattr(one.de_state, name), getattr(other.de_state, name), err_msg=name)
        np.testing.assert_array_equal(one.core.memory, other.core.memory)
        np.testing.assert_array_equal(one.observer.features, other.observer.features)


def test_who_chooses_from_outside_gets_one_trial() -> None:
    """Also where the policy of the run would pick."""
    lanes = [
        VectorizedRuns([spec(config=replace(SMALL, n_candidates=n_candidates))], threads=1) for n_candidates in (1, 4)
    ]
    states = [states_of(each) for each in lanes]
    for k in range(140):
        np.testing.assert_array_equal(*states)
        states = [step(each, [k % len(MOVES)])[0] for each in lanes]
    assert all(each.ended.all() for each in lanes)
    np.testing.assert_array_equal(*(each.episodes[0].de_state.parents for each in lanes))


def test_a_generation_may_begin_outside_and_go_on_with_the_policy() -> None:
    """The parents that scores are made from are those of the generation, whoever began it."""
    lanes = VectorizedRuns([spec(config=replace(SMALL, n_candidates=4))], threads=1)
    states_of(lanes)
    for _ in range(3):
        step(lanes, [0])
    de_state = lanes.episodes[0].de_state
    lanes.advance(int(de_state.counters[Counter.EVALUATIONS]) + 1)
    parents = de_state.parents[de_state.order[: de_state.counters[Counter.POPULATION]]]
    np.testing.assert_array_equal(
        de_state.training_points[:, : len(parents)], de_state.inverse_widths[:, None] * parents.T
    )
    assert de_state.counters[Counter.TRAINING_POINTS] == len(parents)  # nothing is beaten yet
    assert len(set(de_state.candidate_scores.tolist())) > 1


@njit(error_model="numpy")
def pick_by_setup(setup, memory, candidate_scores, stream):
    """The trial whose number the policy was made with."""
    return np.int64(setup[0])


def rigged(number: int) -> CompiledPolicy:
    random = load_policy("random")
    kernels = random.kernels._replace(select_candidate=pick_by_setup)
    return CompiledPolicy("rigged", kernels, setup=np.array([float(number)]), memory_size=lambda n_ops, n_pop: 0)


@pytest.mark.parametrize("number", [-1, 4, 10**9])
@pytest.mark.parametrize("updating", ["sequential", "deferred"])
def test_a_trial_that_was_not_made_cannot_be_picked(number: int, updating: str) -> None:
    run = Run(spec(policy=rigged(number), config=replace(SMALL, updating=updating)))
    run.advance(10)
    with pytest.raises(ValueError, match="the policy selected a candidate that was not made"):
        run.advance(11)


def test_what_is_picked_is_the_policys_affair() -> None:
    """Policies that always take the first, or the last: other runs, but with the same donors up to there."""
    for number in range(4):
        lanes = VectorizedRuns([spec(policy=rigged(number))], threads=1)
        lanes.advance(11)
        de_state = lanes.episodes[0].de_state
        np.testing.assert_array_equal(de_state.trials[0], de_state.candidates[number])
        lanes.advance()
        assert lanes.ended.all()


@njit
def nowhere(x):
    return np.nan


def test_while_no_value_is_known_the_first_trial_is_taken() -> None:
    """The policy hears of values with the first trial that is follow_budget."""
    unknown = Problem.from_function(nowhere, [(-5.0, 5.0)] * 3)
    lanes = VectorizedRuns([spec(problem=unknown)], threads=1)
    de_state, arena = lanes.episodes[0].de_state, lanes.arenas[0]
    lanes.advance(11)
    for evaluations in range(11, 60):
        last = ask_points(arena.ctypes.data) - 1
        np.testing.assert_array_equal(de_state.trials[last], de_state.candidates[0])
        lanes.advance(evaluations + 1)


# -- many runs, parts of runs, saved runs


def everything() -> list[RunSpec]:
    """Foresight and cma in all the ways that a lane may have them."""
    changes: list[dict[str, Any]] = [
        {},
        {"problem": problem(5), "portfolio": EXTENDED, "policy": softmax(EXTENDED)},
        {"policy": network(), "problem": problem(2)},
        {"policy": rigged(3), "observe": False, "problem": problem(1)},
        {"portfolio": Portfolio(["cma"]), "policy": load_policy("random"), "config": replace(SMALL, n_candidates=1)},
        {
            "portfolio": PAPER,
            "policy": softmax(PAPER),
            "config": replace(SMALL, final_population=None, n_candidates=16),
        },
    ]
    configs = ({"updating": "sequential", "restart_tolerance": 0.3}, {"updating": "deferred", "repair": "reflect"})
    specs = [spec(**change) for change in changes]
    return [
        replace(run, config=replace(run.config, **more), repeat=k) for run in specs for k, more in enumerate(configs)
    ]


@pytest.mark.parametrize("threads", [1, 2])
def test_lanes_are_single_runs(threads: int) -> None:
    together = VectorizedRuns(everything(), threads=threads)
    for until in (3, 47, 48, 101):
        together.advance(until)
    together.advance()
    assert together.ended.all()
    for lane, run in enumerate(everything()):
        alone = VectorizedRuns([run], threads=1)
        alone.advance()
        assert digest(alone.arenas[0], run) == digest(together.arenas[lane], run)


@pytest.mark.parametrize("k", range(12))
def test_a_run_goes_on_from_its_memory(k: int) -> None:
    """After every evaluation its memory is copied, and the copy goes on; the old one is spoilt."""
    run = everything()[k]
    whole, parts = Run(run), Run(run)
    whole.advance(run.config.budget)
    for evaluations in range(1, run.config.budget + 1):
        parts.advance(evaluations)
        memory = parts.arena.copy()
        parts.arena[:] = np.nan
        parts = Run.resume(run, memory)
    assert parts.ended and digest(parts.arena, run) == digest(whole.arena, run)


def test_looking_and_recording_change_nothing() -> None:
    runs = [spec(), spec(problem=problem(2))]
    plain, recorded, watched = (VectorizedRuns(runs, threads=1) for _ in range(3))
    plain.advance()
    record = recorded.record(200)
    assert record.states.shape == (2, 200, 19 + 20 * len(MOVES))
    while not watched.ended.all():
        states_of(watched)
        watched.advance(watched.evaluations + 1)
    for lanes in (recorded, watched):
        for lane, run in enumerate(runs):
            assert digest(lanes.arenas[lane], run) == digest(plain.arenas[lane], run)
