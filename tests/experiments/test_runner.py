"""Running: the same runs as the engine's, in any order and number of workers; trouble stays where it is."""

import numpy as np
import pytest

from deddqn import RunSpec, VectorizedRuns, load_policy
from deddqn.baselines import checkpoints
from deddqn.de import EXTENDED, DEConfig
from deddqn.experiments import Store, compare, plan_experiment, run_experiment
from deddqn.experiments.jobs import run_generator
from deddqn.experiments.methods import policy_fingerprint
from deddqn.experiments.runner import tasks_of
from deddqn.policies import mixture, softmax_policy
from deddqn.problems import Problem, get
from tests.experiments.methods_for_tests import (
    PROBLEMS,
    Dying,
    Failing,
    Lying,
    NotANumber,
    Overrunning,
    RandomSearch,
    rows,
)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("finished")
    summary = compare(["random", "de1", "de3", RandomSearch()], PROBLEMS, runs=3, budget=730, out=folder, workers=2)
    assert (summary.planned, summary.skipped, summary.ran) == (24, 0, 24)
    assert not summary.failed
    assert not summary.flagged
    return folder


def test_a_run_of_the_comparison_is_a_run_of_the_engine(finished):
    frame = Store(finished).read()
    row = frame[(frame.method == "random") & (frame.problem == PROBLEMS[1]) & (frame.repeat == 2)].iloc[0]
    spec = RunSpec(
        problem=get(PROBLEMS[1]), policy=load_policy("random"), config=DEConfig(budget=730), seed=0, repeat=2
    )
    lanes = VectorizedRuns([spec], threads=1)
    for evaluations, best in zip(row.checkpoints, row.best, strict=True):
        lanes.advance(int(evaluations))
        assert lanes.best_values[0] == best
    assert row.error == lanes.errors[0]
    assert row.evaluations == 730
    assert list(row.checkpoints) == checkpoints(730).tolist()
    counts = row.strategy_counts.reshape(-1, 4)
    assert counts.sum(axis=1).tolist() == [100] * 6 + [30]
    assert counts.sum(axis=0).tolist() == lanes.episodes[0].de_state.applications.tolist()


def test_a_policy_with_settings_of_its_own_is_run_with_them(tmp_path):
    weights, own = np.random.default_rng(1).normal(size=(12, 8)), {"final_population": 10}
    policy = softmax_policy(weights, name="own", portfolio=EXTENDED, de=own)
    compare([policy], PROBLEMS[:1], runs=1, budget=730, out=tmp_path)
    row = Store(tmp_path).read().iloc[0]
    config = DEConfig(budget=730, **own)
    lanes = VectorizedRuns(
        [RunSpec(problem=get(PROBLEMS[0]), policy=policy, portfolio=EXTENDED, config=config)], threads=1
    )
    lanes.advance()
    assert row.error == lanes.errors[0] and row.strategy_counts.sum() == 630
    marks = {policy_fingerprint(softmax_policy(weights, portfolio=EXTENDED, de=de)) for de in (own, {}, {"pbest": 0.2})}
    assert len(marks) == 3


def test_all_methods_of_a_repeat_start_from_the_same_population(finished):
    frame = Store(finished).read()
    for _, group in frame[frame.method != "random-search"].groupby(["problem", "repeat"]):
        at_100 = [row.best[list(row.checkpoints).index(100)] for row in group.itertuples()]
        assert len(at_100) == 3
        assert len(set(at_100)) == 1
    starts = [row.best[0] for row in frame[frame.method == "de1"].itertuples()]
    assert len(set(starts)) == 6


def test_a_method_gets_a_generator_of_its_place(finished):
    frame = Store(finished).read()
    row = frame[(frame.method == "random-search") & (frame.problem == PROBLEMS[0]) & (frame.repeat == 1)].iloc[0]
    problem = get(PROBLEMS[0])
    again = RandomSearch().run(problem, 730, run_generator(0, problem, 1))
    assert row.best_value == again.best_value
    assert row.best.tolist() == again.best.tolist()


def test_workers_and_chunks_change_nothing(finished, tmp_path, monkeypatch):
    monkeypatch.setattr("deddqn.experiments.runner.COMPILED_CHUNK", 730)
    compare(["random", "de1", "de3", RandomSearch()], PROBLEMS, runs=3, budget=730, out=tmp_path, workers=1)
    assert rows(tmp_path) == rows(finished)


def test_done_jobs_are_skipped(finished):
    before = sorted(path.name for path in (finished / "results").iterdir())
    summary = compare(["random", "de1", "de3", RandomSearch()], PROBLEMS, runs=3, budget=730, out=finished)
    assert (summary.skipped, summary.ran) == (24, 0)
    assert sorted(path.name for path in (finished / "results").iterdir()) == before


def test_a_lost_file_is_run_again(finished, tmp_path):
    compare(["random", "de1"], PROBLEMS, runs=2, budget=300, out=tmp_path)
    expected = rows(tmp_path)
    file = sorted((tmp_path / "results").iterdir())[0]
    file.write_bytes(file.read_bytes()[:-20])
    summary = compare(["random", "de1"], PROBLEMS, runs=2, budget=300, out=tmp_path)
    assert summary.ran == 2
    assert file.name in summary.notices[0]
    assert "set aside" in summary.notices[0]
    assert rows(tmp_path) == expected


def test_a_failure_is_a_row_and_stops_nothing(tmp_path):
    summary = compare([Failing(), "de1"], PROBLEMS, runs=2, budget=300, out=tmp_path, workers=1)
    assert (summary.ran, len(summary.failed)) == (8, 2)
    bad = [row for row in rows(tmp_path) if row["status"] == "failed"]
    assert [row["problem"] for row in bad] == [PROBLEMS[1]] * 2
    assert bad[0]["note"] == "ArithmeticError: I cannot do this one"
    assert "in run" in Store(tmp_path).read().set_index("key").loc[bad[0]["key"], "traceback"]
    planned = plan_experiment([Failing(), "de1"], PROBLEMS, runs=2, budget=300)
    assert run_experiment(planned, tmp_path).ran == 0
    assert run_experiment(planned, tmp_path, retry_failed=True, workers=1).ran == 2


def test_what_a_method_says_is_checked(tmp_path):
    methods = [Overrunning(), Lying(), NotANumber()]
    summary = compare(methods, PROBLEMS[:1], runs=1, budget=50, out=tmp_path, workers=1)
    found = {row["method"]: row for row in rows(tmp_path)}
    assert len(summary.flagged) == 3
    assert found["overrunning"]["note"] == "it overran its budget: 151 evaluations of 50"
    assert found["overrunning"]["error"] > 1.0
    assert max(found["overrunning"]["checkpoints"]) == 50
    assert "it claims -450, but the best value seen in the box is" in found["lying"]["note"]
    assert found["lying"]["error"] > 1.0
    assert found["not-a-number"]["note"] == "its best value is nan"
    assert np.isnan(found["not-a-number"]["error"])


def test_a_dead_worker_takes_only_its_own_jobs(tmp_path):
    summary = compare([Dying(), RandomSearch()], PROBLEMS[:1], runs=4, budget=50, out=tmp_path, workers=2)
    died = {row.repeat for row in summary.failed}
    expected = {r for r in range(4) if run_generator(0, get(PROBLEMS[0]), r).random() < 0.3}
    assert died == expected
    assert 0 < len(died) < 4
    assert all(row.note == "the process that ran it died" for row in summary.failed)
    assert sum(row["status"] == "ok" for row in rows(tmp_path)) == 8 - len(died)


def test_own_policies_problems_and_methods_mix(tmp_path):
    class Local(RandomSearch):
        name = "local"

    sphere = Problem.from_function(lambda x: float(np.sum(x * x)), [(-1, 1)] * 4, name="sphere", optimum=0.0)
    unknown = Problem.from_function(lambda x: float(np.sum(x)) - 7.0, [(-1, 1)] * 3, name="no-optimum")
    methods = [mixture([0.1, 0.2, 0.3, 0.4]), Local(), "de1"]
    summary = compare(methods, [sphere, unknown, PROBLEMS[0]], runs=2, budget=250, out=tmp_path)
    assert (summary.ran, summary.failed, summary.flagged) == (18, [], [])
    found = rows(tmp_path)
    assert {row["method"] for row in found} == {"mixture:0.1,0.2,0.3,0.4", "local", "de1"}
    assert all(np.isnan(row["error"]) == (row["problem"] == "no-optimum") for row in found)


def test_an_objective_that_raises_fails_alone(tmp_path):
    calls = []

    def fragile(x):
        calls.append(1)
        if len(calls) == 420:
            raise ZeroDivisionError("once")
        return float(np.sum(x))

    problem = Problem.from_function(fragile, [(-1, 1)] * 3, name="fragile")
    summary = compare(["de1"], [problem], runs=3, budget=200, out=tmp_path, workers=1)
    assert summary.ran == 3  # the chunk failed once; alone, every run went through
    assert not summary.failed


def test_methods_in_python_come_first_and_chunks_are_small():
    planned = plan_experiment(["de1", RandomSearch()], PROBLEMS, runs=25, budget=10_000)
    tasks = list(tasks_of(planned, planned.plan.jobs))
    assert [task.in_process for task in tasks] == [True] * 10 + [False] * 2
    assert {len(task.jobs) for task in tasks} == {5, 25}


def test_threads_do_not_share_the_scratch_of_a_problem(tmp_path):
    class Local(RandomSearch):
        name = "local"

    problem = "cec2005:F15/d10"  # a composition: its kernel needs scratch
    compare([Local()], [problem], runs=8, budget=400, out=tmp_path / "many", workers=4)
    compare([Local()], [problem], runs=8, budget=400, out=tmp_path / "one", workers=1)
    assert rows(tmp_path / "many") == rows(tmp_path / "one")


def test_noise_does_not_depend_on_the_method(tmp_path):
    class First(RandomSearch):
        name = "first"

    class Second(RandomSearch):
        name = "second"

    compare([First(), Second()], ["cec2005:F4/d10"], runs=2, budget=120, out=tmp_path)
    found = rows(tmp_path)
    for repeat in range(2):
        first, second = (
            [r["best"] for r in found if (r["method"], r["repeat"]) == (m, repeat)] for m in ("first", "second")
        )
        assert first == second
