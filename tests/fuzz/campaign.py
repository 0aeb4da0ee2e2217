"""Watches worker processes: counts outcomes, and finds the mutants that crash or hang."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from deddqn._jit import machine_code
from tests.fuzz.formats import FORMATS

SECONDS = 5.0 if machine_code.packaged().fits else 120.0  # for one mutant; else the compiler may have to run for it
WAITING = 20.0  # seconds by the clock that count as one of the processor
STARTING = 240.0  # for making and using the originals, with the compiler
PROGRESS = 1000  # mutants between two lines
ROOT = Path(__file__).resolve().parents[2]
GOOD = ("refused", "same", "stated")


@dataclass
class Findings:
    """What became of the mutants of one format."""

    outcomes: Counter[str] = field(default_factory=Counter)
    bad: list[str] = field(default_factory=list)
    megabytes: float = 0.0
    slowest: float = 0.0

    @property
    def mutants(self) -> int:
        """How many there were."""
        return sum(self.outcomes.values())


def fuzz(name: str, first: int, last: int, folder: Path, *, seed: int = 0) -> Findings:
    """Use the mutants of a format from `first` up to `last`; a worker that dies is followed by another."""
    found = Findings()
    while first < last:
        first = _watched(name, first, last, folder, seed, found)
    return found


def _watched(name: str, first: int, last: int, folder: Path, seed: int, found: Findings) -> int:
    """Watch one worker; return the number of the mutant after the last one that it used."""
    command = [sys.executable, "-m", "tests.fuzz.worker", name, str(seed), str(first), str(last), str(folder)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=environment) as process:
        assert process.stdout is not None
        selector = selectors.DefaultSelector()
        selector.register(process.stdout, selectors.EVENT_READ)
        limit, number, begun, used = STARTING, first - 1, time.monotonic(), 0.0
        while True:
            if not selector.select(1.0):
                if max(_processor_seconds(process.pid) - used, (time.monotonic() - begun) / WAITING) < limit:
                    continue
                os.kill(process.pid, signal.SIGKILL)
                _note(found, name, number, "hang", f"no answer in {limit:g} s")
                break
            line = process.stdout.readline()
            if not line:
                if process.wait() != 0:
                    _note(found, name, number, "crash", f"exit status {process.returncode}")
                break
            word, *rest = line.split(maxsplit=3)
            if word == "begin":
                number, begun, limit = int(rest[0]), time.monotonic(), SECONDS
                used = _processor_seconds(process.pid)
            elif word == "end":
                found.slowest = max(found.slowest, time.monotonic() - begun)
                outcome = rest[2].split()[0].rstrip(":")
                if outcome in GOOD:
                    found.outcomes[outcome] += 1
                else:
                    _note(found, name, number, outcome, f"{rest[1]}: {rest[2].strip()}")
                if sum(found.outcomes.values()) % PROGRESS == 0:
                    print(f"... {name}: {found.mutants} mutants, {len(found.bad)} bad", file=sys.stderr, flush=True)
            elif word == "memory":
                found.megabytes = max(found.megabytes, int(rest[0]) / 1024)
        return number + 1


def _processor_seconds(process: int) -> float:
    """What a process has used; on a busy machine it waits for longer."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0  # there is no such file elsewhere: then the clock decides
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _note(found: Findings, name: str, number: int, outcome: str, why: str) -> None:
    found.outcomes[outcome] += 1
    found.bad.append(f"{name} {number}: {outcome} ({why})")
    print(found.bad[-1], flush=True)
    if number < 0 or "exit status" in why and found.outcomes["crash"] > 50:
        raise RuntimeError(found.bad[-1])


def shares(mutants: int) -> dict[str, int]:
    """How many mutants each format gets of so many in all, by weight."""
    total = sum(form.weight for form in FORMATS)
    counts = {form.name: mutants * form.weight // total for form in FORMATS}
    counts[FORMATS[0].name] += mutants - sum(counts.values())
    return counts
