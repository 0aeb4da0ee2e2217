"""Double DQN on the environment in one file, in the style of CleanRL: read it from top to bottom, then change it.

python examples/cleanrl_dqn.py --problem cec2005-train --total-timesteps 1000000

It differs from the package's own trainer (Algorithm 1 of the paper) in being short. The network that it trains is
saved as a policy file, which every command of the package takes. Needs torch and gymnasium, which
are in ``pip install '.[train,gym]'``.
"""

import random
import time
from dataclasses import dataclass
from pathlib import Path

import gymnasium as gym
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
import tyro

import deddqn.envs.gymnasium  # noqa: F401 (registers deddqn/DE-v0)
from deddqn.policies.q_network import save_policy


@dataclass
class Args:
    """What can be changed on the command line."""

    env_id: str = "deddqn/DE-v0"
    problem: str = "cec2005:F6/d10"  # a problem or a suite
    reward: str = "R2"
    budget: int = 10_000  # evaluations of an episode
    num_envs: int = 16
    seed: int = 1
    total_timesteps: int = 200_000
    learning_rate: float = 1e-4
    buffer_size: int = 100_000
    gamma: float = 0.99
    target_network_frequency: int = 1_000  # in gradient steps
    batch_size: int = 64
    start_e: float = 1.0
    end_e: float = 0.1
    exploration_fraction: float = 0.2
    learning_starts: int = 10_000
    train_frequency: int = 1  # gradient steps per step of all environments
    out: Path = Path("out/cleanrl_dqn.safetensors")


class QNetwork(nn.Module):
    """Four hidden layers of 100 ReLU, as in the paper."""

    def __init__(self, n_features: int, n_actions: int) -> None:
        super().__init__()
        widths = [n_features, 100, 100, 100, 100]
        layers: list[nn.Module] = []
        for a, b in zip(widths, widths[1:], strict=False):
            layers += [nn.Linear(a, b), nn.ReLU()]
        self.network = nn.Sequential(*layers, nn.Linear(100, n_actions))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.network(x)


class ReplayBuffer:
    """The last transitions of all environments."""

    def __init__(self, size: int, n_features: int) -> None:
        self.observations = np.zeros((size, n_features), dtype=np.float32)
        self.next_observations = np.zeros((size, n_features), dtype=np.float32)
        self.actions = np.zeros(size, dtype=np.int64)
        self.rewards = np.zeros(size, dtype=np.float32)
        self.dones = np.zeros(size, dtype=np.float32)
        self.size, self.position, self.filled = size, 0, 0

    def add(self, obs: np.ndarray, next_obs: np.ndarray, actions: np.ndarray, rewards: np.ndarray, dones) -> None:
        at = (self.position + np.arange(len(actions))) % self.size
        self.observations[at], self.next_observations[at] = obs, next_obs
        self.actions[at], self.rewards[at], self.dones[at] = actions, rewards, dones
        self.position = (self.position + len(actions)) % self.size
        self.filled = min(self.size, self.filled + len(actions))

    def sample(self, rng: np.random.Generator, batch_size: int) -> list[torch.Tensor]:
        at = rng.integers(self.filled, size=batch_size)
        columns = (self.observations, self.next_observations, self.actions, self.rewards, self.dones)
        return [torch.from_numpy(column[at]) for column in columns]


def linear_schedule(start_e: float, end_e: float, duration: float, t: int) -> float:
    return max((end_e - start_e) / duration * t + start_e, end_e)


def save(network: QNetwork, args: Args) -> None:
    linear = [layer for layer in network.network if isinstance(layer, nn.Linear)]
    args.out.parent.mkdir(parents=True, exist_ok=True)
    save_policy(
        args.out,
        [layer.weight.detach().numpy() for layer in linear],
        [layer.bias.detach().numpy() for layer in linear],
        name="cleanrl-dqn",
        provenance={"script": "examples/cleanrl_dqn.py", "steps": args.total_timesteps, "problem": args.problem},
    )


def main(args: Args) -> None:
    random.seed(args.seed)
    rng = np.random.default_rng(args.seed)
    torch.manual_seed(args.seed)

    envs = gym.make_vec(
        args.env_id,
        num_envs=args.num_envs,
        problem=args.problem,
        reward=args.reward,
        budget=args.budget,
        autoreset_mode="SameStep",
    )
    n_features, n_actions = envs.single_observation_space.shape[0], int(envs.single_action_space.n)
    q_network, target_network = QNetwork(n_features, n_actions), QNetwork(n_features, n_actions)
    target_network.load_state_dict(q_network.state_dict())
    optimizer = optim.Adam(q_network.parameters(), lr=args.learning_rate)
    buffer = ReplayBuffer(args.buffer_size, n_features)

    start_time, updates, returns = time.time(), 0, np.zeros(args.num_envs)
    obs, _ = envs.reset(seed=args.seed)
    for global_step in range(0, args.total_timesteps, args.num_envs):
        # ALGO LOGIC: epsilon-greedy
        duration = args.exploration_fraction * args.total_timesteps
        epsilon = linear_schedule(args.start_e, args.end_e, duration, global_step)
        with torch.no_grad():
            greedy = q_network(torch.from_numpy(obs)).argmax(dim=1).numpy()
        chance = rng.integers(n_actions, size=args.num_envs)
        actions = np.where(rng.random(args.num_envs) < epsilon, chance, greedy)

        next_obs, rewards, terminations, _, infos = envs.step(actions)
        returns += rewards
        real_next_obs = next_obs.copy()
        for k in np.flatnonzero(terminations):  # the last state of an episode, not the first of the next
            real_next_obs[k] = infos["final_obs"][k]
            problem, error = infos["final_info"]["problem"][k], infos["final_info"]["error"][k]
            print(f"global_step={global_step}, {problem}, return={returns[k]:.0f}, error={error:.3g}")
            returns[k] = 0.0
        buffer.add(obs, real_next_obs, actions, rewards, terminations)
        obs = next_obs

        # ALGO LOGIC: training
        if global_step < args.learning_starts:
            continue
        for _ in range(args.train_frequency):
            s, s_next, a, r, done = buffer.sample(rng, args.batch_size)
            with torch.no_grad():
                best = q_network(s_next).argmax(dim=1, keepdim=True)  # the online network selects,
                value = target_network(s_next).gather(1, best).squeeze(1)  # the target network values
                td_target = r + args.gamma * value * (1.0 - done)
            loss = F.mse_loss(td_target, q_network(s).gather(1, a.unsqueeze(1)).squeeze(1))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            updates += 1
            if updates % args.target_network_frequency == 0:
                target_network.load_state_dict(q_network.state_dict())
                print(f"updates={updates}, loss={loss.item():.4g}, SPS={global_step / (time.time() - start_time):.0f}")

    save(q_network, args)
    envs.close()
    print(f"policy saved to {args.out}")


if __name__ == "__main__":
    main(tyro.cli(Args))
