"""Stable-Baselines3's DQN on the compiled vector environment, compared with a random choice of strategies.

python examples/sb3_dqn.py --problem cec2005-train --total-timesteps 500000

SB3's DQN is not double; the package's own trainer (``deddqn train``) is. pip install '.[sb3]'
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import tyro
from stable_baselines3 import DQN
from stable_baselines3.common.vec_env import VecMonitor

from deddqn.envs.stable_baselines3 import DEVecEnv


@dataclass
class Args:
    """What can be changed on the command line."""

    problem: str = "cec2005:F6/d10"  # a problem or a suite
    reward: str = "R2"
    budget: int = 10_000  # evaluations of an episode
    num_envs: int = 16
    seed: int = 1
    total_timesteps: int = 200_000
    learning_starts: int = 10_000
    test_episodes: int = 16
    out: Path = Path("out/sb3_dqn.zip")


def final_errors(envs: DEVecEnv, episodes: int, model: DQN | None) -> np.ndarray:
    """Errors at the ends of episodes with the model's choices, or with random ones."""
    envs.seed(1_000)
    states, rng, errors = envs.reset(), np.random.default_rng(0), []
    while len(errors) < episodes:
        if model is None:
            actions = rng.integers(envs.action_space.n, size=envs.num_envs)
        else:
            actions, _ = model.predict(states, deterministic=True)
        states, _, dones, infos = envs.step(actions)
        errors += [info["error"] for info, done in zip(infos, dones, strict=True) if done]
    return np.array(errors[:episodes])


def main(args: Args) -> None:
    arguments = {"problem": args.problem, "reward": args.reward, "budget": args.budget}
    model = DQN(
        "MlpPolicy",
        VecMonitor(DEVecEnv(args.num_envs, **arguments)),
        policy_kwargs={"net_arch": [100] * 4},
        learning_starts=args.learning_starts,
        train_freq=1,
        gradient_steps=1,
        target_update_interval=1_000,
        exploration_final_eps=0.1,
        seed=args.seed,
        verbose=1,
    )
    model.learn(args.total_timesteps, log_interval=args.num_envs)
    args.out.parent.mkdir(parents=True, exist_ok=True)
    model.save(args.out)
    envs = DEVecEnv(args.num_envs, **arguments)
    for name, who in (("random", None), ("DQN", model)):
        errors = final_errors(envs, args.test_episodes, who)
        print(f"{name}: mean final error {errors.mean():.4g} over {len(errors)} episodes")
    print(f"model saved to {args.out}")


if __name__ == "__main__":
    main(tyro.cli(Args))
