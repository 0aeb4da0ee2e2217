"""What files say, as short texts that can be compared."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import numpy as np

from deddqn._utils.reading import array_parts


def digest(*parts: Any) -> str:
    """A short name for what the parts say."""
    total = hashlib.sha256()
    for part in parts:
        total.update(part if isinstance(part, bytes) else repr(part).encode("utf-8", "surrogatepass"))
        total.update(b"|")
    return total.hexdigest()[:16]


def dumped(value: Any) -> str:
    """JSON of mutated values, which may hold what JSON has no word for."""
    return json.dumps(value)


def plain(value: Any) -> str:
    """A JSON value whatever the order of its keys; numbers by their value."""
    return json.dumps(_floats(value), sort_keys=True)


def _floats(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _floats(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_floats(inner) for inner in value]
    return float(value) if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**53 else value


def array_parts_bytes(arrays: dict[str, np.ndarray]) -> list[bytes]:
    """The same as `array_parts`, as bytes."""
    return [bytes(part) for part in array_parts(arrays)]
