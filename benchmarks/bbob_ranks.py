"""Ranks on BBOB: ``python -m benchmarks.bbob_ranks RUNS.csv``, from the runs that `deddqn export` writes.

Every function and dimension is a row: the median over its instances of log10 of the final precision (at least 1e-8).
Methods are ranked in every row, and the mean of their ranks is printed, by dimension and in all.
"""

from __future__ import annotations

import csv
import math
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np
from scipy.stats import rankdata

from deddqn.analysis.statistics import SOLVED


def medians(path: Path) -> tuple[list[str], list[tuple[str, str]], np.ndarray]:
    """Methods, (function, dimension) and the medians (methods, rows)."""
    found: dict[str, dict[tuple[str, str], list[float]]] = defaultdict(lambda: defaultdict(list))
    with open(path, newline="", encoding="utf-8") as file:
        for run in csv.DictReader(file):
            function, _, dimension = run["problem"].partition(":")[2].split("/")
            found[run["method"]][function, dimension].append(math.log10(max(float(run["error"]), SOLVED)))
    methods = list(found)
    rows = list(found[methods[0]])
    return methods, rows, np.array([[np.median(found[method][row]) for row in rows] for method in methods])


def main(path: Path) -> None:
    """Print the mean ranks."""
    methods, rows, values = medians(path)
    ranks = np.array([rankdata(column) for column in values.T])
    dimensions = sorted({dimension for _, dimension in rows}, key=lambda name: int(name[1:]))
    chosen = {d: [k for k, row in enumerate(rows) if row[1] == d] for d in dimensions} | {"all": list(range(len(rows)))}
    print(f"{'method':<20}" + "".join(f"{name:>8}" for name in chosen))
    for k in np.argsort(ranks.mean(axis=0)):
        print(f"{methods[k]:<20}" + "".join(f"{ranks[places, k].mean():>8.2f}" for places in chosen.values()))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
