"""Settings of a Double DQN training, with the paper's values as defaults (Table 2 and Sect. 3.1)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deddqn._utils.validation import choice_error
from deddqn.problems import Problem, get, suite
from deddqn.rewards import reward_kernel
from deddqn.training.strict_json import RunSettings, check, from_values, read_values, to_values

LOSSES = ("squared", "huber")
CHECKPOINTS = ("full", "light")
STATE_TYPES = ("float32", "float16")


@dataclass(frozen=True, kw_only=True)
class TrainingConfig(RunSettings):
    """Settings of a Double DQN training; the defaults are those of the paper (Table 2).

    With one run, one step per rollout, and batch size and replay ratio equal, it is Algorithm 1 step by step.

    Parameters
    ----------
    suite : named suite of training problems.
    problems : training problems by name, instead of a suite; names like cec2005:F1/d10.
    reward : R1, R2 or R3 of the paper, progress, or rank.
    reward_scale : constant that the learner multiplies rewards with.
    hidden : widths of the hidden layers.
    learning_rate : step size of Adam.
    gamma : discount factor.
    epsilon : probability of a random operator (epsilon-greedy exploration).
    generation_exploration : probability that a generation applies one random operator throughout.
    n_step : rewards that are summed before the target network is bootstrapped from.
    loss : squared or huber.
    target_update_interval : updates between two copies of the weights to the target network.
    ema_window : updates that an exponential moving average of the weights looks back on (0: there is none). It is not
        used in learning; where there is one, greedy evaluations run it instead of the current network.
    batch_size : transitions per update.
    replay_ratio : replayed transitions per collected one (64 in the paper: a batch of 64 after every evaluation).
    buffer_size : transitions that the replay buffer holds.
    learning_starts : transitions that are collected with random operators before the first update.
    n_runs : DE runs side by side, the vectorised environments of the agent.
    rollout_steps : decisions of every run per rollout, between two changes of its weights.
    desynchronize : with several runs, let the first ones start at different parts of their budgets.
    cycles : times that every problem is run; the weights of the best cycle are kept.
    evaluate_every : cycles between greedy evaluations on held-out seeds (0: never).
    evaluate_repeats : runs per problem of such an evaluation.
    seed : root of all randomness.
    device : torch device of the learner.
    threads : threads of the actors (0: all cores).
    learner_threads : threads of torch on the CPU.
    synchronous : actors wait for the learner, so that results are deterministic; otherwise both work at the same time.
    fused : on a GPU, let torch.compile fuse the update (a fifth faster; needs a C compiler).
    state_type : float32 or float16, how states are stored in the replay buffer.
    checkpoint : full, which resumes to the bit, or light, which holds only what was learned (small files).
    checkpoint_seconds : time between two checkpoints.
    max_seconds : stop with a checkpoint after this time (0: never).
    tensorboard : also write TensorBoard files, where it is installed.
    """

    suite: str = "cec2005-train"
    problems: tuple[str, ...] = ()
    reward: str = "R2"
    reward_scale: float = 1.0
    hidden: tuple[int, ...] = (100, 100, 100, 100)
    learning_rate: float = 1e-4
    gamma: float = 0.99
    epsilon: float = 0.1
    generation_exploration: float = 0.0
    n_step: int = 1
    loss: str = "squared"
    target_update_interval: int = 1000
    ema_window: int = 0
    batch_size: int = 64
    replay_ratio: float = 64.0
    buffer_size: int = 100_000
    learning_starts: int = 10_000
    n_runs: int = 1
    rollout_steps: int = 1
    desynchronize: bool = True
    cycles: int = 1890
    evaluate_every: int = 0
    evaluate_repeats: int = 5
    seed: int = 0
    device: str = "cpu"
    threads: int = 0
    learner_threads: int = 1
    synchronous: bool = True
    fused: bool = False
    state_type: str = "float32"
    checkpoint: str = "full"
    checkpoint_seconds: float = 60.0
    max_seconds: float = 0.0
    tensorboard: bool = True

    def __post_init__(self) -> None:
        for name, known in (
            ("loss", LOSSES),
            ("checkpoint", CHECKPOINTS),
            ("state_type", STATE_TYPES),
        ):
            if getattr(self, name) not in known:
                raise choice_error(name, getattr(self, name), known)
        for name in (
            "n_step",
            "target_update_interval",
            "batch_size",
            "buffer_size",
            "n_runs",
            "rollout_steps",
            "cycles",
            "evaluate_repeats",
        ):
            check(name, getattr(self, name) >= 1, "at least 1", getattr(self, name))
        for name in ("learning_rate", "replay_ratio", "reward_scale"):
            check(name, 0.0 < getattr(self, name) < float("inf"), "a positive number", getattr(self, name))
        for name in ("gamma", "epsilon", "generation_exploration"):
            check(name, 0.0 <= getattr(self, name) <= 1.0, "in [0, 1]", getattr(self, name))
        for name in ("ema_window", "evaluate_every", "seed", "threads", "max_seconds"):
            check(name, getattr(self, name) >= 0, "0 or more", getattr(self, name))
        check("hidden", all(width >= 1 for width in self.hidden), "positive widths", self.hidden)
        least = self.n_runs * self.n_step
        rule = f"at least n_runs x n_step = {least} transitions"
        check("learning_starts", self.learning_starts >= least, rule, self.learning_starts)
        rule = f"at least one transition per run ({self.n_runs})"
        check("buffer_size", self.buffer_size >= self.n_runs, rule, self.buffer_size)
        reward_kernel(self.reward)
        self.de_config()
        self.operators()

    def training_problems(self) -> list[Problem]:
        """The problems that are trained on."""
        return [get(name) for name in self.problems] if self.problems else suite(self.suite)

    def to_json(self) -> dict[str, Any]:
        """The settings as JSON values."""
        return to_values(self)

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> TrainingConfig:
        """Settings from JSON values; ``"preset"`` names where they start from. An unknown key is an error."""
        given = dict(values)
        name = given.pop("preset", None)
        return from_values(cls, preset_values(name) if name is not None else {}, given)

    @classmethod
    def read(cls, path: str | Path) -> TrainingConfig:
        """Settings from a JSON file."""
        return cls.from_json(read_values(path))


@dataclass(frozen=True, kw_only=True)
class ClusterConfig:
    """Where the actors of a training work, if not in the learner's process; it may change when a training resumes.

    Parameters
    ----------
    address : ``auto``, or the HOST:PORT of a Ray head.
    actors : processes of one core each that share the runs (0: as many as the cluster has cores).
    broadcast : updates between two broadcasts of the weights (0: those that one rollout of one actor is worth).
    staleness : most updates that weights may be behind when their rollout arrives (0: four times what is expected).
    """

    address: str
    actors: int = 0
    broadcast: int = 0
    staleness: int = 0

    def __post_init__(self) -> None:
        for name in ("actors", "broadcast", "staleness"):
            check(name, getattr(self, name) >= 0, "0 or more", getattr(self, name))

    def check(self, config: TrainingConfig) -> None:
        """Raise if a training cannot be done in this way."""
        check("actors", self.actors >= 1, "at least 1; the cluster has no core for one", self.actors)
        check("n_runs", config.n_runs >= self.actors, f"at least one per actor ({self.actors})", config.n_runs)
        check("synchronous", not config.synchronous, "no on a cluster, where rollouts come when they come", "yes")
        least = self.expected_staleness(config)
        fits = not 0 < self.staleness < least
        check("staleness", fits, f"at least {least} updates with these settings", self.staleness)

    def updates_per_rollout(self, config: TrainingConfig) -> int:
        """The updates that one rollout of one actor is worth, at least 1."""
        decisions = -(-config.n_runs // self.actors) * config.rollout_steps
        return max(1, math.ceil(decisions * config.replay_ratio / config.batch_size))

    def broadcast_interval(self, config: TrainingConfig) -> int:
        """Updates between two broadcasts."""
        return self.broadcast or self.updates_per_rollout(config)

    def expected_staleness(self, config: TrainingConfig) -> int:
        """The age of weights where all actors keep pace: one broadcast, and one rollout of every actor."""
        return self.broadcast_interval(config) + self.actors * self.updates_per_rollout(config)

    def max_staleness(self, config: TrainingConfig) -> int:
        """The age of the oldest weights whose rollouts are learned from."""
        return self.staleness or 4 * self.expected_staleness(config)


R1_SCALE = 1e-8
"""Our interpretation: R1 reaches 1e11 on some training functions, and squared errors of that size overflow."""

_MANY_RUNS: dict[str, Any] = {
    "n_runs": 1024,
    "rollout_steps": 25,
    "batch_size": 65_536,
    "target_update_interval": 500,
    "buffer_size": 2_048_000,
    "learning_starts": 200_000,
    "synchronous": False,
    "checkpoint": "light",
    "evaluate_every": 100,
    "evaluate_repeats": 5,
}
"""What changes on a GPU: replay ratio and learning rate stay, batch size and number of updates do not."""

_LONG_RETURNS: dict[str, Any] = {"gamma": 0.999, "n_step": 100, "reward_scale": 100.0}

PRESETS: dict[str, dict[str, Any]] = {
    "paper-r1": {"reward": "R1", "reward_scale": R1_SCALE},
    "paper-r2": {"reward": "R2"},
    "paper-r3": {"reward": "R3"},
    "fast-r1": {"reward": "R1", "reward_scale": R1_SCALE, **_MANY_RUNS},
    "fast-r2": {"reward": "R2", **_MANY_RUNS},
    "fast-r3": {"reward": "R3", **_MANY_RUNS},
    "rank": {"reward": "rank", **_LONG_RETURNS},
    "fast-rank": {"reward": "rank", **_LONG_RETURNS, **_MANY_RUNS},
}
"""Named settings: the paper's three, the same with many runs on a GPU, and a reward that adds up to the final rank."""


def preset_values(name: str) -> dict[str, Any]:
    """What a preset changes in the defaults."""
    if name not in PRESETS:
        raise choice_error("preset", name, PRESETS)
    return PRESETS[name]


def preset(name: str, **changes: Any) -> TrainingConfig:
    """Settings of a preset, with some changed."""
    return TrainingConfig(**{**preset_values(name), **changes})
