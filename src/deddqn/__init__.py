"""Differential Evolution that learns which move to make (DE-DDQN)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deddqn._utils.lazy_imports import lazy_names

if TYPE_CHECKING:
    from deddqn.de import BEYOND, PAPER, DEConfig, Entry, Portfolio
    from deddqn.engine import EpisodeSpec, Lanes
    from deddqn.optimize import Optimizer, minimize, plot
    from deddqn.policies import load_policy
    from deddqn.problems import Problem
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "deddqn.de": ("BEYOND", "PAPER", "DEConfig", "Entry", "Portfolio"),
            "deddqn.engine": ("EpisodeSpec", "Lanes"),
            "deddqn.optimize": ("Optimizer", "minimize", "plot"),
            "deddqn.policies": ("load_policy",),
            "deddqn.problems": ("Problem",),
        },
    )

__all__ = [
    "BEYOND",
    "PAPER",
    "DEConfig",
    "Entry",
    "EpisodeSpec",
    "Lanes",
    "Optimizer",
    "Portfolio",
    "Problem",
    "load_policy",
    "minimize",
    "plot",
]
__version__ = "0.1.0"
