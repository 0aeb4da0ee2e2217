"""MetaBox 2 (the package ``metaevobox``): `minimize` as one of its optimisers, beside its own in its tester.

``docs/guide/foreign-policies.md`` shows it in use.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from deddqn._utils.optional_imports import MissingPackageError
from deddqn.optimize import Result, minimize

try:
    from metaevobox.environment.optimizer.basic_optimizer import Basic_Optimizer
except ImportError as error:
    raise MissingPackageError(f"for an optimiser of MetaBox install the package 'metaevobox': {error}") from error


class MetaBoxOptimizer(Basic_Optimizer):  # type: ignore[misc]
    """The search as a `Basic_Optimizer`, for problems of one objective that NumPy evaluates.

    Parameters
    ----------
    config : of MetaBox; ``maxFEs``, ``n_logpoint``, ``log_interval`` and ``full_meta_data`` are used.
    name : in its tables.
    options : of `deddqn.minimize`, such as ``policy``; with ``functools.partial``, where MetaBox wants a class.
    """

    def __init__(self, config: Any, *, name: str = "deddqn", **options: Any) -> None:
        super().__init__(config)
        self.config, self.name, self.options = config, name, options

    def __str__(self) -> str:
        return self.name

    def run_episode(self, problem: Any) -> dict[str, Any]:
        """Search with all evaluations of the config; costs are above the optimum, where the problem has one.

        Returns a dictionary: ``cost``, the best one of the initial population and after every ``log_interval``
        evaluations, ``n_logpoint`` + 1 in all; ``fes``; and if asked for ``metadata`` with the population ``X`` and its
        values ``Cost`` after every generation.
        """
        optimum = 0.0 if problem.optimum is None else float(problem.optimum)
        costs: list[float] = []
        metadata: dict[str, list[np.ndarray]] = {"X": [], "Cost": []}

        def cost_of(x: np.ndarray) -> float:
            costs.append(float(problem.eval(x)) - optimum)
            return costs[-1]

        def note(intermediate_result: Result) -> None:
            metadata["X"].append(intermediate_result.population.copy())
            metadata["Cost"].append(intermediate_result.population_energies.copy())

        full, wanted = bool(self.config.full_meta_data), {"maxfun": int(self.config.maxFEs), "rng": self.rng_seed}
        lower, upper, _ = np.broadcast_arrays(problem.lb, problem.ub, np.zeros(problem.dim))
        box = np.column_stack([lower, upper])
        found = minimize(cost_of, box, history=True, callback=note if full else None, **{**wanted, **self.options})
        best = np.minimum.accumulate(np.nan_to_num(costs, nan=np.inf))
        stops = np.arange(self.config.n_logpoint + 1) * int(self.config.log_interval)
        stops[0], stops[-1] = found.history["nfev"][0], len(best)
        curve = best[
            np.clip(stops, stops[0], len(best)) - 1
        ].tolist()  # a log interval may be shorter than the population
        return {"cost": curve, "fes": len(best)} | ({"metadata": metadata} if full else {})
