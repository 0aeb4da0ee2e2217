"""Differential Evolution with adaptive operator selection and surrogate pre-screening (DE-DDQN and beyond)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deddqn._utils.lazy_imports import lazy_names

if TYPE_CHECKING:
    from deddqn.de import EXTENDED, PAPER, DEConfig, Operator, Portfolio
    from deddqn.engine import RunSpec, VectorizedRuns
    from deddqn.optimize import (
        Bool,
        Categorical,
        Float,
        Int,
        Optimizer,
        Result,
        Space,
        differential_evolution,
        minimize,
        plot,
    )
    from deddqn.policies import load_policy
    from deddqn.problems import Problem, ReturnedConstraint
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "deddqn.de": ("EXTENDED", "PAPER", "DEConfig", "Operator", "Portfolio"),
            "deddqn.engine": ("RunSpec", "VectorizedRuns"),
            "deddqn.optimize": (
                "Bool",
                "Categorical",
                "Float",
                "Int",
                "Result",
                "Space",
                "Optimizer",
                "differential_evolution",
                "minimize",
                "plot",
            ),
            "deddqn.policies": ("load_policy",),
            "deddqn.problems": ("Problem", "ReturnedConstraint"),
        },
    )

__all__ = [
    "EXTENDED",
    "PAPER",
    "Bool",
    "Categorical",
    "DEConfig",
    "Float",
    "Int",
    "Operator",
    "Optimizer",
    "Portfolio",
    "Problem",
    "Result",
    "ReturnedConstraint",
    "RunSpec",
    "Space",
    "VectorizedRuns",
    "differential_evolution",
    "load_policy",
    "minimize",
    "plot",
]
__version__ = "0.1.0"
