"""Files and folders that are whole or not there: written under a temporary name, flushed to the disk, then renamed.

A temporary name tells whose it is, ``.<name>.<process>.<token>.tmp``: what a killed process left behind can be told
from files of the user, and two writers of one file never share a temporary one.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import Path

_TEMPORARY = re.compile(r"\.(?P<name>.+)\.\d+\.[0-9a-f]{8}\.tmp")


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A temporary path beside `path`; the file written to it takes the place of `path` when the body ends well.

    Otherwise it is deleted, and an old file stays as it was. It may be a folder, too, if there is nothing at `path`.
    """
    target = Path(path)
    temporary = target.with_name(f".{target.name}.{os.getpid()}.{secrets.token_hex(4)}.tmp")
    try:
        yield temporary
        for content in temporary.rglob("*") if temporary.is_dir() else ():
            flush(content)
        flush(temporary)
        os.replace(temporary, target)
    except BaseException:
        _remove(temporary)
        raise
    flush(target.parent)


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
    try:
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
    except OSError:
        if not path.is_dir():  # some file systems cannot flush folders
            raise


def remove_leftovers(folder: Path, *names: str, folders: bool = False) -> None:
    """Delete what killed processes left of files (or of `folders`) of these names, which may hold ``*``, in `folder`.

    For the holder of the lock under which they are written: nobody else is writing them now.
    """
    for path in folder.iterdir() if folder.is_dir() else ():
        found = _TEMPORARY.fullmatch(path.name)
        if found and path.is_dir() == folders and any(fnmatchcase(found["name"], name) for name in names):
            _remove(path)


def _remove(path: Path) -> None:
    """Delete what is there, as far as that is possible: it is in nobody's way."""
    try:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
    except OSError:
        pass
