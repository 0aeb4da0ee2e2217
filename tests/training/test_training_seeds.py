"""Trainings with many seeds: they share the time, go on after a kill, and are judged beside the paper's numbers."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from benchmarks import seed_tables
from benchmarks.training_seeds import (
    Training,
    kept_trainings,
    main,
    parser,
    planned,
    settings,
    stage_ends,
    stages_of,
    train_all,
)
from deddqn._utils.lock import FolderLock
from deddqn.analysis.comparison import MeasuredCell
from deddqn.analysis.paper_tables import Cell
from deddqn.policies import load_policy_file
from deddqn.training.api import TrainingFailed
from deddqn.training.config import TrainingConfig
from deddqn.training.provenance import deviations
from tests.docs.blocks import ROOT

PROBLEM = "cec2005:F1/d10"
SMALL = {
    "problems": [PROBLEM, "cec2005:F6/d10"],
    "population_size": 20,
    "budget": 300,
    "hidden": [8],
    "batch_size": 16,
    "replay_ratio": 2.0,
    "buffer_size": 500,
    "learning_starts": 100,
    "n_runs": 2,
    "rollout_steps": 5,
}


def command(name, out, *more):
    return [name, "--out", str(out), "--settings", json.dumps(SMALL), *more]


def weights(out):
    return {k.name: np.array(k.policy.setup) for k in kept_trainings(out)}


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """Two rewards, two seeds, three stages of one cycle."""
    out = tmp_path_factory.mktemp("seeds")
    assert main(command("train", out, "--rewards", "R1", "R2", "--seeds", "2", "--cycles", "3", "--stages", "3")) == 0
    return out


def test_settings_are_those_of_table_2_but_for_runs_side_by_side():
    for reward, more in (("R1", {"reward_scale"}), ("R3", set())):
        assert deviations(settings(reward, 3, {})).keys() == {"n_runs"} | more
        assert deviations(settings(reward, 3, {"device": "cuda"})).keys() == {"n_runs", "synchronous"} | more
    assert deviations(settings("R2", 3, {"n_runs": 1})) == {}
    config = settings("R2", 3, {})
    assert (config.seed, config.cycles, config.buffer_size, config.learning_starts) == (3, 1890, 100_000, 10_000)


@pytest.mark.parametrize(("batch", "copy"), [(64, 1000), (4096, 16), (65_536, 1)])
def test_the_target_is_copied_after_as_many_evaluations_with_any_batch(batch, copy):
    assert settings("R2", 0, {"batch_size": batch}).target_update_interval == copy
    assert (
        settings("R2", 0, {"batch_size": batch, "target_copy": 64_000}).target_update_interval == 64_000 * 64 // batch
    )


def test_the_length_may_be_given_in_evaluations(tmp_path):
    options = parser().parse_args(["train", "--out", str(tmp_path), "--evaluations", "6.05e8"])
    plan = planned(options)
    assert len({t.folder for t in plan}) == len(plan) == 15
    assert {t.config.cycles for t in plan} == {1891}


def test_stages_end_at_the_whole_length():
    assert stage_ends(10, 4) == [2, 5, 8, 10]
    assert stage_ends(2, 20) == [1, 2]


def test_stages_change_nothing(trained, tmp_path):
    """A training in three stages, between others, ends with the weights of one that was never stopped."""
    assert main(command("train", tmp_path, "--rewards", "R2", "--seeds", "1", "--cycles", "3", "--stages", "1")) == 0
    np.testing.assert_array_equal(weights(tmp_path)["r2-seed0"], weights(trained)["r2-seed0"])
    assert not np.array_equal(weights(trained)["r2-seed0"], weights(trained)["r2-seed1"])
    assert {folder.name: sorted(stages_of(folder)) for folder in trained.glob("*-seed*")} == {
        f"r{reward}-seed{seed}": [1, 2, 3] for reward in (1, 2) for seed in (0, 1)
    }


def test_what_is_finished_is_skipped(trained, monkeypatch):
    monkeypatch.setattr("benchmarks.training_seeds.learn", None)
    assert main(command("train", trained, "--rewards", "R1", "R2", "--seeds", "2", "--cycles", "3")) == 0


def in_turn(tmp_path, monkeypatch, learn, **limits):
    """The trainings that got a stage, in order; `learn` says whether it was finished."""
    turns = []

    def one(training, stages, seconds):
        turns.append(training.name)
        training.folder.mkdir(exist_ok=True)
        with FolderLock(training.folder, ".stage"):
            done = learn(training.name)
            if done:
                (training.folder / f"at-{training.reached + 1:06d}").mkdir()
        return done

    monkeypatch.setattr(Training, "advance", one)
    plan = [Training(tmp_path / name, TrainingConfig(cycles=2)) for name in ("a", "b", "c")]
    return turns, train_all(plan, 2, **limits)


def test_the_shortest_training_is_next(tmp_path, monkeypatch):
    (tmp_path / "a" / "at-000001").mkdir(parents=True)
    turns, failed = in_turn(tmp_path, monkeypatch, lambda name: True)
    assert turns == ["b", "c", "a", "b", "c"] and failed == []


def test_a_training_that_fails_or_is_taken_does_not_stop_the_others(tmp_path, monkeypatch):
    def learn(name):
        if name == "b":
            raise TrainingFailed("the loss is nan")
        return True

    (tmp_path / "a").mkdir()
    with FolderLock(tmp_path / "a", ".stage"):
        turns, failed = in_turn(tmp_path, monkeypatch, learn)
    assert failed == ["b"]
    assert [name for name in turns if name != "a"] == ["b", "c", "c"]


def test_the_time_ends(tmp_path, monkeypatch):
    clock = iter(range(100))
    monkeypatch.setattr("benchmarks.training_seeds.time.monotonic", lambda: float(next(clock)))
    turns, _ = in_turn(tmp_path, monkeypatch, lambda name: True, max_seconds=3.5)
    assert turns == ["a", "b"]


def interrupted(words, out, sign):
    """Start the command, send a signal after the first stage, and return the status."""
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
    start = [sys.executable, "-m", "benchmarks.training_seeds", *words]
    running = subprocess.Popen(start, env=environment, stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 120
    while not list(out.glob("*/at-*")) and time.monotonic() < deadline:
        time.sleep(0.01)
    running.send_signal(sign)
    return running.wait()


@pytest.mark.parametrize(("sign", "together"), [(signal.SIGKILL, 1), (signal.SIGTERM, 2)])
def test_stopped_and_called_again(trained, tmp_path, sign, together):
    """Killed, or two processes stopped by a signal to the first: the same weights in the end."""
    words = command("train", tmp_path, "--rewards", "R1", "R2", "--seeds", "2", "--cycles", "3", "--stages", "3")
    status = interrupted([*words, "--together", str(together)], tmp_path, sign)
    assert status == (-signal.SIGKILL if sign == signal.SIGKILL else 0)
    stages = len(list(tmp_path.glob("*/at-*")))
    assert 0 < stages <= 12
    assert main(words) == 0
    found, wanted = weights(tmp_path), weights(trained)
    assert found.keys() == wanted.keys()
    for name, values in found.items():
        np.testing.assert_array_equal(values, wanted[name])


def test_a_stage_that_all_have(trained, tmp_path):
    for folder in trained.glob("*-seed*"):
        (tmp_path / folder.name).symlink_to(folder)
    short = tmp_path / "r1-seed0"
    short.unlink()
    short.mkdir()
    (short / "at-000002").symlink_to(trained / "r1-seed0" / "at-000002")
    assert {k.config.cycles for k in kept_trainings(tmp_path)} == {2}
    assert [k.name for k in kept_trainings(tmp_path, 3)] == ["r1-seed1", "r2-seed0", "r2-seed1"]
    with pytest.raises(ValueError, match="out must be a folder with trainings"):
        kept_trainings(tmp_path / "none")


def test_an_evaluation_beside_entries_of_the_paper(trained, tmp_path, monkeypatch, capsys):
    """On a training problem, with made entries: R1's is far away, R2's lower than any."""
    entries = {"ddqn-r1": Cell(PROBLEM, "ddqn-r1", 1e9, 1.0), "ddqn-r2": Cell(PROBLEM, "ddqn-r2", 1.0, 1.0)}
    monkeypatch.setattr("deddqn.analysis.comparison.Analysis.paper_cell", lambda self, method, problem: entries[method])
    words = ["evaluate", "--out", str(trained), "--runs", "3", "--problems", PROBLEM, "--budget", "300"]
    assert main([*words, "--markdown", str(tmp_path / "table.md")]) == 0
    text = (tmp_path / "table.md").read_text()
    assert text.strip() == capsys.readouterr().out.strip()
    assert "the paper's mean lies between the means of 2 seeds on 0 of 1 problems" in text
    for reward, best in most_rewarded(trained).items():
        assert f"- {best}, kept by the paper's rule: 0 equivalent, " in text
        assert f"## {reward.upper()}: all seeds" in text
    assert "r1-seed0: 0 equivalent, 0 undecided, 1 different" in text.replace(", kept by the paper's rule", "")


def most_rewarded(out):
    """The training with the most reward accumulated, by reward."""
    kept = {k.name: k.mean_return for k in kept_trainings(out)}
    return {r: max((name for name in kept if name.startswith(r)), key=kept.__getitem__) for r in ("r1", "r2")}


def test_the_choice_is_made_by_training_reward_and_shipped(trained, tmp_path, capsys):
    assert main(["choose", "--out", str(trained), "--repeats", "1", "--ship", str(tmp_path)]) == 0
    text = capsys.readouterr().out
    assert "batch_size 16 (64)" in text and "| random " in text and "## R2: trainings" in text
    kept = {k.name: k for k in kept_trainings(trained)}
    for reward, best in most_rewarded(trained).items():
        assert f"Most reward accumulated in training: {best}" in text
        policy = load_policy_file(tmp_path / f"ddqn-{reward}.safetensors")
        np.testing.assert_array_equal(policy.setup, kept[best].policy.setup)
        found, trained_with = policy.metadata["provenance"], kept[best].policy.metadata["provenance"]
        assert policy.name == f"ddqn-{reward}" and trained_with.items() <= found.items()
        assert found["mean_return_of_seeds"] == {
            str(k.config.seed): k.mean_return for name, k in kept.items() if name.startswith(reward)
        }
        assert (found["updates"], found["kept"]) == (kept[best].summary["updates"], "best")


def cell(method, errors, paper):
    return {PROBLEM: MeasuredCell(method, PROBLEM, np.array(errors), paper, *(1.0,) * 4)}


def test_the_range_of_the_seeds():
    paper = Cell(PROBLEM, "ddqn-r2", 2.0, 1.0)
    cells = {
        name: cell(name, [error], paper) for name, error in (("r2-seed0", 1.0), ("r2-seed1", 4.0), ("r2-seed2", 3.0))
    }
    row = seed_tables.seeds_table(cells, ["r2-seed0", "r2-seed1", "r2-seed2"], "R2").rows[0]
    assert row == ("F1-10", "1.00 ?", "4.00 ?", "3.00 ?", "1.00", "3.00", "4.00", "2.00", "yes")
    said = seed_tables.answer(cells, ["r2-seed1", "r2-seed2"], "R2", "r2-seed1")
    assert "between the means of 2 seeds on 0 of 1 problems; that of a further seed would on 0.3 of them" in said
    assert "is 1.33 times the smallest one" in said


def test_an_ablation(tmp_path, capsys):
    small = {key: value for key, value in SMALL.items() if key not in ("batch_size", "replay_ratio")}
    words = [
        "ablate",
        "--out",
        str(tmp_path),
        "--cycles",
        "1",
        "--batch-size",
        "16",
        "--replay-ratio",
        "2",
        "--repeats",
        "1",
    ]
    words += ["--variants", "as-trained", "copy-64000", "runs-1", "--settings", json.dumps(small)]
    assert main(words) == 0
    text = capsys.readouterr().out
    assert all(f"| r2-{name}-seed0 " in text for name in ("as-trained", "copy-64000", "runs-1"))
    assert "n_runs 2 (1)" in text and "replay_ratio 2.0 (64.0)" in text
