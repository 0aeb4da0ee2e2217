"""Searches whose end is not known, stopped at n evaluations, beside those planned for n and beside scipy's DE.

Ten ordinary problems in 10-D (`benchmarks/generated_problems.py`, instances from 100 on; the schedule was chosen on
those below 12). A loss is the difference of log10 of the values, which count from 10^-8 on.
"""

import numpy as np
from scipy.optimize import differential_evolution

import deddqn
from benchmarks.bars import Bar, print_bars
from benchmarks.generated_problems import FUNCTIONS, Function, box, instance

DIMENSION, RUNS, FIRST_INSTANCE = 10, 5, 100
STOPS = (300, 500, 1_000, 2_000, 10_000)
SOLVED = 1e-8


class Watched:
    """A function that remembers the best value at the stops."""

    def __init__(self, function: Function) -> None:
        self.function, self.calls, self.best = function, 0, np.inf
        self.at: dict[int, float] = {}

    def __call__(self, x: np.ndarray) -> float:
        value = self.function(x)
        self.calls += 1
        self.best = min(self.best, value)
        if self.calls in STOPS:
            self.at[self.calls] = self.best
        return value

    def values(self) -> list[float]:
        """At the stops."""
        return [self.at[n] for n in STOPS]


def unplanned(function: Function, seed: int) -> list[float]:
    """One search without `maxfun`, looked at when it might have been stopped."""
    watched = Watched(function)
    deddqn.Optimizer(box(DIMENSION), rng=seed).optimize(watched)
    return watched.values()


def planned(function: Function, seed: int) -> list[float]:
    """A search for every number of evaluations."""
    return [deddqn.minimize(function, box(DIMENSION), maxfun=n, rng=seed).fun for n in STOPS]


def scipys(function: Function, seed: int) -> list[float]:
    """scipy's, which has no plan."""
    watched = Watched(function)
    differential_evolution(watched, box(DIMENSION), maxiter=67, tol=0.0, polish=False, rng=seed)
    return watched.values()


def main() -> list[Bar]:
    """Run everything, print losses, return the bars."""
    losses, worse = [], 0
    for function in FUNCTIONS:
        numbers = range(FIRST_INSTANCE, FIRST_INSTANCE + RUNS)
        found = [
            np.array([method(instance(function, DIMENSION, k), k) for k in numbers])
            for method in (unplanned, planned, scipys)
        ]
        ours, known, theirs = (np.log10(values + SOLVED) for values in found)
        losses.append((ours - known).mean(axis=0))
        behind = np.median(ours, axis=0) > np.median(theirs, axis=0)
        worse += int(behind.sum())
        shown = " ".join(f"{loss:6.2f}" for loss in losses[-1])
        print(f"{function.__name__:12} loss at {STOPS}: {shown}  behind scipy at {int(behind.sum())}", flush=True)
    print("mean over problems:", " ".join(f"{loss:.2f}" for loss in np.mean(losses, axis=0)))
    bars = [
        Bar("unknown budget: mean loss in log10 against maxfun=n", float(np.mean(losses)), 0.3),
        Bar("unknown budget: medians behind scipy's at n", worse, 0, f"of {len(FUNCTIONS) * len(STOPS)}"),
    ]
    print_bars(bars)
    return bars


if __name__ == "__main__":
    main()
