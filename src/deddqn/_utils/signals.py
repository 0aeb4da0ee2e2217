"""Signals that ask a process to end: what is finished is stored first."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

ENDING = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def stopped_by_signals(stop: Callable[[], None]) -> Iterator[None]:
    """Let the first SIGINT or SIGTERM in the body call `stop` only; further ones do what they did before.

    Handlers are those of the process: in another thread than the main one nothing changes, nor where Ctrl-C is ignored.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {sign: signal.getsignal(sign) for sign in ENDING}

    def restore() -> None:
        for sign, handler in before.items():
            if handler is not None:  # None: it was not set from Python
                signal.signal(sign, handler)

    def first(number: int, frame: Any) -> None:
        restore()
        stop()

    for sign, handler in before.items():
        if handler not in (None, signal.SIG_IGN):
            signal.signal(sign, first)
    try:
        yield
    finally:
        restore()
