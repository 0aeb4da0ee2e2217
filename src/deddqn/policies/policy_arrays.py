"""Policies as plain values and an array, for files that must hold the policy itself and not only its name."""

from __future__ import annotations

from typing import Any

import numpy as np

from deddqn.de.portfolio import Portfolio
from deddqn.policies.fixed import choose_fixed, choose_mixture, choose_uniform, fixed, mixture, uniform_policy
from deddqn.policies.mlp import N_LAYERS, WIDTHS, choose_by_value, memory_parts, memory_size, pack_network
from deddqn.policies.policy import CompiledPolicy
from deddqn.policies.policy_kernels import PolicyKernels

_KERNELS = {"fixed": choose_fixed, "uniform": choose_uniform, "mixture": choose_mixture, "network": choose_by_value}


def packed(policy: CompiledPolicy) -> dict[str, Any] | None:
    """A policy as JSON values and its ``setup`` array; None if its kernels are not among those known here."""
    kernels = policy.kernels
    kind = next((kind for kind, kernel in _KERNELS.items() if kernels == PolicyKernels(kernel)), None)
    if kind is None:
        return None
    own = policy.portfolio
    return {
        "kind": kind,
        "name": policy.name,
        "source": policy.source,
        "portfolio": None if own is None else list(own.values),
        "max_dimension": policy.max_dimension,
        "de": policy.de,
        "setup": policy.setup.copy(),
    }


def unpacked(parts: dict[str, Any]) -> CompiledPolicy:
    """The policy that `packed` was given."""
    setup = np.ascontiguousarray(parts["setup"], dtype=np.float64)
    kind = parts["kind"]
    if kind not in _KERNELS:
        raise ValueError(f"policy must be of a kind in {', '.join(_KERNELS)}, got {kind!r}")
    if kind == "network":
        policy = _network(parts, setup)
    elif kind == "fixed":
        policy = fixed(int(setup[0]))
    elif kind == "mixture":
        policy = mixture(np.diff(setup, prepend=0.0))
    else:
        policy = uniform_policy()
    policy.setup = setup  # to the bit
    policy.name, policy.source = parts["name"], parts["source"]
    return policy


def _network(parts: dict[str, Any], setup: np.ndarray) -> CompiledPolicy:
    layers = int(setup[N_LAYERS])
    widths = setup[WIDTHS : WIDTHS + layers + 1].astype(int).tolist()
    shapes = list(zip(widths[1:], widths, strict=False))
    if not 1 <= layers == len(shapes) or min(widths) < 1 or _size_of(shapes) != setup.size:
        raise ValueError(f"the network of policy {parts['name']!r} does not have the size that its layers need")
    size = memory_size(setup)
    return CompiledPolicy(
        parts["name"],
        PolicyKernels(choose_by_value),
        memory_size=lambda n_ops, n_pop: size,
        memory_parts=memory_parts,
        needs_features=True,
        portfolio=None if parts["portfolio"] is None else Portfolio(tuple(entry) for entry in parts["portfolio"]),
        max_dimension=int(parts["max_dimension"]),
        de=parts["de"],
    )


def _size_of(shapes: list[tuple[int, int]]) -> int:
    return pack_network([np.zeros(shape) for shape in shapes], [np.zeros(shape[0]) for shape in shapes]).size
