"""Faults at named points of a command, without a word about them in its source.

A *point* is a call to the operating system for a path below the folder of the command: ``open`` (to write), ``flush``
(fsync), ``rename``, ``renamed`` (just after), ``folder`` (mkdir), ``remove``. Audit hooks see them, and a wrapper sees
fsync. A *fault* happens at the n-th time that a point is reached.

Processes are forked from one that has imported everything (`tests.faults.commands.prepare`) and starts no thread: so a
run costs a fraction of a second, and a fault cannot reach the process that judges.
"""

from __future__ import annotations

import errno
import fcntl
import io
import os
import resource
import signal
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.faults.commands import Command

POINTS = ("open", "flush", "rename", "renamed", "folder", "remove")
ERRORS = {"full": errno.ENOSPC, "broken": errno.EIO, "forbidden": errno.EACCES}
SIGNALS = {"kill": signal.SIGKILL, "terminate": signal.SIGTERM, "interrupt": signal.SIGINT}
JUMP = 1e6  # seconds
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT


@dataclass(frozen=True)
class Fault:
    """What happens at a point.

    Parameters
    ----------
    point : one of `POINTS`.
    number : at which time that it is reached, from 1.
    what : an error of `ERRORS`, which all later points of the kind share (a full disk stays full); a signal of
        `SIGNALS`; "second", a second process, also "second, then kill"; "later" or "earlier", a clock that jumps.
        Also, at the point "size": "room", where no file can grow beyond `number` bytes, whoever writes it.
    """

    point: str
    number: int
    what: str

    def __str__(self) -> str:
        return f"{self.what} at {self.point} {self.number}"


class Hooks:
    """In the process of a command: counts how often the points are reached, and lets the fault happen."""

    def __init__(self, folder: Path, fault: Fault | None, second: Callable[[], None]) -> None:
        self.folder, self.fault, self.second = os.fspath(folder), fault, second
        self.counts = dict.fromkeys(POINTS, 0)
        self._active = True

    def install(self) -> None:
        """From now on; for good, in this process."""
        if self.fault is not None and self.fault.point == "size":
            resource.setrlimit(resource.RLIMIT_FSIZE, (self.fault.number, self.fault.number))
        sys.addaudithook(self._audit)
        flush, replace = os.fsync, os.replace

        def flushed(handle: Any) -> None:
            number = handle if isinstance(handle, int) else handle.fileno()
            self.reached("flush", os.readlink(f"/proc/self/fd/{number}"))
            flush(handle)

        def replaced(source: Any, target: Any, **options: Any) -> None:
            replace(source, target, **options)
            self.reached("renamed", target)

        os.fsync, os.replace = flushed, replaced  # type: ignore[assignment]

    def _audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open" and isinstance(arguments[0], str | os.PathLike):
            if isinstance(arguments[2], int) and arguments[2] & _WRITING:
                self.reached("open", arguments[0])
        elif event == "os.rename":
            self.reached("rename", arguments[1])
        elif event == "os.mkdir":
            self.reached("folder", arguments[0])
        elif event == "os.remove":
            self.reached("remove", arguments[0])

    def reached(self, point: str, path: Any) -> None:
        """Count, and let the fault happen if it is time."""
        name = os.fspath(path)
        if not self._active or not isinstance(name, str) or not name.startswith(self.folder):
            return
        self.counts[point] += 1
        fault = self.fault
        if fault is None or fault.point != point or self.counts[point] < fault.number:
            return
        if fault.what in ERRORS:
            raise OSError(ERRORS[fault.what], os.strerror(ERRORS[fault.what]), name)
        if self.counts[point] == fault.number:
            self._active = False
            self._happen(fault.what)
            self._active = True

    def _happen(self, what: str) -> None:
        if what in SIGNALS:
            os.kill(os.getpid(), SIGNALS[what])
        elif what.startswith("second"):
            self.second()
            if what.endswith("kill"):
                os.kill(os.getpid(), signal.SIGKILL)
        else:
            jump, monotonic, clock = (JUMP if what == "later" else -JUMP), time.monotonic, time.time
            time.monotonic, time.time = lambda: monotonic() + jump, lambda: clock() + jump


@dataclass(frozen=True)
class Ended:
    """How a process ended: its status (negative: the signal), and what it printed."""

    status: int
    out: str
    err: str
    counts: dict[str, int]
    second: Ended | None = None

    @property
    def traceback(self) -> bool:
        """Whether somebody was shown one."""
        return "Traceback" in self.err or (self.second is not None and self.second.traceback)


class Process:
    """A command in a process of its own, with a fault."""

    def __init__(self, command: Command, folder: Path, fault: Fault | None = None) -> None:
        self.command, self.folder = command, folder
        self._outputs = [folder.parent / f".{folder.name}.{time.monotonic_ns()}.{name}" for name in ("out", "err", "n")]
        to_parent, to_child = os.pipe(), os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            _child(command, folder, fault, self._outputs, (to_child[0], to_parent[1]))
        os.close(to_child[0])
        os.close(to_parent[1])
        self._asks, self._answers = to_parent[0], to_child[1]

    def wait(self) -> Ended:
        """Until it ended; start a second process when it asks for one."""
        second = None
        while os.read(self._asks, 1):
            second = Process(self.command, self.folder).wait()
            os.write(self._answers, b".")
        _, status = os.waitpid(self.pid, 0)
        os.close(self._asks)
        os.close(self._answers)
        out, err, counts = (path.read_text() if path.exists() else "" for path in self._outputs)
        for path in self._outputs:
            path.unlink(missing_ok=True)
        counted = dict(zip(POINTS, map(int, counts.split()), strict=False))
        return Ended(os.waitstatus_to_exitcode(status), out, err, counted, second)


def _child(command: Command, folder: Path, fault: Fault | None, outputs: list[Path], pipe: tuple[int, int]) -> None:
    """Never returns."""
    status = 70
    try:
        for signs in (signal.SIGINT, signal.SIGTERM):
            signal.signal(signs, signal.default_int_handler if signs == signal.SIGINT else signal.SIG_DFL)
        for number, path in zip((1, 2), outputs, strict=False):
            os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
        sys.stdout, sys.stderr = (io.TextIOWrapper(io.FileIO(k, "w", closefd=False)) for k in (1, 2))
        fcntl.fcntl(pipe[0], fcntl.F_SETFD, fcntl.FD_CLOEXEC)

        def second() -> None:
            os.write(pipe[1], b"2")
            os.read(pipe[0], 1)

        hooks = Hooks(folder, fault, second)
        hooks.install()
        from deddqn.cli import main

        try:
            status = main(command.arguments(folder))
        except KeyboardInterrupt:
            status = 130
        hooks._active = False
        outputs[2].write_text(" ".join(str(count) for count in hooks.counts.values()))
    except SystemExit as error:
        status = error.code if isinstance(error.code, int) else 1
    except BaseException:
        traceback.print_exc()
        status = 71
    finally:
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            os._exit(status)
