"""``deddqn transfer``: train on one suite, test on another; BBOB and CEC2005 both ways, interrupted or not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deddqn.cli import main
from deddqn.experiments import Store
from deddqn.policies import load_policy_file

BBOB = ["bbob:f1/i1/d2", "bbob:f3/i1/d5"]
CEC = ["cec2005:F1/d10", "cec2005:F6/d10"]
SMALL = ["--population-size", "12", "--budget", "150", "--runs", "2", "--methods", "random", "de1", "--workers", "1"]
SEARCH = ["--preset", "softmax", "--generations", "2", "--offspring", "4", "--evaluate-repeats", "1"]
NETWORK = ["--learning-starts", "30", "--cycles", "1", "--hidden", "8", "--replay-ratio", "4", "--batch-size", "8"]


def transfer(out: Path, trained: list[str], tested: list[str], *settings: str) -> int:
    fixed = [*SMALL, "--no-figures", "--out", str(out)]
    return main(["transfer", "--problems", *trained, "--test", *tested, *settings, *fixed])


def check_comparison(out: Path, tested: list[str]) -> None:
    stored = Store(out / "comparison").read()
    assert len(stored) == 3 * len(tested) * 2
    assert set(stored.method) == {str(out / "trained-on-problems.safetensors"), "random", "de1"}
    assert set(stored.problem) == set(tested)
    assert np.isfinite(stored.error).all()
    assert (stored.error >= 0).all()
    assert (stored.status == "ok").all()
    page = (out / "comparison" / "report" / "index.html").read_text()
    assert "trained-on-problems" in page
    assert "--population-size 12" in page


@pytest.mark.parametrize("preset", ["paper-r2", "rank", "softmax"])
@pytest.mark.parametrize(("trained", "tested"), [(BBOB, CEC), (CEC, BBOB)], ids=["to-cec2005", "to-bbob"])
def test_both_ways(trained: list[str], tested: list[str], preset: str, tmp_path: Path) -> None:
    pytest.importorskip("ioh")
    if preset != "softmax":
        pytest.importorskip("torch")
    chosen = ["--n-step", "5"] if preset == "rank" else []
    settings = SEARCH if preset == "softmax" else ["--preset", preset, *NETWORK, *chosen]
    assert transfer(tmp_path / "t", trained, tested, *settings) == 0
    check_comparison(tmp_path / "t", tested)
    policy = load_policy_file(tmp_path / "t" / "trained-on-problems.safetensors")
    assert policy.metadata["provenance"]["problems"] == trained


def test_interrupted_in_training_and_in_comparison(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "t"
    assert transfer(out, CEC[:1], CEC[1:], *SEARCH, "--max-seconds", "1e-9") == 130
    assert "the same command goes on" in capsys.readouterr().out
    assert not (out / "trained-on-problems.safetensors").exists()

    def interrupted(*arguments: Any, **settings: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("deddqn.experiments.runner.run_experiment", interrupted)
        assert transfer(out, CEC[:1], CEC[1:], *SEARCH) == 130
    assert transfer(out, CEC[:1], CEC[1:], *SEARCH) == 0
    assert "trained already" in capsys.readouterr().out
    check_comparison(out, CEC[1:])
    assert transfer(tmp_path / "whole", CEC[:1], CEC[1:], *SEARCH) == 0
    setups = [load_policy_file(tmp_path / k / "trained-on-problems.safetensors").setup for k in ("t", "whole")]
    assert np.array_equal(*setups)
    capsys.readouterr()
    assert transfer(out, CEC[:1], CEC[1:], *SEARCH, "--seed", "4") == 2
    assert "trained with other settings; seed: 4 wanted, 0 in the folder" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--suite", "cec2005-train", "--test", "cec2005"], "test must hold only problems that are not trained on"),
        (["--suite", "bbob-smal", "--test", *CEC], "did you mean 'bbob-small'?"),
        (["--suite", "cec2005-train", "--test", "cec205-test"], "did you mean 'cec2005-test'?"),
        (["--suite", "cec2005-train", "--test", "cec2005:F3/d50", "--methods", "dee1"], "did you mean 'de1'?"),
        (["--suite", "cec2005-train", "--test", "cec2005:F3/d50", "--preset", "sofmax"], "did you mean 'softmax'?"),
        (["--suite", "cec2005-train", "--test", "cec2005:F3/d50", "--runs", "-1"], "runs must be at least 1, got -1"),
        (["--suite", "cec2005-train", "--test", "cec2005:F3/d50", "--cycles", "0"], "cycles must be at least 1"),
    ],
)
def test_bad_input_is_said_before_the_training(
    arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["transfer", *arguments, "--out", str(tmp_path / "t")]) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "t").exists()
