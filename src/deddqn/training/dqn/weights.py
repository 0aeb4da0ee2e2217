"""The weights of a network as arrays, and the width of its inputs: what actors need to know, without torch."""

from __future__ import annotations

import numpy as np

ALIGNMENT = 8
"""Inputs are padded with zeros to a multiple of this: an odd width keeps matrix units from being used."""

Layers = list[tuple[np.ndarray, np.ndarray]]
"""Per layer, weights (outputs, inputs) and bias, as in a policy file."""


def padded_width(width: int) -> int:
    """The width with its padding."""
    return -(-width // ALIGNMENT) * ALIGNMENT
