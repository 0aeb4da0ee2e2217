"""One process at a time in the folder of an experiment, a training or a tuning.

The lock is the kernel's (flock): it ends with its process, however that ends, so there are no stale locks to clear.
"""

from __future__ import annotations

import errno
import fcntl
import os
import socket
from pathlib import Path

NAME = ".lock"


class FolderInUse(OSError):
    """Another process works in the folder, or it cannot be locked; the message says which."""


class FolderLock:
    """Sole use of a folder, from the moment it is made until `release`; the file of the lock stays there.

    Parameters
    ----------
    folder : where the file of the lock lies; it has to be there.
    name : of that file; work in one folder that does not touch the same files has locks of different names.
    """

    def __init__(self, folder: Path, name: str = NAME) -> None:
        self._descriptor: int | None = None
        try:
            self._descriptor = os.open(folder / name, os.O_RDWR | os.O_CREAT, 0o644)
            self._take(self._descriptor, folder)
        except OSError as error:
            self.release()
            if isinstance(error, FolderInUse):
                raise
            raise FolderInUse(f"cannot lock {folder}: {error.strerror}; choose another folder with --out") from error

    @staticmethod
    def _take(descriptor: int, folder: Path) -> None:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in (errno.EWOULDBLOCK, errno.EACCES):
                raise
            holder = os.pread(descriptor, 200, 0).decode(errors="replace").strip() or "unknown"
            raise FolderInUse(f"{folder} is in use by another process ({holder}); wait for it, or stop it") from None
        try:
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"pid {os.getpid()} on {socket.gethostname()}".encode(), 0)
        except OSError:  # a full disk: the lock holds all the same, only nobody can read whose it is
            pass

    def release(self) -> None:
        """Let others in; also when nobody refers to the lock any more."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    __del__ = release

    def __enter__(self) -> FolderLock:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()
