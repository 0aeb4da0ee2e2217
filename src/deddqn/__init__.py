"""Differential Evolution that learns which move to make (DE-DDQN)."""

from deddqn.de import BEYOND, PAPER, DEConfig, Entry, Portfolio
from deddqn.engine import EpisodeSpec, Lanes, Optimizer, minimize, plot
from deddqn.policies import load_policy
from deddqn.problems import Problem

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
