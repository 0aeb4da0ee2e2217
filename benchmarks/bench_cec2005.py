"""CEC2005 against optproblems, single thread, CPU time, in microseconds per evaluation.

*single* is one Python call per point, *batch* one call for many points; optproblems has only calls per point.
"""

import random
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from unittest import mock

import numpy as np
from numpy.typing import NDArray
from optproblems import cec2005 as peer

from benchmarks.bars import Bar, print_bars
from deddqn.problems import get

DIMENSIONS = (10, 30)
FUNCTIONS = tuple(range(1, 26))
POINTS = 256
ROUNDS = 5
ENOUGH = 0.02  # seconds a round should take

HEADINGS = ("problem", "single us", "batch us", "optproblems us", "x single", "x batch")


@dataclass(frozen=True)
class Timing:
    """Microseconds per evaluation of one function at one dimension."""

    function: int
    dimension: int
    single: float
    batch: float
    peer: float

    @property
    def name(self) -> str:
        """As in the names of problems."""
        return f"F{self.function}/d{self.dimension}"

    @property
    def single_ratio(self) -> float:
        """How many times faster than optproblems a single call is."""
        return self.peer / self.single

    @property
    def batch_ratio(self) -> float:
        """How many times faster than optproblems a batch is."""
        return self.peer / self.batch


def microseconds(work: Callable[[], Any], evaluations: int) -> float:
    """CPU time of one of the `evaluations` that `work` does: the best of some rounds."""
    work()
    started = time.process_time()
    work()
    repeats = max(1, int(ENOUGH / max(time.process_time() - started, 1e-9)))
    best = float("inf")
    for _ in range(ROUNDS):
        started = time.process_time()
        for _ in range(repeats):
            work()
        best = min(best, time.process_time() - started)
    return 1e6 * best / (repeats * evaluations)


def one_by_one(function: Callable[[Any], Any], points: Any) -> None:
    """Call the function on each point."""
    for point in points:
        function(point)


def measure(function: int, dimension: int) -> Timing:
    """Time one function at one dimension, ours and optproblems', on the same points."""
    problem = get(f"cec2005:F{function}/d{dimension}", noise=False)
    with mock.patch.object(random, "gauss", return_value=0.0):
        reference = getattr(peer, f"F{function}")(dimension).objective_function
    points: NDArray[np.float64] = np.random.default_rng(function).uniform(
        problem.lower, problem.upper, (POINTS, dimension)
    )
    few = [list(point) for point in points[:8]]
    return Timing(
        function=function,
        dimension=dimension,
        single=microseconds(lambda: one_by_one(problem, points), POINTS),
        batch=microseconds(lambda: problem(points), POINTS),
        peer=microseconds(lambda: one_by_one(reference, few), len(few)),
    )


def line(timing: Timing) -> str:
    """One row of the table."""
    return (
        f"{timing.name:10}{timing.single:>12.3f}{timing.batch:>12.3f}{timing.peer:>16.1f}"
        f"{timing.single_ratio:>12.0f}{timing.batch_ratio:>12.0f}"
    )


def main(functions: Sequence[int] = FUNCTIONS) -> list[Bar]:
    """Print the table; return what the bars ask for."""
    print(f"{HEADINGS[0]:10}{HEADINGS[1]:>12}{HEADINGS[2]:>12}{HEADINGS[3]:>16}{HEADINGS[4]:>12}{HEADINGS[5]:>12}")
    timings = []
    for dimension in DIMENSIONS:
        for function in functions:
            timings.append(measure(function, dimension))
            print(line(timings[-1]), flush=True)
    slowest = min(timings, key=lambda timing: timing.batch_ratio)
    bars = [Bar(f"CEC2005 batch against optproblems, least ({slowest.name})", slowest.batch_ratio, 2.0, "x", False)]
    for timing in timings:
        if timing.name == "F18/d30":
            bars.append(Bar("CEC2005 F18 D=30 single call against optproblems", timing.single_ratio, 100, "x", False))
            bars.append(Bar("CEC2005 F18 D=30 batch against optproblems", timing.batch_ratio, 200, "x", False))
    print_bars(bars)
    return bars


if __name__ == "__main__":
    main(tuple(map(int, sys.argv[1:])) or FUNCTIONS)
