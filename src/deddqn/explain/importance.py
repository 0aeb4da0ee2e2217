"""Permutation importance (Breiman 2001; Fisher, Rudin, Dominici 2019) of the inputs of a policy.

A group of inputs is permuted among states, and the decisions that change are counted.

*changed* is the mean total variation distance between what the policy chooses with the true and with the permuted
inputs: for a greedy network the share of decisions that change, for a softmax policy the least share of its draws
that must change. *regret* is what the change costs by the policy's own values in the true state, as a part of the
distance between its best and its worst operator there: 0 costs nothing, 1 is the worst in place of the best.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deddqn.explain.policy_inputs import Group, PolicyInputs

ROUNDS = 5  # permutations of every group


@dataclass(frozen=True)
class Importance:
    """What one group of inputs is worth, over permutations among all states and within those of one problem."""

    group: str
    kind: str
    rows: str
    meaning: str
    changed: float
    spread: float  # standard deviation of `changed` over the permutations
    regret: float
    changed_within: float
    regret_within: float


def permutation_importance(
    policy_inputs: PolicyInputs, inputs: np.ndarray, problems: np.ndarray, *, seed: int = 0, rounds: int = ROUNDS
) -> list[Importance]:
    """The importance of every group of inputs.

    Parameters
    ----------
    inputs : (n, width) of sampled decisions.
    problems : (n,) the number of the problem that each is from.
    """
    rng = np.random.default_rng(seed)
    truth = _Truth(policy_inputs, inputs)
    rows = []
    for group in policy_inputs.groups:
        anywhere = [truth.cost(group, rng.permutation(len(inputs))) for _ in range(rounds)]
        within = [truth.cost(group, _permuted_within(problems, rng)) for _ in range(rounds)]
        changed, regret = np.array(anywhere).T
        changed_within, regret_within = np.array(within).mean(axis=0)
        rows.append(
            Importance(
                group.name,
                group.kind,
                group.rows,
                group.meaning,
                changed=float(changed.mean()),
                spread=float(changed.std(ddof=1)) if rounds > 1 else 0.0,
                regret=float(regret.mean()),
                changed_within=float(changed_within),
                regret_within=float(regret_within),
            )
        )
    return rows


class _Truth:
    """What the policy does with the true inputs."""

    def __init__(self, policy_inputs: PolicyInputs, inputs: np.ndarray) -> None:
        self.policy_inputs, self.inputs = policy_inputs, inputs
        self.values = policy_inputs.values(inputs)
        self.probabilities = policy_inputs.probabilities(self.values)
        span = self.values.max(axis=1) - self.values.min(axis=1)
        self.unit = np.where(span > 0.0, span, 1.0)

    def cost(self, group: Group, order: np.ndarray) -> tuple[float, float]:
        """Changed decisions and regret when the group's inputs come from the states `order`."""
        columns = np.array(group.columns)
        permuted = self.inputs.copy()
        permuted[:, columns] = self.inputs[order][:, columns]
        lost = self.probabilities - self.policy_inputs.probabilities(self.policy_inputs.values(permuted))
        regret = (lost * self.values).sum(axis=1) / self.unit
        return float(np.abs(lost).sum(axis=1).mean() / 2.0), float(regret.mean())


def _permuted_within(problems: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A permutation of all rows that keeps every row within its problem."""
    order = np.arange(problems.size)
    for problem in np.unique(problems):
        members = np.flatnonzero(problems == problem)
        order[members] = rng.permutation(members)
    return order
