"""Where weights come from: settings, problems, versions and commit, stored in every policy file."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import deddqn
from deddqn._utils.versions import versions
from deddqn.problems import Problem
from deddqn.training.config import PRESETS, TrainingConfig

LIBRARIES = ("numpy", "numba", "torch")
"""What the numbers may depend on."""

CURVE_POINTS = 200  # of the learning curve that goes into a policy file

_APART = (
    *("device", "threads", "learner_threads", "seed", "tensorboard"),
    *("checkpoint", "checkpoint_seconds", "max_seconds", "evaluate_every", "evaluate_repeats"),
)
"""Settings that say where and how to run, not what is learned."""


def commit() -> str | None:
    """The commit that the package lies in, None where there is no repository."""
    try:
        done = subprocess.run(
            ["git", "rev-parse", "HEAD"], cwd=Path(deddqn.__file__).parent, capture_output=True, text=True, timeout=5
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() or None if done.returncode == 0 else None


def deviations(config: TrainingConfig) -> dict[str, list[Any]]:
    """Settings that differ from the paper's: name -> [paper, here]; the paper learns from rewards as they are."""
    preset = PRESETS.get(f"paper-{config.reward.lower()}", {})
    paper = TrainingConfig(**{**preset, "reward_scale": 1.0}).to_json()
    return {k: [paper[k], v] for k, v in config.to_json().items() if v != paper[k] and k not in _APART}


def thinned(curve: Sequence[tuple[int, float]]) -> list[list[float]]:
    """Means of equal parts of the curve: [last cycle of the part, mean return]."""
    parts = np.array_split(np.array(curve, dtype=float).reshape(-1, 2), min(CURVE_POINTS, max(len(curve), 1)))
    return [[float(part[-1, 0]), float(part[:, 1].mean())] for part in parts if len(part)]


def provenance_of(config: TrainingConfig, problems: Sequence[Problem], **results: Any) -> dict[str, Any]:
    """The provenance of a policy file; the same training gives the same one."""
    return {
        "trained_by": "Double DQN (Algorithm 1)",
        "config": config.to_json(),
        "deviations": deviations(config),
        "problems": [problem.name for problem in problems],
        "commit": commit(),
        "versions": versions(LIBRARIES),
        **results,
    }
