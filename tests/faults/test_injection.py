"""Faults at named points, kills and a short soak; the long ones are commands (docs/project/robustness.md)."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("optuna")

ROOT = Path(__file__).resolve().parents[2]
TORCH = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="training needs torch")
NAMES = ("minimize", "compare", "search", "tune", "report", "export", "export-ioh")


def held(*command: str) -> str:
    """What a command of this folder prints; it has to end with 0."""
    done = subprocess.run([sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_some_faults() -> None:
    shown = held("tests.faults.matrix", "--quick", "--commands", *NAMES)
    assert shown.count("6 faults, 0 wrong") == len(NAMES)


@pytest.mark.slow
@pytest.mark.parametrize("name", [*NAMES, pytest.param("train", marks=TORCH)])
def test_all_faults(name: str) -> None:
    assert " 0 wrong" in held("tests.faults.matrix", "--commands", name)


def test_a_few_kills() -> None:
    assert "8 of 8 ends" in held(
        "tests.faults.kills", "--count", "8", "--commands", "compare", "search", "tune", "minimize"
    )


@pytest.mark.slow
def test_kills() -> None:
    assert "40 of 40 ends" in held("tests.faults.kills", "--count", "40", "--seed", "1")


@pytest.mark.slow
def test_a_minute_of_soak() -> None:
    assert "the soak held" in held("tests.faults.soak", "--minutes", "1", "--load", "1")
