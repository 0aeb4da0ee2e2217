"""Where problem, search, features and policy meet: one run, or many in lanes."""

from deddqn.engine.episode import EpisodeSpec
from deddqn.engine.lanes import Lanes, Record

__all__ = ["EpisodeSpec", "Lanes", "Record"]
