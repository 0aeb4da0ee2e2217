"""``noisy=True`` beside pycma with its noise handling, nevergrad's TBPSA and scipy's DE: the true value of the answer.

10-D, 10^4 evaluations, 11 seeds; sphere x (1 + 0.3 N(0, 1)), sphere + N(0, 1) and Rosenbrock + N(0, 1), with shifts and
rotations of their own (`benchmarks/generated_problems.py`, instances from 200 on; settings were chosen on others).
"""

import warnings
from collections.abc import Callable

import cma
import nevergrad as ng
import numpy as np
from scipy.optimize import differential_evolution

import deddqn
from benchmarks.bars import Bar, print_bars
from benchmarks.generated_problems import box, instance, rosenbrock, sphere

DIMENSION, EVALUATIONS, SEEDS, FIRST_INSTANCE = 10, 10_000, 11, 200
SMALLEST = 1e-20  # true values below count as this
CASES = {
    "sphere x (1 + 0.3 N)": (sphere, lambda value, normal: value * (1.0 + 0.3 * normal)),
    "sphere + N": (sphere, lambda value, normal: value + normal),
    "Rosenbrock + N": (rosenbrock, lambda value, normal: value + normal),
}
Function = Callable[[np.ndarray], float]


def ours(function: Function, seed: int) -> np.ndarray:
    """`minimize` with ``noisy=True``."""
    return deddqn.minimize(function, box(DIMENSION), maxfun=EVALUATIONS, noisy=True, rng=seed).x


def plain(function: Function, seed: int) -> np.ndarray:
    """`minimize` that does not know of the noise."""
    return deddqn.minimize(function, box(DIMENSION), maxfun=EVALUATIONS, rng=seed).x


def pycma(function: Function, seed: int) -> np.ndarray:
    """CMA-ES with uncertainty handling; its favourite is the answer."""
    lower, upper = np.transpose(box(DIMENSION))
    start = np.random.default_rng(seed).uniform(lower, upper)
    options = {"bounds": [lower[0], upper[0]], "seed": seed + 1, "verbose": -9, "maxfevals": EVALUATIONS}
    search = cma.CMAEvolutionStrategy(start, 0.3 * (upper[0] - lower[0]), options)
    handler, used = cma.NoiseHandler(DIMENSION, maxevals=[1, 1, 30]), 0
    while used < EVALUATIONS and not search.stop():
        points, values = search.ask_and_eval(function, evaluations=handler.evaluations)
        search.tell(points, values)
        used += len(points) * int(handler.evaluations)
        search.sigma *= handler(points, values, function, search.ask)
        used += int(handler.evaluations_just_done)
    return np.asarray(search.result.xfavorite)


def tbpsa(function: Function, seed: int) -> np.ndarray:
    """Test-based population size adaptation."""
    lower, upper = np.transpose(box(DIMENSION))
    space = ng.p.Array(shape=(DIMENSION,)).set_bounds(lower, upper)
    space.random_state.seed(seed)
    return np.asarray(ng.optimizers.TBPSA(space, budget=EVALUATIONS).minimize(function).value)


def scipys(function: Function, seed: int) -> np.ndarray:
    """differential_evolution with its defaults, without polishing."""
    generations = EVALUATIONS // (15 * DIMENSION) - 1
    done = differential_evolution(function, box(DIMENSION), maxiter=generations, tol=0.0, polish=False, rng=seed)
    return done.x


METHODS = {"noisy=True": ours, "noisy=False": plain, "pycma": pycma, "TBPSA": tbpsa, "scipy": scipys}
PEERS = ("pycma", "TBPSA", "scipy")


def true_values(case: str, method: str) -> np.ndarray:
    """Of the answers, one per seed."""
    function, noise = CASES[case]
    found = []
    for seed in range(SEEDS):
        true, normal = instance(function, DIMENSION, FIRST_INSTANCE + seed), np.random.default_rng([seed, 1])

        def noisy(x: np.ndarray, true: Function = true, normal: np.random.Generator = normal) -> float:
            return noise(true(x), normal.standard_normal())

        found.append(true(METHODS[method](noisy, seed)))
    return np.maximum(found, SMALLEST)


def main() -> list[Bar]:
    """Run everything, print medians and worst runs, return the bars."""
    warnings.simplefilter("ignore")
    bars = []
    for case in CASES:
        values = {method: true_values(case, method) for method in METHODS}
        for method, found in values.items():
            print(f"{case:22} {method:12} median {np.median(found):10.3g}  worst {found.max():10.3g}", flush=True)
        for what, summary in (("median", np.median), ("worst run", np.max)):
            best = min(summary(values[peer]) for peer in PEERS)
            bars.append(Bar(f"noise, {case}: {what} over the best peer's", summary(values["noisy=True"]) / best, 3.0))
    print_bars(bars)
    return bars


if __name__ == "__main__":
    main()
