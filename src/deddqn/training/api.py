"""Train a policy by either method: settings in, a policy file out; signals end a training with a checkpoint."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deddqn._utils.disk_errors import clear_errors
from deddqn._utils.optional_imports import need
from deddqn._utils.signals import stopped_by_signals
from deddqn._utils.validation import choice_error
from deddqn.training.config import PRESETS, ClusterConfig, TrainingConfig
from deddqn.training.dqn.rollout import Actors, RolloutSource
from deddqn.training.policy_search.config import SEARCH_PRESETS, PolicySearchConfig
from deddqn.training.policy_search.search import PolicySearch


class TrainingFailed(RuntimeError):
    """The loss became NaN or infinite; what was saved before is intact."""


@dataclass(frozen=True)
class Learned:
    """How far a training is; `policy` is the file to use once it is done."""

    done: bool
    policy: Path
    summary: str


def config_of(values: Mapping[str, Any]) -> TrainingConfig | PolicySearchConfig:
    """Checked settings from JSON values; ``"preset"`` says which kind, and where they start from."""
    name = values.get("preset")
    if name in SEARCH_PRESETS:
        return PolicySearchConfig.from_json(values)
    if name is not None and name not in PRESETS:
        raise choice_error("preset", name, [*PRESETS, *SEARCH_PRESETS])
    return TrainingConfig.from_json(values)


def learn(
    config: TrainingConfig | PolicySearchConfig,
    out: Path,
    *,
    resume: bool = False,
    cluster: ClusterConfig | None = None,
) -> Learned:
    """Train or search until done, stopped by SIGINT or SIGTERM, or out of time; `resume` if there is a checkpoint.

    With `cluster` the actors of a network work there; a policy search stays on this machine.
    """
    if cluster is not None and not isinstance(config, TrainingConfig):
        raise ValueError("cluster must be left out with the presets of the policy search, which stays on one machine")
    with clear_errors(f"train in {out}"):
        if isinstance(config, TrainingConfig):
            return _train(config, out, resume, cluster)
        return _search(config, out, resume)


@contextmanager
def _actors(cluster: ClusterConfig | None) -> Iterator[Callable[..., RolloutSource]]:
    """What makes the source of the rollouts."""
    if cluster is None:
        yield Actors
        return
    need("ray", "work on a cluster", "cluster")
    from deddqn.distributed.training import cluster_actors

    with cluster_actors(cluster) as make:
        yield make


def _train(config: TrainingConfig, out: Path, resume: bool, cluster: ClusterConfig | None) -> Learned:
    need("torch", "training a network", "train")
    _check_device(config.device)
    from deddqn.training.dqn.learner import NonFiniteLossError
    from deddqn.training.dqn.trainer import Trainer

    try:
        with _actors(cluster) as actors:
            trainer = Trainer(config, out, resume=resume, actors=actors)
            with stopped_by_signals(trainer.stop):
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


def _search(config: PolicySearchConfig, out: Path, resume: bool) -> Learned:
    search = PolicySearch(config, out, resume=resume)
    with stopped_by_signals(search.stop):
        score = search.run()
    summary = f"{_state(search.done)}: {search.cma.generation} generations, best rank score {score:.4f} -> {out}"
    return Learned(search.done, out / "softmax.safetensors", summary)


def _state(done: bool) -> str:
    return "done" if done else "stopped; continue with --resume"
