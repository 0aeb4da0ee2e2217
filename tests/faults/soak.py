"""``python -m tests.faults.soak --minutes 60``: mixed work for an hour, with memory and file handles watched.

Every round does all pieces of `tests.faults.soak_work`. What a piece finds has to be what it found in the first round,
bit for bit. Between pieces it sleeps, so that it takes a given share of one core (children count). After every round a
line tells the memory of the process (resident set, after a garbage collection), its file handles, threads and children.

The verdict: no handle, Python thread or child more than after the warm-up, no result that differs, and memory that is
flat after it: the median of the last fifth of its rounds is at most 2 % above that of the first fifth. Threads that
libraries start are shown, too: pyarrow's pool takes up to eight of them as it needs them.
"""

from __future__ import annotations

import argparse
import gc
import hashlib
import importlib.util
import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from tests.faults.soak_work import PIECES, training

WARM_UP = 5 / 60  # of the whole time
GROWTH = 1.02


@dataclass(frozen=True)
class Sample:
    """The process after a round."""

    seconds: float
    megabytes: float
    handles: int
    threads: int
    python_threads: int
    children: int

    @property
    def line(self) -> str:
        """For the log."""
        return (
            f"{self.seconds:7.0f} s  {self.megabytes:7.1f} MB  {self.handles} handles  "
            f"{self.threads} threads ({self.python_threads} of Python)  {self.children} children"
        )


def sample(seconds: float) -> Sample:
    """Look at this process (Linux)."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    tasks = list(Path("/proc/self/task").iterdir())
    children = sum(len((task / "children").read_text().split()) for task in tasks)
    handles = len(os.listdir("/proc/self/fd"))
    megabytes = pages * os.sysconf("SC_PAGE_SIZE") / 2**20
    return Sample(seconds, megabytes, handles, len(tasks), threading.active_count(), children)


def digest(found: Any) -> str:
    """Of what a piece found; floats to the last bit."""
    return hashlib.sha256(repr(found).encode()).hexdigest()[:16]


def soak(seconds: float, load: float, pieces: Sequence[Callable[[Path], Any]], log: Callable[[str], None]) -> list[str]:
    """Work for a while; return what went wrong."""
    begun, samples, first, wrong = time.monotonic(), [], {}, []
    while not samples or time.monotonic() - begun < seconds:
        for piece in pieces:
            busy = _cpu()
            with tempfile.TemporaryDirectory(prefix="soak-") as folder:
                found = digest(piece(Path(folder)))
            if first.setdefault(piece.__name__, found) != found:
                wrong.append(f"{piece.__name__}: other bits in round {len(samples) + 1}")
            time.sleep((_cpu() - busy) * (1.0 / load - 1.0))
        samples.append(sample(time.monotonic() - begun))
        log(f"round {len(samples):4d} {samples[-1].line}")
    return wrong + verdict(samples, log)


def verdict(samples: Sequence[Sample], log: Callable[[str], None]) -> list[str]:
    """What the samples of a soak say against it; the rounds of the warm-up are left out."""
    warm = [each for each in samples if each.seconds > WARM_UP * samples[-1].seconds] or list(samples)
    share = max(1, len(warm) // 5)
    early, late = (median(each.megabytes for each in part) for part in (warm[:share], warm[-share:]))
    slope = 0.0
    if len(warm) > 2:
        slope = 3600 * float(np.polyfit([e.seconds for e in warm], [e.megabytes for e in warm], 1)[0])
    log(f"{len(samples)} rounds; memory {early:.1f} MB, in the end {late:.1f} MB; slope {slope:+.1f} MB/h")
    wrong = [] if late <= GROWTH * early else [f"memory grew from {early:.1f} to {late:.1f} MB"]
    for name in ("handles", "python_threads", "children"):
        before, after = getattr(warm[0], name), getattr(samples[-1], name)
        log(f"{name}: {before} after the warm-up, {after} in the end")
        if after > before:
            wrong.append(f"{name} grew from {before} to {after}")
    return wrong


def _cpu() -> float:
    """Seconds of processor time of this process and of its children that have ended."""
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system


def main(arguments: Sequence[str] | None = None) -> int:
    """Soak; status 1 if something went wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults.soak", description=__doc__.partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--load", type=float, default=0.25, help="share of one core")
    parser.add_argument("--only", nargs="*", default=(), help="names of pieces")
    given = parser.parse_args(arguments)
    pieces = [piece for piece in PIECES if not given.only or piece.__name__ in given.only]
    if importlib.util.find_spec("torch") is None:
        pieces = [piece for piece in pieces if piece is not training]
    wrong = soak(60 * given.minutes, given.load, pieces, lambda line: print(line, flush=True))
    for each in wrong:
        print(f"WRONG: {each}")
    print("the soak failed" if wrong else "the soak held: same bits, flat memory, no handle lost")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
