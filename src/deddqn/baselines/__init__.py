"""Other optimisers on the same problems: what a method of a comparison is, and adapters of foreign libraries."""

from deddqn.baselines.method import (
    BudgetedObjective,
    BudgetExhausted,
    Method,
    SearchOver,
    TargetReached,
    Trajectory,
    checkpoints,
)
from deddqn.baselines.registry import baseline_names, check_installed, load_baseline

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
