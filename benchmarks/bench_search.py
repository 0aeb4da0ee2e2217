"""The default search: cost of an evaluation beside the objective, and of CMA-ES beside minionpy's (CPU time)."""

from __future__ import annotations

import time

import numpy as np

from benchmarks.bars import Bar, print_bars
from benchmarks.bench_engine import microseconds_per_evaluation, objective_microseconds, rastrigin
from deddqn import Problem, RunSpec, load_policy
from deddqn.baselines import load_baseline
from deddqn.de.config import config_for
from deddqn.policies import CompiledPolicy, best_policy

DIMENSION, BUDGET = 40, 40_000


def default_spec(dimension: int, **settings: float) -> RunSpec:
    """The default policy with its own operators and settings."""
    problem, policy = Problem.from_function(rastrigin, [(-5.0, 5.0)] * dimension), load_policy(best_policy())
    assert isinstance(policy, CompiledPolicy) and policy.portfolio is not None
    return RunSpec(problem=problem, policy=policy, portfolio=policy.portfolio, config=config_for(policy.de, **settings))


def peer_microseconds() -> float:
    """The restarting CMA-ES of minionpy on the same problem: the better of two runs."""
    problem, peer = Problem.from_function(rastrigin, [(-5.0, 5.0)] * DIMENSION), load_baseline("rcmaes")
    best = np.inf
    for seed in range(2):
        started = time.process_time()
        peer.run(problem, BUDGET, np.random.default_rng(seed))
        best = min(best, time.process_time() - started)
    return best / BUDGET * 1e6


def main() -> list[Bar]:
    """Measure and print."""
    bars = []
    for dimension in (10, 30):
        ours = microseconds_per_evaluation(default_spec(dimension)) - objective_microseconds(dimension)
        bars.append(Bar(f"the default search beside Rastrigin D={dimension}", ours, 3.0, "us/evaluation"))
    ours, peer = microseconds_per_evaluation(default_spec(DIMENSION, cma_share=1.0, budget=BUDGET)), peer_microseconds()
    what = f"CMA-ES, Rastrigin D={DIMENSION}, against minionpy's"
    bars.append(Bar(what, ours / peer, 1.0, "x", peer=f"{ours:.2f} and {peer:.2f} us"))
    print_bars(bars)
    return bars


if __name__ == "__main__":
    main()
