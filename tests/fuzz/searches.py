"""Policies and saved searches: made, forged, used."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from deddqn._utils.plain_json import CHECKSUM, checksum
from deddqn._utils.reading import array_parts
from tests.fuzz.meaning import array_parts_bytes, digest, dumped, plain
from tests.fuzz.mutations import TEXTS, mutated_array, mutated_json


def make_policies(folder: Path) -> list[str]:
    """Networks on both states, and a softmax."""
    from deddqn.de.portfolio import EXTENDED
    from deddqn.policies import save_policy
    from deddqn.policies.softmax import save_softmax

    rng = np.random.default_rng(0)
    shapes = [(9, 99), (4, 9)]
    weights = [rng.normal(size=shape).astype(np.float32) for shape in shapes]
    save_policy(folder / "network.safetensors", weights, [w[:, 0].copy() for w in weights], provenance={"by": ["a", 1]})
    save_policy(folder / "authors.safetensors", weights, [w[:, 0].copy() for w in weights], state="authors")
    gate, table = rng.normal(size=8), rng.normal(size=(len(EXTENDED), 8))
    de = {"population_size": 30, "final_population": 8, "n_candidates": 2}
    save_softmax(folder / "softmax.safetensors", table, prescreening_gate=gate, portfolio=EXTENDED, de=de)
    return ["network.safetensors", "authors.safetensors", "softmax.safetensors"]


def read_safetensors(path: Path) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Tensors and header, by the library's own reader."""
    from safetensors import safe_open

    with safe_open(path, framework="numpy") as file:
        header = json.loads((file.metadata() or {})["deddqn"])
        return {name: file.get_tensor(name) for name in file.keys()}, header  # noqa: SIM118 (not a dict)


def forge_policy(rng: Random, path: Path) -> None:
    """Tensors or header changed."""
    from safetensors.numpy import save_file

    tensors, header = read_safetensors(path)
    header.pop(CHECKSUM, None)
    if rng.random() < 0.5:
        header = mutated_json(rng, header)
    else:
        name = rng.choice(sorted(tensors))
        tensors[rng.choice((name, name, name, rng.choice(TEXTS)))] = mutated_array(rng, tensors[name])
    if isinstance(header, dict):
        header[CHECKSUM] = checksum(json.loads(dumped(header)), *array_parts(tensors))
    save_file({k: np.ascontiguousarray(v) for k, v in tensors.items()}, path, metadata={"deddqn": dumped(header)})


def use_policy(path: Path) -> Any:
    """Read, and run a few generations with it."""
    from deddqn import minimize
    from deddqn.policies import load_policy_file

    policy = load_policy_file(path)
    sizes = {"population_size": 20, "final_population": 8}
    result = minimize(bowl, [(-5, 5)] * 3, policy=policy, maxfun=90, rng=1, **sizes)
    facts = (policy.name, policy.portfolio, policy.max_dimension, policy.state, sorted(policy.de.items()))
    assert result.nfev > 0
    return digest(*facts, policy.setup.tobytes())


def state_policy(path: Path) -> Any:
    """Header and weights, put together without the reader."""
    from deddqn.de.portfolio import Portfolio
    from deddqn.policies.mlp import pack_network

    tensors, header = read_safetensors(path)
    if header.get("kind", "network") == "network":
        depth = len(tensors) // 2
        setup = pack_network(*([tensors[f"layers.{k}.{part}"] for k in range(depth)] for part in ("weight", "bias")))
    else:
        rows = [tensors["weights"], *(np.atleast_2d(tensors[key]) for key in ("prescreening_gate",) if key in tensors)]
        setup = np.vstack([np.pad(r.astype(np.float64), [(0, 0), (0, 8 - r.shape[1])]) for r in rows]).ravel()
    facts = (
        header["name"],
        Portfolio(map(tuple, header["portfolio"])),
        header["max_dimension"],
        header.get("state", "paper"),
    )
    return digest(*facts, sorted(header.get("de", {}).items()), setup.tobytes())


# Searches


def bowl(x: np.ndarray) -> float:
    """The function of all searches."""
    return float(np.sum((x - 0.5) ** 2))


def on_authors_state(name: str) -> Any:
    """A policy of the package that is shown the other state."""
    from deddqn.policies import load_policy

    policy = load_policy(name)
    policy.state = "authors"  # type: ignore[attr-defined]
    return policy


def searches() -> dict[str, dict[str, Any]]:
    """Options of searches that use every field of the memory; see `make_searches`."""
    from scipy.optimize import LinearConstraint

    from deddqn import Categorical, Float, Int, Space
    from deddqn.de.portfolio import EXTENDED, Portfolio

    cma = Portfolio([*EXTENDED.values, ("cma", 1.0, 1.0)])
    return {
        "paper": {"policy": "random"},
        "deferred": {"policy": "ddqn", "updating": "deferred", "history": True},
        "network": {"policy": "ddqn", "population_size": 12},
        "authors": {"policy": on_authors_state("ddqn")},
        "authors-deferred": {"policy": on_authors_state("ddqn"), "updating": "deferred"},
        "surrogate": {"policy": "softmax-x", "population_size": 20, "final_population": 8, "n_candidates": 3},
        "pm": {"policy": "pm-adapss:window=9,alpha=0.5"},
        "auc": {"policy": "f-auc:window=9"},
        "rec": {"policy": "rec-pm"},
        "cma": {"policy": "random", "portfolio": cma, "restart_tolerance": 0.3, "restart_final_fraction": 0.4},
        "mixture": {"policy": "mixture:0.25,0.25,0.5,0"},
        "fixed": {"policy": "de2", "tol": 1e-9, "maxiter": 90},
        "integers": {"policy": "random", "integrality": [1, 2, 0]},
        "asynchronous": {"policy": "softmax-x", "population_size": 20, "updating": "asynchronous"},
        "pending": {"policy": "random", "portfolio": cma, "updating": "asynchronous", "restart_tolerance": 0.3},
        "constrained": {"policy": "softmax-x", "constraints": LinearConstraint([[1, 1, 0], [0, 1, 1]], -1, [1, 0.5])},
        "open": {"policy": "softmax-x", "maxfun": None},
        "space": {"policy": "random", "space": Space(n=Int(1, 9), x=Float(0.1, 2.0), c=Categorical(["a", "b"]))},
        "lattice": {"policy": "softmax-x", "integrality": 1, "population_size": 20},
    }


def step(optimizer: Any, most: int) -> None:
    """Ask for points and tell their values, the last ones first."""
    spread = optimizer._run.spec.config.updating != "sequential"
    points = optimizer.ask(most) if spread else optimizer.ask()
    values = [value_of(x) for x in points]
    optimizer.tell(points[::-1], values[::-1])


def value_of(point: Any) -> float:
    """`bowl`, also of the values of a space."""
    if isinstance(point, dict):
        return bowl(np.array([len(v) if isinstance(v, str) else float(v) for v in point.values()]))
    return bowl(point)


def make_searches(folder: Path) -> list[str]:
    """Searches of every kind, saved early, in the middle and late, inside of a generation."""
    from deddqn import Optimizer
    from deddqn.problems import get

    names = []
    for name, options in searches().items():
        for moment in (5, 130, 280):
            given = {"population_size": 15, "maxfun": 400, "rng": 3, **options}
            optimizer = Optimizer(None if "space" in options else [(-4, 5)] * 3, **given)
            while optimizer.result.nfev < moment and not optimizer.stop():
                step(optimizer, 7)
            if given.get("updating") == "asynchronous":
                optimizer.ask(4)  # points that wait for their values
            optimizer.save(folder / f"{name}-{moment}.npz")
            names.append(f"{name}-{moment}.npz")
    optimizer = Optimizer(get("cec2005:F4/d10"), policy="random", population_size=15, maxfun=400, rng=3)
    optimizer.optimize(callback=lambda intermediate_result: intermediate_result.nit == 4)
    optimizer.save(folder / "registered.npz")
    return [*names, "registered.npz"]


def read_npz(path: Path) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Arrays and description, by NumPy's own reader."""
    with np.load(path, allow_pickle=False) as file:
        arrays = dict(file)
    return arrays, json.loads(str(arrays.pop("description")))


def forge_search(rng: Random, path: Path) -> None:
    """Numbers of the arena (mostly), of other arrays, or the description changed."""
    arrays, description = read_npz(path)
    description.pop(CHECKSUM, None)
    draw = rng.random()
    if draw < 0.7:
        arrays["arena"] = mutated_array(rng, arrays["arena"])
    elif draw < 0.8:
        name = rng.choice(sorted(arrays))
        arrays[rng.choice((name, name, name, "x"))] = mutated_array(rng, arrays[name])
    else:
        description = mutated_json(rng, description)
    if isinstance(description, dict):
        description[CHECKSUM] = checksum(json.loads(dumped(description)), *array_parts(arrays))
    np.savez(path, description=np.array(dumped(description)), **arrays)


def state_search(path: Path) -> Any:
    """Arrays and description without what a reader writes anew."""
    from deddqn.engine.run_memory import without_addresses

    arrays, description = read_npz(path)
    description.pop(CHECKSUM, None)
    description["asked"] = sorted(set(description["asked"]))
    arrays["arena"] = without_addresses(arrays["arena"])
    return digest(plain(description), *array_parts_bytes(arrays))


def use_search(path: Path) -> Any:
    """Load, save again for the meaning, and go on for three generations in three ways."""
    from deddqn import Optimizer

    optimizer = Optimizer.load(path)
    again = path.with_name("again.npz")
    optimizer.save(again)
    meaning = state_search(again)
    again.unlink()
    registered = optimizer.problem.evaluable and optimizer.problem.name.startswith("cec2005")
    until = optimizer.result.nit + 3
    optimizer.optimize(
        None if registered else value_of, callback=lambda intermediate_result: intermediate_result.nit >= until
    )
    other = Optimizer.load(path)
    for _ in range(25):
        if other.stop():
            break
        step(other, 7)
    return meaning
