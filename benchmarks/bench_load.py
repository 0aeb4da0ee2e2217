"""What it costs to check a saved search: of reading its file, and of comparing its memory with what fields may hold."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.bars import Bar, print_bars
from deddqn import Optimizer
from deddqn._utils.plain_json import checksum
from deddqn._utils.reading import array_parts
from deddqn.engine.memory_check import check_arena

ROUNDS = 30
SEARCHES = {
    "softmax-x, D = 10": (10, {"policy": "softmax-x"}),
    "ddqn, D = 10": (10, {"policy": "ddqn"}),
    "softmax-x, D = 100, NP = 500": (100, {"policy": "softmax-x", "population_size": 500}),
}


def milliseconds(call: Callable[[], Any]) -> float:
    """The best of some rounds, in time of the processor."""
    found = []
    for _ in range(ROUNDS):
        started = time.process_time()
        call()
        found.append(time.process_time() - started)
    return 1e3 * min(found)


def main() -> list[Bar]:
    """Loads of searches: as they were before the checks, and what these add."""
    bars = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "search.npz"
        for name, (dimension, options) in SEARCHES.items():
            optimizer = Optimizer([(-5, 5)] * dimension, maxfun=20_000, rng=1, **options)
            optimizer.optimize(lambda x: float((x * x).sum()), callback=lambda intermediate_result: True)
            optimizer.save(path)
            run = optimizer._run
            arrays = {"arena": run.arena}
            checks = milliseconds(lambda run=run: check_arena(run.spec, run.arena))
            summed = milliseconds(lambda arrays=arrays: checksum({}, *array_parts(arrays)))
            whole, plain = milliseconds(lambda: Optimizer.load(path)), milliseconds(lambda: dict(np.load(path)))
            size = f"memory {run.arena.nbytes:,} bytes"
            print(f"{name}: load {whole:.2f} ms (NumPy reads the file in {plain:.2f} ms), {size}")
            bars.append(Bar(f"checks of a load, {name}", checks + summed, 5.0, " ms"))
    print_bars(bars)
    return bars


if __name__ == "__main__":
    main()
