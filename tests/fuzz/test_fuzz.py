"""A fixed corpus of mutants of every format: none crashes, hangs, writes elsewhere, or means what it does not say."""

from __future__ import annotations

from pathlib import Path

import pytest

from deddqn._jit import PLAIN
from tests.fuzz.campaign import fuzz, shares
from tests.fuzz.formats import FORMATS

NEEDS = {"checkpoint": "torch", "results": "pyarrow", "plan": "pyarrow"}

pytestmark = pytest.mark.skipif(PLAIN, reason="without the compiler nothing can crash, and all takes longer")


def check(name: str, mutants: int, folder: Path, seed: int) -> None:
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])
    found = fuzz(name, 0, shares(mutants)[name], folder, seed=seed)
    assert found.bad == []
    assert found.outcomes["refused"] > 0


@pytest.mark.parametrize("name", [form.name for form in FORMATS])
def test_the_corpus(name: str, tmp_path: Path) -> None:
    check(name, 600, tmp_path, seed=1)


@pytest.mark.slow
@pytest.mark.parametrize("name", [form.name for form in FORMATS])
def test_more_mutants(name: str, tmp_path: Path) -> None:
    check(name, 10_000, tmp_path, seed=2)
