"""A case is a computation with a name; its digest is the SHA-256 of all that it returns."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

EXACT, MATH, MACHINE = GROUPS = ("exact", "math", "machine")
"""Digests that are the same everywhere; where exp, log, tan and pow are; and where processor and libraries are."""

DIGITS = 16


class Case(NamedTuple):
    """What to compute, how far the result travels, and whether it is soon there without the compiler, too."""

    name: str
    group: str
    compute: Callable[[], Any]
    plain: bool = False


def digest(value: Any) -> str:
    """The first digits of the SHA-256 of nested lists and mappings of arrays, numbers and words."""
    found = hashlib.sha256()
    _feed(found, value)
    return found.hexdigest()[:DIGITS]


def _feed(found: Any, value: Any) -> None:
    if isinstance(value, Mapping):
        for key in sorted(value):
            found.update(f"{key}:".encode())
            _feed(found, value[key])
    elif isinstance(value, list | tuple):
        found.update(f"[{len(value)}".encode())
        for item in value:
            _feed(found, item)
    elif isinstance(value, str):
        found.update(value.encode())
    else:
        array = _portable(np.asarray(value))
        found.update(f"{array.dtype.str}{array.shape}".encode())
        found.update(array.tobytes())


def _portable(array: np.ndarray) -> np.ndarray:
    """Little-endian; every integer has 64 bits, and there is one NaN."""
    if array.dtype.kind in "iub":
        return array.astype("<i8")
    if array.dtype.kind != "f":
        raise TypeError(f"a digest is made of numbers and words, got an array of {array.dtype}")
    plain = array.astype(array.dtype.newbyteorder("<"))
    plain[np.isnan(plain)] = np.nan
    return plain


def facts(result: Any) -> dict[str, Any]:
    """What a user sees of a run, without words that may be changed."""
    names = ("x", "fun", "nfev", "nit", "success", "population", "population_energies", "strategy_counts", "non_finite")
    found = {name: result[name] for name in names}
    if "history" in result:
        found["history"] = {name: result.history[name] for name in ("nfev", "fun", "mean", "strategy_counts")}
    return found
