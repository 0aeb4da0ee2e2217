"""A search as a file: one ``.npz`` with its memory and its settings as JSON; no pickle is read."""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from deddqn._utils.atomic import replacing
from deddqn.de.config import DEConfig
from deddqn.de.portfolio import Portfolio
from deddqn.de.state import Counter
from deddqn.engine.run import Run
from deddqn.engine.run_spec import RunSpec
from deddqn.optimize.arguments import known_policy
from deddqn.policies.policy import CompiledPolicy, Policy
from deddqn.policies.policy_arrays import packed, unpacked
from deddqn.problems import get
from deddqn.problems.problem import Objective, Problem

FORMAT = "deddqn-search-1"
SETUP = "policy.setup"
HISTORY = "history."


def state_of(run: Run) -> dict[str, Any]:
    """What a run needs to go on, as plain values and arrays (and a policy of the user's own as it is)."""
    spec = run.spec
    return {
        "format": FORMAT,
        "problem": _problem_reference(run),
        "policy": _policy_reference(spec.policy),
        "portfolio": list(spec.portfolio.values),
        "config": asdict(spec.config),
        "seed": spec.seed,
        "repeat": spec.repeat,
        "trial_rows": spec.trial_rows,
        "arena": run.arena.copy(),
    }


def spec_of(state: dict[str, Any], policy: Policy | None) -> RunSpec:
    """The settings of a saved search; `policy` stands for an own policy, which a file cannot hold."""
    return RunSpec(
        problem=_problem_of(state["problem"]),
        policy=_policy_of(state["policy"], policy),
        portfolio=Portfolio(tuple(entry) for entry in state["portfolio"]),
        config=DEConfig(**state["config"]),
        seed=int(state["seed"]),
        repeat=int(state["repeat"]),
        trial_rows=int(state.get("trial_rows", 0)),
    )


# Problems: the registered ones by name, all others as a box whose function is given again


def _problem_reference(run: Run) -> dict[str, Any]:
    problem, noisy = run.spec.problem, bool(run.de_state.counters[Counter.NOISY])
    known = _registered(problem.name, noisy)
    return {
        "name": problem.name,
        "bounds": problem.bounds.tolist(),
        "noisy": noisy,
        "work_size": int(run.core.work.size),
        "integrality": problem.integrality.tolist(),
        "registered": known is not None and known.objective.kernel is problem.objective.kernel,
    }


def _registered(name: str, noisy: bool) -> Problem | None:
    try:
        return get(name, noise=noisy)
    except (KeyError, ValueError):
        return None


def _problem_of(saved: dict[str, Any]) -> Problem:
    if saved["registered"]:
        return get(saved["name"], noise=saved["noisy"])
    bounds = np.asarray(saved["bounds"])
    box = Problem.box(bounds[:, 0], bounds[:, 1], name=saved["name"], integrality=saved["integrality"])
    box.objective = Objective(box.objective.kernel, work_size=int(saved["work_size"]))
    return box


# Policies: packed where the package knows their kernels, by name where that gives the same one, else the object itself


def _policy_reference(policy: Policy) -> Any:
    if not isinstance(policy, CompiledPolicy):
        return policy
    parts = packed(policy)
    if parts is not None:
        return parts
    name = policy.source or policy.name
    try:
        same = _digest(known_policy(name)) == _digest(policy)
    except ValueError:
        same = False
    return {"name": name, "digest": _digest(policy)} if same else policy


def _digest(policy: Policy) -> str:
    """What tells two policies apart: kernels and constants."""
    if not isinstance(policy, CompiledPolicy):
        return ""
    kernels = [None if k is None else f"{k.__module__}.{k.__qualname__}" for k in policy.kernels]
    return hashlib.sha256(repr(kernels).encode() + policy.setup.tobytes()).hexdigest()


def _policy_of(saved: Any, given: Policy | None) -> Policy:
    if isinstance(saved, dict) and set(saved) == {"digest"}:
        if given is None:
            raise ValueError("policy must be given: the search was made with an own policy, which a file cannot hold")
        policy = known_policy(given)
        if _digest(policy) != saved["digest"]:
            raise ValueError(f"policy must be the one that the search was made with, got {given!r}")
        return policy
    if given is not None:
        raise ValueError(f"policy must be left out: the file holds the policy of the search, got {given!r}")
    if not isinstance(saved, dict):
        return known_policy(saved)
    if "setup" in saved:
        return unpacked(saved)
    policy = known_policy(saved["name"])
    if _digest(policy) != saved["digest"]:
        raise ValueError(f"policy {saved['name']!r} is not the one that the search was saved with")
    return policy


# Files


def save_state(path: str | os.PathLike[str], state: dict[str, Any]) -> None:
    """Write a search to a temporary name, then rename it: an old file stays whole until the new one is."""
    description, arrays = dict(state), {"arena": state["arena"]}
    del description["arena"]
    if (history := description.pop("history")) is not None:
        arrays |= {HISTORY + name: rows for name, rows in history.items()}
    description["has_history"] = history is not None
    policy = description["policy"]
    if not isinstance(policy, dict):
        description["policy"] = {"digest": _digest(policy)}
    elif "setup" in policy:
        description["policy"] = {**policy, "setup": SETUP}
        arrays[SETUP] = policy["setup"]
    target = Path(path)
    with replacing(target) as temporary, open(temporary, "wb") as file:
        np.savez(file, description=np.array(json.dumps(description)), **arrays)


def load_state(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read a search; a file that is not whole, or of another kind, raises something (see `unreadable`)."""
    if not zipfile.is_zipfile(path) and os.path.isfile(path):
        raise ValueError("it is no archive of arrays")
    with np.load(path, allow_pickle=False) as file:
        state: dict[str, Any] = json.loads(str(file["description"]))
        if state["format"] != FORMAT:
            raise ValueError(f"it has format {state['format']!r}, this version reads {FORMAT!r}")
        state["arena"] = file["arena"]
        if isinstance(state["policy"], dict) and "setup" in state["policy"]:
            state["policy"]["setup"] = file[SETUP]
        history = {name.removeprefix(HISTORY): file[name] for name in file.files if name.startswith(HISTORY)}
    state["history"] = history if state.pop("has_history") else None
    return state


@contextmanager
def unreadable(path: str | os.PathLike[str], only: tuple[type[Exception], ...] = (Exception,)) -> Iterator[None]:
    """Turn errors of reading into a ValueError that names the file; that it is missing or forbidden stays as it is."""
    try:
        yield
    except (FileNotFoundError, PermissionError):
        raise
    except only as error:
        reason = str(error) or type(error).__name__
        raise ValueError(f"{os.fspath(path)} is not a whole saved search: {reason}") from error
