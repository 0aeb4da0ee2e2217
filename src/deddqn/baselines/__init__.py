"""Other optimisers on the same problems: what a method of a comparison is, and adapters of foreign libraries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deddqn._utils.lazy_imports import lazy_names

if TYPE_CHECKING:
    from deddqn.baselines.baseline_registry import baseline_names, check_installed, load_baseline
    from deddqn.baselines.method import (
        BudgetedObjective,
        BudgetExhausted,
        Method,
        SearchOver,
        TargetReached,
        Trajectory,
        checkpoints,
    )
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "deddqn.baselines.method": (
                *("BudgetedObjective", "BudgetExhausted", "Method", "SearchOver", "TargetReached", "Trajectory"),
                "checkpoints",
            ),
            "deddqn.baselines.baseline_registry": ("baseline_names", "check_installed", "load_baseline"),
        },
    )

__all__ = [
    "BudgetExhausted",
    "BudgetedObjective",
    "Method",
    "SearchOver",
    "TargetReached",
    "Trajectory",
    "baseline_names",
    "check_installed",
    "checkpoints",
    "load_baseline",
]
