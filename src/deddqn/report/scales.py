"""Scales of charts: from data to pixels, with round ticks."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from deddqn.analysis.statistics import SOLVED

FLOOR = 1e-9  # logarithmic axes show nothing below


@dataclass(frozen=True)
class Scale:
    """From data to pixels."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def __call__(self, value: float) -> float:
        """The pixel of a value; values outside are drawn at the edge."""
        low, high = self.low, self.high
        if self.log:
            low, high, value = math.log10(low), math.log10(high), math.log10(max(value, FLOOR))
        part = (value - low) / (high - low) if high > low else 0.5
        return self.start + (self.end - self.start) * min(max(part, 0.0), 1.0)

    def ticks(self, about: int = 5) -> list[float]:
        """Round numbers on the axis."""
        return _log_ticks(self.low, self.high, about) if self.log else _linear_ticks(self.low, self.high, about)


def _log_ticks(low: float, high: float, about: int) -> list[float]:
    first, last = math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
    if last - first < 2:
        steps = [m * 10.0**k for k in range(first - 1, last + 2) for m in (1, 2, 5)]
        few = [s for s in steps if low * 0.999 <= s <= high * 1.001]
        return few if len(few) >= 2 else _linear_ticks(low, high, about)
    stride = max(1, -(-(last - first) // about))
    return [10.0**k for k in range(first, last + 1, stride)]


def _linear_ticks(low: float, high: float, about: int) -> list[float]:
    span = high - low
    if span <= 0:
        return [low]
    unit = 10.0 ** math.floor(math.log10(span / about))
    step = next(unit * m for m in (1, 2, 5, 10) if span / (unit * m) <= about)
    first = math.ceil(low / step - 1e-9)
    return [k * step for k in range(first, int(math.floor(high / step + 1e-9)) + 1)]


def fitting(values: Iterable[float], start: float, end: float) -> Scale:
    """A scale for errors: logarithmic where they span more than a factor of 30, and none is a negative value."""
    finite = [v for v in values if math.isfinite(v)]
    low, high = (min(finite), max(finite)) if finite else (0.0, 1.0)
    if high > 0 and low > -SOLVED and (low <= 0 or high / low > 30):
        low = max(low, SOLVED)
        if high / low > 30:
            return Scale(low / 1.3, high * 1.3, start, end, log=True)
    room = 0.05 * (high - low) or max(abs(high), 1.0) * 0.05
    return Scale(low - room, high + room, start, end)


def tick_label(value: float) -> str:
    """A number on an axis."""
    if value == 0:
        return "0"
    if 0.01 <= abs(value) < 1e4:
        return f"{value:.10g}"
    return f"{value:.0e}".replace("e+0", "e").replace("e-0", "e-").replace("e+", "e")
