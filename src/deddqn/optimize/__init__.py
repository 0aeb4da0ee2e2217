"""What a user calls: `minimize`, the `Optimizer` with ask and tell, and plots of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deddqn._utils.lazy_imports import lazy_names

if TYPE_CHECKING:
    from deddqn.optimize.drop_in import differential_evolution
    from deddqn.optimize.minimizer import minimize
    from deddqn.optimize.optimizer import Optimizer
    from deddqn.optimize.parameters import Bool, Categorical, Float, Int
    from deddqn.optimize.plotting import plot
    from deddqn.optimize.result import Result
    from deddqn.optimize.space import Space
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "deddqn.optimize.drop_in": ("differential_evolution",),
            "deddqn.optimize.minimizer": ("minimize",),
            "deddqn.optimize.optimizer": ("Optimizer",),
            "deddqn.optimize.parameters": ("Bool", "Categorical", "Float", "Int"),
            "deddqn.optimize.plotting": ("plot",),
            "deddqn.optimize.result": ("Result",),
            "deddqn.optimize.space": ("Space",),
        },
    )

__all__ = [
    "Bool",
    "Categorical",
    "Float",
    "Int",
    "Optimizer",
    "Result",
    "Space",
    "differential_evolution",
    "minimize",
    "plot",
]
