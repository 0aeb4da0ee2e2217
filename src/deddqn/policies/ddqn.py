"""The learned policy in its online phase (Algorithm 2): a Q-network read from a policy file, greedy.

A policy file is safetensors: ``layers.<k>.weight`` (outputs, inputs) and ``layers.<k>.bias`` in float32, and JSON
metadata with the portfolio, the version of the feature layout, dim^max and where the weights come from.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from deddqn.de.portfolio import PAPER, Portfolio
from deddqn.features.layout import LAYOUT_VERSION, n_features
from deddqn.policies.kernels import PolicyKernels
from deddqn.policies.network import choose_by_value, memory_size, pack_network
from deddqn.policies.policy import CompiledPolicy

FORMAT = "deddqn-policy-1"


class PolicyFileError(ValueError):
    """A policy file that cannot be used; the message says why."""


def network_policy(
    weights: Sequence[np.ndarray],
    biases: Sequence[np.ndarray],
    *,
    name: str = "ddqn",
    portfolio: Portfolio = PAPER,
    max_dimension: int = 30,
    epsilon: float = 0.0,
    metadata: dict[str, Any] | None = None,
) -> CompiledPolicy:
    """A policy that takes the operator of highest Q-value. `weights` are ``(outputs, inputs)`` per layer."""
    _check_layers(weights, biases, len(portfolio))
    _check_max_dimension(max_dimension)
    if not 0.0 <= epsilon <= 1.0:
        raise ValueError(f"epsilon must lie in [0, 1], got {epsilon}")
    setup = pack_network(list(weights), list(biases), epsilon)
    size = memory_size(setup)
    return CompiledPolicy(
        name,
        PolicyKernels(choose_by_value),
        setup=setup,
        memory_size=lambda n_ops, n_pop: size,
        needs_features=True,
        portfolio=portfolio,
        max_dimension=max_dimension,
        metadata=metadata,
    )


def _check_max_dimension(max_dimension: int) -> None:
    if max_dimension < 1:
        raise PolicyFileError(f"max_dimension must be at least 1, got {max_dimension}")


def _check_layers(weights: Sequence[np.ndarray], biases: Sequence[np.ndarray], n_ops: int) -> None:
    if not weights or len(weights) != len(biases):
        raise PolicyFileError(f"a network needs as many weights as biases, got {len(weights)} and {len(biases)}")
    width = n_features(n_ops)
    for k, (weight, bias) in enumerate(zip(weights, biases, strict=True)):
        if weight.ndim != 2 or weight.shape[1] != width or bias.shape != (weight.shape[0],):
            raise PolicyFileError(
                f"layer {k} must take {width} inputs and have one bias per output, "
                f"got weight {weight.shape} and bias {bias.shape}"
            )
        if not all(_finite_in_single_precision(array) for array in (weight, bias)):
            raise PolicyFileError(f"layer {k} has weights that are not finite (in single precision)")
        width = weight.shape[0]
    if width != n_ops:
        raise PolicyFileError(f"the last layer must have one output per operator ({n_ops}), got {width}")


def _finite_in_single_precision(array: np.ndarray) -> bool:
    """The network is stored and run in float32: a double of 1e39 is an infinity there."""
    return bool(np.all(np.abs(array) <= np.finfo(np.float32).max))


def save_policy(
    path: str | os.PathLike[str],
    weights: Sequence[np.ndarray],
    biases: Sequence[np.ndarray],
    *,
    name: str = "ddqn",
    portfolio: Portfolio = PAPER,
    max_dimension: int = 30,
    provenance: dict[str, Any] | None = None,
) -> None:
    """Write a policy file: to a temporary name first, then renamed. Non-finite weights are refused."""
    _check_layers(weights, biases, len(portfolio))
    _check_max_dimension(max_dimension)
    tensors = {f"layers.{k}.weight": np.ascontiguousarray(w, dtype=np.float32) for k, w in enumerate(weights)}
    tensors |= {f"layers.{k}.bias": np.ascontiguousarray(b, dtype=np.float32) for k, b in enumerate(biases)}
    facts = {
        "format": FORMAT,
        "name": name,
        "layout_version": LAYOUT_VERSION,
        "portfolio": [[e.strategy, e.scale, e.crossover] for e in portfolio],
        "max_dimension": max_dimension,
        "provenance": provenance or {},
    }
    target = Path(path)
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        save_file(tensors, temporary, metadata={"deddqn": json.dumps(facts)})
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


def load_policy_file(path: str | os.PathLike[str]) -> CompiledPolicy:
    """Read a policy file; a wrong, truncated or non-finite one is refused with the reason."""
    try:
        with safe_open(path, framework="numpy") as file:
            metadata = file.metadata() or {}
            tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118 (not a dict)
    except FileNotFoundError:
        raise PolicyFileError(f"no policy file at {path}") from None
    except (SafetensorError, OSError) as error:
        raise PolicyFileError(f"{path} is not a whole safetensors file: {error}") from error
    facts = _read_facts(path, metadata)
    depth = sum(key.endswith(".weight") for key in tensors)
    try:
        weights = [tensors[f"layers.{k}.weight"] for k in range(depth)]
        biases = [tensors[f"layers.{k}.bias"] for k in range(depth)]
    except KeyError as error:
        raise PolicyFileError(f"{path} has no tensor {error}") from None
    try:
        return network_policy(
            weights,
            biases,
            name=facts["name"],
            portfolio=Portfolio(tuple(entry) for entry in facts["portfolio"]),
            max_dimension=int(facts["max_dimension"]),
            metadata=facts,
        )
    except (ValueError, KeyError, TypeError) as error:
        raise PolicyFileError(f"{path}: {error}") from error


def _read_facts(path: str | os.PathLike[str], metadata: dict[str, str]) -> dict[str, Any]:
    try:
        facts: dict[str, Any] = json.loads(metadata["deddqn"])
    except (KeyError, json.JSONDecodeError):
        raise PolicyFileError(f"{path} has no deddqn metadata: it is not a policy file") from None
    if not isinstance(facts, dict):
        raise PolicyFileError(f"{path} has no deddqn metadata: it is not a policy file")
    if facts.get("format") != FORMAT:
        raise PolicyFileError(f"{path} has format {facts.get('format')!r}, this version reads {FORMAT!r}")
    if facts.get("layout_version") != LAYOUT_VERSION:
        raise PolicyFileError(
            f"{path} was made for feature layout {facts.get('layout_version')}, this version has {LAYOUT_VERSION}"
        )
    return facts
