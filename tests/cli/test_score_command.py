"""``deddqn score`` runs every policy with its own moves and settings, or with those asked for."""

import numpy as np
import pytest

from deddqn import BEYOND
from deddqn.cli import main
from deddqn.policies import save_softmax
from deddqn.problems import get


@pytest.fixture(autouse=True)
def one_small_problem(monkeypatch):
    monkeypatch.setattr("deddqn.cli.score.suite", lambda name: [get("cec2005:F6/d2")])


def shares(text):
    """How many shares the last row of the table shows."""
    return text.count("%")


def test_a_policy_with_its_own_moves(tmp_path, capsys):
    path = str(tmp_path / "x.safetensors")
    save_softmax(path, np.zeros((12, 8)), portfolio=BEYOND, de={"final_population": 10})
    assert main(["score", path, "--runs", "1"]) == 0
    assert shares(capsys.readouterr().out) == 12
    assert main(["score", "random", "--runs", "1", "--portfolio", "beyond", "--final-population", "10"]) == 0
    assert shares(capsys.readouterr().out) == 12
    assert main(["score", "random", "--runs", "1"]) == 0
    assert shares(capsys.readouterr().out) == 4
