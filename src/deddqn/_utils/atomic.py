"""Files that are whole or not there: written under a temporary name, flushed to the disk, then renamed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A temporary path beside `path`; what was written to it takes the place of `path` when the body ends well.

    Otherwise it is deleted, and an old file stays as it was.
    """
    target = Path(path)
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        yield temporary
        flush(temporary)
        os.replace(temporary, target)
        flush(target.parent)
    finally:
        temporary.unlink(missing_ok=True)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a text file, whole or not at all."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_bytes(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file, whole or not at all."""
    with replacing(path) as temporary:
        temporary.write_bytes(content)


def flush(path: Path) -> None:
    """Bring a file, or the names in a folder, to the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError:
        if not path.is_dir():  # some file systems cannot flush folders
            raise
    finally:
        os.close(handle)
