"""A portfolio: the operators that a policy chooses from, each a strategy with its F and CR (Sect. 2.1).

F and CR are constants, or drawn for every trial around means that follow what succeeded (`success_history`); then the
numbers of the entry are where the means start.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from numbers import Real

import numpy as np

from deddqn._utils.validation import choice_error, unknown_name
from deddqn.de.mutation import STRATEGIES

ADAPTS = ("", "F", "CR", "F+CR")
"""What of an entry may follow success; the position is its code in a run (1: F, 2: CR)."""

OperatorValues = tuple[str, float, float] | tuple[str, float, float, str]
"""An entry as plain values: (strategy, F, CR), or (strategy, F, CR, adapts)."""


@dataclass(frozen=True)
class Operator:
    """One operator: a mutation strategy, its scaling factor F and its crossover rate CR.

    `adapts` says which of them follow success: "" (none), "F", "CR" or "F+CR".
    """

    strategy: str
    scale: float = 0.5
    crossover: float = 1.0
    adapts: str = ""

    def __post_init__(self) -> None:
        if self.strategy not in STRATEGIES:
            raise unknown_name("strategy", self.strategy, STRATEGIES)
        if not (_is_number(self.scale) and 0.0 <= self.scale < float("inf")):
            raise ValueError(f"scale (F) must be a finite number of 0 or more, got {self.scale!r}")
        if not (_is_number(self.crossover) and 0.0 <= self.crossover <= 1.0):
            raise ValueError(f"crossover (CR) must lie in [0, 1], got {self.crossover!r}")
        if self.adapts not in ADAPTS:
            raise choice_error("adapts", self.adapts, ADAPTS)
        if self._adapts("F") and not 0.0 < self.scale <= 1.0:
            raise ValueError(f"scale (F) must lie in (0, 1] where it adapts, got {self.scale}")

    def with_constants(self, scale: float | None = None, crossover: float | None = None) -> Operator:
        """The entry with another F or CR, which then does not adapt."""
        adapts = [name for name, value in (("F", scale), ("CR", crossover)) if value is None and self._adapts(name)]
        return Operator(
            self.strategy,
            self.scale if scale is None else scale,
            self.crossover if crossover is None else crossover,
            "+".join(adapts),
        )

    def _adapts(self, name: str) -> bool:
        return name in self.adapts.split("+")

    @property
    def values(self) -> OperatorValues:
        """The entry as plain values, for files."""
        plain = (self.strategy, self.scale, self.crossover)
        return (*plain, self.adapts) if self.adapts else plain

    @property
    def parameters(self) -> str:
        """F and CR in words, with ~ where they adapt: ``F~0.5, CR=1``."""
        sign = {name: "~" if self._adapts(name) else "=" for name in ("F", "CR")}
        return f"F{sign['F']}{self.scale:g}, CR{sign['CR']}{self.crossover:g}"


class Portfolio(tuple[Operator, ...]):
    """An immutable list of entries; position is the operator's number, the action that a policy takes."""

    __slots__ = ()

    def __new__(cls, entries: Iterable[Operator | str | OperatorValues]) -> Portfolio:
        if isinstance(entries, str):
            raise ValueError(f"portfolio must be a list of entries, got the text {entries!r}; [{entries!r}] is one")
        made = [_as_operator(entry) for entry in entries]
        if not made:
            raise ValueError("portfolio must hold at least one entry, got none")
        return super().__new__(cls, made)

    @classmethod
    def from_values(cls, entries: Iterable[Sequence[str | float]]) -> Portfolio:
        """The portfolio that `values` gave, as files hold it: nothing is left out there."""
        rows = [tuple(entry) for entry in entries]
        for row in rows:
            if len(row) not in (3, 4) or row[3:] == ("",):
                raise ValueError(f"an entry must be (strategy, F, CR) or (strategy, F, CR, adapts), got {row!r}")
        return cls(rows)  # type: ignore[arg-type]

    @property
    def names(self) -> tuple[str, ...]:
        """The strategies' names, with F and CR where they tell two entries apart."""
        strategies = [entry.strategy for entry in self]
        return tuple(
            entry.strategy
            if strategies.count(entry.strategy) == 1
            else f"{entry.strategy} {entry.parameters.replace(',', '')}"
            for entry in self
        )

    @property
    def values(self) -> tuple[OperatorValues, ...]:
        """The entries as plain values, for files."""
        return tuple(entry.values for entry in self)

    def as_arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Strategy codes, F and CR of the entries, as the kernels read them."""
        return (
            np.array([STRATEGIES.index(entry.strategy) for entry in self], dtype=np.int64),
            np.array([entry.scale for entry in self], dtype=np.float64),
            np.array([entry.crossover for entry in self], dtype=np.float64),
        )


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _as_operator(entry: Operator | str | OperatorValues) -> Operator:
    if isinstance(entry, Operator):
        return entry
    if isinstance(entry, str):
        return Operator(entry)
    if not isinstance(entry, Sequence) or not 1 <= len(entry) <= 4:
        raise ValueError(f"an entry must be a strategy, (strategy, F, CR) or (strategy, F, CR, adapts), got {entry!r}")
    return Operator(*entry)


def paper_portfolio(scale: float = 0.5, crossover: float = 1.0) -> Portfolio:
    """The paper's four strategies in its order, all with the same F and CR."""
    return Portfolio(
        Operator(name, scale, crossover) for name in ("rand/1", "rand/2", "rand-to-best/2", "curr-to-rand/1")
    )


PAPER = paper_portfolio()
"""Sect. 2.1 and Table 2: rand/1, rand/2, rand-to-best/2, curr-to-rand/1 with F = 0.5 and CR = 1."""

EXTENDED = Portfolio(
    (
        Operator("curr-to-pbest/1", 0.5, 0.9, "F+CR"),
        Operator("curr-to-pbest/1", 0.5, 0.5, "F+CR"),
        Operator("curr-to-pbest/1", 0.5, 0.1, "F+CR"),
        Operator("rand-to-pbest/1", 0.5, 0.9, "F+CR"),
        Operator("rand/1", 0.5, 0.9, "F+CR"),
        Operator("rand/1", 0.5, 0.3, "F+CR"),
        Operator("rand/2", 0.5, 0.9, "F+CR"),
        Operator("rand-to-best/2", 0.5, 0.9, "F+CR"),
        Operator("curr-to-rand/1", 0.5, 1.0, "F"),
        Operator("best/1", 0.5, 0.9, "F+CR"),
        Operator("best/1", 0.5, 0.3, "F+CR"),
        Operator("gauss", 1.0, 1.0),
    )
)
"""Twelve operators, from explorative to exploitative, for a population that shrinks (docs/guide/extended.md)."""

PORTFOLIOS = {"paper": PAPER, "extended": EXTENDED}


def as_portfolio(choice: str | Iterable[Operator | str | OperatorValues]) -> Portfolio:
    """A portfolio from its name or from its entries."""
    if not isinstance(choice, str):
        return Portfolio(choice)
    if choice not in PORTFOLIOS:
        raise choice_error("portfolio", choice, PORTFOLIOS)
    return PORTFOLIOS[choice]
