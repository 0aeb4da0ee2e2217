"""``deddqn score`` runs every policy with its own operators and settings, or with those asked for."""

from dataclasses import replace

import numpy as np
import pytest

from deddqn import EXTENDED
from deddqn.cli import main
from deddqn.policies import save_softmax
from deddqn.problems import get


@pytest.fixture(autouse=True)
def one_small_problem(monkeypatch):
    monkeypatch.setattr("deddqn.cli.score.suite", lambda name: [get("cec2005:F6/d2")])


def shares(text):
    """How many shares the last row of the table shows."""
    return text.count("%")


def test_the_candidates_of_a_policy_and_as_asked_for(tmp_path, capsys, monkeypatch):
    from deddqn.cli import score
    from deddqn.evaluation import evaluate_policy

    path, used = str(tmp_path / "x.safetensors"), []
    save_softmax(path, np.zeros((4, 8)), de={"n_candidates": 3, "population_size": 20})

    def note(policy, problems, *, config, **settings):
        used.append(config.n_candidates)
        return evaluate_policy(policy, problems, config=replace(config, budget=300), **settings)

    monkeypatch.setattr(score, "evaluate_policy", note)
    monkeypatch.setattr(score, "reference_errors", lambda problems, repeats: np.ones((1, 2)))
    assert main(["score", path, "random", "--runs", "1"]) == 0
    assert main(["score", path, "random", "--runs", "1", "--n-candidates", "5"]) == 0
    assert used == [3, 1, 5, 5]
    assert main(["score", path, "--runs", "1", "--n-candidates", "0"]) == 2
    assert "n_candidates must be at least 1" in capsys.readouterr().err


def test_a_policy_with_its_own_operators(tmp_path, capsys):
    path = str(tmp_path / "x.safetensors")
    save_softmax(path, np.zeros((12, 8)), portfolio=EXTENDED, de={"final_population": 10})
    assert main(["score", path, "--runs", "1"]) == 0
    assert shares(capsys.readouterr().out) == 12
    assert main(["score", "random", "--runs", "1", "--portfolio", "extended", "--final-population", "10"]) == 0
    assert shares(capsys.readouterr().out) == 12
    assert main(["score", "random", "--runs", "1"]) == 0
    assert shares(capsys.readouterr().out) == 4
