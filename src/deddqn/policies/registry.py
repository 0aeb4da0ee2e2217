"""Policies by name: ``random``, ``de1``, ``mixture:0.5,0.5``, ``f-auc:default``, or the path of a policy file."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

from deddqn._utils.validation import check_name, unknown_name
from deddqn.policies.adaptive import ADAPTIVE, adaptive_policy
from deddqn.policies.fixed import fixed, mixture, uniform_policy
from deddqn.policies.policy import CompiledPolicy, Policy, is_policy
from deddqn.policies.q_network import load_policy_file

_FACTORIES: dict[str, Callable[[], CompiledPolicy]] = {
    "random": uniform_policy,
    "de1": lambda: fixed(0),
    "de2": lambda: fixed(1),
    "de3": lambda: fixed(2),
    "de4": lambda: fixed(3),
}


SHIPPED = Path(__file__).parent / "weights"
"""Policy files that come with the package: ``weights/<name>.safetensors`` is the policy ``<name>``."""


def _shipped() -> dict[str, Path]:
    return {path.stem: path for path in sorted(SHIPPED.glob("*.safetensors"))}


def policy_names() -> list[str]:
    """The names of the policies that can be had without further arguments."""
    return [*_FACTORIES, *ADAPTIVE, *_shipped()]


_BEST_FIRST = ("softmax-budget", "softmax-x", "softmax", "ddqn")
_NEEDS_PLAN = ("softmax-budget",)  # its settings follow a budget that is known, and were chosen for bounds alone


def best_policy(planned: bool = True) -> str:
    """The name of the best policy that is shipped: what `minimize` uses unless told otherwise.

    `planned`: the number of evaluations is known, and only bounds limit real coordinates.
    """
    shipped = _shipped()
    fitting = (name for name in _BEST_FIRST if planned or name not in _NEEDS_PLAN)
    return next((name for name in fitting if name in shipped), "random")


def register_policy(name: str, factory: Callable[[], CompiledPolicy]) -> None:
    """Add a policy to the registry; `factory` makes a new one at every call."""
    if name in _FACTORIES or name in ADAPTIVE:
        raise ValueError(f"name must be new, but a policy {name!r} is already registered")
    _FACTORIES[name] = factory


def load_policy(policy: str | os.PathLike[str] | Policy) -> Policy:
    """A policy from its name, from the path of a policy file, or as it is."""
    if not isinstance(policy, str | os.PathLike):
        if not is_policy(policy):
            raise ValueError(f"policy must be a name, a path or an object with the Policy methods, got {policy!r}")
        check_name("name of the policy", policy.name)
        return policy
    found = _by_name(os.fspath(policy))
    found.source = os.fspath(policy)
    return found


def registered_policy(name: str) -> CompiledPolicy | None:
    """The policy that a name stands for without any file of the user's; None if there is none."""
    if name in _FACTORIES:
        return _FACTORIES[name]()
    if name in (shipped := _shipped()):
        return load_policy_file(shipped[name])
    if name.partition(":")[0] in ADAPTIVE:
        return adaptive_policy(name)
    if name.startswith("mixture:"):
        return mixture(_probabilities(name))
    if match := re.fullmatch(r"de([1-9]\d*)", name):
        return fixed(int(match.group(1)) - 1)
    return None


def _by_name(name: str) -> CompiledPolicy:
    if (known := registered_policy(name)) is not None:
        return known
    if name.endswith(".safetensors") or Path(name).is_file():
        return load_policy_file(name)
    raise unknown_name("policy", name, [*policy_names(), "mixture:p1,p2,..", "f-auc:default", "a .safetensors file"])


def _probabilities(name: str) -> list[float]:
    try:
        return [float(part) for part in name.removeprefix("mixture:").split(",")]
    except ValueError:
        raise ValueError(f"policy 'mixture:p1,p2,..' needs numbers separated by commas, got {name!r}") from None
