"""``python -m tests.faults.matrix``: every fault of `tests.faults.injection` at every named point of every command.

After a fault a command has either reached the end of an undisturbed run, or has said in one line what is wrong and
returned a status that is not 0; `minimize` prints its result in any case. Called again without the fault, it reaches
that end, and leaves nothing else behind. A second process is refused or does no harm.
"""

from __future__ import annotations

import argparse
import importlib.util
import itertools
import json
import signal
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tests.faults.commands import COMMANDS, EXPERIMENT, Command, leftovers, prepare
from tests.faults.injection import ERRORS, Ended, Fault, Process

CLOCKS = ("later", "earlier")
ENDS = {"kill": (-signal.SIGKILL,), "terminate": (0, 130, -signal.SIGTERM), "interrupt": (0, 130)}
QUICK = (("flush", "full"), ("rename", "broken"), ("rename", "second"), ("open", "interrupt"), ("open", "earlier"))
ROOM = (3000, 20000)  # bytes that a file may have; what is printed goes to files, too


def faults(counts: dict[str, int], quick: bool) -> Iterator[Fault]:
    """Faults for a command that reaches the points so often: a few, or all at the first, middle and last time."""
    if quick:
        yield from (Fault(point, (counts[point] + 1) // 2, what) for point, what in QUICK if counts[point])
    else:
        whats = (*ERRORS, *ENDS, "second", *CLOCKS)
        for point, what in itertools.product((point for point in counts if counts[point]), whats):
            if not (point == "renamed" and what in ERRORS):  # a call that was made does not fail
                numbers = dict.fromkeys((1, (counts[point] + 1) // 2, counts[point]))
                yield from (Fault(point, number, what) for number in numbers)
    yield from (Fault("size", size, "room") for size in ROOM[: 1 if quick else None])


class Matrix:
    """One command with all of its faults, in folders below `base`."""

    def __init__(self, command: Command, base: Path) -> None:
        self.command, self.base = command, base
        folder = self._folder("whole")
        self.whole = Process(command, folder).wait()
        if self.whole.status != 0:
            raise RuntimeError(f"{command.name} fails without a fault:\n{self.whole.err}")
        self.end = command.end(folder)

    def _folder(self, name: str) -> Path:
        folder = self.base / f"{self.command.name}-{name}"
        folder.mkdir(parents=True)
        return folder

    def wrong(self, fault: Fault) -> list[str]:
        """What is wrong after a fault, and after the command was called again."""
        folder = self._folder(str(fault).replace(" ", "-"))
        ended = Process(self.command, folder, fault).wait()
        found = list(self._wrong_at_once(fault, ended, folder))
        again = Process(self.command, folder).wait()
        if again.status != 0 or again.traceback:
            found.append(f"called again, it ended with {again.status}: {again.err[-500:]}")
        elif self.command.end(folder) != self.end:
            found.append("called again, it reached another end")
        if self.command.locks and (left := leftovers(folder)):
            found.append(f"left behind: {left}")
        return [f"{self.command.name}, {fault}: {each}" for each in found]

    def _wrong_at_once(self, fault: Fault, ended: Ended, folder: Path) -> Iterator[str]:
        if ended.traceback:
            yield f"a traceback: {ended.err[-1500:]}"
        stopped = "stopped; continue with --resume" in ended.out  # a training that was asked to end
        if ended.status == 0 and not stopped and self._reached(folder) != self.end:
            yield "it ended with 0, and without its result"
        if fault.what in ENDS:
            if ended.status not in ENDS[fault.what]:
                yield f"it ended with {ended.status}"
        elif fault.what in ERRORS or fault.what == "room":
            yield from self._wrong_error(ended)
        elif ended.status != 0:
            yield f"it ended with {ended.status}: {ended.err[-500:]}"
        if ended.second is not None and ended.second.status != 0 and self._refused(ended.second) != self.command.locks:
            yield f"the second process ended with {ended.second.status}: {ended.second.err[-500:]}"

    def _wrong_error(self, ended: Ended) -> Iterator[str]:
        if ended.status not in (0, 1, 2):
            yield f"it ended with {ended.status}"
        last = ended.err.strip().splitlines()[-1:] if ended.err.strip() else [""]
        if self.command.name == "minimize":
            if ended.status and "cannot" not in ended.err:
                yield f"it does not say what is wrong: {ended.err[-500:]}"
            if '"fun"' not in ended.out and "f = " not in ended.out:
                yield "it does not print its result"
            elif '"fun"' in ended.out and json.loads(ended.out)["fun"] != self.end["fun"]:
                yield "it prints another result"
        elif ended.status and not last[0].startswith("deddqn "):
            yield f"it does not say what is wrong: {ended.err[-500:]}"

    @staticmethod
    def _refused(ended: Ended) -> bool:
        return ended.status == 2 and "is in use by another process" in ended.err

    def _reached(self, folder: Path) -> Any:
        try:
            return self.command.end(folder)
        except (OSError, ValueError):
            return None


def run(names: Sequence[str], quick: bool, base: Path) -> list[str]:
    """All faults of these commands; print a line for each command and return what was wrong."""
    wrong = []
    if {"report", "export", "export-ioh"} & set(names):
        (base / EXPERIMENT).mkdir()
        Process(COMMANDS["compare"], base / EXPERIMENT).wait()
    for name in names:
        matrix = Matrix(COMMANDS[name], base)
        every = list(faults(matrix.whole.counts, quick))
        found = [each for fault in every for each in matrix.wrong(fault)]
        print(f"{name}: {len(every)} faults, {len(found)} wrong", *found, sep="\n  ", flush=True)
        wrong += found
    return wrong


def main(arguments: Sequence[str] | None = None) -> int:
    """Inject; status 1 if something was wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults.matrix", description=__doc__.partition("\n")[0])
    parser.add_argument("--commands", nargs="+", default=list(COMMANDS), choices=list(COMMANDS))
    parser.add_argument("--quick", action="store_true", help="few faults per command")
    given = parser.parse_args(arguments)
    names = [name for name in given.commands if name != "train" or importlib.util.find_spec("torch") is not None]
    prepare(names)
    with tempfile.TemporaryDirectory(prefix="faults-") as base:
        return 1 if run(names, given.quick, Path(base)) else 0


if __name__ == "__main__":
    sys.exit(main())
