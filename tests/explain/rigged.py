"""Policies whose answers are known: what they look at, and whether it matters."""

from __future__ import annotations

import numpy as np

from deddqn.de import DEConfig, Portfolio
from deddqn.features.layout import AT, n_features
from deddqn.policies import CompiledPolicy, network_policy, softmax_policy
from deddqn.policies.softmax import INPUTS, N_INPUTS

SMALL = DEConfig(population_size=20, budget=1000)

WIDE_AND_FINE = Portfolio([("rand-to-best/2", 1.5, 0.5), ("curr-to-rand/1", 0.1, 1.0)])
"""Steps too wide to refine a good point, and steps too fine to bring a bad one anywhere."""


STEPS_AND_NONE = Portfolio([("rand-to-best/2", 0.5, 1.0), ("curr-to-rand/1", 0.0, 1.0)])
"""A good move, and one that proposes the parent again."""


def best_are_refined() -> CompiledPolicy:
    """The two best of twenty individuals take fine steps, the others wide ones: better than the same at random."""
    return _by_rank(WIDE_AND_FINE, slope=4000.0, limit=0.08)


def worst_stay() -> CompiledPolicy:
    """The worse half of the individuals never moves: worse than the same at random."""
    return _by_rank(STEPS_AND_NONE, slope=-4000.0, limit=0.49)


def _by_rank(portfolio: Portfolio, slope: float, limit: float) -> CompiledPolicy:
    """Operator 0 for ranks above the limit, or below it if the slope is negative."""
    weights = np.zeros((2, N_INPUTS))
    weights[0, INPUTS.index("rank")], weights[0, INPUTS.index("constant")] = slope, -limit * slope
    return softmax_policy(weights, portfolio=portfolio, name="by-rank")


def picking(n_candidates: int, portfolio: Portfolio) -> CompiledPolicy:
    """All operators alike, and of several trials the one that looks best: better than one trial of them at random."""
    weights = np.zeros((len(portfolio), N_INPUTS))
    return softmax_policy(weights, portfolio=portfolio, name="picking", de={"n_candidates": n_candidates})


def by_budget(limit: float = 0.5) -> CompiledPolicy:
    """A network that plays operator 0 while more than `limit` of the budget is left, and then operator 1."""
    weights = np.zeros((2, n_features(2)))
    weights[0, AT["remaining_budget"]] = 1.0
    return network_policy([weights], [np.array([-limit, 0.0])], portfolio=WIDE_AND_FINE, name="by-budget")
