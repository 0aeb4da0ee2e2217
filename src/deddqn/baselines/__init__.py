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

__all__ = [
    "BudgetExhausted",
    "BudgetedObjective",
    "Method",
    "SearchOver",
    "TargetReached",
    "Trajectory",
    "checkpoints",
]
