"""The learned policy in its online phase (Sect. 3.2, Algorithm 2): a Q-network read from a policy file, greedy.

In a policy file (see `files`) a network is ``layers.<k>.weight`` (outputs, inputs) and ``layers.<k>.bias`` in float32.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from deddqn._utils.reading import refusing
from deddqn.de.portfolio import PAPER, Portfolio
from deddqn.features.layout import PAPER_STATE, n_features
from deddqn.policies import softmax
from deddqn.policies.files import PolicyFileError, read_policy_file, write_policy_file
from deddqn.policies.mlp import choose_by_value, memory_parts, memory_size, pack_network
from deddqn.policies.policy import CompiledPolicy
from deddqn.policies.policy_kernels import PolicyKernels

KIND = "network"


def network_policy(
    weights: Sequence[np.ndarray],
    biases: Sequence[np.ndarray],
    *,
    name: str = "ddqn",
    portfolio: Portfolio = PAPER,
    max_dimension: int = 30,
    state: str = PAPER_STATE,
    epsilon: float = 0.0,
    metadata: dict[str, Any] | None = None,
    de: Mapping[str, Any] | None = None,
) -> CompiledPolicy:
    """A policy that takes the operator of highest Q-value. `weights` are ``(outputs, inputs)`` per layer."""
    weights, biases = _arrays("weights", weights), _arrays("biases", biases)
    _check_layers(weights, biases, len(portfolio))
    if not 0.0 <= epsilon <= 1.0:
        raise ValueError(f"epsilon must lie in [0, 1], got {epsilon}")
    setup = pack_network(list(weights), list(biases), epsilon)
    size = memory_size(setup)
    return CompiledPolicy(
        name,
        PolicyKernels(choose_by_value),
        setup=setup,
        memory_size=lambda n_ops, n_pop: size,
        memory_parts=memory_parts,
        needs_features=True,
        portfolio=portfolio,
        max_dimension=max_dimension,
        state=state,
        metadata=metadata,
        de=de,
    )


def _arrays(argument: str, layers: Sequence[Any]) -> list[np.ndarray]:
    """What another library calls arrays, as arrays of NumPy."""
    found = []
    for k, layer in enumerate(layers):
        try:
            found.append(np.asarray(layer, dtype=np.float64))
        except (TypeError, ValueError, RuntimeError) as error:
            raise PolicyFileError(
                f"{argument} must be arrays of numbers, but that of layer {k} is not: {error}"
            ) from None
    return found


def _check_layers(weights: Sequence[np.ndarray], biases: Sequence[np.ndarray], n_ops: int) -> None:
    if not weights or len(weights) != len(biases):
        raise PolicyFileError(f"a network needs as many weights as biases, got {len(weights)} and {len(biases)}")
    width = n_features(n_ops)
    for k, (weight, bias) in enumerate(zip(weights, biases, strict=True)):
        if weight.ndim != 2 or weight.shape[1] != width or bias.shape != (weight.shape[0],):
            raise PolicyFileError(
                f"layer {k} must take {width} inputs and have one bias per output, "
                f"got weight {weight.shape} and bias {bias.shape}"
                + ": weights are (outputs, inputs), so transpose it"
                * (weight.shape == (width, *bias.shape))
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
    state: str = PAPER_STATE,
    provenance: dict[str, Any] | None = None,
    de: Mapping[str, Any] | None = None,
) -> None:
    """Write a policy file: to a temporary name first, then renamed. Non-finite weights are refused."""
    network_policy(weights, biases, name=name, portfolio=portfolio, max_dimension=max_dimension, state=state, de=de)
    tensors = {f"layers.{k}.weight": np.ascontiguousarray(w, dtype=np.float32) for k, w in enumerate(weights)}
    tensors |= {f"layers.{k}.bias": np.ascontiguousarray(b, dtype=np.float32) for k, b in enumerate(biases)}
    write_policy_file(
        path,
        tensors,
        kind=KIND,
        name=name,
        portfolio=portfolio,
        max_dimension=max_dimension,
        state=state,
        provenance=provenance,
        de=de,
    )


def load_policy_file(path: str | os.PathLike[str]) -> CompiledPolicy:
    """Read a policy file of any kind; a wrong, truncated or non-finite one is refused with the reason."""
    tensors, header = read_policy_file(path)
    kind = header.get("kind", KIND)
    if kind not in _KINDS:
        raise PolicyFileError(f"{path} holds a policy of kind {kind!r}, this version knows {', '.join(_KINDS)}")
    with refusing(path, "a policy file", PolicyFileError):
        return _KINDS[kind](
            tensors,
            name=header["name"],
            portfolio=Portfolio.from_values(header["portfolio"]),
            max_dimension=header["max_dimension"],
            state=header.get("state", PAPER_STATE),
            metadata=header,
            de=header.get("de"),
        )


def _network_from(tensors: dict[str, np.ndarray], **header: Any) -> CompiledPolicy:
    depth = sum(key.endswith(".weight") for key in tensors)
    wanted = {f"layers.{k}.{part}" for k in range(depth) for part in ("weight", "bias")}
    if tensors.keys() != wanted:
        odd = sorted(tensors.keys() ^ wanted)[0]
        raise PolicyFileError(f"the tensors of a network are layers.<k>.weight and layers.<k>.bias, but not so {odd!r}")
    weights = [tensors[f"layers.{k}.weight"] for k in range(depth)]
    biases = [tensors[f"layers.{k}.bias"] for k in range(depth)]
    return network_policy(weights, biases, **header)


_KINDS: dict[str, Callable[..., CompiledPolicy]] = {KIND: _network_from, softmax.KIND: softmax.from_tensors}
"""How the policies of each kind are made from the tensors of their file."""
