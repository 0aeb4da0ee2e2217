"""Asynchronous against deferred updating: 16 workers whose evaluations take 0.1 to 2 seconds at random.

Nothing sleeps: a queue of events simulates the workers. Both searches get the same problems, seeds and evaluations; the
problems are ten ordinary functions in 10-D with random shifts and rotations. ``--instances 100`` takes other shifts,
rotations and seeds than those that are reported: choices were made there.
"""

import argparse
import heapq
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

import deddqn
from benchmarks.bars import Bar, print_bars

WORKERS, SHORTEST, LONGEST = 16, 0.1, 2.0  # seconds
DIMENSION, WIDTH = 10, 5.0
RUNS = 11
BUDGETS = (1_000, 3_000)
SOLVED = 1e-8
Function = Callable[[np.ndarray], float]


def sphere(z: np.ndarray) -> float:
    """A bowl."""
    return float(z @ z)


def ellipsoid(z: np.ndarray) -> float:
    """Axes of different lengths."""
    return float(np.logspace(0, 4, z.size) @ z**2)


def cigar(z: np.ndarray) -> float:
    """A ridge."""
    return float(z[0] ** 2 + 1e4 * (z[1:] @ z[1:]))


def different_powers(z: np.ndarray) -> float:
    """Flatter in some directions the nearer it gets."""
    return float((np.abs(z) ** np.linspace(2, 6, z.size)).sum())


def rosenbrock(z: np.ndarray) -> float:
    """A bent valley."""
    y = z + 1.0
    return float((100.0 * (y[1:] - y[:-1] ** 2) ** 2 + (1.0 - y[:-1]) ** 2).sum())


def rastrigin(z: np.ndarray) -> float:
    """Many regular minima."""
    return float((z**2 - 10.0 * np.cos(2 * np.pi * z) + 10.0).sum())


def ackley(z: np.ndarray) -> float:
    """A funnel with a rough wall."""
    bowl = -20.0 * np.exp(-0.2 * np.sqrt(np.mean(z**2)))
    return float(bowl - np.exp(np.mean(np.cos(2 * np.pi * z))) + 20.0 + np.e)


def griewank(z: np.ndarray) -> float:
    """A bowl with ripples that a longer look makes shallow."""
    y = 20.0 * z
    return float(y @ y / 4000.0 - np.prod(np.cos(y / np.sqrt(np.arange(1, z.size + 1)))) + 1.0)


def levy(z: np.ndarray) -> float:
    """Ridges across a bowl."""
    w = 1.0 + z / 4.0
    middle = ((w[:-1] - 1.0) ** 2 * (1.0 + 10.0 * np.sin(np.pi * w[:-1] + 1.0) ** 2)).sum()
    return float(np.sin(np.pi * w[0]) ** 2 + middle + (w[-1] - 1.0) ** 2 * (1.0 + np.sin(2 * np.pi * w[-1]) ** 2))


def schwefel_222(z: np.ndarray) -> float:
    """A sum and a product of distances: a sharp tip."""
    distances = np.abs(z)
    return float(distances.sum() + np.prod(distances))


FUNCTIONS = (
    *(sphere, ellipsoid, cigar, different_powers, rosenbrock),
    *(rastrigin, ackley, griewank, levy, schwefel_222),
)


def moved(function: Function, seed: int) -> Function:
    """The function with a random shift and, but for the separable half of the seeds, a random rotation."""
    rng = np.random.default_rng([seed, FUNCTIONS.index(function)])
    shift = rng.uniform(-0.6 * WIDTH, 0.6 * WIDTH, DIMENSION)
    rotation = np.linalg.qr(rng.normal(size=(DIMENSION, DIMENSION)))[0] if seed % 2 else np.eye(DIMENSION)
    return lambda x: function(rotation @ (x - shift))


class Simulated(NamedTuple):
    """How a search with simulated workers ended."""

    best: float
    use: float  # of the workers: time of all evaluations over the time that all workers had
    seconds: float


def duration(rng: np.random.Generator) -> float:
    """Of one evaluation."""
    return float(rng.uniform(SHORTEST, LONGEST))


def asynchronous(function: Function, budget: int, seed: int) -> Simulated:
    """Every worker gets a point as soon as it has told its last one."""
    optimizer = deddqn.Optimizer(bounds(), maxfun=budget, rng=seed, updating="asynchronous")
    rng, now, busy, running = np.random.default_rng(seed), 0.0, 0.0, list[tuple[float, int, np.ndarray]]()
    for number in range(budget):
        if len(running) == WORKERS:
            now, _, point = heapq.heappop(running)
            optimizer.tell(point, function(point))
        (point,) = optimizer.ask()
        seconds = duration(rng)
        busy += seconds
        heapq.heappush(running, (now + seconds, number, point))
    while running:
        now, _, point = heapq.heappop(running)
        optimizer.tell(point, function(point))
    assert optimizer.stop() and optimizer.result.nfev == budget
    return Simulated(max(optimizer.result.fun, SOLVED), busy / (WORKERS * now), now)


def deferred(function: Function, budget: int, seed: int, n_candidates: int | None = None) -> Simulated:
    """Workers take the points of a generation in turn and wait for the last of them."""
    optimizer = deddqn.Optimizer(bounds(), maxfun=budget, rng=seed, updating="deferred", n_candidates=n_candidates)
    rng, now, busy = np.random.default_rng(seed), 0.0, 0.0
    while not optimizer.stop():
        points = optimizer.ask()
        free = [now] * WORKERS
        for _ in points:
            seconds = duration(rng)
            busy += seconds
            heapq.heapreplace(free, free[0] + seconds)
        now = max(free)
        optimizer.tell(points, [function(x) for x in points])
    return Simulated(max(optimizer.result.fun, SOLVED), busy / (WORKERS * now), now)


def deferred_with_candidates(function: Function, budget: int, seed: int) -> Simulated:
    """The same with as many candidates per trial as the asynchronous search has."""
    return deferred(function, budget, seed, n_candidates=6)


def bounds() -> list[tuple[float, float]]:
    """The box of all problems."""
    return [(-WIDTH, WIDTH)] * DIMENSION


SEARCHES = (asynchronous, deferred, deferred_with_candidates)


def measure(first: int, runs: int, budgets: tuple[int, ...]) -> dict[tuple[str, int], np.ndarray]:
    """(function, budget) -> (search, run, field): what came of the searches."""
    found = {}
    for budget in budgets:
        for function in FUNCTIONS:
            instances = [moved(function, first + k) for k in range(runs)]
            found[function.__name__, budget] = np.array(
                [[search(f, budget, first + k) for k, f in enumerate(instances)] for search in SEARCHES]
            )
    return found


def log_ratio(results: np.ndarray, other: int = 1) -> float:
    """log10 of the median value of the asynchronous runs over that of another search."""
    medians = np.median(results[:, :, 0], axis=1)
    return float(np.log10(medians[0] / medians[other]))


def main(arguments: list[str] | None = None) -> list[Bar]:
    """Print a table and return the bars."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--instances", type=int, default=0, help="number of the first instance")
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--budgets", type=int, nargs="+", default=list(BUDGETS))
    options = parser.parse_args(arguments or [])
    found = measure(options.instances, options.runs, tuple(options.budgets))
    print("median values; use of the workers by both; time of asynchronous over deferred")
    print(f"{'function':17} {'maxfun':>6} {'async':>9} {'deferred':>9} {'ratio':>8} {'use':>11} {'time':>10}")
    for (name, budget), results in found.items():
        one, other, _ = np.median(results[:, :, 0], axis=1)
        uses, times = results[:, :, 1].mean(axis=1), results[:, :, 2].mean(axis=1)
        print(
            f"{name:17} {budget:6} {one:9.3g} {other:9.3g} {one / other:8.3g} {uses[0]:6.3f} {uses[1]:6.3f}"
            f" {times[0] / times[1]:6.3f}"
        )
    ratios = np.array([log_ratio(results) for results in found.values()])
    for k, against in ((1, "deferred"), (2, "deferred with 6 candidates")):
        for budget in options.budgets:
            own = [log_ratio(results, k) for (_, of), results in found.items() if of == budget]
            mean, middle = 10 ** np.mean(own), 10 ** np.median(own)
            print(f"maxfun {budget}, over {against}: geometric mean of the ratios {mean:.3g}, median {middle:.3g}")
    everything = np.concatenate(list(found.values()), axis=1)
    least, speed = everything[0, :, 1].min(), everything[1, :, 2].sum() / everything[0, :, 2].sum()
    won = np.concatenate([np.sign(pair[1, :, 0] - pair[0, :, 0]) for pair in found.values()])
    print(f"runs against deferred: {(won > 0).sum()} better, {(won < 0).sum()} worse, {(won == 0).sum()} equal")
    print(f"use of workers: {everything[0, :, 1].mean():.3f}, deferred {everything[1, :, 1].mean():.3f}")
    print(f"deferred takes {speed:.2f} times as long")
    return [
        Bar("least use of 16 workers, asynchronous", least, 0.95, smaller_is_better=False),
        Bar("median over problems: result over that of deferred", 10 ** np.median(ratios), 1.0),
    ]


if __name__ == "__main__":
    import sys

    print_bars(main(sys.argv[1:]))
