"""One door to both trainers: settings in, a policy file out; signals end it with a checkpoint."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deddqn.names import choice_error
from deddqn.problems.packages import need
from deddqn.training.config import PRESETS, TrainingConfig
from deddqn.training.search import SEARCH_PRESETS, Search, SearchConfig


class TrainingFailed(RuntimeError):
    """The loss became NaN or infinite; what was saved before is intact."""


@dataclass(frozen=True)
class Learned:
    """How far a training is; `policy` is the file to use once it is done."""

    done: bool
    policy: Path
    summary: str


def config_of(values: Mapping[str, Any]) -> TrainingConfig | SearchConfig:
    """Checked settings from JSON values; ``"preset"`` says which kind, and where they start from."""
    name = values.get("preset")
    if name in SEARCH_PRESETS:
        return SearchConfig.from_json(values)
    if name is not None and name not in PRESETS:
        raise choice_error("preset", name, [*PRESETS, *SEARCH_PRESETS])
    return TrainingConfig.from_json(values)


def learn(config: TrainingConfig | SearchConfig, out: Path, *, resume: bool = False) -> Learned:
    """Train or search until done, stopped by SIGINT or SIGTERM, or out of time; `resume` if there is a checkpoint."""
    return _search(config, out, resume) if isinstance(config, SearchConfig) else _train(config, out, resume)


def _train(config: TrainingConfig, out: Path, resume: bool) -> Learned:
    need("torch", "training a network", "train")
    _check_device(config.device)
    from deddqn.training.learner import NonFiniteLossError
    from deddqn.training.trainer import Trainer

    trainer = Trainer(config, out, resume=resume)
    try:
        with _stopped_by_signals(trainer):
            result = trainer.run()
    except NonFiniteLossError as error:
        raise TrainingFailed(str(error)) from error
    kept = "ranked" if result.best_rank is not None else "best"
    summary = (
        f"{_state(result.done)}: {result.cycles} cycles, {result.evaluations:,} evaluations, "
        f"{result.updates:,} updates, best mean return {result.best_return:.6g} (cycle {result.best_cycle}) -> {out}"
    )
    return Learned(result.done, out / f"{kept}.safetensors", summary)


def _check_device(device: str) -> None:
    import torch

    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0]
        raise ValueError(f"device must be one that torch has here, such as 'cpu', got {device!r}: {reason}") from None


def _search(config: SearchConfig, out: Path, resume: bool) -> Learned:
    search = Search(config, out, resume=resume)
    with _stopped_by_signals(search):
        score = search.run()
    summary = f"{_state(search.done)}: {search.cma.generation} generations, best rank score {score:.4f} -> {out}"
    return Learned(search.done, out / "searched.safetensors", summary)


def _state(done: bool) -> str:
    return "done" if done else "stopped; go on with --resume"


@contextmanager
def _stopped_by_signals(trainer: Any) -> Iterator[None]:
    """Let SIGINT and SIGTERM end the training with a checkpoint, and mean what they did before afterwards."""

    def stop(number: int, frame: Any) -> None:
        trainer.stopped = True

    before = {sign: signal.signal(sign, stop) for sign in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for sign, handler in before.items():
            signal.signal(sign, handler)
