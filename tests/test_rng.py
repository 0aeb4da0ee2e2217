"""Random numbers: the stream is numpy's SFC64, and every use, problem, dimension and repeat has its own."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

from deddqn.rng import Stream, integer_below, next_word, standard_normal, streams_at, uniform
from tests.reference.raw_stream import RawStream

ERROR_RATE = 1e-4
"""Of every statistical test here, for a right generator; the seeds are fixed, so none of them fails by chance."""


def stream(seed: int = 0) -> np.ndarray:
    return streams_at(seed, "cec2005:F1", 10)[Stream.SEARCH].copy()


@pytest.mark.parametrize("use", list(Stream))
def test_words_are_numpys(use: Stream) -> None:
    state = streams_at(12, "cec2005:F9", 30, 4)[use].copy()
    key = 0x1C42B7B8  # CRC-32 of the name, see below
    numpys = np.random.SFC64(np.random.SeedSequence(12, spawn_key=(key, 30, 4, int(use))))
    assert [int(next_word(state)) for _ in range(500)] == [int(word) for word in numpys.random_raw(500)]


def test_the_key_of_a_name_is_its_crc() -> None:
    """CRC-32, bit by bit: it must not depend on the process, as hash() would."""
    remainder = 0xFFFFFFFF
    for byte in b"cec2005:F9":
        remainder ^= byte
        for _ in range(8):
            remainder = (remainder >> 1) ^ (0xEDB88320 if remainder & 1 else 0)
    assert remainder ^ 0xFFFFFFFF == 0x1C42B7B8


def test_uniform_is_numpys() -> None:
    state, raw = stream(), RawStream(stream())
    drawn = np.array([uniform(state) for _ in range(2000)])
    assert drawn.tolist() == [(word >> 11) * 2.0**-53 for word in raw.bits.random_raw(2000).tolist()]
    generator = np.random.Generator(RawStream(stream()).bits)
    assert drawn.tolist() == generator.random(2000).tolist()
    assert drawn.min() >= 0.0 and drawn.max() < 1.0


def test_uniform_stays_below_1() -> None:
    """The largest word: all bits set gives 1 - 2^-53."""
    largest = np.array([2**64 - 1, 0, 0, 0], dtype=np.uint64)
    assert uniform(largest) == 1.0 - 2.0**-53
    assert uniform(np.zeros(4, dtype=np.uint64)) == 0.0


@pytest.mark.parametrize("n", [1, 2, 3, 6, 7, 12, 100])
def test_integers_have_equal_shares(n: int) -> None:
    state = stream(n)
    drawn = np.array([integer_below(state, n) for _ in range(200 * n)])
    assert set(drawn.tolist()) == set(range(n))
    if n > 1:
        assert stats.chisquare(np.bincount(drawn, minlength=n)).pvalue > ERROR_RATE


@pytest.mark.parametrize("n", [3, 7, 3 * 2**30, 2**32 - 1])
def test_integers_follow_lemire(n: int) -> None:
    """Word by word, rejections included (a quarter of the words for 3 * 2^30)."""
    state, raw = stream(), RawStream(stream())
    assert [integer_below(state, n) for _ in range(400)] == [raw.integer_below(n) for _ in range(400)]
    assert [int(word) for word in state] == raw.words


def test_a_large_span_is_unbiased() -> None:
    """Without rejection every third value of 3 * 2^30 would come twice as often."""
    state = stream(5)
    drawn = np.array([integer_below(state, 3 * 2**30) for _ in range(3000)])
    assert stats.chisquare(np.bincount(drawn % 3, minlength=3)).pvalue > ERROR_RATE
    assert stats.kstest(drawn / (3 * 2**30), "uniform").pvalue > ERROR_RATE


def test_normal_numbers_are_normal() -> None:
    state = stream(3)
    drawn = [standard_normal(state) for _ in range(5000)]
    assert stats.kstest(drawn, "norm").pvalue > ERROR_RATE


def test_every_place_has_its_own_streams() -> None:
    places = itertools.product((0, 1), ("cec2005:F1", "cec2005:F2", "objective"), (2, 10), (0, 1, 2))
    states = [tuple(row.tolist()) for place in places for row in streams_at(*place)]
    assert len(states) == 2 * 3 * 2 * 3 * 4
    assert len(set(states)) == len(states)
    words = {state: next_word(np.array(state, dtype=np.uint64)) for state in states}
    assert len(set(words.values())) == len(states)


def test_a_place_has_one_set_of_streams() -> None:
    assert np.array_equal(streams_at(7, "a", 3, 1), streams_at(7, "a", 3, 1))
    assert np.array_equal(streams_at(7, "a", 3), streams_at(7, "a", 3, 0))
