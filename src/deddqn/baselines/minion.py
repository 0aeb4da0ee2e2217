"""Modern adaptive DE and CMA-ES variants through the C++ library `minionpy`, with its default settings.

==================  ==================================================================================================
name                source
==================  ==================================================================================================
``jade``            J. Zhang, A. C. Sanderson, "JADE: adaptive differential evolution with optional external archive",
                    IEEE Transactions on Evolutionary Computation 13 (2009), 945-958
``l-shade``         R. Tanabe, A. S. Fukunaga, "Improving the search performance of SHADE using linear population size
                    reduction", CEC 2014, 1658-1665
``jso``             J. Brest, M. S. Maucec, B. Boskovic, "Single objective real-parameter optimization: algorithm jSO",
                    CEC 2017, 1311-1318
``lshade-cnepsin``  N. H. Awad, M. Z. Ali, P. N. Suganthan, "Ensemble sinusoidal differential covariance matrix
                    adaptation with Euclidean neighborhood", CEC 2017, 372-379
``arrde``           adaptive restart-refine DE, by the author of minionpy
``rdex``            the library's RDEX
``bipop-acmaes``    I. Loshchilov, M. Schoenauer, M. Sebag, "Bi-population CMA-ES algorithms with surrogate models and
                    line searches", GECCO 2013 companion (the library's active BIPOP variant)
``rcmaes``          the library's CMA-ES with restarts
==================  ==================================================================================================

Schedules depend on the budget, so the library receives it; some algorithms still overshoot by a generation, which the
objective does not allow. Points outside of the box (RDEX makes some) are charged and never count as the best. The
library needs bounds: a problem that is not bounded is searched inside of its initialisation range. Algorithms whose
population collapses (spread below 1e-8) stop before the budget.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deddqn._utils.optional_imports import need
from deddqn.baselines.method import BudgetedObjective, Trajectory
from deddqn.problems import Problem

ALGORITHMS = {
    "jade": "JADE",
    "l-shade": "LSHADE",
    "jso": "jSO",
    "lshade-cnepsin": "LSHADE_cnEpSin",
    "arrde": "ARRDE",
    "rdex": "RDEX",
    "bipop-acmaes": "BIPOP_aCMAES",
    "rcmaes": "RCMAES",
}
"""Our names -> the library's. Its Python class `JADE` runs L-SHADE (as of 1.9.1), its `Minimizer` does not."""


@dataclass(frozen=True)
class MinionMethod:
    """An algorithm of minionpy, by its name in `ALGORITHMS`."""

    name: str

    def run(self, problem: Problem, budget: int, rng: np.random.Generator) -> Trajectory:
        """See `Method`."""
        minion = need("minionpy", f"the method {self.name!r}", "baselines")
        objective = BudgetedObjective(problem, budget, rng)
        raised: list[BaseException] = []

        def values(points: list[list[float]]) -> list[float]:
            try:
                return objective.batch(points).tolist()
            except BaseException as error:
                raised.append(error)  # on its way through C++ it may become a RuntimeError
                raise

        bounds = [(float(low), float(high)) for low, high in problem.bounds]
        algorithm = ALGORITHMS[self.name]
        seed = int(rng.integers(2**31 - 1))
        with objective.until_over():
            try:
                minion.Minimizer(values, bounds, algo=algorithm, maxevals=int(budget), seed=seed).optimize()
            except Exception as error:
                raise (raised[0] if raised else error) from None
        return objective.trajectory()
