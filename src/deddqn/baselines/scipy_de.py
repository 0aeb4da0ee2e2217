"""SciPy's differential evolution as it comes: best/1/bin, dithered F, population 15 D, polished by L-BFGS-B.

R. Storn, K. Price, "Differential evolution - a simple and efficient heuristic for global optimization over continuous
spaces", Journal of Global Optimization 11 (1997), 341-359; ``scipy.optimize.differential_evolution``. SciPy counts
generations, not evaluations: the objective keeps the budget, and the search is long enough to spend it. When SciPy
itself decides that it has converged, the run ends before the budget.
"""

from __future__ import annotations

import numpy as np

from deddqn.baselines.method import BudgetedObjective, Trajectory
from deddqn.problems import Problem


class ScipyDE:
    """``scipy.optimize.differential_evolution`` with its defaults."""

    name = "scipy-de"

    def run(self, problem: Problem, budget: int, rng: np.random.Generator) -> Trajectory:
        """See `Method`."""
        from scipy.optimize import differential_evolution

        objective = BudgetedObjective(problem, budget, rng)

        def inside(x: np.ndarray) -> float:
            """SciPy unscales its points, and rounding may put them a hair outside."""
            return objective(np.clip(x, problem.lower, problem.upper))

        with objective.until_over():
            differential_evolution(inside, problem.bounds, maxiter=budget, rng=rng)
        return objective.trajectory()
