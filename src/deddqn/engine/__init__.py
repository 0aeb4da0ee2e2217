"""Where problem, search, features and policy meet: one run, or many in lanes."""

from deddqn.engine.episode import EpisodeSpec
from deddqn.engine.figures import plot
from deddqn.engine.lanes import Lanes, Record
from deddqn.engine.minimize import minimize
from deddqn.engine.optimizer import Optimizer

__all__ = ["EpisodeSpec", "Lanes", "Optimizer", "Record", "minimize", "plot"]
