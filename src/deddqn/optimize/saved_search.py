"""A search as a file: one ``.npz`` with its memory and its settings as JSON; no pickle is read.

=====================  =========================================================================================
member                 holds
=====================  =========================================================================================
``description``        JSON of the form `DESCRIPTION`, with a checksum of itself and of the other members
``arena``              the memory of the run (`deddqn.engine.memory_check` says what it may hold)
``policy.setup``       the constants of the policy, where the file holds it and not only its name
``history.<name>``     the rows of the history, where one is kept: nfev, fun, mean, strategy_counts
=====================  =========================================================================================

A file may come from a stranger: it is read within limits (`deddqn._utils.reading`), names no paths, and is refused
before compiled code sees what that could not run.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import zipfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from deddqn._jit.contents import LARGEST_COUNT
from deddqn._utils.atomic import replacing
from deddqn._utils.plain_json import CHECKSUM, Exactly, Mapped, check_checksum, check_form, checksum, parse_json
from deddqn._utils.reading import array_parts, read_arrays, read_limited
from deddqn._utils.validation import check_name
from deddqn.de.config import DEConfig
from deddqn.de.portfolio import Portfolio
from deddqn.de.state import Counter
from deddqn.engine.run import Run
from deddqn.engine.run_memory import without_addresses
from deddqn.engine.run_spec import RunSpec
from deddqn.optimize.arguments import known_policy
from deddqn.policies.policy import CompiledPolicy, Policy
from deddqn.policies.policy_arrays import packed, unpacked
from deddqn.policies.registry import registered_policy
from deddqn.problems import get
from deddqn.problems.constraints import Constraints
from deddqn.problems.problem import Objective, Problem

FORMAT = "deddqn-search-2"
SETUP = "policy.setup"
HISTORY = "history."
LARGEST_FILE = 2**32
WHAT = "a whole saved search"

OPERATORS = [[(str, float)]]
CONSTRAINT = {"lower": [float], "upper": [float], "returned": bool, "matrix": ([[float]], None)}
DESCRIPTION = {
    "format": Exactly(FORMAT),
    "problem": {
        "name": str,
        "bounds": [[float]],
        "integrality": [int],
        "noisy": bool,
        "work_size": int,
        "constraints": (None, {"tolerance": float, "strict": bool, "parts": [CONSTRAINT]}),
        "registered": bool,
    },
    "policy": (
        {"digest": str},  # an object of the user's, given again when the file is read
        {"name": str, "digest": str},
        {
            "kind": str,
            "name": str,
            "source": (str, None),
            "portfolio": (OPERATORS, None),
            "max_dimension": int,
            "state": str,
            "de": Mapped((str, float, None)),
            "setup": Exactly(SETUP),
        },
    ),
    "portfolio": OPERATORS,
    "config": Mapped((str, float, bool, None)),
    "seed": int,
    "repeat": int,
    "trial_rows": int,
    "limits": {"maxiter": (int, None), "ftarget": (float, None), "tol": float, "atol": float},
    "plan": {
        "maxfun": (int, None),
        "waiting": (int, None),
        "sized": bool,
        "largest": int,
        "final": (int, None),
        "tolerance": float,
        "fraction": float,
        "noisy": bool,
        "judged": bool,
        "by_budget?": str,
    },
    "asked": [int],
    "label": str,
    "space": (None, Mapped(Mapped(object))),  # `Space.from_dict` checks the rest
    "has_history": bool,
}
"""The form of the description."""


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
        "arena": without_addresses(run.arena),
    }


def spec_of(state: dict[str, Any], policy: Policy | None) -> RunSpec:
    """The settings of a saved search; `policy` stands for an own policy, which a file cannot hold.

    Nothing is made that is larger than the memory of the search, which was read already.
    """
    largest = state["arena"].size
    population = state["config"].get("population_size")
    if not isinstance(population, int) or population > largest:
        raise ValueError(f"population_size must fit into the memory of the search, {largest} numbers")
    if state["trial_rows"] > largest:
        raise ValueError(f"trial_rows must fit into the memory of the search, {largest} numbers")
    return RunSpec(
        problem=_problem_of(state["problem"], largest),
        policy=_policy_of(state["policy"], policy),
        portfolio=Portfolio.from_values(state["portfolio"]),
        config=DEConfig(**state["config"]),
        seed=int(state["seed"]),
        repeat=int(state["repeat"]),
        trial_rows=int(state["trial_rows"]),
    )


def check_against_memory(state: dict[str, Any], run: Run) -> None:
    """Refuse a state (ValueError) that says something else than the memory of its run."""
    counters = run.de_state.counters
    if bool(counters[Counter.NOISY]) != state["problem"]["noisy"]:
        raise ValueError("noisy must be what the memory of the search says")
    plan, largest = state["plan"], run.arena.size
    if not 1 <= plan["largest"] <= largest or (plan["final"] is not None and not 1 <= plan["final"] <= largest):
        raise ValueError(f"the populations of the plan must fit into the memory of the search, {largest} numbers")
    if any(plan[name] is not None and not 0 <= plan[name] <= LARGEST_COUNT for name in ("maxfun", "waiting")):
        raise ValueError(f"the evaluations of the plan must be at most {LARGEST_COUNT}")
    if not (0.0 <= plan["tolerance"] < 1.0 and 0.0 <= plan["fraction"] < 1.0):
        raise ValueError("tolerance and fraction of the plan must lie in [0, 1)")
    size = int(counters[Counter.GENERATION_SIZE])
    if not all(0 <= i < size for i in state["asked"]):
        raise ValueError(f"asked must be numbers of points of the generation, 0 to {size - 1}")


# Problems: the registered ones by name, all others as a box whose function is given again


def _problem_reference(run: Run) -> dict[str, Any]:
    problem, noisy = run.spec.problem, bool(run.de_state.counters[Counter.NOISY])
    known = _registered(problem.name, noisy)
    return {
        "name": problem.name,
        "bounds": problem.bounds.tolist(),
        "noisy": noisy,
        "work_size": int(run.core.work.size),
        "constraints": None if problem.constraints is None else problem.constraints.plain,
        "integrality": problem.integrality.tolist(),
        "registered": known is not None and known.objective.kernel is problem.objective.kernel,
    }


def _registered(name: str, noisy: bool) -> Problem | None:
    try:
        return get(name, noise=noisy)
    except (KeyError, ValueError):
        return None


def _problem_of(saved: dict[str, Any], largest: int) -> Problem:
    bounds = np.array(saved["bounds"], dtype=np.float64)
    if bounds.ndim != 2 or bounds.shape[1] != 2 or not 0 <= saved["work_size"] <= largest:
        raise ValueError(f"bounds must be pairs, and work_size from 0 to {largest}, got {saved['work_size']}")
    if saved["registered"]:
        problem = get(saved["name"], dimension=len(bounds), noise=saved["noisy"])
        if not np.array_equal(problem.bounds, bounds):
            raise ValueError(f"bounds must be those of {problem.name}")
        return problem
    name, limits = check_name("name of the problem", saved["name"]), saved["constraints"]
    constraints = None if limits is None else Constraints.from_plain(limits, len(bounds))
    if constraints is not None and saved["work_size"] != constraints.size + len(bounds):
        raise ValueError(f"work_size must be {constraints.size + len(bounds)}, got {saved['work_size']}")
    box = Problem.box(*bounds.T, name=name, integrality=saved["integrality"], constraints=constraints)
    box.objective = Objective(box.objective.kernel, work_size=saved["work_size"])
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
        known = registered_policy(name)
        same = known is not None and _digest(known) == _digest(policy)
    except ValueError:
        same = False
    return {"name": name, "digest": _digest(policy)} if same else policy


def _digest(policy: Policy) -> str:
    """What tells two policies apart: kernels and constants."""
    if not isinstance(policy, CompiledPolicy):
        return ""
    kernels = [None if k is None else f"{k.__module__}.{k.__qualname__}" for k in policy.kernels]
    return hashlib.sha256(repr(kernels).encode() + policy.setup.tobytes()).hexdigest()


def check_given(saved: Any, given: Policy | None) -> None:
    """Whether a policy must, or must not, be given when the search is read."""
    own = isinstance(saved, dict) and set(saved) == {"digest"}
    if own and given is None:
        raise ValueError("policy must be given: the search was made with an own policy, which a file cannot hold")
    if own and _digest(known_policy(given)) != saved["digest"]:
        raise ValueError(f"policy must be the one that the search was made with, got {given!r}")
    if not own and given is not None:
        raise ValueError(f"policy must be left out: the file holds the policy of the search, got {given!r}")


def _policy_of(saved: Any, given: Policy | None) -> Policy:
    check_given(saved, given)
    if given is not None or not isinstance(saved, dict):
        return known_policy(saved if given is None else given)
    if "setup" in saved:
        return unpacked(saved)
    policy = registered_policy(saved["name"])
    if policy is None or _digest(policy) != saved["digest"]:
        raise ValueError(f"policy {saved['name']!r} is not the one that the search was saved with")
    policy.source = saved["name"]
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
    description = parse_json(json.dumps(description), {**DESCRIPTION, f"{CHECKSUM}?": str}, "the description")
    description[CHECKSUM] = checksum(description, *array_parts(arrays))
    target = Path(path)
    with replacing(target) as temporary, open(temporary, "wb") as file:
        np.savez(file, description=np.array(json.dumps(description)), **arrays)


def load_state(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read a search; a file that is not whole, or of another kind, raises something (see `refusing`)."""
    content = read_limited(path, LARGEST_FILE)
    if not zipfile.is_zipfile(io.BytesIO(content)):
        raise ValueError("it is no archive of arrays")
    arrays = read_arrays(content, LARGEST_FILE)
    text = str(arrays.pop("description", np.array("")))
    state: dict[str, Any] = parse_json(text, dict, "the description")
    if state.get("format") != FORMAT:
        raise ValueError(f"it has format {state.get('format')!r}, this version reads {FORMAT!r}")
    stated = state.pop(CHECKSUM, None)
    check_form(state, DESCRIPTION, "the description")
    check_checksum(stated, checksum(state, *array_parts(arrays)))
    state["arena"] = arrays.pop("arena")
    if "setup" in state["policy"]:
        state["policy"]["setup"] = arrays.pop(SETUP)
    if any(not name.startswith(HISTORY) for name in arrays) or bool(arrays) != state["has_history"]:
        raise ValueError(f"it has arrays that nobody needs: {', '.join(sorted(arrays))[:80]}")
    history = {name.removeprefix(HISTORY): rows for name, rows in arrays.items()}
    state["history"] = history if state.pop("has_history") else None
    return state
