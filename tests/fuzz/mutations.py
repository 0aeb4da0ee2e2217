"""Mutations of bytes, JSON values and numbers; every one is determined by its random generator."""

from __future__ import annotations

import math
from random import Random
from typing import Any

import numpy as np

NUMBERS = (0, 1, -1, 2, 3, 5, 7, 50, 51, 255, 256, 10**6, -(10**6), 2**31, 2**53, 2**62, -(2**62), 10**15)
FLOATS = (
    *map(float, NUMBERS),
    0.5,
    -0.5,
    1.5,
    1e-300,
    1e-320,
    -1e300,
    1e300,
    1e308,
    math.nan,
    math.inf,
    -math.inf,
    -0.0,
)
TEXTS = ("", "x", "../x", "/tmp/x", "a" * 300, "\0", "\x1b[2J", '"', "<script>", "nan", "1e999", "é", "\ud800", "..")
SIMPLE: tuple[Any, ...] = (None, True, False, [], {}, *NUMBERS, *FLOATS, *TEXTS, 10**400, [[]], {"a": {}}, [0] * 40)


def mutated_bytes(rng: Random, content: bytes) -> bytes:
    """Bits, bytes, a part left out, doubled, moved or put in, or the end cut off; one to three times."""
    changed = bytearray(content)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        if not changed:
            break
        place, length = _place(rng, changed), rng.choice((1, 2, 4, 8, 60, 500))
        how = rng.randrange(8)
        if how <= 2:
            changed[place] ^= 1 << rng.randrange(8)
        elif how == 3:
            changed[place : place + 1] = bytes([rng.choice((0, 255, rng.randrange(256)))])
        elif how == 4:
            del changed[place : place + length]
        elif how == 5:
            changed[place:place] = changed[place : place + length]
        elif how == 6:
            changed[place:place] = rng.randbytes(length)
        else:
            del changed[place:]
    return bytes(changed)


def _place(rng: Random, content: bytearray) -> int:
    """Anywhere, and as often near the start or the end, where formats keep what they declare."""
    return rng.choice(
        (
            rng.randrange(len(content)),
            rng.randrange(min(len(content), 600)),
            len(content) - 1 - rng.randrange(min(len(content), 900)),
        )
    )


def mutated_text(rng: Random, text: str) -> str:
    """A text with characters changed, as bytes would be, but still text."""
    return mutated_bytes(rng, text.encode()).decode(errors="replace")


def mutated_json(rng: Random, value: Any) -> Any:
    """The value with one inner value replaced, changed, left out, renamed or doubled."""
    places = list(_places(value, ()))
    path = rng.choice(places)
    return _changed(rng, value, path)


def _places(value: Any, path: tuple[Any, ...]) -> Any:
    yield path
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _places(inner, (*path, key))
    elif isinstance(value, list):
        for k in range(min(len(value), 12)):
            yield from _places(value[k], (*path, k))


def _changed(rng: Random, value: Any, path: tuple[Any, ...]) -> Any:
    if not path:
        return _replaced(rng, value)
    if isinstance(value, dict):
        kept = dict(value)
        if len(path) == 1 and rng.random() < 0.2:
            inner = kept.pop(path[0])
            if rng.random() < 0.5:
                kept[rng.choice(TEXTS)] = inner
            return kept
        kept[path[0]] = _changed(rng, kept[path[0]], path[1:])
        return kept
    items = list(value)
    if len(path) == 1 and rng.random() < 0.2:
        del items[path[0]]
        return items
    items[path[0]] = _changed(rng, items[path[0]], path[1:])
    return items


def _replaced(rng: Random, value: Any) -> Any:
    if isinstance(value, bool) or rng.random() < 0.3:
        return rng.choice(SIMPLE)
    if isinstance(value, int):
        return rng.choice((value + 1, value - 1, -value, value * 2, float(value), str(value), rng.choice(NUMBERS)))
    if isinstance(value, float):
        return rng.choice((value * 1.0000001, -value, rng.choice(FLOATS)))
    if isinstance(value, str):
        return rng.choice((rng.choice(TEXTS), value + "x", value[:-1], value.upper()))
    if isinstance(value, list) and value:
        return rng.choice((value + value, value[::-1], value[:1], value * 3, value[0]))
    if isinstance(value, dict) and value:
        return rng.choice((list(value), list(value.items())[:1], {**value, "new": 1}))
    return rng.choice(SIMPLE)


def mutated_array(rng: Random, array: np.ndarray) -> np.ndarray:
    """One number changed (as float, as integer, or by a bit), or another type, shape, length or order."""
    if array.size == 0 or rng.random() < 0.15:
        return _reshaped(rng, array)
    changed = np.ascontiguousarray(array).copy()
    flat = changed.reshape(-1)
    for _ in range(rng.choice((1, 1, 1, 1, 2, 5))):
        _change_number(rng, flat, rng.randrange(flat.size))
    return changed


def _change_number(rng: Random, flat: np.ndarray, place: int) -> None:
    how = rng.randrange(5)
    if how == 0 and flat.dtype.itemsize == 8 and flat.dtype.kind in "fiu":
        flat.view(np.int64)[place] = rng.choice(NUMBERS)
    elif how == 1 and flat.dtype.kind in "fiu":
        flat.view(np.uint8)[place * flat.dtype.itemsize + rng.randrange(flat.dtype.itemsize)] ^= 1 << rng.randrange(8)
    elif how == 2 and flat.size > 1:
        other = rng.randrange(flat.size)
        flat[place], flat[other] = flat[other], flat[place]
    elif flat.dtype.kind == "f":
        with np.errstate(all="ignore"):
            flat[place] = rng.choice((rng.choice(FLOATS), flat[place] + 1, -flat[place], flat[place] * 2))
    elif flat.dtype.kind in "iu" and flat.dtype.itemsize == 8:
        flat.view(np.int64)[place] += rng.choice((-1, 1, 100))
    elif flat.dtype.kind in "iub":
        flat.view(np.uint8)[place * flat.dtype.itemsize] ^= 1 << rng.randrange(8)


def _reshaped(rng: Random, array: np.ndarray) -> np.ndarray:
    flat = array.reshape(-1)
    how = rng.randrange(7)
    if how == 0:
        return flat[:-1]
    if how == 1:
        return np.concatenate([flat, flat[:1]])
    if how == 2:
        return array.reshape(1, *array.shape)
    if how == 3 and array.dtype.kind in "fiub":
        return array.astype(rng.choice(("f4", "f8", "i4", "i8", "u1", "f2")))
    if how == 4:
        return np.zeros(0, dtype=array.dtype)
    if how == 5:
        return np.zeros_like(array)
    return flat[::-1].reshape(array.shape).copy()
