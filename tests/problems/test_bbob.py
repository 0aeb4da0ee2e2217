"""BBOB through ioh and through cocoex: the same functions, the same runs, names and suites."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from deddqn import DEConfig, RunSpec, VectorizedRuns, load_policy
from deddqn._utils.optional_imports import MissingPackageError
from deddqn.problems import SUITES, Problem, get, suite
from deddqn.problems.bbob import FUNCTIONS

SMALL = DEConfig(population_size=20, budget=400)


def need_both() -> None:
    pytest.importorskip("ioh")
    pytest.importorskip("cocoex")


@pytest.mark.parametrize("dimension", [2, 10, 20])
@pytest.mark.parametrize("instance", [1, 7, 15])
def test_both_implementations_agree(instance: int, dimension: int) -> None:
    need_both()
    points = np.random.default_rng(instance).uniform(-5.0, 5.0, (25, dimension))
    for function in FUNCTIONS:
        ours = get(f"bbob:f{function}/i{instance}/d{dimension}")
        coco = get(f"bbob-coco:f{function}/i{instance}/d{dimension}")
        np.testing.assert_allclose(ours(points), coco(points), rtol=1e-9, atol=1e-9, err_msg=ours.name)
        assert ours.optimum == coco.optimum
        assert ours.optimum_point is not None
        assert ours(ours.optimum_point) == pytest.approx(ours.optimum, abs=1e-8)
        assert np.array_equal(ours.bounds, [[-5.0, 5.0]] * dimension)


@pytest.mark.parametrize("dimension", [2, 10])
def test_both_implementations_agree_next_to_the_optimum(dimension: int) -> None:
    need_both()
    steps = np.random.default_rng(1).normal(size=(40, dimension)) / np.sqrt(dimension)
    for function in FUNCTIONS:
        ours, coco = get(f"bbob:f{function}/i1/d{dimension}"), get(f"bbob-coco:f{function}/i1/d{dimension}")
        for length in (1e-4, 1e-2, 0.05):
            points = np.clip(ours.optimum_point + length * steps, -5.0, 5.0)
            lower = coco(points) - ours(points)
            if function == 7:  # ioh leaves out the term that slopes on the last plateau
                assert (lower >= -1e-9).all() and (lower <= 1e-6).all()
            else:
                assert np.abs(lower / (1.0 + np.abs(coco(points) - coco.optimum))).max() < 1e-9, ours.name


def test_runs_begin_alike_through_both() -> None:
    need_both()
    specs = [
        RunSpec(problem=get(name), policy=load_policy("random"), config=SMALL, observe=True)
        for name in ("bbob:f3/i2/d10", "bbob-coco:f3/i2/d10")
    ]
    lanes = VectorizedRuns(specs, threads=1)
    record = lanes.record(100)
    np.testing.assert_allclose(record.states[0], record.states[1], rtol=1e-5, atol=1e-6)
    assert np.array_equal(record.actions[0], record.actions[1])


def test_many_lanes_and_threads_on_one_problem_do_not_disturb_each_other() -> None:
    pytest.importorskip("ioh")
    problem = get("bbob:f24/i1/d5")
    specs = [RunSpec(problem=problem, policy=load_policy("random"), config=SMALL, repeat=k) for k in range(8)]
    together, alone = VectorizedRuns(specs, threads=2), [VectorizedRuns([spec], threads=1) for spec in specs]
    together.advance()
    for lane in alone:
        lane.advance()
    assert np.array_equal(together.best_values, [lane.best_values[0] for lane in alone])


def test_names_and_their_parts() -> None:
    pytest.importorskip("ioh")
    problem = get("bbob:f3/i2/d10")
    assert (problem.name, problem.dimension, problem.seed_name) == ("bbob:f3/i2/d10", 10, "bbob:f3/i2")
    assert problem.title == "rastrigin"
    assert get("bbob:f3", dimension=5).name == "bbob:f3/i1/d5"
    assert get("bbob:f3/i2", dimension=10).optimum == problem.optimum


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("bbob:F3/i1/d10", "did you mean 'bbob:f3/i1/d10'"),
        ("bbob:f25/i1/d10", "unknown problem 'bbob:f25/i1/d10'; did you mean 'bbob:f"),
        ("bbob:f3/d10/i1", "unknown problem"),
        ("bbob-coco:f0/i1/d10", "Known: bbob-coco:f1 to bbob-coco:f24"),
        ("bob:f3/i1/d10", "did you mean 'bbob:f3/i1/d10'"),
        ("bbob:f3/i0/d10", "instance must be at least 1"),
        ("bbob:f3/i1/d1", "dimension must be at least 2"),
        ("bbob:f3/i1", "dimension must be given"),
    ],
)
def test_wrong_names(name: str, message: str) -> None:
    with pytest.raises((ValueError, KeyError), match=message):
        get(name)


def test_suites() -> None:
    assert len(SUITES["bbob"]) == 24 * 15 * 2
    assert len(SUITES["bbob-d10"]) == len(SUITES["bbob-coco-d20"]) == 24 * 15
    assert SUITES["bbob-d10"][15] == "bbob:f2/i1/d10"
    pytest.importorskip("ioh")
    problems = suite("bbob-small")
    assert len(problems) == 24
    assert all(isinstance(problem, Problem) and problem.optimum is not None for problem in problems)


@pytest.mark.parametrize(("name", "package"), [("bbob:f1/i1/d2", "ioh"), ("bbob-coco:f1/i1/d2", "cocoex")])
def test_a_missing_package_names_its_extra(name: str, package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingPackageError, match=rf"'{package}' \(extra 'bbob'\): pip install "):
        get(name)
    with pytest.raises(ImportError):
        get(name)


def test_a_missing_gymnasium_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in [m for m in sys.modules if m.startswith(("gymnasium", "deddqn.envs"))]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    with pytest.raises(MissingPackageError, match=r"\(extra 'gym'\): pip install "):
        import deddqn.envs.gymnasium  # noqa: F401


@pytest.mark.parametrize("reward", ["progress", "rank"])
def test_rewards_that_teach_the_final_error_work_on_bbob(reward: str) -> None:
    pytest.importorskip("ioh")
    from deddqn.training.dqn.reward_tables import reward_tables

    problems = [get("bbob:f1/i1/d2"), get("bbob:f15/i2/d5")]
    tables = reward_tables(reward, problems, SMALL, threads=1)
    for problem, table in zip(problems, tables, strict=True):
        levels, heights = np.split(table, 2)
        assert (np.diff(levels) < 0).all()
        assert (np.diff(heights) >= 0).all()
        assert heights[-1] > 0
        assert (levels >= problem.optimum).all()
        spec = RunSpec(problem=problem, policy=load_policy("random"), config=SMALL, reward=reward, reward_setup=table)
        lanes = VectorizedRuns([spec], threads=1)
        lanes.advance(SMALL.population_size)
        first = lanes.best_values[0]
        lanes.advance()
        rise = np.diff(np.interp([-first, -lanes.best_values[0]], -levels, heights))[0]
        assert lanes.summary()[0, 1] == pytest.approx(rise)
        assert rise > 0


def test_errors_and_rank_scores_on_bbob() -> None:
    pytest.importorskip("ioh")
    from deddqn.evaluation import evaluate_policy, rank_score, reference_errors

    problems = [get("bbob:f1/i1/d2"), get("bbob:f15/i2/d5")]
    found = evaluate_policy(load_policy("random"), problems, repeats=3, config=SMALL, threads=1)
    pool = reference_errors(problems, repeats=3, config=SMALL, threads=1)
    assert found.errors.shape == (2, 3)
    assert pool.shape == (2, 18)
    assert (found.errors >= 0).all()
    assert np.array_equal(found.errors, pool[:, :3])  # random is the first reference, on the same seeds
    assert 0.0 < rank_score(found.errors, pool) < 1.0
