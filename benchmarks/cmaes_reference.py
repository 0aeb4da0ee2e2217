"""IPOP- and LR-CMA-ES on the test problems beside a reference measured elsewhere with cma 4.5 (25 runs).

    python -m benchmarks.cmaes_reference [--runs 25] [--workers 2]

Prints mean error, standard error, the reference and how many standard errors lie between (the reference has the
standard error of 25 runs as well). Also the seconds per run. Nothing is chosen from this table.
"""

from __future__ import annotations

import argparse
import os
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # matrices of 30 x 30: threads only get in the way
import numpy as np

from deddqn.baselines import load_baseline
from deddqn.problems import SUITES, get

BUDGET = 10_000
REFERENCE_RUNS = 25
REFERENCE = {
    "ipop-cmaes": (7e-9, 7.2, 112, 658, 939, 3.9e5, 50, 249, 907, 536),
    "lr-cmaes": (8e-9, 78, 196, 722, 1160, 3.2e5, 434, 361, 971, 755),
}
"""Mean errors on F3 F9 F16 F18 F23 at D=10, then at D=30."""


def one_run(method: str, problem: str, repeat: int) -> tuple[float, float]:
    """Final error and CPU seconds."""
    made, began = get(problem), time.process_time()
    trajectory = load_baseline(method).run(made, BUDGET, np.random.default_rng(repeat))
    assert trajectory.evaluations_made <= BUDGET and made.optimum is not None
    return trajectory.best_value - made.optimum, time.process_time() - began


def standard_errors_apart(errors: np.ndarray, reference: float) -> float:
    """Distance of the means in standard errors of their difference."""
    deviation = errors.std(ddof=1)
    return float((errors.mean() - reference) / (deviation * np.sqrt(1 / len(errors) + 1 / REFERENCE_RUNS)))


def main() -> None:
    """Run and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=25)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    began = time.perf_counter()
    print(f"{'method':<12}{'problem':<18}{'mean error':>12}{'+-':>10}{'reference':>12}{'apart':>8}{'s/run':>8}")
    with ProcessPoolExecutor(options.workers) as pool:
        for method, expected in REFERENCE.items():
            for problem, reference in zip(SUITES["cec2005-test"], expected, strict=True):
                results = np.array(list(pool.map(partial(one_run, method, problem), range(options.runs))))
                errors, seconds = results.T
                spread = errors.std(ddof=1) / np.sqrt(len(errors))
                apart = standard_errors_apart(errors, reference)
                print(
                    f"{method:<12}{problem:<18}{errors.mean():>12.3g}{spread:>10.2g}{reference:>12.3g}"
                    f"{apart:>8.1f}{seconds.mean():>8.2f}",
                    flush=True,
                )
    print(f"wall {time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
