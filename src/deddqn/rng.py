"""Reproducible random numbers: one small generator (SFC64) per run and use, seeded by problem, dimension, repeat and
use.

``SeedSequence(root, spawn_key=(problem, dimension, repeat, use))``: order of execution, threads and resuming
change nothing, and every method meets the same initial population and noise on the same (problem, repeat).
"""

from __future__ import annotations

import math
import zlib
from enum import IntEnum

import numpy as np

from deddqn._jit import kernel


class Stream(IntEnum):
    """What a stream of random numbers is used for."""

    INIT = 0
    SEARCH = 1
    POLICY = 2
    NOISE = 3


STATE_WORDS = 4
"""An SFC64 generator is four 64-bit words."""

_HALF = np.uint64(32)
_LOW_WORD = np.uint64(0xFFFFFFFF)
_TO_UNIT = 1.0 / 9007199254740992.0  # 2**-53


def streams_at(root: int, problem: str, dimension: int, repeat: int = 0) -> np.ndarray:
    """The states of the four streams of one run, as a ``(4, 4)`` array of uint64."""
    key = zlib.crc32(problem.encode())
    states = np.empty((len(Stream), STATE_WORDS), dtype=np.uint64)
    for use in Stream:
        seed = np.random.SeedSequence(root, spawn_key=(key, dimension, repeat, int(use)))
        states[use] = np.random.SFC64(seed).state["state"]["state"]
    return states


@kernel
def next_word(state):
    """The next 64 random bits of SFC64 (the raw stream of ``numpy.random.SFC64``). Advances `state`."""
    word = state[0] + state[1] + state[3]
    state[3] += np.uint64(1)
    state[0] = state[1] ^ (state[1] >> np.uint64(11))
    state[1] = state[2] + (state[2] << np.uint64(3))
    state[2] = ((state[2] << np.uint64(24)) | (state[2] >> np.uint64(40))) + word
    return word


@kernel
def uniform(state):
    """A double in [0, 1)."""
    return np.float64(next_word(state) >> np.uint64(11)) * _TO_UNIT


@kernel
def integer_below(state, n):
    """An unbiased integer in 0..n-1, for 0 < n < 2**32 (Lemire's multiplication with rejection)."""
    span = np.uint64(n)
    product = (next_word(state) >> _HALF) * span
    if (product & _LOW_WORD) < span:
        threshold = ((np.uint64(1) << _HALF) - span) % span
        while (product & _LOW_WORD) < threshold:
            product = (next_word(state) >> _HALF) * span
    return np.int64(product >> _HALF)


@kernel
def standard_normal(state):
    """A standard normal number by the polar method (the second of the pair is not kept)."""
    while True:
        a = 2.0 * uniform(state) - 1.0
        b = 2.0 * uniform(state) - 1.0
        square = a * a + b * b
        if 0.0 < square < 1.0:
            return a * math.sqrt(-2.0 * math.log(square) / square)
