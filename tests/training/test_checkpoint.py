"""Checkpoints: whole or not there, small files, and a training that is killed anywhere ends with the same bits."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from deddqn._utils.lock import FolderInUse
from deddqn.training.checkpoint import checkpoints, load_checkpoint, save_checkpoint
from deddqn.training.config import TrainingConfig
from deddqn.training.dqn.replay_buffer import ReplayBuffer
from deddqn.training.dqn.trainer import Trainer, train
from deddqn.training.policy_search.config import PolicySearchConfig
from deddqn.training.policy_search.search import PolicySearch

MIB = 2**20


def test_arrays_of_any_size_come_back_in_small_files(tmp_path, monkeypatch):
    monkeypatch.setattr("deddqn.training.checkpoint.FILE_LIMIT", 1000)
    rng = np.random.default_rng(0)
    arrays = {
        "large": rng.random((7, 11, 13)),
        "words": rng.integers(2**63, size=(3, 4)).astype(np.uint64),
        "scalar": np.array(3.0, dtype=np.float32),
        "flags": rng.random(50) > 0.5,
    }
    for number in (1, 2):
        save_checkpoint(tmp_path, number, arrays, {"number": number})
    found, state = load_checkpoint(tmp_path)
    assert state == {"number": 2} and len(checkpoints(tmp_path)) == 1
    assert found.keys() == arrays.keys()
    for name, array in arrays.items():
        assert found[name].dtype == array.dtype
        np.testing.assert_array_equal(found[name], array)
    assert max(path.stat().st_size for path in tmp_path.rglob("*.safetensors")) < 2000


def test_a_checkpoint_that_was_not_finished_is_not_seen(tmp_path):
    save_checkpoint(tmp_path, 1, {"a": np.arange(3)}, {})
    (tmp_path / ".checkpoint-00000002.tmp").mkdir()
    assert [path.name for path in checkpoints(tmp_path)] == ["checkpoint-00000001"]


def test_a_checkpoint_that_fails_leaves_the_last_one_and_nothing_else(tmp_path, monkeypatch):
    save_checkpoint(tmp_path, 1, {"a": np.arange(3)}, {})

    def full(handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        save_checkpoint(tmp_path, 2, {"a": np.arange(4)}, {})
    assert [path.name for path in tmp_path.iterdir()] == ["checkpoint-00000001"]


def test_weights_that_are_not_finite_are_not_saved(tmp_path):
    with pytest.raises(ValueError, match="not finite"):
        save_checkpoint(tmp_path, 1, {"learner/primary": np.array([1.0, np.nan])}, {})
    assert not checkpoints(tmp_path)


def test_a_full_checkpoint_with_the_papers_buffer_is_small(tmp_path):
    trainer = Trainer(TrainingConfig(tensorboard=False), tmp_path, quiet=True)
    trainer.buffer.count.fill_(trainer.buffer.per_run)  # as after 10^5 decisions
    trainer.buffer.states.uniform_()
    trainer.save()
    trainer.close()
    sizes = [path.stat().st_size for path in checkpoints(tmp_path)[-1].iterdir()]
    assert max(sizes) <= 16 * MIB and sum(sizes) <= 48 * MIB
    assert isinstance(trainer.buffer, ReplayBuffer) and sum(sizes) > 30 * MIB


def test_other_settings_cannot_resume(tmp_path):
    settings = {"problems": ("cec2005:F1/d10",), "budget": 300, "learning_starts": 100, "tensorboard": False}
    trainer = Trainer(TrainingConfig(**settings), tmp_path, quiet=True)
    trainer.save()
    trainer.close()
    with pytest.raises(ValueError, match="gamma must be 0.99 to resume this training, got 0.9"):
        Trainer(TrainingConfig(**settings, gamma=0.9), tmp_path, resume=True)


@pytest.mark.parametrize("resume", [False, True])
def test_a_second_training_in_the_folder_is_refused_and_changes_nothing(tmp_path, resume):
    """Whatever the first one has stored so far: its log would hold cycles twice."""
    settings = {"problems": ("cec2005:F1/d10",), "budget": 300, "learning_starts": 100, "tensorboard": False}
    search = PolicySearchConfig(problems=("cec2005:F1/d10",), budget=300)
    trainer = Trainer(TrainingConfig(**settings), tmp_path, quiet=True)
    trainer.log.event("cycle", 300, cycle=1)
    trainer.log.flush()
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    for second in (
        lambda: Trainer(TrainingConfig(**settings), tmp_path, resume=resume),
        lambda: PolicySearch(search, tmp_path, resume=resume),
    ):
        with pytest.raises(FolderInUse, match=f"in use by another process .pid {os.getpid()} on "):
            second()
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
    trainer.close()
    Trainer(TrainingConfig(**settings), tmp_path, quiet=True).close()


def test_what_a_killed_training_left_of_a_checkpoint_is_removed(tmp_path):
    settings = {"problems": ("cec2005:F1/d10",), "budget": 300, "learning_starts": 100, "tensorboard": False}
    (tmp_path / ".checkpoint-00000007.123.0a1b2c3d.tmp").mkdir()
    (tmp_path / ".mine.tmp").mkdir()
    Trainer(TrainingConfig(**settings), tmp_path, quiet=True).close()
    assert sorted(path.name for path in tmp_path.iterdir()) == [".lock", ".mine.tmp", "log.jsonl"]


def test_a_folder_in_use_is_refused_without_resume(tmp_path):
    """By whichever door: the trainer itself, `train`, and the same for a search; what is there stays as it is."""
    settings = {"problems": ("cec2005:F1/d10",), "budget": 300, "learning_starts": 100, "tensorboard": False}
    trainer = Trainer(TrainingConfig(**settings), tmp_path, resume=True, quiet=True)  # nothing there yet: it begins
    trainer.save()
    trainer.close()
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    search = PolicySearchConfig(problems=("cec2005:F1/d10",), budget=300)
    for begin in (
        lambda: Trainer(TrainingConfig(**settings), tmp_path),
        lambda: train(TrainingConfig(**settings), tmp_path),
        lambda: PolicySearch(search, tmp_path),
    ):
        with pytest.raises(
            ValueError, match="holds a training already: continue with --resume, or choose another folder"
        ):
            begin()
    with pytest.raises(ValueError, match="holds the training of a network, which --resume does not continue here;"):
        PolicySearch(search, tmp_path, resume=True)
    file = tmp_path / "file"
    file.write_text("mine")
    with pytest.raises(ValueError, match="out must be a folder, got the file"):
        train(TrainingConfig(**settings), file)
    file.unlink()
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_a_checkpoint_of_another_version_or_a_damaged_one_says_so(tmp_path):
    settings = {"problems": ("cec2005:F1/d10",), "budget": 300, "learning_starts": 100, "tensorboard": False}
    trainer = Trainer(TrainingConfig(**settings), tmp_path, quiet=True)
    trainer.save()
    trainer.close()
    path = checkpoints(tmp_path)[-1] / "state.json"
    state = json.loads(path.read_text())
    del state["config"]["generation_exploration"], state["format"], state["sha256"]
    path.write_text(json.dumps(state))
    with pytest.raises(ValueError, match="does not continue here .it is of another version.; choose another folder"):
        train(TrainingConfig(**settings), tmp_path, resume=True)
    path.write_text("{")
    with pytest.raises(ValueError, match="the checkpoint in .* is damaged .*; train again in another folder"):
        train(TrainingConfig(**settings), tmp_path, resume=True)


def without_checksum(folder, change):
    """Change the state of the newest checkpoint, as one of 0.1.0 that has no checksum."""
    path = checkpoints(folder)[-1] / "state.json"
    state = json.loads(path.read_text())
    del state["format"], state["sha256"]
    change(state)
    path.write_text(json.dumps(state))


def changed_arrays(folder, name, change):
    """Change an array of the newest checkpoint."""
    without_checksum(folder, lambda state: None)
    for path in checkpoints(folder)[-1].glob("arrays-*"):
        arrays = load_file(path)
        if name in arrays:
            arrays[name] = change(arrays[name])
            save_file(arrays, path)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole") / "training"
    settings = {"problems": ("cec2005:F1/d10",), "budget": 300, "learning_starts": 100, "tensorboard": False}
    trainer = Trainer(TrainingConfig(**settings, n_runs=4, buffer_size=1000), folder, quiet=True)
    for rollout in trainer.actors.rollouts(lambda: trainer.decisions < 200, overlapped=False):
        trainer.train_on(rollout)
    trainer.save()
    trainer.close()
    return folder, TrainingConfig(**settings, n_runs=4, buffer_size=1000)


def with_element(array, index, value):
    array = array.copy()
    array[index] = value
    return array


STATES = {
    "updates": [-1, 1.5, "x", None],
    "stored": [-1, []],
    "evaluations": [{}, -3],
    "loss": ["nan", None],
    "log": [-1, "0"],
    "cycle_returns": [[], {}, {"problems": 0, "open": {}, "curve": [], "best": None, "best_cycle": -1}],
    "config": [[], None, 3],
}
ARRAYS = {
    "learner/primary": [lambda a: a[:-1], lambda a: a.astype(np.int64), lambda a: with_element(a, 0, np.nan)],
    "learner/generator": [lambda a: a.astype(np.float32), lambda a: a.reshape(1, -1)],
    "buffer/head": [lambda a: with_element(a, 0, 10**9), lambda a: with_element(a, 0, -1)],
    "buffer/count": [lambda a: with_element(a, 0, 10**9)],
    "buffer/actions": [lambda a: with_element(a, (0, 0, 0), 200)],
    "buffer/states": [lambda a: a[:, :, :-1], lambda a: a[:-1], lambda a: a.ravel()],
    "actors/numbers": [lambda a: a[:-1], lambda a: -1 - a, lambda a: a.astype(np.float64)],
    "actors/arenas": [lambda a: a[:, :-1], lambda a: with_element(a, (0, 3), 1e9), lambda a: np.zeros_like(a)],
    "kept/best/0/weight": [lambda a: a[:-1], lambda a: with_element(a, (0, 0), np.inf)],
}


def refused(whole, tmp_path, change):
    made, config = whole
    folder = shutil.copytree(made, tmp_path / "training")
    change(folder)
    with pytest.raises(ValueError, match=r"the checkpoint in .* is damaged \(.*\); train again in another folder"):
        Trainer(config, folder, resume=True, quiet=True)
    shutil.rmtree(folder)


def test_a_whole_checkpoint_of_an_older_version_is_continued(whole, tmp_path):
    folder = shutil.copytree(whole[0], tmp_path / "training")
    without_checksum(folder, lambda state: None)
    Trainer(whole[1], folder, resume=True, quiet=True).close()


@pytest.mark.parametrize("name", STATES)
def test_wrong_states_are_refused(name, whole, tmp_path):
    for value in STATES[name]:
        refused(whole, tmp_path, lambda f, v=value: without_checksum(f, lambda state: state.update({name: v})))


@pytest.mark.parametrize("name", ARRAYS)
def test_wrong_arrays_are_refused(name, whole, tmp_path):
    for change in ARRAYS[name]:
        refused(whole, tmp_path, lambda f, change=change: changed_arrays(f, name, change))


def test_changed_bytes_are_noticed(whole, tmp_path):
    def flip(folder):
        path = max(checkpoints(folder)[-1].glob("arrays-*"), key=lambda path: path.stat().st_size)
        content = bytearray(path.read_bytes())
        content[-100] ^= 1
        path.write_bytes(content)

    refused(whole, tmp_path, flip)


KILLED = {
    "problems": ["cec2005:F1/d10", "cec2005:F8/d30", "cec2005:F24/d10"],
    "population_size": 20,
    "budget": 300,
    "hidden": [24, 24],
    "batch_size": 16,
    "replay_ratio": 16.0,
    "buffer_size": 1500,
    "learning_starts": 300,
    "n_runs": 2,
    "rollout_steps": 3,
    "cycles": 4,
    "evaluate_every": 2,
    "evaluate_repeats": 2,
    "checkpoint_seconds": 0.15,
    "tensorboard": False,
}


def start(folder: Path, *options: str) -> subprocess.Popen:
    config = folder.parent / "config.json"
    config.write_text(json.dumps(KILLED))
    command = [sys.executable, "-m", "deddqn.training", str(config), "--out", str(folder), *options]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def results(folder: Path) -> dict[str, object]:
    """What a training leaves behind, without times."""
    files = {path.name: path.read_bytes() for path in sorted(folder.glob("*.safetensors"))}
    lines = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
    return files | {"log": [{k: v for k, v in line.items() if k != "seconds"} for line in lines]}


def killed_at_random(folder: Path, kills: int, seed: int) -> int:
    """Kill the training so many times, each time a random moment after it wrote a checkpoint; then let it end."""
    rng, done = np.random.default_rng(seed), 0
    for _ in range(kills):
        process = start(folder, "--resume")
        before = [path.name for path in checkpoints(folder)]
        while process.poll() is None and [path.name for path in checkpoints(folder)] == before:
            time.sleep(0.01)
        time.sleep(rng.uniform(0.0, 0.6))
        if process.poll() is None:
            os.kill(process.pid, signal.SIGKILL)
            done += 1
        process.communicate()
    process = start(folder, "--resume")
    assert process.wait() == 0, process.stderr.read()
    return done


@pytest.mark.parametrize("kills", [2, pytest.param(5, marks=pytest.mark.slow)])
def test_a_killed_training_ends_with_the_same_bits(tmp_path, kills):
    whole = start(tmp_path / "whole")
    assert whole.wait() == 0, whole.stderr.read()
    assert killed_at_random(tmp_path / "killed", kills, seed=kills) >= 1
    assert results(tmp_path / "killed") == results(tmp_path / "whole")
    assert {"best.safetensors", "final.safetensors", "ranked.safetensors"} <= results(tmp_path / "whole").keys()


def test_a_light_checkpoint_keeps_what_was_learned(tmp_path):
    settings = {**KILLED, "checkpoint": "light", "problems": tuple(KILLED["problems"]), "hidden": (24, 24)}
    trainer = Trainer(TrainingConfig(**settings), tmp_path, quiet=True)
    for rollout in trainer.actors.rollouts(lambda: trainer.decisions < 900, overlapped=False):
        trainer.train_on(rollout)
    trainer.save()
    trainer.close()
    assert sum(path.stat().st_size for path in checkpoints(tmp_path)[-1].iterdir()) < MIB
    other = Trainer(TrainingConfig(**settings), tmp_path, resume=True, quiet=True)
    assert (other.learner.primary.flat == trainer.learner.primary.flat).all()
    assert (other.learner.updates, other.decisions) == (trainer.learner.updates, trainer.decisions)
    assert other.run().done
