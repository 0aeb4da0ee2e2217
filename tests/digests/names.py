"""What the package calls things today. After a renaming only this module changes; the recorded digests do not.

The names of digests are made of the keys, which stay.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from deddqn.policies import policy_names

POLICIES = {"softmax": "softmax", "softmax-x": "softmax-x"}
"""Other policies are called in digests as they are in the package."""

PORTFOLIOS = {"paper": "paper", "extended": "extended"}
CANDIDATES = "n_candidates"
"""The keyword of `minimize` and `DEConfig` for the number of trials to pick from."""

TENSORS = {"prescreening_gate": "trust"}
"""What the tensors of policy files are called in digests, where it is not their name."""

NETWORKS = ("ddqn", "ddqn-r1", "ddqn-r2", "ddqn-r3")
"""Policies that sum in an order which depends on the processor."""


def policy(label: str) -> str:
    """The name of a policy in the package."""
    return POLICIES.get(label, label)


def policy_labels() -> list[str]:
    """All policies of the package, as digests call them."""
    labels = {name: label for label, name in POLICIES.items()}
    return [labels.get(name, name) for name in policy_names()]


def train(out: Path, **settings: Any) -> None:
    """A training of a Q-network into the folder `out`; needs torch."""
    from deddqn.training.config import TrainingConfig
    from deddqn.training.dqn.trainer import train

    train(TrainingConfig(**settings, tensorboard=False), out)


def search(out: Path, **settings: Any) -> None:
    """A search for a softmax policy into the folder `out`."""
    from deddqn.training.policy_search.config import PolicySearchConfig
    from deddqn.training.policy_search.search import PolicySearch

    if settings.get("portfolio") in PORTFOLIOS:
        settings["portfolio"] = PORTFOLIOS[settings["portfolio"]]
    PolicySearch(PolicySearchConfig.from_json(settings), out, quiet=True).run()


def reward_tables(reward: str, *arguments: Any, **settings: Any) -> list[np.ndarray]:
    """The constants of the rewards that need some, one vector per problem."""
    from deddqn.training.dqn.reward_tables import reward_tables

    return reward_tables(reward, *arguments, **settings)


def stored_runs(folder: Path) -> Any:
    """The data frame of a comparison."""
    from deddqn.experiments import Store

    return Store(folder).read()
