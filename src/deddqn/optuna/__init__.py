"""The search as a sampler of Optuna: ``optuna.create_study(sampler=deddqn.optuna.Sampler())``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deddqn._utils.lazy_imports import lazy_names
from deddqn._utils.optional_imports import need

if TYPE_CHECKING:
    from deddqn.optuna.sampler import Sampler
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {"deddqn.optuna.sampler": ("Sampler",)},
        before=lambda: need("optuna", "deddqn.optuna.Sampler", "optuna"),
    )

__all__ = ["Sampler"]
