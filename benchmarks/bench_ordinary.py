"""`minimize()` beside scipy's DE on ordinary problems: D from 1 to 100, 10^2 to 10^5 evaluations.

``python -m benchmarks.bench_ordinary --long`` has D = 100 and 10^6 evaluations; that takes an hour.

None of these functions was trained on. Both get the same box and the same number of evaluations; a problem is lost when
scipy's final values are significantly lower (Mann-Whitney, Holm over all problems, 5%).
"""

import argparse
from collections.abc import Callable, Iterator

import numpy as np
from numba import njit
from scipy.optimize import differential_evolution

import deddqn
from benchmarks.bars import Bar, print_bars
from deddqn.analysis.statistics import SOLVED, holm, mann_whitney

RUNS, LONG_RUNS = 11, 7  # with five of each no difference could be significant
SIZES = (
    *((1, 100), (2, 100), (10, 300), (30, 1_000)),
    *((1, 1_000), (2, 1_000), (5, 5_000), (10, 10_000), (30, 20_000), (100, 20_000), (10, 100_000)),
)
LONG_SIZES = ((100, 1_000_000),)
Function = Callable[[np.ndarray], float]


@njit(cache=True)
def ellipsoid(x):
    """Axes of different lengths."""
    return np.sum(10.0 ** (4.0 * np.arange(x.size) / max(x.size - 1, 1)) * (x - 1.3) ** 2)


@njit(cache=True)
def rosenbrock(x):
    """A bent valley; in one dimension a parabola."""
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2) + np.sum((1.0 - x) ** 2)


@njit(cache=True)
def rastrigin(x):
    """Many regular minima."""
    z = x - 0.7
    return np.sum(z**2 - 10.0 * np.cos(2.0 * np.pi * z) + 10.0)


@njit(cache=True)
def ackley(x):
    """A funnel with a rough wall."""
    z = x + 0.4
    bowl = -20.0 * np.exp(-0.2 * np.sqrt(np.mean(z**2)))
    return bowl - np.exp(np.mean(np.cos(2.0 * np.pi * z))) + 20.0 + np.e


@njit(cache=True)
def levy(x):
    """Ridges across a bowl."""
    w = 1.0 + (x - 1.0) / 4.0
    middle = np.sum((w[:-1] - 1.0) ** 2 * (1.0 + 10.0 * np.sin(np.pi * w[:-1] + 1.0) ** 2))
    return np.sin(np.pi * w[0]) ** 2 + middle + (w[-1] - 1.0) ** 2 * (1.0 + np.sin(2.0 * np.pi * w[-1]) ** 2)


@njit(cache=True)
def styblinski(x):
    """The best of 2^D minima; shifted so that it is 0."""
    return 0.5 * np.sum(x**4 - 16.0 * x**2 + 5.0 * x) + 39.16616570377142 * x.size


FUNCTIONS = (ellipsoid, rosenbrock, rastrigin, ackley, levy, styblinski)


def problems(long: bool) -> Iterator[tuple[str, Function, int, int]]:
    """Name, function, dimension and budget."""
    for function in FUNCTIONS:
        for dimension, budget in LONG_SIZES if long else SIZES:
            yield f"{function.__name__}, D = {dimension}, {budget} evaluations", function, dimension, budget


def final_values(function: Function, dimension: int, budget: int, runs: int) -> tuple[np.ndarray, np.ndarray]:
    """Of our runs and of scipy's; what is solved is 0."""
    bounds = [(-5.0, 5.0)] * dimension
    members = 15 * dimension  # scipy's default population
    ours = [deddqn.minimize(function, bounds, maxfun=budget, rng=k).fun for k in range(runs)]
    theirs = [
        differential_evolution(
            function, bounds, maxiter=max(budget // members - 1, 0), polish=False, tol=0.0, rng=k
        ).fun
        for k in range(runs)
    ]
    return tuple(np.where(np.array(values) < SOLVED, 0.0, values) for values in (ours, theirs))  # type: ignore[return-value]


def main(long: bool = False) -> list[Bar]:
    """Run everything, print wins and losses, return the bar."""
    names, p_values, better = [], [], []
    for name, function, dimension, budget in problems(long):
        ours, theirs = final_values(function, dimension, budget, LONG_RUNS if long else RUNS)
        names.append(name)
        p_values.append(mann_whitney(ours, theirs))
        better.append(np.median(ours) < np.median(theirs))
        print(f"{name:<48} ours {np.median(ours):10.3g}  scipy {np.median(theirs):10.3g}", flush=True)
    significant = holm(p_values) < 0.05
    lost = [name for name, sure, won in zip(names, significant, better, strict=True) if sure and not won]
    won = int(sum(significant & np.array(better)))
    print(f"{won} significant wins, {len(lost)} losses of {len(names)}: {'; '.join(lost) or 'none'}")
    bars = [
        Bar("ordinary problems on which scipy's DE is significantly better", len(lost) / len(names), 0.02, "of all")
    ]
    print_bars(bars)
    return bars


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--long", action="store_true", help="10^6 evaluations instead")
    main(**vars(parser.parse_args()))
