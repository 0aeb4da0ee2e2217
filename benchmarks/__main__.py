"""``python -m benchmarks [NAME ...]``: every benchmark, or the named ones; closes with a table of all bars."""

from __future__ import annotations

import importlib
import json
import os
import platform
import sys
from dataclasses import asdict
from pathlib import Path

import numba
import numpy as np

from benchmarks.bars import Bar, print_bars

RESULTS = Path("out/benchmarks.json")


def names() -> list[str]:
    """The benchmarks that there are, by file name."""
    return sorted(path.stem.removeprefix("bench_") for path in Path(__file__).parent.glob("bench_*.py"))


def main(chosen: list[str]) -> int:
    """Run benchmarks; 0 when every bar is reached."""
    unknown = [name for name in chosen if name not in names()]
    if unknown:
        print(f"unknown benchmark {unknown[0]!r}; known: {', '.join(names())}", file=sys.stderr)
        return 2
    measured: list[tuple[str, Bar]] = []
    for name in chosen or names():
        print(f"\n== {name}", flush=True)
        measured += [(name, bar) for bar in importlib.import_module(f"benchmarks.bench_{name}").main()]
    print("\n== all bars")
    print_bars([bar for _, bar in measured])
    RESULTS.parent.mkdir(exist_ok=True)
    machine = {"python": platform.python_version(), "numpy": np.__version__, "numba": numba.__version__}
    machine |= {"cores": len(os.sched_getaffinity(0))}
    rows = [{"benchmark": name, **asdict(bar)} for name, bar in measured]
    RESULTS.write_text(json.dumps({"machine": machine, "bars": rows}, indent=2) + "\n")
    print(f"\nwritten to {RESULTS}; 'python -m tools.docs.performance' puts it into the documentation")
    return 0 if all(bar.reached for _, bar in measured) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
