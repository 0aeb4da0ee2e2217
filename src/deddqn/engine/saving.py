"""A search as a file: one ``.npz`` with its memory and its settings as JSON; no pickle is read."""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from deddqn.de.config import DEConfig
from deddqn.de.portfolio import Portfolio
from deddqn.engine.episode import EpisodeSpec
from deddqn.engine.run import Run
from deddqn.policies.policy import CompiledPolicy, Policy
from deddqn.policies.registry import load_policy
from deddqn.problems import get
from deddqn.problems.problem import USER_FUNCTION, Problem

FORMAT = "deddqn-search-1"


def state_of(run: Run, limits: Any, history: dict[str, np.ndarray] | None, reasons: list[str]) -> dict[str, Any]:
    """Everything that a search needs to go on, as plain values and arrays (and a Python policy as it is)."""
    spec = run.spec
    return {
        "format": FORMAT,
        "problem": {"name": spec.problem.name, "bounds": spec.problem.bounds.tolist()},
        "policy": _policy_reference(spec.policy),
        "portfolio": [[e.strategy, e.scale, e.crossover] for e in spec.portfolio],
        "config": asdict(spec.config),
        "seed": spec.seed,
        "repeat": spec.repeat,
        "limits": asdict(limits),
        "reasons": reasons,
        "history": history,
        "arena": run.arena.copy(),
    }


def _policy_reference(policy: Policy) -> Any:
    """A compiled policy by its name and a digest of its constants; a Python policy is the object itself."""
    if not isinstance(policy, CompiledPolicy):
        return policy
    return {"name": policy.source or policy.name, "digest": _digest(policy)}


def _digest(policy: CompiledPolicy) -> str:
    return hashlib.sha256(policy.setup.tobytes()).hexdigest()


def spec_of(state: dict[str, Any], policy: Policy | None) -> EpisodeSpec:
    """The settings of a saved search; `policy` replaces a Python policy that a file cannot hold."""
    return EpisodeSpec(
        problem=_problem_of(state["problem"]),
        policy=_policy_of(state["policy"], policy),
        portfolio=Portfolio(tuple(entry) for entry in state["portfolio"]),
        config=DEConfig(**state["config"]),
        seed=int(state["seed"]),
        repeat=int(state["repeat"]),
    )


def _problem_of(saved: dict[str, Any]) -> Problem:
    bounds = np.asarray(saved["bounds"])
    if saved["name"] == USER_FUNCTION:
        return Problem.box(bounds[:, 0], bounds[:, 1])
    return get(saved["name"])


def _policy_of(saved: Any, given: Policy | None) -> Policy:
    if given is not None:
        return given
    if isinstance(saved, Policy):
        return saved
    if saved is None:
        raise ValueError("policy must be given: the search was made with a Python policy, which a file cannot hold")
    policy = load_policy(saved["name"])
    if not isinstance(policy, CompiledPolicy) or _digest(policy) != saved["digest"]:
        raise ValueError(f"policy {saved['name']!r} is not the one that the search was saved with")
    return policy


def save_state(path: str | os.PathLike[str], state: dict[str, Any]) -> None:
    """Write a search to a temporary name, then rename it."""
    arrays = {"arena": state["arena"]}
    if state["history"] is not None:
        arrays |= {f"history.{name}": rows for name, rows in state["history"].items()}
    facts = {key: value for key, value in state.items() if key not in ("arena", "history")}
    facts["has_history"] = state["history"] is not None
    if not isinstance(facts["policy"], dict):
        facts["policy"] = None
    target = Path(path)
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        with open(temporary, "wb") as file:
            np.savez(file, facts=np.array(json.dumps(facts)), **arrays)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


def load_state(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read a search; a file that is not whole, or of another kind, is refused."""
    try:
        with np.load(path, allow_pickle=False) as file:
            state: dict[str, Any] = json.loads(str(file["facts"]))
            state["arena"] = file["arena"]
            history = {name.removeprefix("history."): file[name] for name in file.files if name.startswith("history.")}
    except FileNotFoundError:
        raise
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise ValueError(f"{os.fspath(path)} is not a saved search: {error}") from error
    if state.get("format") != FORMAT:
        raise ValueError(f"{os.fspath(path)} has format {state.get('format')!r}, this version reads {FORMAT!r}")
    state["history"] = history if state.pop("has_history") else None
    return state
