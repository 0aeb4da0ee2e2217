"""Real clients train on the environment: Stable-Baselines3's DQN and PPO, and the scripts in ``examples``."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("gymnasium")
torch = pytest.importorskip("torch")

ROOT = Path(__file__).parents[2]
ONE_THREAD = {**os.environ, "OMP_NUM_THREADS": "1"}  # tests run side by side; small networks gain nothing from more
SMALL = {"problem": "cec2005:F9/d2", "population_size": 20, "budget": 120}


def sb3_env(lanes: int, **more: Any) -> Any:
    pytest.importorskip("stable_baselines3")
    from deddqn.envs.stable_baselines3 import DEVecEnv

    return DEVecEnv(lanes, **{**SMALL, **more})


def test_the_vecenv_is_the_vector_env() -> None:
    from deddqn.envs.gymnasium import DEVectorEnv

    ours, plain = sb3_env(3), DEVectorEnv(3, autoreset_mode="SameStep", **SMALL)
    ours.seed(4)
    states, _ = plain.reset(seed=4)
    assert np.array_equal(ours.reset(), states)
    assert [info["problem"] for info in ours.reset_infos] == ["cec2005:F9/d2"] * 3
    generator = np.random.default_rng(0)
    for _ in range(205):
        actions = generator.integers(4, size=3)
        states, rewards, ends, _, infos = plain.step(actions)
        got, paid, dones, lanes = ours.step(actions)
        assert np.array_equal(got, states)
        assert np.array_equal(paid, rewards)
        assert np.array_equal(dones, ends)
        for lane in range(3):
            assert bool(lanes[lane]) == ends[lane]
            if ends[lane]:
                assert not lanes[lane]["TimeLimit.truncated"]
                assert not lanes[lane]["terminal_observation"].any()
                assert lanes[lane]["error"] == infos["final_info"]["error"][lane]
                assert lanes[lane]["evaluations"] == 120


def test_vecenv_options_and_attributes() -> None:
    envs = sb3_env(2)
    envs.set_options([{"problem": "cec2005:F6/d2"}, {}])
    envs.reset()
    assert [info["problem"] for info in envs.reset_infos] == ["cec2005:F6/d2", "cec2005:F9/d2"]
    assert envs.get_attr("num_envs", [1]) == [2]
    assert envs.env_is_wrapped(object) == [False, False]
    envs.set_attr("note", 1)
    assert envs.get_attr("note") == [1, 1]
    with pytest.raises(ValueError, match="all runs"):
        envs.set_attr("note", 1, [0])
    with pytest.raises(NotImplementedError, match="render"):
        envs.env_method("render")
    with pytest.raises(ValueError, match="autoreset_mode"):
        sb3_env(2, autoreset_mode="NextStep")


@pytest.mark.parametrize("learner", ["DQN", "PPO"])
def test_stable_baselines3_trains(learner: str) -> None:
    sb3 = pytest.importorskip("stable_baselines3")
    from stable_baselines3.common.vec_env import VecMonitor

    torch.set_num_threads(1)
    envs = VecMonitor(sb3_env(4, reward="R3"))
    settings = {"learning_starts": 200, "train_freq": 4} if learner == "DQN" else {"n_steps": 128, "batch_size": 128}
    model = getattr(sb3, learner)("MlpPolicy", envs, seed=0, device="cpu", **settings)
    before = [parameter.detach().clone() for parameter in model.policy.parameters()]
    model.learn(2000)
    assert model.num_timesteps >= 2000
    assert any((a != b).any() for a, b in zip(before, model.policy.parameters(), strict=True))
    assert all(bool(parameter.isfinite().all()) for parameter in model.policy.parameters())
    assert [episode["l"] for episode in model.ep_info_buffer] == [100] * len(model.ep_info_buffer)
    assert len(model.ep_info_buffer) >= 16


def run_example(name: str, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / name), *arguments],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=ONE_THREAD,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_cleanrl_style_script_runs_and_its_policy_is_usable(tmp_path: Path) -> None:
    from deddqn import minimize

    out = tmp_path / "policy.safetensors"
    common = ["--problem", "cec2005:F9/d2", "--num-envs", "4", "--budget", "200"]
    printed = run_example(
        "cleanrl_dqn.py", *common, "--total-timesteps", "2000", "--learning-starts", "400", "--out", str(out)
    )
    assert "error=" in printed
    result = minimize(lambda x: float((x**2).sum()), [(-5, 5)] * 2, policy=out, maxfun=300, rng=1)
    assert result.nfev == 300


def test_sb3_script_runs(tmp_path: Path) -> None:
    pytest.importorskip("stable_baselines3")
    out = tmp_path / "model.zip"
    common = ["--problem", "cec2005:F9/d2", "--num-envs", "4", "--budget", "200", "--test-episodes", "4"]
    printed = run_example(
        "sb3_dqn.py", *common, "--total-timesteps", "1000", "--learning-starts", "400", "--out", str(out)
    )
    assert "DQN: mean final error" in printed
    assert out.is_file()
