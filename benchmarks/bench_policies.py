"""Cost of a choice: nanoseconds per evaluation of every policy, beside the uniform one, on a cheap function.

    python benchmarks/bench_policies.py [policy ...]

The bar for the adaptive policies is 3 times the uniform policy.
"""

from __future__ import annotations

import sys
import time

import numpy as np
from numba import njit

from deddqn import DEConfig, EpisodeSpec, Lanes, Problem, load_policy

POLICIES = ("random", "pm-adapss:default", "f-auc:default", "rec-pm:default", "pm-adapss", "f-auc", "rec-pm")
RUNS, BUDGET, REPETITIONS = 40, 10_000, 5


@njit
def sphere(x):
    """The cheapest objective there is."""
    total = 0.0
    for value in x:
        total += value * value
    return total


def nanoseconds(policy: str, problem: Problem) -> float:
    """The least time per evaluation over some repetitions, one thread."""
    config = DEConfig(budget=BUDGET, target_error=0.0)
    best = np.inf
    for _ in range(REPETITIONS):
        specs = [EpisodeSpec(problem=problem, policy=load_policy(policy), config=config, repeat=r) for r in range(RUNS)]
        lanes = Lanes(specs, threads=1)
        began = time.perf_counter()
        lanes.advance()
        best = min(best, time.perf_counter() - began)
    return 1e9 * best / (RUNS * BUDGET)


def main(policies: list[str]) -> None:
    """Print the table."""
    problem = Problem.from_function(sphere, [(-5.0, 5.0)] * 10)
    uniform = nanoseconds("random", problem)
    print(f"{'policy':<22}{'ns per evaluation':>18}{'x uniform':>12}")
    for policy in policies:
        cost = nanoseconds(policy, problem)
        print(f"{policy:<22}{cost:>18.0f}{cost / uniform:>12.2f}")


if __name__ == "__main__":
    main(sys.argv[1:] or list(POLICIES))
