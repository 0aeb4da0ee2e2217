"""Stop a search, save it to a file, and continue it later, on another machine if need be.

The continued search ends exactly, to the last bit, as one that was never interrupted. Here the second part runs by
ask and tell, as one would with evaluations that happen elsewhere (a cluster, a laboratory).

    python examples/stop_and_resume.py
"""

import tempfile
from pathlib import Path

import numpy as np

import deddqn

BOUNDS = [(-5.12, 5.12)] * 6


def rastrigin(x):
    return float(10 * len(x) + (x**2 - 10 * np.cos(2 * np.pi * x)).sum())


def begin(path):
    """Work for a while; then the day is over."""
    search = deddqn.Optimizer(BOUNDS, maxfun=3000, population_size=30, updating="deferred", rng=1)
    search.optimize(rastrigin, callback=lambda intermediate_result: intermediate_result.nfev >= 1000)

    points = search.ask(12)  # even with points under way ...
    search.tell(points[:5], [rastrigin(x) for x in points[:5]])
    search.save(path)  # ... nothing is lost
    print(f"saved after {search.result.nfev} evaluations: f = {search.result.fun:.6f}")


def go_on(path):
    """Load the search and finish it from outside, in pieces of any size and order."""
    search = deddqn.Optimizer.load(path)
    while not search.stop():
        points = search.ask(8)[::-1]
        search.tell(points, [rastrigin(x) for x in points])
    print(f"continued to {search.result.nfev} evaluations: f = {search.result.fun:.6f}")
    return search.result


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "search.npz"
        begin(path)
        result = go_on(path)
    unbroken = deddqn.minimize(rastrigin, BOUNDS, maxfun=3000, population_size=30, updating="deferred", rng=1)
    print(f"without interruption: f = {unbroken.fun:.6f}, the same point: {np.array_equal(result.x, unbroken.x)}")
    return result, unbroken


if __name__ == "__main__":
    main()
