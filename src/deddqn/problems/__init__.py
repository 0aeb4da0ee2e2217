"""What is optimised: benchmark functions by name, and functions of the user."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deddqn._utils.lazy_imports import lazy_names

if TYPE_CHECKING:
    from deddqn.problems.constraints import ReturnedConstraint
    from deddqn.problems.problem import Objective, Problem
    from deddqn.problems.registry import SUITES, get, problem_names, suite
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "deddqn.problems.constraints": ("ReturnedConstraint",),
            "deddqn.problems.problem": ("Objective", "Problem"),
            "deddqn.problems.registry": ("SUITES", "get", "problem_names", "suite"),
        },
    )

__all__ = ["SUITES", "Objective", "Problem", "ReturnedConstraint", "get", "problem_names", "suite"]
