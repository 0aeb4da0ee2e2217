"""A bar is a number to reach; a benchmark returns what it measured beside it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Bar:
    """One measured number and its bar."""

    what: str
    measured: float
    bar: float
    unit: str = ""
    smaller_is_better: bool = True
    peer: str = ""

    @property
    def reached(self) -> bool:
        """Whether the bar is reached."""
        return self.measured <= self.bar if self.smaller_is_better else self.measured >= self.bar

    def line(self) -> str:
        """One row of the closing table."""
        sign = "<=" if self.smaller_is_better else ">="
        verdict = "reached" if self.reached else "MISSED"
        note = f"  ({self.peer})" if self.peer else ""
        return f"{verdict:8} {self.what:68} {self.measured:>12,.3g} {sign} {self.bar:<10,.4g}{self.unit}{note}"


def print_bars(bars: list[Bar]) -> None:
    """Print the rows."""
    for bar in bars:
        print(bar.line(), flush=True)
