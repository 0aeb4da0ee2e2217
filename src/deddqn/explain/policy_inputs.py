"""The inputs of a policy's decisions, how it values the operators, and which inputs belong together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from deddqn._jit import Function, address_of
from deddqn.explain import decision_kernels
from deddqn.features.layout import METRICS, TABLE_1, n_features
from deddqn.policies import CompiledPolicy, softmax
from deddqn.policies.mlp import EPSILON, choose_by_value


@dataclass(frozen=True)
class Group:
    """Inputs that are permuted together."""

    name: str
    kind: str  # "landscape" or "history" as in Table 1, "input" of a softmax policy, "all" for several groups at once
    rows: str  # of Table 1, as in the paper
    columns: tuple[int, ...]
    meaning: str


@dataclass(frozen=True)
class PolicyInputs:
    """The inputs of a policy's decisions, and how its values and probabilities follow from them.

    Parameters
    ----------
    valued : what the values are called.
    read : the kernel that writes the inputs of a decision (see `decision_kernels.READ_SIGNATURE`).
    width : number of inputs.
    groups : the inputs by meaning.
    values : (n, width) inputs -> (n, operators) values.
    probabilities : (n, operators) values -> the probabilities with which the policy chooses the operators.
    """

    valued: str
    read: Function
    width: int
    groups: tuple[Group, ...]
    values: Callable[[np.ndarray], np.ndarray]
    probabilities: Callable[[np.ndarray], np.ndarray]


def inputs_of(policy: CompiledPolicy, n_ops: int) -> PolicyInputs | None:
    """The inputs of a policy; None if it has none that could be shown (see `why_opaque`)."""
    make = _INPUTS.get(policy.kernels.choose)
    return None if make is None else make(policy, n_ops)


def why_opaque(policy: CompiledPolicy) -> str:
    """Why a policy has neither values nor inputs to show."""
    if policy.needs_features:
        return f"{policy.name!r} reads the state, but explain does not know how it values the operators"
    if policy.kernels.learn is None:
        return f"{policy.name!r} does not use the state"
    return (
        f"{policy.name!r} chooses by the rewards of its operators so far: it has no value of an operator in a state, "
        "and no features that could be permuted"
    )


def reader_address(policy_inputs: PolicyInputs | None) -> int:
    """The address of the kernel that writes the inputs."""
    return address_of(
        decision_kernels.read_nothing if policy_inputs is None else policy_inputs.read, decision_kernels.READ_SIGNATURE
    )


def _network_inputs(policy: CompiledPolicy, n_ops: int) -> PolicyInputs:
    epsilon = float(policy.setup[EPSILON])
    scratch = np.zeros(policy.memory_size(n_ops, 0))

    def values(inputs: np.ndarray) -> np.ndarray:
        found = np.empty((len(inputs), n_ops))
        decision_kernels.network_values(policy.setup, scratch, np.ascontiguousarray(inputs), found)
        return found

    def probabilities(found: np.ndarray) -> np.ndarray:
        greedy = np.eye(n_ops)[found.argmax(axis=1)]
        return (1.0 - epsilon) * greedy + epsilon / n_ops

    width = n_features(n_ops)
    return PolicyInputs("Q-values", decision_kernels.read_features, width, table_1_groups(n_ops), values, probabilities)


def _softmax_inputs(policy: CompiledPolicy, n_ops: int) -> PolicyInputs:
    weights = softmax.weights_of(policy)

    def probabilities(scores: np.ndarray) -> np.ndarray:
        parts = np.exp(scores - scores.max(axis=1, keepdims=True))
        return np.asarray(parts / parts.sum(axis=1, keepdims=True))

    return PolicyInputs(
        "scores",
        decision_kernels.read_softmax_inputs,
        softmax.N_INPUTS,
        input_groups(),
        lambda inputs: inputs @ weights.T,
        probabilities,
    )


_INPUTS: dict[Function, Callable[[CompiledPolicy, int], PolicyInputs]] = {
    choose_by_value: _network_inputs,
    softmax.choose: _softmax_inputs,
}
"""By the kernel that chooses."""


def table_1_groups(n_ops: int) -> tuple[Group, ...]:
    """The blocks of Table 1, then its two halves."""
    groups, start = [], 0
    for block in TABLE_1:
        first, last = block.rows
        width = METRICS * n_ops if block.per_operator else last - first + 1
        rows = f"{first}" if first == last else f"{first}-{last}"
        kind = "history" if block.per_operator else "landscape"
        groups.append(Group(block.name, kind, rows, tuple(range(start, start + width)), block.meaning))
        start += width
    return (*groups, _together(groups, "landscape", "1-19"), _together(groups, "history", "20-99"))


def _together(groups: list[Group], kind: str, rows: str) -> Group:
    members = [group for group in groups if group.kind == kind]
    columns = tuple(column for group in members for column in group.columns)
    return Group(f"all {kind}", "all", rows, columns, f"all {kind} features at once")


def input_groups() -> tuple[Group, ...]:
    """The inputs of a softmax policy, then two that belong together."""
    groups = [Group(name, "input", "", (k,), _MEANINGS[name]) for k, name in enumerate(softmax.INPUTS)]
    members = tuple(softmax.INPUTS.index(name) for name in ("progress", "progress squared"))
    together = Group("progress with its square", "all", "", members, "at once, as they belong together")
    return (*groups, together)


_MEANINGS = {
    "constant": "1; it cannot be permuted, so it is 0 by construction",
    "progress": "share of the budget that is used",
    "progress squared": "permuted alone it contradicts progress",
    "stagnation": "evaluations without a new best, squashed",
    "rank": "of the individual among the parents",
    "diversity": "log of the mean distance to donors over the first generation's",
    "success": "share of the last generation's trials that were better",
    "dimension": "of the problem",
}
