"""Comparisons: wall time of the paper's experiment, overhead per job, memory, report, cost per evaluation.

The problems are ten of the training suite, of the same kinds and dimensions as the test problems, so that nothing
is learned here about the test set. Networks are of the paper's size with random weights: their cost is that of
trained ones. CMA-ES takes minutes; without ``--full`` one run per problem is made and its CPU time multiplied.
"""

import argparse
import os
import resource
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.bars import Bar, print_bars
from deddqn.analysis.comparison import Analysis
from deddqn.analysis.curves import cost_bars
from deddqn.baselines import Trajectory
from deddqn.experiments import Store, compare
from deddqn.policies import CompiledPolicy, network_policy
from deddqn.report import write_report

PROBLEMS = tuple(f"cec2005:F{n}/d{d}" for d in (10, 30) for n in (2, 10, 15, 19, 21))
RUNS, BUDGET = 25, 10_000
POLICIES = ("random", "de1", "de2", "de3", "de4", "pm-adapss", "f-auc", "rec-pm")
ADAPTIVE = ("pm-adapss", "f-auc", "rec-pm")
OTHERS = ("lr-cmaes", "ipop-cmaes")


class OnePoint:
    """The cheapest method there is: what its jobs cost is what scheduling costs."""

    name = "one-point"

    def run(self, problem, budget, rng):
        """Evaluate the middle of the box."""
        point = (problem.lower + problem.upper) / 2.0
        value = float(problem(point))
        return Trajectory(np.array([1]), np.array([value]), point, value, 1)


def network(name: str, seed: int) -> CompiledPolicy:
    """A Q-network of the paper's size with random weights."""
    rng = np.random.default_rng(seed)
    sizes = [99, 100, 100, 100, 100, 4]
    weights = [rng.normal(0, 0.1, (b, a)).astype(np.float32) for a, b in zip(sizes, sizes[1:], strict=False)]
    return network_policy(weights, [np.zeros(w.shape[0], dtype=np.float32) for w in weights], name=name)


def timed_comparison(methods: list, folder: Path, runs: int = RUNS, budget: int = BUDGET) -> float:
    """Wall seconds of a comparison on the ten problems."""
    started = time.perf_counter()
    outcome = compare(methods, PROBLEMS, runs=runs, budget=budget, out=folder)
    assert not outcome.failed, outcome.failed[0].note
    return time.perf_counter() - started


def scheduling(folder: Path) -> list[Bar]:
    """Milliseconds that one more job costs, less what the run itself takes."""
    lines = []
    for what, method in (("policy", "de1"), ("method in Python", OnePoint())):
        few, many = 10, 210
        walls = [timed_comparison([method], folder / f"{what} {runs}", runs=runs, budget=100) for runs in (few, many)]
        spent = [Store(folder / f"{what} {runs}").read()["cpu_seconds"].sum() for runs in (few, many)]
        own = (spent[1] - spent[0]) / len(os.sched_getaffinity(0))
        each = (walls[1] - walls[0] - own) / ((many - few) * len(PROBLEMS))
        lines.append(Bar(f"overhead per job, {what}", 1e3 * each, 2.0, "ms"))
    return lines


def main(arguments: list[str] | None = None) -> list[Bar]:
    """Measure, print and return the lines."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="run CMA-ES 25 times too")
    full = parser.parse_args(arguments or []).full
    lines: list[Bar] = []

    def show(*new: Bar) -> None:
        lines.extend(new)
        print_bars(list(new))

    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        learned = [network(f"network-{k}", k) for k in range(3)]
        timed_comparison([*POLICIES, *learned], folder / "warm", runs=1, budget=200)
        wall = timed_comparison([*POLICIES, *learned], folder / "de")
        show(Bar("11 DE methods x 10 problems x 25 runs x 10^4 evaluations, wall", wall, 180.0, "s"))
        part = timed_comparison(list(OTHERS), folder / "cma", runs=RUNS if full else 1)
        if not full:
            part = RUNS * Store(folder / "cma").read()["cpu_seconds"].sum() / len(os.sched_getaffinity(0))
        guess = "" if full else "; CMA-ES: CPU time of 1 run x 25"
        show(Bar("all 13 methods, wall", wall + part, 720.0, "s", peer=f"DE {wall:.0f} s{guess}"))
        started = time.perf_counter()
        page = write_report(folder / "de")
        show(Bar("report of the DE methods, wall", time.perf_counter() - started, 20.0, "s"))
        show(Bar("its page", page.stat().st_size / 2**20, 8.0, "MiB"))
        for bar in cost_bars(Analysis.of_folder(folder / "de")):
            if bar.method in ADAPTIVE:
                show(Bar(f"cost per evaluation, {bar.method} / uniform policy", bar.ratio, 3.0))
        show(*scheduling(folder))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    show(Bar("memory of the driver, at its peak", peak / 2**30, 1.0, "GiB"))
    return lines


if __name__ == "__main__":
    main(sys.argv[1:])
