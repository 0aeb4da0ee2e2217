"""The compiled core: problem, search, features and policy meet in one loop, for one run or for many side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deddqn._utils.lazy_imports import lazy_names

if TYPE_CHECKING:
    from deddqn.engine.run_spec import EpisodeSpec
    from deddqn.engine.vectorized import Lanes, Record
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {"deddqn.engine.run_spec": ("EpisodeSpec",), "deddqn.engine.vectorized": ("Lanes", "Record")},
    )

__all__ = ["EpisodeSpec", "Lanes", "Record"]
