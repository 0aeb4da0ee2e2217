"""``deddqn import``: from a weight file to a policy that the other commands take."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("h5py")

from deddqn.cli import main
from deddqn.policies import load_policy
from tests.policies.keras_files import random_layers, write_keras


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    return write_keras(tmp_path / "net.h5f", random_layers())


def test_a_policy_for_the_other_commands(weights: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = str(tmp_path / "net.safetensors")
    assert main(["import", str(weights), "--out", out]) == 0
    said = capsys.readouterr().out
    assert "net: a network 99-100-100-100-100-4 that reads the state 'authors'" in said
    assert f"deddqn compare --methods {out}" in said
    assert load_policy(out).state == "authors"  # type: ignore[attr-defined]
    small = ["--runs", "1", "--budget", "300", "--workers", "1", "--out", str(tmp_path / "runs")]
    assert main(["compare", "--methods", out, "random", "--problems", "cec2005:F1/d10", *small]) == 0
    assert main(["minimize", "cec2005:F1/d10", "--policy", out, "--maxfun", "300"]) == 0


def test_options(weights: Path, tmp_path: Path) -> None:
    out = str(tmp_path / "net.safetensors")
    assert main(["import", str(weights), "--out", out, "--state", "paper", "--max-dimension", "40", "--name", "n"]) == 0
    policy = load_policy(out)
    assert (policy.name, policy.state, policy.max_dimension) == ("n", "paper", 40)  # type: ignore[attr-defined]


def test_what_is_refused(weights: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    layers = random_layers()
    layers[0][0][:] = np.nan
    broken = write_keras(tmp_path / "nan.h5f", layers)
    text = tmp_path / "text"
    text.write_text("hello")
    cases = [
        (
            [str(broken), "--out", "x"],
            "layer 'dense_1' must have a finite kernel, but 9,900 of its 9,900 numbers are NaN",
        ),
        ([str(text), "--out", "x"], "text is not a Keras weight file that can be imported: it is no HDF5 file"),
        ([str(tmp_path / "none"), "--out", "x"], f"no weight file at {tmp_path / 'none'}"),
        ([str(weights), "--out", str(tmp_path / "no" / "x")], f"cannot write to {tmp_path / 'no' / 'x'}"),
        ([str(weights), "--out", "x", "--max-dimension", "0"], "max_dimension must be at least 1, got 0"),
    ]
    for arguments, message in cases:
        assert main(["import", *arguments]) == 2
        assert message in capsys.readouterr().err
    assert not Path("x").exists()
