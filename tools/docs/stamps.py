"""Stamps of results: which weights the numbers of a page were measured with.

A page of results says ``<!-- weights: ddqn-r1 0123456789ab, ddqn-r2 ... -->``; where a shipped file holds other weights
than those, the build of the documentation fails.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import numpy as np

from deddqn.policies.files import read_policy_file
from deddqn.policies.registry import SHIPPED

DIGITS = 12
STAMP = re.compile(r"<!-- weights: (.*?) -->", re.DOTALL)


def weights_hash(tensors: dict[str, np.ndarray]) -> str:
    """A short hash of the weights alone; what a file says about them may be corrected without a new measurement."""
    digest = hashlib.sha256()
    for name in sorted(tensors):
        digest.update(f"{name} {tensors[name].dtype} {tensors[name].shape}".encode())
        digest.update(np.ascontiguousarray(tensors[name]).tobytes())
    return digest.hexdigest()[:DIGITS]


def shipped_hashes() -> dict[str, str]:
    """The hash of every shipped policy file, by the policy's name."""
    return {path.stem: weights_hash(read_policy_file(path)[0]) for path in sorted(Path(SHIPPED).glob("*.safetensors"))}


def check_stamps(page: str, text: str) -> None:
    """Raise ValueError if a page holds numbers of weights that are not the shipped ones."""
    shipped = shipped_hashes()
    for stamp in STAMP.findall(text):
        for entry in stamp.split(","):
            name, found = entry.split()
            if shipped.get(name) != found:
                raise ValueError(f"{page}: its numbers are of {name} {found}, the shipped file is {shipped.get(name)}")
