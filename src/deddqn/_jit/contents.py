"""What the fields of a record may hold: compiled code trusts its memory, so memory from a file is checked against this.

Every `Field` declares its contents beside its shape, in the words below; bounds are numbers, or names of sizes of the
layout and of whole-numbered slots of the record (``"NP"``, ``"POPULATION"``). `check_record` walks a layout.

=======================  ===================================================================================
contents                 admits
=======================  ===================================================================================
`ANYTHING`               all bits: scratch, and what can only make a search worse (random streams, values told)
`AS_BEGUN`               the bits that the settings of the run write
`FINITE`                 finite numbers
`VALUES`                 values of an objective as they are stored: finite or +inf
`COUNT`, `FLAG`          whole numbers from 0 to 2**53; 0 or 1
`within(a, b)`           numbers from a to b
`whole(a, b)`            whole numbers from a to b
`index(n)`               whole numbers from 0 to n - 1
`order(n)`               the first n elements are 0 .. n - 1, each once (or all are as in a run that has not begun)
`slots(enum, ...)`       contents for every slot by its name
=======================  ===================================================================================
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np

Bound = float | str
Sizes = Mapping[str, int]


@dataclass(frozen=True)
class Contents:
    """A rule in words, and the test of it: ``admits(values, begun, sizes)``, `begun` being those of a new run."""

    rule: str
    admits: Callable[[np.ndarray, np.ndarray, Sizes], bool]
    members: Mapping[str, tuple[int, Contents]] | None = None  # of slots: name -> position, contents

    def names(self, values: np.ndarray) -> dict[str, int]:
        """The whole numbers of slots by name, as bounds for other fields."""
        if self.members is None or values.dtype.kind != "i":
            return {}
        return {name: int(values[at]) for name, (at, _) in self.members.items() if at < values.size}


def _bound(bound: Bound, sizes: Sizes) -> float:
    return sizes[bound] if isinstance(bound, str) else bound


def _same_bits(values: np.ndarray, begun: np.ndarray, sizes: Sizes) -> bool:
    return values.shape == begun.shape and values.tobytes() == begun.tobytes()


def within(least: Bound, most: Bound) -> Contents:
    """Numbers from `least` to `most`; both may be infinite, and NaN is none of them."""

    def admits(values: np.ndarray, begun: np.ndarray, sizes: Sizes) -> bool:
        return bool(np.all((values >= _bound(least, sizes)) & (values <= _bound(most, sizes))))

    return Contents(f"numbers from {least} to {most}", admits)


def whole(least: Bound, most: Bound) -> Contents:
    """Whole numbers from `least` to `most`."""
    numbers = within(least, most)

    def admits(values: np.ndarray, begun: np.ndarray, sizes: Sizes) -> bool:
        return numbers.admits(values, begun, sizes) and bool(np.all(values == np.trunc(values)))

    return Contents(f"whole numbers from {least} to {most}", admits)


def index(n: Bound, least: int = 0) -> Contents:
    """Whole numbers from 0, or `least`, to `n` - 1."""
    numbers = whole(least, np.inf)

    def admits(values: np.ndarray, begun: np.ndarray, sizes: Sizes) -> bool:
        return numbers.admits(values, begun, sizes) and bool(np.all(values < _bound(n, sizes)))

    return Contents(f"whole numbers from {least} to {n} - 1", admits)


def order(n: str) -> Contents:
    """A permutation in the first `n` elements, and indices of the field in the others."""

    def admits(values: np.ndarray, begun: np.ndarray, sizes: Sizes) -> bool:
        if _same_bits(values, begun, sizes):
            return True
        inside = bool(np.all((values >= 0) & (values < max(values.size, 1))))
        return inside and np.array_equal(np.sort(values[: sizes[n]]), np.arange(sizes[n]))

    return Contents(f"an order of 0 .. {n} - 1", admits)


def slots(enum: type[IntEnum], **contents: Contents) -> Contents:
    """Contents for every slot of a vector by its name in `enum`; a slot without any admits nothing."""
    members = {slot.name: (int(slot), contents.get(slot.name, UNDECLARED)) for slot in enum}
    members |= {name: (len(enum), UNDECLARED) for name in contents.keys() - members.keys()}

    def admits(values: np.ndarray, begun: np.ndarray, sizes: Sizes) -> bool:
        return all(rule.admits(values[at : at + 1], begun[at : at + 1], sizes) for at, rule in members.values())

    return Contents(f"slots of {enum.__name__}", admits, members)


LARGEST_COUNT = 2**53
ONE = 1.0 + 1e-9  # with the rounding of sums and means
ANYTHING = Contents("anything", lambda values, begun, sizes: True)
UNDECLARED = Contents("undeclared", lambda values, begun, sizes: False)
AS_BEGUN = Contents("what the settings say", _same_bits)
FINITE = Contents("finite numbers", lambda values, begun, sizes: bool(np.isfinite(values).all()))
VALUES = Contents("finite numbers or +inf", lambda values, begun, sizes: bool((values > -np.inf).all()))
COUNT, FLAG = whole(0, LARGEST_COUNT), whole(0, 1)


def check_record(layout: Any, record: Any, begun: Any, sizes: Sizes) -> Sizes:
    """Refuse a record (ValueError) with a field that holds what it may not; return `sizes` with the record's own.

    `begun` is the record of a run with the same settings that has not begun; both have the tables of `sizes`.
    """
    known = dict(sizes)
    for field in layout.fields:
        if field.holds is not None:
            known |= field.holds.names(getattr(record, field.name))
    for field in layout.fields:
        values, first = getattr(record, field.name), getattr(begun, field.name)
        rule = UNDECLARED if field.holds is None else field.holds
        if not rule.admits(values, first, known):
            raise ValueError(f"{layout.name}.{_describe(field.name, rule, values, first, known)}")
    return known


Part = tuple[str, int, Contents]


def check_parts(name: str, memory: np.ndarray, parts: Iterable[Part]) -> None:
    """The same for a vector that begins with `parts` one after the other: (name, size, contents)."""
    start = 0
    for part, size, rule in parts:
        values = memory[start : start + size]
        if values.size != size or not rule.admits(values, values, {}):
            raise ValueError(f"{name}.{part} must hold {rule.rule}, got {_shown(values)}")
        start += size


def _describe(name: str, rule: Contents, values: np.ndarray, begun: np.ndarray, sizes: Sizes) -> str:
    for slot, (at, own) in (rule.members or {}).items():
        if not own.admits(values[at : at + 1], begun[at : at + 1], sizes):
            return f"{name}[{slot}] must hold {own.rule}, got {_shown(values[at : at + 1])}"
    return f"{name} must hold {rule.rule}, got {_shown(values)}"


def _shown(values: np.ndarray) -> str:
    return np.array2string(values.ravel()[:4], threshold=4, separator=", ") + (" ..." if values.size > 4 else "")
