"""One seed, one run: with the jit on and off, and on any number of threads."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.parity.parity_runs import digests, specs

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def on_one_thread() -> list[str]:
    return digests(1)


def test_runs_differ(on_one_thread: list[str]) -> None:
    """The digests tell runs apart, so that equal digests mean equal runs."""
    assert len(set(on_one_thread)) == len(specs())


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_threads_change_nothing(on_one_thread: list[str], threads: int) -> None:
    assert digests(threads) == on_one_thread


def test_plain_python_gives_the_same_bits(on_one_thread: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "tests.parity.parity_runs"],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == on_one_thread
