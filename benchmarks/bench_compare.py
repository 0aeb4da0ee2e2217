"""Comparisons: wall time of the paper's experiment, overhead per job, memory, report, cost per evaluation.

The problems are ten of the training suite, of the same kinds and dimensions as the test problems, so that nothing
is learned here about the test set. Networks are of the paper's size with random weights: their cost is that of
trained ones. CMA-ES takes minutes; without ``--full`` one run per problem is made and its time multiplied.
"""

import argparse
import resource
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from deddqn.baselines import Trajectory
from deddqn.experiments import compare, write_report
from deddqn.experiments.analysis import Analysis
from deddqn.experiments.curves import cost_bars
from deddqn.policies import CompiledPolicy, network_policy

PROBLEMS = tuple(f"cec2005:F{n}/d{d}" for d in (10, 30) for n in (2, 10, 15, 19, 21))
RUNS, BUDGET = 25, 10_000
POLICIES = ("random", "de1", "de2", "de3", "de4", "pm-adapss", "f-auc", "rec-pm")
ADAPTIVE = ("pm-adapss", "f-auc", "rec-pm")
OTHERS = ("lr-cmaes", "ipop-cmaes")


@dataclass(frozen=True)
class Line:
    """A measured number and its bar."""

    what: str
    value: float
    unit: str
    bar: float

    def __str__(self) -> str:
        verdict = "ok" if self.value <= self.bar else "MISSED"
        return f"{self.what:58}{self.value:>10.2f} {self.unit:4} (bar {self.bar:g}) {verdict}"


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


def scheduling(folder: Path) -> list[Line]:
    """Milliseconds per job that does next to nothing."""
    lines = []
    for what, method, budget in (("policy", "de1", 100), ("method in Python", OnePoint(), 100)):
        compare([method], PROBLEMS[:1], runs=2, budget=budget, out=folder / f"warm-{budget}-{what}")
        wall = timed_comparison([method], folder / what, runs=100, budget=budget)
        lines.append(Line(f"overhead per job, {what}", 1e3 * wall / (100 * len(PROBLEMS)), "ms", 2.0))
    return lines


def main(arguments: list[str] | None = None) -> list[Line]:
    """Measure, print and return the lines."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="run CMA-ES 25 times too")
    full = parser.parse_args(arguments).full
    lines: list[Line] = []

    def show(*new: Line) -> None:
        for line in new:
            lines.append(line)
            print(line, flush=True)

    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        learned = [network(f"network-{k}", k) for k in range(3)]
        timed_comparison([*POLICIES, *learned], folder / "warm", runs=1, budget=200)
        wall = timed_comparison([*POLICIES, *learned], folder / "de")
        show(Line("11 DE methods x 10 problems x 25 runs x 10^4", wall, "s", 180.0))
        part = timed_comparison(list(OTHERS), folder / "cma", runs=RUNS if full else 1)
        guess = "" if full else " (CMA-ES: 1 run x 25)"
        show(Line(f"all 13 methods{guess}", wall + part * (1 if full else RUNS), "s", 720.0))
        started = time.perf_counter()
        page = write_report(folder / "de")
        show(Line("report of the DE methods", time.perf_counter() - started, "s", 20.0))
        show(Line("its page", page.stat().st_size / 2**20, "MiB", 8.0))
        for bar in cost_bars(Analysis.of_folder(folder / "de")):
            if bar.method in ADAPTIVE:
                show(Line(f"cost per evaluation, {bar.method} / uniform", bar.ratio, "x", 3.0))
        show(*scheduling(folder))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    show(Line("memory of the driver, at its peak", peak / 2**30, "GiB", 1.0))
    return lines


if __name__ == "__main__":
    main()
