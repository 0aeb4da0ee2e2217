"""A portfolio: the moves that a policy chooses from, each a strategy with its F and CR (Sect. 2.1)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from deddqn.de.strategies import STRATEGIES
from deddqn.names import unknown_name


@dataclass(frozen=True)
class Entry:
    """One move: a mutation strategy, its scaling factor F and its crossover rate CR."""

    strategy: str
    scale: float = 0.5
    crossover: float = 1.0

    def __post_init__(self) -> None:
        if self.strategy not in STRATEGIES:
            raise unknown_name("strategy", self.strategy, STRATEGIES)
        if not 0.0 <= self.scale < float("inf"):
            raise ValueError(f"scale (F) must be a finite number of 0 or more, got {self.scale}")
        if not 0.0 <= self.crossover <= 1.0:
            raise ValueError(f"crossover (CR) must lie in [0, 1], got {self.crossover}")


class Portfolio(tuple[Entry, ...]):
    """An immutable list of entries; position is the operator's number, the action that a policy takes."""

    __slots__ = ()

    def __new__(cls, entries: Iterable[Entry | str | tuple[str, float, float]]) -> Portfolio:
        made = [_as_entry(entry) for entry in entries]
        if not made:
            raise ValueError("portfolio must hold at least one entry, got none")
        return super().__new__(cls, made)

    @property
    def names(self) -> tuple[str, ...]:
        """The strategies' names, with F and CR where they tell two entries apart."""
        strategies = [entry.strategy for entry in self]
        return tuple(
            entry.strategy
            if strategies.count(entry.strategy) == 1
            else f"{entry.strategy} F={entry.scale:g} CR={entry.crossover:g}"
            for entry in self
        )

    def as_arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Strategy codes, F and CR of the entries, as the kernels read them."""
        codes = list(STRATEGIES)
        return (
            np.array([codes.index(entry.strategy) for entry in self], dtype=np.int64),
            np.array([entry.scale for entry in self], dtype=np.float64),
            np.array([entry.crossover for entry in self], dtype=np.float64),
        )


def _as_entry(entry: Entry | str | tuple[str, float, float]) -> Entry:
    if isinstance(entry, Entry):
        return entry
    if isinstance(entry, str):
        return Entry(entry)
    return Entry(*entry)


def paper_portfolio(scale: float = 0.5, crossover: float = 1.0) -> Portfolio:
    """The paper's four strategies in its order, all with the same F and CR."""
    return Portfolio(Entry(name, scale, crossover) for name in ("rand/1", "rand/2", "rand-to-best/2", "curr-to-rand/1"))


PAPER = paper_portfolio()
"""Sect. 2.1 and Table 2: rand/1, rand/2, rand-to-best/2, curr-to-rand/1 with F = 0.5 and CR = 1."""
