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
from deddqn.baselines.optional import MissingLibraryError
from deddqn.baselines.registry import baseline_names, load_baseline

__all__ = [
    "BudgetExhausted",
    "BudgetedObjective",
    "Method",
    "MissingLibraryError",
    "SearchOver",
    "TargetReached",
    "Trajectory",
    "baseline_names",
    "checkpoints",
    "load_baseline",
]
