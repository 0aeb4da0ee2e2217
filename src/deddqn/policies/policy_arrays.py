"""Policies as plain values and an array, for files that must hold the policy itself and not only its name."""

from __future__ import annotations

from typing import Any

import numpy as np

from deddqn._utils.validation import check_name
from deddqn.de.portfolio import Portfolio
from deddqn.features.layout import check_state
from deddqn.policies import softmax
from deddqn.policies.fixed import choose_fixed, choose_mixture, choose_uniform, fixed, mixture, uniform_policy
from deddqn.policies.mlp import (
    EPSILON,
    GENERATION_EXPLORATION,
    N_LAYERS,
    WIDTHS,
    choose_by_value,
    network_views,
    packed_size,
)
from deddqn.policies.policy import CompiledPolicy
from deddqn.policies.policy_kernels import PolicyKernels
from deddqn.policies.q_network import network_policy

_KERNELS = {
    "fixed": PolicyKernels(choose_fixed),
    "uniform": PolicyKernels(choose_uniform),
    "mixture": PolicyKernels(choose_mixture),
    "network": PolicyKernels(choose_by_value),
    softmax.KIND: softmax.KERNELS,
}
WITH_PORTFOLIO = ("network", softmax.KIND)
LARGEST_WIDTH = 2**20


def packed(policy: CompiledPolicy) -> dict[str, Any] | None:
    """A policy as JSON values and its ``setup`` array; None if its kernels are not among those known here."""
    kernels = policy.kernels
    kind = next((kind for kind, known in _KERNELS.items() if kernels == known), None)
    own = policy.portfolio
    if kind is None or (own is None and kind in WITH_PORTFOLIO):
        return None
    return {
        "kind": kind,
        "name": policy.name,
        "source": policy.source,
        "portfolio": None if own is None else list(own.values),
        "max_dimension": policy.max_dimension,
        "state": policy.state,
        "de": policy.de,
        "setup": policy.setup.copy(),
    }


def unpacked(parts: dict[str, Any]) -> CompiledPolicy:
    """The policy that `packed` was given; parts that do not go together are refused, since kernels trust them."""
    setup = np.ascontiguousarray(parts["setup"], dtype=np.float64)
    kind, name = parts["kind"], check_name("name of the policy", parts["name"])
    if kind not in _KERNELS:
        raise ValueError(f"policy must be of a kind in {', '.join(_KERNELS)}, got {kind!r}")
    if setup.ndim != 1 or parts["setup"].dtype != np.float64:
        raise ValueError(f"the setup of a policy must be a vector of float64, got shape {setup.shape}")
    own = None if parts["portfolio"] is None else Portfolio.from_values(parts["portfolio"])
    made_for: dict[str, Any] = {"name": name, "max_dimension": parts["max_dimension"], "de": parts["de"]}
    if kind in WITH_PORTFOLIO:
        if own is None:
            raise ValueError(f"the {kind} of policy {name!r} must have a portfolio")
        make = _network if kind == "network" else _softmax
        policy = make(setup, portfolio=own, **made_for)
    else:
        policy = _plain(kind, setup)
        if own is not None:
            raise ValueError(f"policy {name!r} has no portfolio of its own")
    if policy.setup.tobytes() != setup.tobytes() and kind != "mixture":
        raise ValueError(f"the setup of policy {name!r} is not one of a {kind} policy")
    policy.setup = setup  # to the bit
    policy.name, policy.source, policy.state = name, parts["source"], check_state(parts["state"])
    return policy


def _plain(kind: str, setup: np.ndarray) -> CompiledPolicy:
    """A policy without a network."""
    if kind == "fixed":
        return fixed(_whole("the operator", setup[0] if setup.size else -1.0, 0, LARGEST_WIDTH))
    if kind == "mixture":
        return mixture(np.diff(setup, prepend=0.0))
    return uniform_policy()


def _whole(name: str, value: float, least: int, most: int) -> int:
    if not (least <= value <= most and value == int(value)):
        raise ValueError(f"{name} must be a whole number from {least} to {most}, got {value}")
    return int(value)


def _network(setup: np.ndarray, **made_for: Any) -> CompiledPolicy:
    header = _whole("the number of layers", setup[N_LAYERS] if setup.size > WIDTHS else 0.0, 1, setup.size - WIDTHS - 1)
    for width in setup[WIDTHS : WIDTHS + header + 1]:
        _whole("the width of a layer", float(width), 1, LARGEST_WIDTH)
    if packed_size(setup) != setup.size:
        raise ValueError(f"the network of policy {made_for['name']!r} does not have the size that its layers need")
    weights, biases = zip(*network_views(setup), strict=True)
    policy = network_policy(weights, biases, epsilon=float(setup[EPSILON]), **made_for)
    policy.setup[GENERATION_EXPLORATION] = setup[GENERATION_EXPLORATION]
    if not 0.0 <= setup[GENERATION_EXPLORATION] <= 1.0:
        raise ValueError(f"the share of exploring generations must lie in [0, 1], got {setup[GENERATION_EXPLORATION]}")
    return policy


def _softmax(setup: np.ndarray, **made_for: Any) -> CompiledPolicy:
    rows, columns = len(made_for["portfolio"]), len(softmax.INPUTS)
    if setup.size not in (rows * columns, (rows + 1) * columns):
        raise ValueError(f"the weights of policy {made_for['name']!r} must be {rows} rows, or one more, of {columns}")
    table = setup.reshape(-1, columns)
    gate = table[rows] if len(table) > rows else None
    return softmax.softmax_policy(table[:rows], prescreening_gate=gate, **made_for)
