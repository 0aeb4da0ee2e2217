"""What needs more than a run: the functions of CEC2005, comparisons, trainings and searches for policies."""

from __future__ import annotations

import importlib.util
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load_file

from deddqn.problems import get
from tests.digests import names
from tests.digests.case import MACHINE, Case

TWO = ("cec2005:F1/d10", "cec2005:F6/d10")
TRAINING: dict[str, Any] = {
    "problems": TWO,
    "population_size": 10,
    "budget": 300,
    "hidden": (16, 16),
    "batch_size": 32,
    "buffer_size": 1500,
    "learning_starts": 200,
    "learning_rate": 3e-3,
    "replay_ratio": 8.0,
    "target_update_interval": 50,
    "cycles": 2,
    "threads": 1,
    "learner_threads": 1,
    "seed": 1,
}
"""One run, as in Algorithm 1."""

RICHER: dict[str, Any] = {
    "n_runs": 4,
    "rollout_steps": 5,
    "n_step": 3,
    "loss": "huber",
    "reward": "rank",
    "ema_window": 20,
    "cycles": 4,
    "generation_exploration": 0.2,
    "evaluate_every": 2,
}
"""What else the trainer can do."""

SEARCH: dict[str, Any] = {
    "problems": TWO,
    "population_size": 12,
    "budget": 300,
    "offspring": 5,
    "generations": 3,
    "evaluate_every": 2,
    "evaluate_repeats": 2,
    "reference_repeats": 2,
    "threads": 1,
}
METHODS = ("random", "rec-pm", "softmax-x", "ddqn")
COLUMNS = ("best_value", "error", "evaluations", "non_finite", "checkpoints", "best", "strategy_counts")


def values(number: int, variant: str, dimension: int) -> np.ndarray:
    """Of one function at points that depend on nothing else, and at a corner of its box."""
    problem = get(f"cec2005:F{number}{variant}/d{dimension}")
    shares = np.random.default_rng(7).random((9, dimension))
    points = problem.lower + shares * (problem.upper - problem.lower)
    return problem(np.vstack([points, problem.upper]))


def compared() -> list[Any]:
    """A small comparison, as it is stored."""
    from deddqn.experiments import compare

    with tempfile.TemporaryDirectory() as folder:
        compare([names.policy(label) for label in METHODS], TWO, out=folder, runs=2, budget=350, workers=1)
        frame = names.stored_runs(Path(folder))
    found = []
    for label in METHODS:
        mine = frame[frame["method"] == names.policy(label)].sort_values(["problem", "repeat"])
        found.append([label, [[np.asarray(row[column]) for column in COLUMNS] for _, row in mine.iterrows()]])
    return found


def tensors(make: Any, **settings: Any) -> dict[str, Any]:
    """All policy files that a training or a search leaves in its folder, in the order of their names."""
    with tempfile.TemporaryDirectory() as folder:
        make(Path(folder), **settings)
        files = sorted(Path(folder).glob("*.safetensors"))
        return {
            str(number): {names.TENSORS.get(name, name): value for name, value in load_file(path).items()}
            for number, path in enumerate(files)
        }


def cases() -> Iterator[Case]:
    """All of them that can be had with the packages that are installed."""
    for number in range(1, 26):
        for dimension in (2, 10, 30):
            yield Case(f"cec2005/F{number}/d{dimension}", MACHINE, partial(values, number, "", dimension))
    for variant in ("/v1", "/s1", "/q2"):
        yield Case(f"cec2005/F8{variant}/d10", MACHINE, partial(values, 8, variant, 10))
    yield Case("search/paper", MACHINE, partial(tensors, names.search, **SEARCH))
    richer = {"portfolio": "extended", names.CANDIDATES: 2, "final_population": 8, "mean_window": 2, "sample": 1}
    yield Case("search/extended", MACHINE, partial(tensors, names.search, **SEARCH, **richer))
    further = (
        Case("compare", MACHINE, compared),
        Case("training/plain", MACHINE, partial(tensors, names.train, **TRAINING)),
        Case("training/richer", MACHINE, partial(tensors, names.train, **{**TRAINING, **RICHER})),
    )
    for case in further:
        if not case.name.startswith(missing()):
            yield case


def missing() -> tuple[str, ...]:
    """How the names of cases begin that need packages which are not installed."""
    needs = {"compare": ("pandas", "pyarrow"), "training/": ("torch",)}
    return tuple(name for name, packages in needs.items() if not all(map(importlib.util.find_spec, packages)))
