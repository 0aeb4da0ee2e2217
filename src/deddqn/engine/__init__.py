"""The compiled core: problem, DE, features and policy meet in one loop, for one run or for many side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deddqn._utils.lazy_imports import lazy_names

if TYPE_CHECKING:
    from deddqn.engine.run_spec import RunSpec
    from deddqn.engine.vectorized import Record, VectorizedRuns
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {"deddqn.engine.run_spec": ("RunSpec",), "deddqn.engine.vectorized": ("VectorizedRuns", "Record")},
    )

__all__ = ["Record", "RunSpec", "VectorizedRuns"]
