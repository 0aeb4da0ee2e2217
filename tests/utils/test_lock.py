"""One process at a time: the lock names its holder, ends with it, and lets nobody else in."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from deddqn._utils.lock import FolderInUse, FolderLock

HOLDER = """
import sys, time
from pathlib import Path
from deddqn._utils.lock import FolderLock
lock = FolderLock(Path(sys.argv[1]))
print("held", flush=True)
time.sleep(60)
"""


def test_one_at_a_time(tmp_path: Path) -> None:
    with FolderLock(tmp_path), pytest.raises(FolderInUse, match=f"in use by another process .pid {os.getpid()} on "):
        FolderLock(tmp_path)
    FolderLock(tmp_path).release()


def test_locks_of_other_names_do_not_meet(tmp_path: Path) -> None:
    with FolderLock(tmp_path, ".a.lock"), FolderLock(tmp_path, ".b.lock"):
        pass


def test_the_lock_of_a_killed_process_is_free(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLDER, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stdout.readline() == "held\n"
        with pytest.raises(FolderInUse, match=f"pid {process.pid} on "):
            FolderLock(tmp_path)
        process.send_signal(signal.SIGKILL)
    with FolderLock(tmp_path):
        assert f"pid {os.getpid()} on" in (tmp_path / ".lock").read_text()


def test_a_lock_that_nobody_refers_to_is_free(tmp_path: Path) -> None:
    FolderLock(tmp_path)
    with FolderLock(tmp_path):
        pass


def test_a_full_disk_does_not_keep_the_lock_from_holding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "pwrite", full)
    with FolderLock(tmp_path), pytest.raises(FolderInUse, match="unknown"):
        FolderLock(tmp_path)


def test_a_folder_that_cannot_be_locked_says_so(tmp_path: Path) -> None:
    with pytest.raises(FolderInUse, match="cannot lock .*: No such file or directory"):
        FolderLock(tmp_path / "missing")
