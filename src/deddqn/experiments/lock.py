"""One process at a time in the folder of an experiment.

The lock is the kernel's (flock): it ends with its process, however that ends, so there are no stale locks to clear.
"""

from __future__ import annotations

import errno
import fcntl
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from deddqn.experiments.store import StoreError

NAME = ".lock"


@contextmanager
def sole_use(folder: Path) -> Iterator[None]:
    """Hold the folder's lock, or raise `StoreError` that names the holder."""
    path = folder / NAME
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise StoreError(f"cannot lock {folder}: {error.strerror}; choose another folder with --out") from error
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in (errno.EWOULDBLOCK, errno.EACCES):
                raise StoreError(f"cannot lock {folder}: {error.strerror}") from error
            holder = os.pread(descriptor, 200, 0).decode(errors="replace").strip() or "unknown"
            raise StoreError(f"{folder} is in use by another process ({holder}); wait for it, or stop it") from None
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"pid {os.getpid()} on {socket.gethostname()}".encode(), 0)
        yield
    finally:
        os.close(descriptor)
