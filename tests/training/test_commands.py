"""``deddqn train`` and ``python -m deddqn.training`` do the same."""

import json
import signal

import pytest

from deddqn.de import EXTENDED
from deddqn.policies import load_policy_file
from deddqn.training.__main__ import main as train_main

SMALL = ["--problems", "cec2005:F1/d10", "--budget", "200", "--learning-starts", "50", "--cycles", "1", "--seed", "3"]
SETTINGS = {"problems": ["cec2005:F1/d10"], "budget": 200, "learning_starts": 50, "cycles": 1, "seed": 3}


def test_both_ways_give_the_same_policy(tmp_path):
    pytest.importorskip("tyro")
    from deddqn.cli import main

    assert main(["train", "--preset", "paper-r2", "--out", str(tmp_path / "a"), *SMALL]) == 0
    config = tmp_path / "config.json"
    config.write_text(json.dumps({"preset": "paper-r2", **SETTINGS}))
    assert train_main([str(config), "--out", str(tmp_path / "b"), "--resume"]) == 0
    files = [(tmp_path / k / "final.safetensors").read_bytes() for k in "ab"]
    assert files[0] == files[1]


def test_the_grid_keeps_one_network_per_reward(tmp_path, capsys):
    """Sect. 5: twelve networks, three of them kept."""
    pytest.importorskip("tyro")
    from deddqn.cli import main

    assert main(["train", "--grid", "paper", "--out", str(tmp_path), *SMALL]) == 0
    found = json.loads((tmp_path / "grid.json").read_text())
    assert len(found["networks"]) == 12
    for reward, name in found["kept"].items():
        assert name.startswith(reward.lower())
        siblings = {n: r["total_return"] for n, r in found["networks"].items() if n.startswith(reward.lower())}
        assert name == max(siblings, key=siblings.get)
    assert capsys.readouterr().out.count("yes") == 3


def test_wrong_settings_end_with_status_2(tmp_path, capsys):
    config = tmp_path / "config.json"
    config.write_text('{"preset": "paper-r2", "bacth_size": 3}')
    assert train_main([str(config)]) == 2
    assert "did you mean 'batch_size'" in capsys.readouterr().err


def test_signals_mean_what_they_did_before(tmp_path):
    """While it runs, Ctrl-C ends a training with a checkpoint; afterwards it is whose it was, also after an error."""
    config, signs = tmp_path / "config.json", (signal.SIGINT, signal.SIGTERM)
    before = [signal.getsignal(sign) for sign in signs]
    for values, status in (({}, 0), ({"reward": "R1", "reward_scale": 1e20, "problems": ["cec2005:F6/d10"]}, 1)):
        config.write_text(json.dumps({"preset": "paper-r2", **SETTINGS, **values}))
        assert train_main([str(config), "--out", str(tmp_path / str(status))]) == status
        assert [signal.getsignal(sign) for sign in signs] == before


def test_a_network_for_the_richer_portfolio_knows_its_settings(tmp_path):
    values = {**SETTINGS, "portfolio": "extended", "population_size": 20, "final_population": 8, "hidden": [8]}
    config = tmp_path / "config.json"
    config.write_text(json.dumps({"preset": "paper-r2", **values}))
    assert train_main([str(config), "--out", str(tmp_path / "out")]) == 0
    policy = load_policy_file(tmp_path / "out" / "final.safetensors")
    assert policy.portfolio == EXTENDED and policy.de == {"population_size": 20, "final_population": 8}
