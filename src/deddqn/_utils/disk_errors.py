"""What the operating system says about a disk, as advice."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager

FULL = (errno.ENOSPC, errno.EDQUOT)
FORBIDDEN = (errno.EACCES, errno.EPERM, errno.EROFS)


class CannotWriteError(OSError):
    """Something could not be written; the message says what and why."""


@contextmanager
def clear_errors(what: str, kind: type[OSError] = CannotWriteError) -> Iterator[None]:
    """Turn errors of the operating system in the body into `kind`: "cannot `what`: why and what to do"."""
    try:
        yield
    except OSError as error:
        if error.errno is None:  # one of ours, which says so already
            raise
        raise kind(f"cannot {what}: {reason(error)}{_advice(error)}") from error


def reason(error: OSError) -> str:
    """What is wrong."""
    if error.errno in FULL:
        return "the disk is full"
    if error.errno in FORBIDDEN:
        return "no permission to write there"
    return error.strerror or str(error)


def _advice(error: OSError) -> str:
    """What helps."""
    if error.errno in FULL:
        return "; what was stored before is intact: free some space and run the command again"
    return "; choose another folder with --out" if error.errno in FORBIDDEN else ""
