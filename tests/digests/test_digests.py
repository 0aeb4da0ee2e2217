"""Runs are the recorded ones, bit by bit: as far as their digests hold here, and also without the compiler."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.digests.case import EXACT, GROUPS, MATH, digest
from tests.digests.recorded import all_cases, differences, elsewhere, lost, selected

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("group", GROUPS)
def test_runs_are_the_recorded_ones(group: str) -> None:
    if why := elsewhere(group):
        pytest.skip(why)
    assert differences(selected([group])) == []


def test_plain_python_gives_the_same_digests() -> None:
    """In a process of its own; what it leaves out because of the machine, it says."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "tests.digests", "--group", EXACT, "--group", MATH],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{EXACT}: 0 of {len(selected([EXACT], plain=True))} digests differ" in done.stdout


def test_names_are_unique_and_known() -> None:
    """A case that is no longer there would be no longer checked."""
    names = [case.name for case in all_cases()]
    assert len(names) == len(set(names))
    assert [name for group in GROUPS for name in lost(group)] == []


def test_a_digest_sees_every_bit_and_every_place() -> None:
    seen = {digest(value) for value in (0.0, -0.0, 5e-324, [0.0], [[0.0]], [0.0, 0.0], {"a": 0.0}, {"b": 0.0}, 0, "0")}
    assert len(seen) == 10
    assert digest(float("nan")) == digest(-float("nan"))
