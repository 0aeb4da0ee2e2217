"""What is optimised: benchmark functions by name, and functions of the user."""

from deddqn.problems.problem import Objective, Problem
from deddqn.problems.registry import SUITES, get, problem_names, suite

__all__ = ["SUITES", "Objective", "Problem", "get", "problem_names", "suite"]
