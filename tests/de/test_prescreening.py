"""Foresight: outlooks by hand, the trials that are made and the one that is picked, and the run through all faces."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from numba import njit
from scipy.spatial.distance import cdist
from scipy.stats import kendalltau, rankdata

from deddqn.de import BEYOND, PAPER, DEConfig, Portfolio
from deddqn.de.state import Count
from deddqn.de.surrogate import outlook_of, renew_model
from deddqn.engine import EpisodeSpec, Lanes
from deddqn.engine.run import Run
from deddqn.engine.run_memory import open_episode
from deddqn.engine.stepping import ask_points, tell_value
from deddqn.features import n_features
from deddqn.policies import CompiledPolicy, load_policy, network_policy, schedule_policy, softmax_policy
from deddqn.policies.softmax import N_FACTS
from deddqn.problems import Problem
from tests.parity.parity_runs import digest
from tests.policies.learning_policy import learning_policy

MOVES = Portfolio(
    [("cma", 1.0, 1.0), ("curr-to-pbest/1", 0.5, 0.5, "F+CR"), ("rand/1", 0.5, 0.9), ("gauss", 1.0, 0.8, "CR")]
)
SMALL = DEConfig(population_size=10, budget=150, final_population=7, foresight=4)


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
    weights = np.random.default_rng(3).normal(size=(len(portfolio), N_FACTS))
    return softmax_policy(weights, portfolio=portfolio)


def network(portfolio: Portfolio = MOVES) -> CompiledPolicy:
    rng, sizes = np.random.default_rng(8), [n_features(len(portfolio)), 9, len(portfolio)]
    weights = [rng.standard_normal((b, a)) for a, b in zip(sizes, sizes[1:], strict=False)]
    biases = [rng.standard_normal(len(weight)) for weight in weights]
    return network_policy(weights, biases, portfolio=portfolio, epsilon=0.2)


def spec(**changes: Any) -> EpisodeSpec:
    settings: dict[str, Any] = {
        "problem": problem(),
        "policy": softmax(),
        "portfolio": MOVES,
        "config": SMALL,
        "observe": True,
        "generations": 3,
        "window": 8,
    }
    return EpisodeSpec(**{**settings, **changes})


# -- outlooks by hand


@njit
def outlook_at(run, points, outlooks):
    search = open_episode(run).search
    renew_model(search)
    for k in range(len(points)):
        outlooks[k] = outlook_of(search, points[k])


def known_search(points: Any, values: Any, widths: Any, population: int = 6) -> Lanes:
    """A search whose first points are the parents; the others were beaten, the last of them last."""
    points, values = np.asarray(points, dtype=float), np.asarray(values, dtype=float)
    config = DEConfig(population_size=population, budget=1000, foresight=2)
    lanes = Lanes([spec(problem=problem(len(widths)), config=config)], threads=1)
    search, beaten = lanes.episodes[0].search, len(points) - population
    search.lower[:], search.upper[:] = 0.0, widths
    search.parents[:population], search.fitness[:] = points[:population], values[:population]
    search.order[:] = np.argsort(values[:population], kind="stable")
    for k in range(beaten):
        place = k % len(search.beaten_values)
        search.beaten[place], search.beaten_values[place] = points[population + k], values[population + k]
    search.counts[Count.BEATEN] = beaten
    return lanes


def outlooks(lanes: Lanes, points: Any) -> np.ndarray:
    points = np.asarray(points, dtype=float)
    found = np.empty(len(points))
    outlook_at(lanes.arenas[0].ctypes.data, points, found)
    return found


def expected(known: np.ndarray, values: np.ndarray, points: np.ndarray) -> np.ndarray:
    """By linear algebra, for boxes with the width 1."""
    ranks = 1.0 - 2.0 * (rankdata(values) - 1.0) / (len(values) - 1)
    reach = 20.0 * ((known - known.mean(axis=0)) ** 2).sum(axis=1).mean()
    similar = 1.0 / (1.0 + cdist(known, known, "sqeuclidean") / reach)
    weights = np.linalg.solve(similar + 0.001 * np.eye(len(known)), ranks)
    squares = cdist(points, known, "sqeuclidean")
    return 0.5 + 0.5 * (1.0 / (1.0 + squares / reach)) @ weights + squares.min(axis=1) / reach


@pytest.mark.parametrize("dimension", [1, 2, 3, 4, 5, 9])
@pytest.mark.parametrize("known", [6, 7, 8, 9, 30, 120])
def test_an_outlook_is_what_the_model_says(dimension: int, known: int) -> None:
    rng = np.random.default_rng(known)
    points, values, new = rng.random((known, dimension)), rng.normal(size=known), rng.random((5, dimension))
    found = outlooks(known_search(points, values, [1.0] * dimension), new)
    np.testing.assert_allclose(found, expected(points, values, new), rtol=0.0, atol=1e-9)


def test_on_a_bowl_outlooks_order_new_points_as_values_do() -> None:
    rng = np.random.default_rng(0)
    points, new = rng.random((60, 4)), rng.random((40, 4))
    lanes = known_search(points, ((points - 0.4) ** 2).sum(axis=1), [1.0] * 4)
    assert kendalltau(outlooks(lanes, new), -((new - 0.4) ** 2).sum(axis=1)).statistic > 0.9
    assert outlooks(lanes, points).max() == pytest.approx(1.0, abs=0.2)
    assert outlooks(lanes, points).min() == pytest.approx(0.0, abs=0.2)


def test_distances_are_in_widths_of_the_box_and_values_are_ranks() -> None:
    rng = np.random.default_rng(1)
    points, values, new, widths = rng.random((20, 3)), rng.random(20), rng.random((4, 3)), np.array([1.0, 8.0, 0.25])
    plain = outlooks(known_search(points, values, [1.0] * 3), new)
    stretched = outlooks(known_search(points * widths, 2.0**values, widths), new * widths)
    np.testing.assert_allclose(stretched, plain, rtol=1e-9)


def test_coordinates_without_a_width_are_left_out() -> None:
    rng = np.random.default_rng(2)
    points, values = rng.random((9, 1)), rng.random(9)
    flat = np.hstack([points, np.full((9, 1), 3.0)])
    assert outlooks(known_search(flat, values, [1.0, 0.0]), [[0.3, 5.0]]) == outlooks(
        known_search(points, values, [1.0]), [[0.3]]
    )


def test_points_in_one_place_promise_nothing_but_news_elsewhere() -> None:
    lanes = known_search(np.full((8, 2), 0.5), np.arange(8), [1.0, 1.0])
    here, elsewhere = outlooks(lanes, [[0.5, 0.5], [0.2, 0.9]])
    assert here == pytest.approx(0.5, abs=1e-9) and 1.0 < elsewhere < np.inf


def test_of_two_points_that_promise_the_same_the_farther_one_is_preferred() -> None:
    """Far from all points the model says 1/2 everywhere."""
    points = np.random.default_rng(4).random((20, 3))
    far, farther = outlooks(known_search(points, points.sum(axis=1), [1.0] * 3), [[1e4] * 3, [2e4] * 3])
    reach = 20.0 * ((points - points.mean(axis=0)) ** 2).sum(axis=1).mean()
    assert farther - far == pytest.approx(9e8 / reach, rel=1e-3)


def test_values_that_are_not_finite_are_the_worst() -> None:
    points = np.linspace(0.0, 1.0, 8)[:, None]
    values = np.array([3.0, np.inf, 1.0, np.inf, 2.0, 0.0, 5.0, np.inf])
    found = outlooks(known_search(points, values, [1.0]), points)
    np.testing.assert_allclose(found, expected(points, values, points), rtol=0.0, atol=1e-9)
    assert np.all(np.isfinite(found))


@pytest.mark.parametrize(("dimension", "room"), [(1, 120), (20, 120), (25, 96), (30, 80), (100, 80)])
def test_the_best_parents_and_the_newest_others_are_known(dimension: int, room: int) -> None:
    rng = np.random.default_rng(3)
    points, values = rng.random((180, dimension)), rng.random(180)
    search = (lanes := known_search(points, values, [1.0] * dimension)).episodes[0].search
    outlooks(lanes, points[:1])
    newest = [*np.argsort(values[:6]), *range(179, 185 - room, -1)]
    np.testing.assert_array_equal(search.columns, points[newest].T)
    search = (lanes := known_search(points[:130], values[:130], [1.0] * dimension, population=130)).episodes[0].search
    outlooks(lanes, points[:1])
    np.testing.assert_array_equal(search.columns, points[np.argsort(values[:130])[:room]].T)


@pytest.mark.parametrize("updating", ["sequential", "deferred"])
def test_beaten_points_are_those_that_are_no_parents(updating: str) -> None:
    """Trials that are worse than their parents, and the parents of the others."""
    config = replace(SMALL, updating=updating, final_population=None, budget=110)
    lanes = Lanes([spec(config=config)], threads=1)
    search = lanes.episodes[0].search
    seen = {}
    for evaluations in range(1, 111):
        lanes.advance(evaluations)
        points = search.parents[:10] if evaluations <= 10 else search.trials
        seen.update({tuple(point): valley(point) for point in points})
    assert search.counts[Count.BEATEN] == 100
    beaten = {tuple(point): value for point, value in zip(search.beaten.tolist(), search.beaten_values, strict=True)}
    beaten.pop((0.0, 0.0, 0.0))  # room that is not used yet
    parents = {tuple(point) for point in search.parents[:10].tolist()}
    assert 95 <= len(beaten) <= 100 and not parents & beaten.keys()  # some trials are equal
    for point, value in beaten.items():
        assert value == valley(np.array(point)) and (updating == "deferred" or point in seen)


@pytest.mark.parametrize("updating", ["sequential", "deferred"])
def test_the_model_is_renewed_between_generations_after_twenty_evaluations(updating: str) -> None:
    lanes = Lanes([spec(config=replace(SMALL, updating=updating))], threads=1)
    search, renewed, began = lanes.episodes[0].search, [], {}
    for evaluations in range(10, 151):
        lanes.advance(evaluations)
        began.setdefault(int(search.counts[Count.GENERATION]), int(search.counts[Count.EVALUATIONS]))
        if search.counts[Count.KNOWN] and search.counts[Count.RENEWED] not in renewed:
            renewed.append(int(search.counts[Count.RENEWED]))
    assert set(renewed) <= set(began.values())
    assert renewed[0] == 10 and min(np.diff(renewed)) >= 20 and max(np.diff(renewed)) < 30


# -- trials


@pytest.mark.parametrize("updating", ["sequential", "deferred"])
def test_the_picked_trial_has_the_highest_outlook(updating: str) -> None:
    lanes = Lanes([spec(config=replace(SMALL, updating=updating))], threads=1)
    search, arena = lanes.episodes[0].search, lanes.arenas[0]
    picks, chosen, distinct = [], set(), []
    lanes.advance(10)
    while not search.counts[Count.ENDED]:
        last = ask_points(arena.ctypes.data) - 1
        distinct.append(len(np.unique(search.foreseen, axis=0)))
        picked = int(search.outlook.argmax())
        np.testing.assert_array_equal(search.trials[last], search.foreseen[picked])
        picks.append(picked)
        if search.adapts[search.choices[last]]:
            assert search.used_scale[last] == search.foreseen_scale[picked]
            assert search.used_crossover[last] == search.foreseen_crossover[picked]
        chosen |= set(search.choices[: last + 1].tolist())
        for k in range(int(search.counts[Count.TOLD]), last + 1):
            tell_value(arena.ctypes.data, k, valley(search.trials[k]))
    assert np.mean(distinct) > 3.9  # every trial is drawn for itself; seldom two have the same donors
    assert set(picks) == chosen == {0, 1, 2, 3}
    assert search.counts[Count.EVALUATIONS] == 150  # trials that are not picked are not evaluated


@pytest.mark.parametrize("entry", [*PAPER.values, ("curr-to-pbest/1", 0.5, 0.5, "F+CR"), ("cma", 1.0, 1.0)], ids=str)
def test_the_first_trial_is_the_one_without_foresight(entry: Any) -> None:
    portfolio = Portfolio([entry])
    one, other = (
        Lanes([spec(policy=softmax(portfolio), portfolio=portfolio, config=replace(SMALL, foresight=k))], threads=1)
        for k in (1, 3)
    )
    for lanes in (one, other):
        lanes.advance(10)
        ask_points(lanes.arenas[0].ctypes.data)
    np.testing.assert_array_equal(other.episodes[0].search.foreseen[0], one.episodes[0].search.trials[0])
    np.testing.assert_array_equal(*(lanes.episodes[0].observer.features for lanes in (one, other)))


def test_without_foresight_there_is_no_memory_for_it() -> None:
    search = Lanes([spec(config=replace(SMALL, foresight=1))], threads=1).episodes[0].search
    names = ("foreseen", "outlook", "columns", "units", "squares", "similarities", "beaten", "foreseen_scale")
    for name in (*names, "foreseen_crossover"):
        assert getattr(search, name).size == 0


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
def test_a_policy_that_does_not_pick_plays_as_without_foresight(kind: str, updating: str) -> None:
    policy = WITHOUT_PICK[kind]()
    config = replace(SMALL, updating=updating, restart_tolerance=0.2)
    runs = [spec(policy=policy, config=replace(config, foresight=foresight)) for foresight in (1, 2, 16)]
    assert not any(run.picks for run in runs)
    lanes = Lanes(runs, threads=1)
    lanes.advance()
    one, *others = lanes.episodes
    for other in others:
        for name in ("parents", "fitness", "streams", "donors", "trials", "model", "scale_means", "crossover_means"):
            np.testing.assert_array_equal(getattr(one.search, name), getattr(other.search, name), err_msg=name)
        np.testing.assert_array_equal(one.core.memory, other.core.memory)
        np.testing.assert_array_equal(one.observer.features, other.observer.features)


def test_who_chooses_from_outside_gets_one_trial() -> None:
    """Also where the policy of the run would pick."""
    lanes = [Lanes([spec(config=replace(SMALL, foresight=foresight))], threads=1) for foresight in (1, 4)]
    states = [each.observe() for each in lanes]
    for k in range(140):
        np.testing.assert_array_equal(*states)
        states = [each.act([k % len(MOVES)])[0] for each in lanes]
    assert all(each.ended.all() for each in lanes)
    np.testing.assert_array_equal(*(each.episodes[0].search.parents for each in lanes))


def test_a_generation_may_begin_outside_and_go_on_with_the_policy() -> None:
    """The parents that outlooks are made from are those of the generation, whoever began it."""
    lanes = Lanes([spec(config=replace(SMALL, foresight=4))], threads=1)
    lanes.observe()
    for _ in range(3):
        lanes.act([0])
    search = lanes.episodes[0].search
    lanes.advance(int(search.counts[Count.EVALUATIONS]) + 1)
    parents = search.parents[search.order[: search.counts[Count.POPULATION]]]
    np.testing.assert_array_equal(search.columns[:, : len(parents)], search.units[:, None] * parents.T)
    assert search.counts[Count.KNOWN] == len(parents)  # nothing is beaten yet
    assert len(set(search.outlook.tolist())) > 1


@njit(error_model="numpy")
def pick_by_setup(setup, memory, outlook, stream):
    """The trial whose number the policy was made with."""
    return np.int64(setup[0])


def rigged(number: int) -> CompiledPolicy:
    random = load_policy("random")
    kernels = random.kernels._replace(pick=pick_by_setup)
    return CompiledPolicy("rigged", kernels, setup=np.array([float(number)]), memory_size=lambda n_ops, n_pop: 0)


@pytest.mark.parametrize("number", [-1, 4, 10**9])
@pytest.mark.parametrize("updating", ["sequential", "deferred"])
def test_a_trial_that_was_not_made_cannot_be_picked(number: int, updating: str) -> None:
    run = Run(spec(policy=rigged(number), config=replace(SMALL, updating=updating)))
    run.advance(10)
    with pytest.raises(ValueError, match="the policy picked a trial that was not made"):
        run.advance(11)


def test_what_is_picked_is_the_policys_affair() -> None:
    """Policies that always take the first, or the last: other runs, but with the same donors up to there."""
    for number in range(4):
        lanes = Lanes([spec(policy=rigged(number))], threads=1)
        lanes.advance(11)
        search = lanes.episodes[0].search
        np.testing.assert_array_equal(search.trials[0], search.foreseen[number])
        lanes.advance()
        assert lanes.ended.all()


@njit
def nowhere(x):
    return np.nan


def test_while_no_value_is_known_the_first_trial_is_taken() -> None:
    """The policy hears of values with the first trial that is settled."""
    unknown = Problem.from_function(nowhere, [(-5.0, 5.0)] * 3)
    lanes = Lanes([spec(problem=unknown)], threads=1)
    search, arena = lanes.episodes[0].search, lanes.arenas[0]
    lanes.advance(11)
    for evaluations in range(11, 60):
        last = ask_points(arena.ctypes.data) - 1
        np.testing.assert_array_equal(search.trials[last], search.foreseen[0])
        lanes.advance(evaluations + 1)


# -- many runs, parts of runs, saved runs


def everything() -> list[EpisodeSpec]:
    """Foresight and cma in all the ways that a lane may have them."""
    changes: list[dict[str, Any]] = [
        {},
        {"problem": problem(5), "portfolio": BEYOND, "policy": softmax(BEYOND)},
        {"policy": network(), "problem": problem(2)},
        {"policy": rigged(3), "observe": False, "problem": problem(1)},
        {"portfolio": Portfolio(["cma"]), "policy": load_policy("random"), "config": replace(SMALL, foresight=1)},
        {"portfolio": PAPER, "policy": softmax(PAPER), "config": replace(SMALL, final_population=None, foresight=16)},
    ]
    configs = ({"updating": "sequential", "restart_tolerance": 0.3}, {"updating": "deferred", "repair": "reflect"})
    specs = [spec(**change) for change in changes]
    return [
        replace(run, config=replace(run.config, **more), repeat=k) for run in specs for k, more in enumerate(configs)
    ]


@pytest.mark.parametrize("threads", [1, 2])
def test_lanes_are_single_runs(threads: int) -> None:
    together = Lanes(everything(), threads=threads)
    for until in (3, 47, 48, 101):
        together.advance(until)
    together.advance()
    assert together.ended.all()
    for lane, run in enumerate(everything()):
        alone = Lanes([run], threads=1)
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
    plain, recorded, watched = (Lanes(runs, threads=1) for _ in range(3))
    plain.advance()
    record = recorded.record(200)
    assert record.states.shape == (2, 200, 19 + 20 * len(MOVES))
    while not watched.ended.all():
        watched.observe()
        watched.advance(watched.evaluations + 1)
    for lanes in (recorded, watched):
        for lane, run in enumerate(runs):
            assert digest(lanes.arenas[lane], run) == digest(plain.arenas[lane], run)
