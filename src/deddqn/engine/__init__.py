"""Where problem, search, features and policy meet: one run, or many in lanes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deddqn.lazy import lazy_names

if TYPE_CHECKING:
    from deddqn.engine.episode import EpisodeSpec
    from deddqn.engine.figures import plot
    from deddqn.engine.lanes import Lanes, Record
    from deddqn.engine.one_call import minimize
    from deddqn.engine.optimizer import Optimizer
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "deddqn.engine.episode": ("EpisodeSpec",),
            "deddqn.engine.figures": ("plot",),
            "deddqn.engine.lanes": ("Lanes", "Record"),
            "deddqn.engine.one_call": ("minimize",),
            "deddqn.engine.optimizer": ("Optimizer",),
        },
    )

__all__ = ["EpisodeSpec", "Lanes", "Optimizer", "Record", "minimize", "plot"]
