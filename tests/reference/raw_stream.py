"""What the engine draws, drawn again from numpy's own SFC64: donors, crossover masks, initial populations."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np


class RawStream:
    """The raw words of a ``numpy.random.SFC64`` that starts at the four words of an engine stream."""

    def __init__(self, words: np.ndarray) -> None:
        self.bits = np.random.SFC64(0)
        state = self.bits.state
        state["state"]["state"] = np.array(words, dtype=np.uint64)
        self.bits.state = state

    @property
    def words(self) -> list[int]:
        return [int(word) for word in self.bits.state["state"]["state"]]

    def raw(self) -> int:
        return int(self.bits.random_raw())

    def uniform(self) -> float:
        return (self.raw() >> 11) * 2.0**-53

    def integer_below(self, n: int) -> int:
        """Lemire: the high half of a 32-bit word times n, unless the low half is one of 2^32 mod n."""
        while True:
            product = (self.raw() >> 32) * n
            if product % 2**32 >= 2**32 % n:
                return product >> 32

    def normal(self) -> float:
        """Marsaglia's polar method, the first of each pair."""
        while True:
            a, b = 2.0 * self.uniform() - 1.0, 2.0 * self.uniform() - 1.0
            square = a * a + b * b
            if 0.0 < square < 1.0:
                return a * math.sqrt(-2.0 * math.log(square) / square)

    def population(self, n: int, lower: Sequence[float], upper: Sequence[float]) -> np.ndarray:
        box = list(zip(lower, upper, strict=True))
        return np.array([[low + self.uniform() * (high - low) for low, high in box] for _ in range(n)])

    def donors(self, i: int, n: int) -> list[int]:
        """Five distinct individuals other than `i`; what was drawn already is drawn again."""
        donors: list[int] = []
        while len(donors) < 5:
            candidate = self.integer_below(n)
            if candidate != i and candidate not in donors:
                donors.append(candidate)
        return donors

    def mask(self, rate: float, dimension: int) -> list[bool]:
        """True where the coordinate is the mutant's; CR = 1 draws nothing."""
        if rate >= 1.0:
            return [True] * dimension
        best_population = self.integer_below(dimension)
        drawn = [self.uniform() for _ in range(dimension)]
        return [d == best_population or drawn[d] < rate for d in range(dimension)]
