"""IPOP-CMA-ES and LR-CMA-ES, the CEC2005 winners of the comparison, through the library `cma`.

A. Auger, N. Hansen, "A restart CMA evolution strategy with increasing population size", IEEE Congress on
Evolutionary Computation (CEC 2005), pp. 1769-1776 (IPOP); and "Performance evaluation of an advanced local search
evolutionary algorithm", ibid., pp. 1777-1784 (LR).

============  ==============================================  ===========================================
              IPOP                                            LR
============  ==============================================  ===========================================
population    4 + floor(3 ln D), doubled at every restart     4 + floor(3 ln D), always
sigma0        half the range of the box, (upper - lower) / 2  1% of that
============  ==============================================  ===========================================

Every start is uniform in the box. A start ends by the library's own criteria (tolfun, tolx, condition, stagnation),
the run by the budget, which is kept by the objective: the library would finish its generation.

Bounds: the library's default, `BoundTransform`, a smooth map of the whole space into the box that is the identity
except near the bounds, so that every point evaluated lies inside. The two papers evaluate a point outside at the
nearest point of the box and add a penalty; cma 4.5 has that as `BoundPenalty`, but forgets the penalty unless the
variables are scaled (on the sphere F1 at D=10 such a search diverges along the bounds). Where the problem is not
bounded, none of this applies and the box is only where searches start.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from deddqn._utils.optional_imports import need
from deddqn.baselines.method import BudgetedObjective, Trajectory
from deddqn.problems import Problem

QUIET: dict[str, Any] = {"verbose": -9, "verb_disp": 0, "verb_log": 0, "verb_time": False, "signals_filename": None}


@dataclass(frozen=True)
class RestartCMAES:
    """CMA-ES with restarts.

    Parameters
    ----------
    name : as in the registry.
    sigma : initial step size, as a fraction of half the range of the box.
    growth : factor of the population from one start to the next.
    """

    name: str
    sigma: float
    growth: int

    def run(self, problem: Problem, budget: int, rng: np.random.Generator) -> Trajectory:
        """See `Method`."""
        cma = need("cma", "CMA-ES", "baselines")
        objective = BudgetedObjective(problem, budget, rng)
        population = 4 + int(3 * np.log(problem.dimension))
        with objective.until_over(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            while True:
                self._search(cma, objective, population, rng)
                population *= self.growth
        return objective.trajectory()

    def _search(self, cma: Any, objective: BudgetedObjective, population: int, rng: np.random.Generator) -> None:
        """One start, until its own criteria end it or the objective raises."""
        problem = objective.problem
        strategy = cma.CMAEvolutionStrategy(
            rng.uniform(problem.lower, problem.upper),
            self.sigma * float(np.max(problem.upper - problem.lower)) / 2.0,
            self._options(cma, problem, population, rng),
        )
        while not strategy.stop():
            points = strategy.ask()
            strategy.tell(points, objective.batch(points))

    def _options(self, cma: Any, problem: Problem, population: int, rng: np.random.Generator) -> dict[str, Any]:
        spans = problem.upper - problem.lower
        options: dict[str, Any] = {
            **QUIET,
            "popsize": population,
            "seed": np.nan,  # leave numpy's global generator alone: `randn` is all that is drawn from
            "randn": lambda *shape: rng.standard_normal(shape),
        }
        if np.any(spans != spans[0]):
            options["CMA_stds"] = spans / spans.max()
        if problem.bounded:
            options |= {"bounds": [problem.lower, problem.upper], "BoundaryHandler": cma.BoundTransform}
        return options


def ipop_cmaes() -> RestartCMAES:
    """CMA-ES restarted with twice the population each time (Auger and Hansen 2005)."""
    return RestartCMAES("ipop-cmaes", sigma=1.0, growth=2)


def lr_cmaes() -> RestartCMAES:
    """CMA-ES restarted as a local search with small steps (Auger and Hansen 2005)."""
    return RestartCMAES("lr-cmaes", sigma=0.01, growth=1)
