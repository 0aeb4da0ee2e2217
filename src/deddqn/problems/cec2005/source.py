"""The organisers' numbers: `data.npz`, read one array at a time and checked against `data.sha256`.

The numbers were taken from optproblems 1.3 (Copyright (c) 2015-2020 Simon Wessing, BSD-3; see NOTICE.txt
beside the file), whose data equal the organisers' bit for bit; `tools/make_cec2005_data.py` made the file.
"""

import hashlib
from functools import lru_cache
from importlib.resources import files
from typing import Final

import numpy as np

from deddqn.problems.cec2005.memory_map import Array

_FOLDER: Final = files("deddqn.problems.cec2005")


@lru_cache(maxsize=1)
def checksums() -> dict[str, str]:
    """Return the SHA-256 of every array by name."""
    lines = (_FOLDER / "data.sha256").read_text().splitlines()
    return {name: digest for digest, name in (line.split("  ", 1) for line in lines)}


def read(name: str) -> Array:
    """Return the array `name` of the data file as float64.

    Raises
    ------
    ValueError
        If the content does not have the recorded checksum.
    """
    with (_FOLDER / "data.npz").open("rb") as stream, np.load(stream) as archive:
        stored = archive[name]
    digest = hashlib.sha256(stored.tobytes()).hexdigest()
    if digest != checksums()[name]:
        raise ValueError(f"data.npz must hold the recorded numbers, got another checksum for {name!r}: {digest}")
    return stored.astype(np.float64)
