"""The engine: cost of an evaluation, vectorised runs, cold start and memory (CPU time unless it says wall)."""

from __future__ import annotations

import math
import subprocess
import sys
import time

import numpy as np
from numba import njit
from scipy.optimize import differential_evolution

from benchmarks.bars import Bar, print_bars
from deddqn import Problem, RunSpec, VectorizedRuns, load_policy
from deddqn.de.config import config_for
from deddqn.policies import CompiledPolicy, network_policy
from deddqn.problems import suite

ROUNDS = 9
LAYERS = (99, 100, 100, 100, 100, 4)
RUN_BARS = {10: 2.8, 30: 3.4}  # us per evaluation

MEMORY = """
import re
from pathlib import Path
import deddqn
deddqn.minimize(lambda x: (x**2).sum(), [(-5, 5)] * 30, population_size=100, maxfun=10_000, rng=1)
print(int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) / 1024)
"""
"""Not `ru_maxrss`: what a child inherits there is the peak of the process that started it."""


@njit(fastmath={"contract", "reassoc", "nsz", "arcp"})
def rastrigin(x):
    """Rastrigin's function, as a user would compile it."""
    total = 0.0
    for d in range(x.size):
        total += x[d] * x[d] - 10.0 * math.cos(2.0 * math.pi * x[d]) + 10.0
    return total


def real_network(seed: int = 1) -> CompiledPolicy:
    """A 4 x 100 network with non-zero weights, as wide as the paper's."""
    rng = np.random.default_rng(seed)
    pairs = list(zip(LAYERS, LAYERS[1:], strict=False))
    return network_policy(
        [rng.normal(0.0, (2.0 / a) ** 0.5, (b, a)) for a, b in pairs], [rng.normal(0.0, 0.1, b) for _, b in pairs]
    )


def extended_spec(dimension: int) -> RunSpec:
    """The extended search: `softmax-x` with its own operators and settings, pre-screening among them."""
    problem, policy = Problem.from_function(rastrigin, [(-5.0, 5.0)] * dimension), load_policy("softmax-x")
    assert isinstance(policy, CompiledPolicy) and policy.portfolio is not None
    return RunSpec(problem=problem, policy=policy, portfolio=policy.portfolio, config=config_for(policy.de))


def paper_spec(dimension: int) -> RunSpec:
    """The paper's search with a network that reads all features."""
    problem = Problem.from_function(rastrigin, [(-5.0, 5.0)] * dimension)
    return RunSpec(problem=problem, policy=real_network())


def objective_microseconds(dimension: int) -> float:
    """One call of the objective from compiled code."""
    points = np.random.default_rng(0).uniform(-5.0, 5.0, (10_000, dimension))
    best = math.inf
    for _ in range(ROUNDS):
        started = time.process_time()
        _all_values(points)
        best = min(best, time.process_time() - started)
    return best / len(points) * 1e6


@njit
def _all_values(points):
    total = 0.0
    for k in range(len(points)):
        total += rastrigin(points[k])
    return total


def microseconds_per_evaluation(spec: RunSpec) -> float:
    """One run of 10^4 evaluations: the best of some rounds."""
    best = math.inf
    for _ in range(ROUNDS):
        runs = VectorizedRuns([spec], threads=1)
        started = time.process_time()
        runs.advance()
        best = min(best, time.process_time() - started)
    return best / spec.config.budget * 1e6


def scipy_microseconds(dimension: int) -> float:
    """scipy's DE on the same compiled function, for the ratio."""
    started = time.process_time()
    result = differential_evolution(
        rastrigin, [(-5.0, 5.0)] * dimension, popsize=1, maxiter=100, tol=0, polish=False, rng=1
    )
    return (time.process_time() - started) / result.nfev * 1e6


def vectorized_per_second(threads: int) -> float:
    """Evaluations per second (wall) on the training suite: uniform policy, features computed."""
    specs = [
        RunSpec(problem=problem, policy=load_policy("random"), observe=True, repeat=repeat)
        for problem in suite("cec2005-train")
        for repeat in range(4)
    ]
    best = 0.0
    for _ in range(3):
        runs = VectorizedRuns(specs, threads=threads)
        started = time.perf_counter()
        runs.advance()
        best = max(best, runs.evaluations.sum() / (time.perf_counter() - started))
    return best


def process_memory() -> float:
    """Peak MB of a process that does one run at D=30, NP=100, with the compiled code in the cache."""
    for _ in range(2):  # the first may have to compile
        done = subprocess.run([sys.executable, "-c", MEMORY], capture_output=True, text=True, check=True)
    return float(done.stdout)


def main() -> list[Bar]:
    """Measure and print."""
    bars = []
    for dimension, bar in RUN_BARS.items():
        ours, peer = microseconds_per_evaluation(paper_spec(dimension)), scipy_microseconds(dimension)
        what = f"run with a 4x100 network and all features, Rastrigin D={dimension}"
        bars.append(Bar(what, ours, bar, "us/evaluation", peer=f"scipy's DE {peer:.1f} us, {peer / ours:.1f}x"))
    extended = microseconds_per_evaluation(extended_spec(30)) - objective_microseconds(30)
    bars.append(Bar("extended search with softmax-x, beside Rastrigin D=30", extended, 6.0, "us/evaluation"))
    one, two = vectorized_per_second(1), vectorized_per_second(2)
    bars.append(Bar("training suite, vectorised runs, uniform policy, 2 threads", two, 250e3, "evaluations/s", False))
    bars.append(Bar("vectorised runs on 2 threads against 1", two / one, 1.7, "x", False))
    bars.append(Bar("memory of a process with one run, D=30, NP=100", process_memory(), 300.0, "MB"))
    print_bars(bars)
    return bars


if __name__ == "__main__":
    main()
