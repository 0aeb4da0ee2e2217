"""Checkpoints of trainings: made, forged, used."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from deddqn._utils.plain_json import CHECKSUM, checksum
from deddqn._utils.reading import array_parts
from tests.fuzz.meaning import array_parts_bytes, digest, dumped, plain
from tests.fuzz.mutations import mutated_array, mutated_json


def training() -> Any:
    """The settings of the small training."""
    from deddqn.training.config import TrainingConfig

    settings = {"problems": ("cec2005:F1/d10",), "budget": 300, "learning_starts": 100, "tensorboard": False}
    return TrainingConfig(**settings, n_runs=3, buffer_size=300, hidden=(8,), threads=1)


def make_checkpoints(folder: Path) -> list[str]:
    """A small training with everything in its checkpoint."""
    from deddqn.training.dqn.trainer import Trainer

    trainer = Trainer(training(), folder / "training", quiet=True)
    for rollout in trainer.actors.rollouts(lambda: trainer.decisions < 200, overlapped=False):
        trainer.train_on(rollout)
    trainer.save()
    trainer.close()
    return ["training"]


def newest(folder: Path) -> Path:
    """The checkpoint."""
    return sorted(folder.glob("checkpoint-*"))[-1]


def forge_checkpoint(rng: Random, folder: Path) -> None:
    """State or arrays changed."""
    from safetensors.numpy import load_file, save_file

    checkpoint = newest(folder)
    path = checkpoint / "state.json"
    state = json.loads(path.read_text())
    state.pop(CHECKSUM)
    files = {file: load_file(file) for file in sorted(checkpoint.glob("arrays-*"))}
    if rng.random() < 0.4:
        state = mutated_json(rng, state)
    else:
        file = rng.choice(sorted(files))
        name = rng.choice(sorted(files[file]))
        name = rng.choice((name, "actors/arenas")) if "actors/arenas" in files[file] else name
        files[file][name] = np.ascontiguousarray(mutated_array(rng, files[file][name]))
        save_file(files[file], file)
    arrays = {name: array for found in files.values() for name, array in found.items()}
    if isinstance(state, dict):
        state[CHECKSUM] = checksum(json.loads(dumped(state)), *array_parts(arrays))
    path.write_text(dumped(state))


def use_checkpoint(folder: Path) -> Any:
    """Resume, and train on one more rollout."""
    from deddqn.training.checkpoint import load_checkpoint
    from deddqn.training.dqn.learner import NonFiniteLossError
    from deddqn.training.dqn.trainer import Trainer

    arrays, state = load_checkpoint(folder)
    trainer = Trainer(training(), folder, resume=True, quiet=True)
    meaning = digest(plain(state), *array_parts_bytes(arrays))
    try:
        until = trainer.decisions + 1
        for rollout in trainer.actors.rollouts(lambda: trainer.decisions < until, overlapped=False):
            trainer.train_on(rollout)
    except NonFiniteLossError as error:  # of weights that are finite but huge: the user is told
        raise ValueError(str(error)) from None
    finally:
        trainer.close()
    return meaning


def state_checkpoint(folder: Path) -> Any:
    """State and arrays, by the libraries' own readers."""
    from safetensors.numpy import load_file

    state = json.loads((newest(folder) / "state.json").read_text())
    arrays = {name: array for file in newest(folder).glob("arrays-*") for name, array in load_file(file).items()}
    kept = {key: value for key, value in state.items() if key not in (CHECKSUM, "format")}
    return digest(plain(kept), *array_parts_bytes(arrays))
