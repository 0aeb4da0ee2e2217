"""The log of a training: one JSON line per event, TensorBoard where it is installed, and a line of progress."""

from __future__ import annotations

import json
import math
import os
import sys
import time
from pathlib import Path
from typing import Any

PROGRESS_SECONDS = 10.0


class TrainingLog:
    """Writes ``log.jsonl`` (truncated to where a checkpoint left it) and shows the progress.

    Parameters
    ----------
    folder : where the log goes.
    total : evaluations that the whole training will take, for the time left.
    position : bytes of the log that stay; what was written after a checkpoint is written again.
    """

    def __init__(
        self, folder: Path, total: float, *, position: int = 0, tensorboard: bool = False, quiet: bool = False
    ) -> None:
        self.total, self.quiet = total, quiet
        self._path = folder / "log.jsonl"
        self._file = open(self._path, "ab")  # noqa: SIM115 (closed by close)
        if self._file.tell() > position:
            self._file.truncate(position)
        self._board = _board(folder) if tensorboard else None
        self._started = self._shown = time.monotonic()
        self._first: tuple[int, int] | None = None

    def event(self, kind: str, step: int, **values: Any) -> None:
        """Write one line; numbers also go to TensorBoard."""
        line = {"event": kind, "evaluations": step, **values, "seconds": round(time.monotonic() - self._started, 3)}
        self._file.write((json.dumps(line) + "\n").encode())
        if self._board is not None:
            for name, value in values.items():
                if isinstance(value, int | float):
                    self._board.add_scalar(f"{kind}/{name}", value, step)

    def progress(self, evaluations: int, updates: int, text: str) -> None:
        """Show evaluations/s, updates/s and the time left, every few seconds."""
        now = time.monotonic()
        if self._first is None:
            self._first, self._started_rate = (evaluations, updates), now
        if self.quiet or now - self._shown < PROGRESS_SECONDS:
            return
        self._shown = now
        seconds = max(now - self._started_rate, 1e-9)
        rate, update_rate = (evaluations - self._first[0]) / seconds, (updates - self._first[1]) / seconds
        left = max(self.total - evaluations, 0.0) / rate if rate > 0 else math.inf
        print(
            f"{evaluations / self.total:6.1%}  {evaluations:,} evaluations ({rate:,.0f}/s)  "
            f"{updates:,} updates ({update_rate:,.0f}/s)  {text}  {_clock(left)} left",
            file=sys.stderr,
            flush=True,
        )

    def flush(self) -> int:
        """Bring everything to the disk; return the length of the log."""
        self._file.flush()
        os.fsync(self._file.fileno())
        return self._file.tell()

    def close(self) -> None:
        """Close the files."""
        self._file.close()
        if self._board is not None:
            self._board.close()


def _board(folder: Path) -> Any:
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        return None
    return SummaryWriter(str(folder / "tensorboard"))


def _clock(seconds: float) -> str:
    if not math.isfinite(seconds):
        return "?"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02d}:{rest:02d}"
