"""Where other tools are better than `deddqn.minimize`: the numbers of docs/guide/when-not.md.

``python -m benchmarks.when_not``, two minutes. Medians over the seeds; every value is above that of the optimum.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp, minimize, rosen, rosen_der

import deddqn

SEEDS = range(5)
FEW = 30  # evaluations


def median_of(run: Callable[[int], float]) -> float:
    """Median value over the seeds."""
    return float(np.median([run(seed) for seed in SEEDS]))


def show(what: str, who: str, value: float, evaluations: int | str) -> None:
    """One row of the page's table."""
    print(f"| {what} | {who} | {value:.2g} | {evaluations} |", flush=True)


def gradients(dimension: int = 20) -> None:
    """Rosenbrock's valley with its gradient, from random starts."""
    what, box = f"smooth, gradient known (Rosenbrock, D = {dimension})", [(-5.0, 5.0)] * dimension
    calls: list[int] = []

    def local(seed: int) -> float:
        start = np.random.default_rng(seed).uniform(-5, 5, dimension)
        found = minimize(rosen, start, jac=rosen_der, bounds=box, method="L-BFGS-B", options={"maxiter": 5000})
        calls.append(int(found.nfev))
        return float(found.fun)

    value = median_of(local)
    show(what, "L-BFGS-B with gradient", value, int(np.median(calls)))
    value = median_of(lambda seed: deddqn.minimize(rosen, box, maxfun=20_000, rng=seed).fun)
    show(what, "`minimize`", value, 20_000)


def convex(dimension: int = 30) -> None:
    """Least squares without a gradient: differences are enough."""
    rng = np.random.default_rng(0)
    matrix = rng.standard_normal((60, dimension))
    target = matrix @ rng.uniform(-2, 2, dimension)
    what, box = f"convex (least squares, D = {dimension})", [(-5.0, 5.0)] * dimension

    def cost(x: np.ndarray) -> float:
        return float(((matrix @ x - target) ** 2).sum())

    calls: list[int] = []

    def local(seed: int) -> float:
        found = minimize(cost, np.random.default_rng(seed).uniform(-5, 5, dimension), bounds=box, method="L-BFGS-B")
        calls.append(int(found.nfev))
        return float(found.fun)

    value = median_of(local)
    show(what, "L-BFGS-B, differences", value, int(np.median(calls)))
    value = median_of(lambda seed: deddqn.minimize(cost, box, maxfun=10_000, rng=seed).fun)
    show(what, "`minimize`", value, 10_000)


def linear(items: int = 40) -> None:
    """A knapsack: linear, with integers."""
    rng = np.random.default_rng(1)
    weights, gains = rng.integers(10, 100, items), rng.integers(10, 100, items)
    room = int(weights.sum() // 3)
    exact = milp(-gains, integrality=1, bounds=Bounds(0, 1), constraints=LinearConstraint(weights[None], 0, room))
    what = f"linear with integers (knapsack, {items} items)"
    show(what, "scipy's `milp`", 0.0, "exact")

    def run(seed: int) -> float:
        found = deddqn.minimize(
            lambda x: -float(gains @ x),
            [(0, 1)] * items,
            integrality=True,
            constraints=LinearConstraint(weights[None], 0, room),
            maxfun=10_000,
            rng=seed,
        )
        return float(found.fun - exact.fun)

    value = median_of(run)
    show(what, "`minimize`", value, 10_000)


def few(dimension: int = 3) -> None:
    """Thirty evaluations of an expensive smooth function: a model of the function pays."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    warnings.simplefilter("ignore")
    centre = np.array([0.3, -1.1, 2.2])
    what = f"{FEW} evaluations (a smooth bowl with waves, D = {dimension})"

    def cost(x: np.ndarray) -> float:
        return float(((x - centre) ** 2).sum() + 2.0 - 2.0 * np.cos(x - centre).prod())

    def bayesian(seed: int) -> float:
        study = optuna.create_study(sampler=optuna.samplers.GPSampler(seed=seed))
        study.optimize(
            lambda trial: cost(np.array([trial.suggest_float(f"x{d}", -5, 5) for d in range(dimension)])), n_trials=FEW
        )
        return float(study.best_value)

    value = median_of(bayesian)
    show(what, "Gaussian process (Optuna's `GPSampler`)", value, FEW)
    value = median_of(lambda seed: deddqn.minimize(cost, [(-5, 5)] * dimension, maxfun=FEW, rng=seed).fun)
    show(what, "`minimize`", value, FEW)


def many_coordinates(dimension: int = 300, budget: int = 30_000) -> None:
    """Smooth, with many coordinates: 100 evaluations for each of them."""
    scales = 10.0 ** (3.0 * np.arange(dimension) / (dimension - 1))
    what, box = f"many coordinates (ellipsoid, D = {dimension})", [(-5.0, 5.0)] * dimension

    def cost(x: np.ndarray) -> float:
        return float((scales * (x - 1.0) ** 2).sum())

    calls: list[int] = []

    def local(seed: int) -> float:
        start = np.random.default_rng(seed).uniform(-5, 5, dimension)
        found = minimize(cost, start, bounds=box, method="L-BFGS-B", options={"maxfun": budget})
        calls.append(int(found.nfev))
        return float(found.fun)

    value = median_of(local)
    show(what, "L-BFGS-B, differences", value, int(np.median(calls)))
    value = median_of(lambda seed: deddqn.minimize(cost, box, maxfun=budget, rng=seed).fun)
    show(what, "`minimize`", value, budget)


def main() -> None:
    """Print the table."""
    print("| problem | with | value above the optimum | evaluations |\n|---|---|---|---|")
    for example in (gradients, convex, linear, few, many_coordinates):
        example()


if __name__ == "__main__":
    main()
