"""Files that are whole or not there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from deddqn._utils import atomic


def test_a_file_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "file.txt"
    atomic.write_text(path, "old")
    atomic.write_text(path, "new")
    atomic.write_bytes(tmp_path / "other", b"\0\1")
    assert path.read_text() == "new" and (tmp_path / "other").read_bytes() == b"\0\1"
    assert sorted(os.listdir(tmp_path)) == ["file.txt", "other"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, OSError])
def test_what_fails_changes_nothing(tmp_path: Path, error: type[BaseException]) -> None:
    path = tmp_path / "file.txt"
    atomic.write_text(path, "old")
    with pytest.raises(error), atomic.replacing(path) as temporary:
        temporary.write_text("half of the new")
        raise error("no")
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["file.txt"]


def test_a_disk_that_cannot_flush_keeps_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file.txt"
    atomic.write_text(path, "old")

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        atomic.write_text(path, "new")
    assert path.read_text() == "old" and os.listdir(tmp_path) == ["file.txt"]
