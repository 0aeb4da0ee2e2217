"""``python -m tests.faults.kills --count 200``: kill -9 at random points, half of the times with a second process.

Every kill is an episode of one command in a new folder: it is begun and killed, at a random time or when it reaches a
random named point (`tests.faults.injection`) for the n-th time. In half of the episodes a second process of the same
command is started just before, and either is refused or does no harm. Then the command runs to its end. That has to be
the end of an undisturbed run, with nothing left over: results, policies, logs, trials and their values.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.faults.commands import COMMANDS, Command, leftovers, prepare
from tests.faults.injection import POINTS, Ended, Fault, Process

KILLED = ("compare", "train", "search", "tune", "minimize")


class Episodes:
    """Episodes of one command, in folders below `base`."""

    def __init__(self, command: Command, base: Path) -> None:
        self.command, self.base = command, base
        folder = self._folder("whole")
        begun = time.monotonic()
        whole = Process(command, folder).wait()
        self.seconds = time.monotonic() - begun
        if whole.status != 0:
            raise RuntimeError(f"{command.name} fails without a fault:\n{whole.err}")
        self.counts = {point: count for point, count in whole.counts.items() if count}
        self.end = command.end(folder)

    def _folder(self, name: str) -> Path:
        folder = self.base / f"{self.command.name}-{name}"
        folder.mkdir(parents=True)
        return folder

    def episode(self, name: str, rng: random.Random, second: bool) -> tuple[bool, list[str]]:
        """One kill: whether it came in time, and what was wrong in the end."""
        folder, wrong = self._folder(name), []
        kill = self._kill_at_a_point if rng.random() < 0.5 else self._kill_in_time
        killed, other = kill(folder, rng, second)
        if other is not None and other.status != 0 and not (self.command.locks and "is in use by" in other.err):
            wrong.append(f"the second process ended with {other.status}: {other.err[-300:]}")
        last = Process(self.command, folder).wait()
        if last.status != 0 or last.traceback:
            wrong.append(f"the last process ended with {last.status}: {last.err[-300:]}")
        elif (end := self.command.end(folder)) != self.end:
            wrong.append(f"another end: {_first_difference(end, self.end)}")
        if self.command.locks and (left := leftovers(folder)):
            wrong.append(f"left behind: {left}")
        return killed, wrong

    def _kill_at_a_point(self, folder: Path, rng: random.Random, second: bool) -> tuple[bool, Ended | None]:
        """The second process begins and ends at that point, while the first one stands there."""
        point = rng.choice([point for point in POINTS if point in self.counts])
        fault = Fault(point, rng.randint(1, self.counts[point]), "second, then kill" if second else "kill")
        ended = Process(self.command, folder, fault).wait()
        return ended.status == -signal.SIGKILL, ended.second

    def _kill_in_time(self, folder: Path, rng: random.Random, second: bool) -> tuple[bool, Ended | None]:
        """The second process begins shortly before, and may outlive the first one."""
        process = Process(self.command, folder)
        time.sleep(rng.uniform(0.0, self.seconds))
        other = Process(self.command, folder) if second else None
        time.sleep(rng.uniform(0.0, 0.1))
        os.kill(process.pid, signal.SIGKILL)
        killed = process.wait().status == -signal.SIGKILL
        return killed, None if other is None else other.wait()


def _first_difference(one: Any, two: Any) -> str:
    """Where two ends part, in short."""
    if isinstance(one, dict) and isinstance(two, dict) and one.keys() == two.keys():
        key = next(key for key in one if one[key] != two[key])
        return f"{key}: {_first_difference(one[key], two[key])}"
    if isinstance(one, list | tuple) and isinstance(two, list | tuple) and len(one) == len(two):
        return _first_difference(*next((a, b) for a, b in zip(one, two, strict=True) if a != b))
    return f"{str(one)[:200]} != {str(two)[:200]}"


def kills(count: int, seed: int, names: Sequence[str], base: Path) -> int:
    """Make so many episodes, the commands in turn; print what happened and return how many went wrong."""
    everything = {name: Episodes(COMMANDS[name], base) for name in names}
    made, in_time, wrong = Counter[str](), Counter[str](), 0
    for k in range(count):
        rng, name = random.Random(f"{seed}-{k}"), names[k % len(names)]
        killed, found = everything[name].episode(str(k), rng, second=k // len(names) % 2 == 1)
        made[name] += 1
        in_time[name] += killed
        wrong += bool(found)
        for each in found:
            print(f"WRONG: kill {k} of {name}: {each}", flush=True)
    for name in names:
        print(f"{name}: {made[name]} kills, {in_time[name]} of them before its end", flush=True)
    return wrong


def main(arguments: Sequence[str] | None = None) -> int:
    """Kill; status 1 if an end was not the same."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults.kills", description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--commands", nargs="+", default=KILLED, choices=KILLED)
    given = parser.parse_args(arguments)
    names = [name for name in given.commands if name != "train" or importlib.util.find_spec("torch") is not None]
    prepare(names)
    with tempfile.TemporaryDirectory(prefix="kills-") as base:
        wrong = kills(given.count, given.seed, names, Path(base))
    print(f"{given.count - wrong} of {given.count} ends are those of an undisturbed run")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
