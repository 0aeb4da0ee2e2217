"""The examples run, and find what they are about."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from deddqn.experiments import Store
from deddqn.policies import load_policy_file

EXAMPLES = Path(__file__).parents[1] / "examples"


def load(name):
    spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_curve_fitting(capsys, tmp_path):
    example = load("curve_fitting")
    result = example.main(["--plot", str(tmp_path / "fit.png")])
    assert np.allclose(result.x, list(example.TRUE.values()), atol=0.05)
    assert result.nfev <= 8000 and "Polishing" in result.message
    assert (tmp_path / "fit.png").exists()
    assert "frequency     1.700    1.699" in capsys.readouterr().out


def test_sklearn_hyperparameters(capsys):
    pytest.importorskip("sklearn")
    example = load("sklearn_hyperparameters")
    result = example.main(["--quick", "--workers", "2"])
    assert result.nfev == 40 and result.fun <= 0.06
    out = capsys.readouterr().out
    found, defaults = (float(word) for word in out.replace(",", "").split() if word.startswith("0.9"))
    assert found == pytest.approx(1 - result.fun, abs=1e-4) and found >= defaults


def test_simulation_with_nan(capsys):
    example = load("simulation_with_nan")
    result = example.main()
    assert result.non_finite > 100 and np.isfinite(result.fun)
    assert -result.fun == example.peak_height(result.x) > 600
    assert f"{result.non_finite} of 1500 rockets broke" in capsys.readouterr().out


def test_stop_and_resume(capsys):
    result, unbroken = load("stop_and_resume").main()
    assert np.array_equal(result.x, unbroken.x) and result.fun == unbroken.fun and result.nfev == 3000
    assert "the same point: True" in capsys.readouterr().out


def test_transfer(capsys, tmp_path):
    pytest.importorskip("pandas")
    trained, tested = ["cec2005:F1/d10", "cec2005:F6/d10"], ["cec2005:F9/d10"]
    arguments = ["--train", *trained, "--test", *tested, "--quick", "--runs", "2", "--out", str(tmp_path)]
    example = load("transfer")
    page = example.main(arguments)
    assert page == example.main(arguments) and page.exists()  # again: everything is done already
    policy = tmp_path / "training" / "softmax.safetensors"
    assert load_policy_file(policy).metadata["provenance"]["problems"] == trained
    stored = Store(tmp_path / "comparison").read()
    assert set(stored.method) == {str(policy), "random", "de1"} and set(stored.problem) == set(tested)
    assert len(stored) == 6 and np.isfinite(stored.error).all()
    assert capsys.readouterr().out.count("the report:") == 2
    with pytest.raises(ValueError, match="test must hold only problems that are not trained on, got cec2005:F1/d10"):
        example.main(["--train", "cec2005-train", "--test", "cec2005:F1/d10"])
