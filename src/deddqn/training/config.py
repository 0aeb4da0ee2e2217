"""The settings of a training, with the paper's values as defaults (Table 2 and Sect. 3.1)."""

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
    """Everything that determines a training. One lane, batch 64, ratio 64 and one decision per tick: Algorithm 1.

    Parameters
    ----------
    suite, problems : what is trained on: a named suite, or (if given) problems by name.
    portfolio, population_size, budget, .. : how runs search, see `RunSettings`.
    reward, reward_scale : name of the reward; the constant that the learner multiplies it with.
    hidden : widths of the hidden layers.
    learning_rate, gamma, epsilon : of Adam, of future rewards, of random decisions.
    commitment : share of generations that apply one random operator throughout, to explore more than single decisions.
    n_step : rewards that are summed before the target network is asked.
    loss : "squared" or "huber".
    target_sync : updates between copies to the target network.
    averaging : updates that the averaged network looks back on (0: there is none). It is not used in learning; where
        there is one, greedy evaluations judge it instead of the network of the moment.
    batch, replay_ratio : samples per update; replayed samples per evaluation (64 / 1 in the paper).
    memory, warmup : observations kept; random decisions before the first update.
    lanes, decisions : parallel runs; decisions of each lane per tick, between looks at the network.
    stagger : with several lanes, their first runs begin at different parts of the budget.
    cycles : times that every problem is run; the best cycle's weights are kept.
    evaluate_every, evaluate_repeats : cycles between greedy evaluations on held-out seeds (0: never); runs per problem.
    seed, device, threads, learner_threads : threads are those of the actors (0: all cores) and of torch on the CPU.
    synchronous : actors wait for the learner: deterministic. Otherwise both work at the same time.
    fused : on a GPU, let torch.compile fuse the update (a fifth faster; needs a C compiler).
    state_type : how states are kept in the memory.
    checkpoint, checkpoint_seconds : "full" resumes to the bit; "light" keeps only what was learned (small files).
    max_seconds : stop with a checkpoint after this time (0: never).
    tensorboard : write TensorBoard files too, where it is installed.
    """

    suite: str = "cec2005-train"
    problems: tuple[str, ...] = ()
    reward: str = "R2"
    reward_scale: float = 1.0
    hidden: tuple[int, ...] = (100, 100, 100, 100)
    learning_rate: float = 1e-4
    gamma: float = 0.99
    epsilon: float = 0.1
    commitment: float = 0.0
    n_step: int = 1
    loss: str = "squared"
    target_sync: int = 1000
    averaging: int = 0
    batch: int = 64
    replay_ratio: float = 64.0
    memory: int = 100_000
    warmup: int = 10_000
    lanes: int = 1
    decisions: int = 1
    stagger: bool = True
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
        for name in ("n_step", "target_sync", "batch", "memory", "lanes", "decisions", "cycles", "evaluate_repeats"):
            check(name, getattr(self, name) >= 1, "at least 1", getattr(self, name))
        for name in ("learning_rate", "replay_ratio", "reward_scale"):
            check(name, 0.0 < getattr(self, name) < float("inf"), "a positive number", getattr(self, name))
        for name in ("gamma", "epsilon", "commitment"):
            check(name, 0.0 <= getattr(self, name) <= 1.0, "in [0, 1]", getattr(self, name))
        for name in ("averaging", "evaluate_every", "seed", "threads", "max_seconds"):
            check(name, getattr(self, name) >= 0, "0 or more", getattr(self, name))
        check("hidden", all(width >= 1 for width in self.hidden), "positive widths", self.hidden)
        least = self.lanes * self.n_step
        check("warmup", self.warmup >= least, f"at least lanes x n_step = {least} decisions", self.warmup)
        check("memory", self.memory >= self.lanes, f"at least one observation per lane ({self.lanes})", self.memory)
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
    """Where the actors of a training work, if not in the learner's process; it may change when a training goes on.

    Parameters
    ----------
    address : ``auto``, or the HOST:PORT of a Ray head.
    actors : processes of one core each that share the lanes (0: as many as the cluster has cores).
    broadcast : updates between two broadcasts of the weights (0: those that one tick of one actor is worth).
    staleness : most updates that weights may be behind when what they decided arrives (0: four times what is usual).
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
        check("lanes", config.lanes >= self.actors, f"at least one per actor ({self.actors})", config.lanes)
        check("synchronous", not config.synchronous, "no on a cluster, where ticks come when they come", "yes")
        fits = not 0 < self.staleness < self.usual(config)
        check("staleness", fits, f"at least {self.usual(config)} updates with these settings", self.staleness)

    def owed(self, config: TrainingConfig) -> int:
        """The updates that one tick of one actor is worth, at least 1."""
        decisions = -(-config.lanes // self.actors) * config.decisions
        return max(1, math.ceil(decisions * config.replay_ratio / config.batch))

    def every(self, config: TrainingConfig) -> int:
        """Updates between two broadcasts."""
        return self.broadcast or self.owed(config)

    def usual(self, config: TrainingConfig) -> int:
        """The age of weights where all actors keep pace: one broadcast, and one tick of every actor."""
        return self.every(config) + self.actors * self.owed(config)

    def most(self, config: TrainingConfig) -> int:
        """The oldest weights whose decisions are learned from."""
        return self.staleness or 4 * self.usual(config)


R1_SCALE = 1e-8
"""A declared reading: R1 reaches 1e11 on some training functions, and squared errors of that size overflow."""

_MANY_LANES: dict[str, Any] = {
    "lanes": 1024,
    "decisions": 25,
    "batch": 65_536,
    "target_sync": 500,
    "memory": 2_048_000,
    "warmup": 200_000,
    "synchronous": False,
    "checkpoint": "light",
    "evaluate_every": 100,
    "evaluate_repeats": 5,
}
"""What changes on a machine with a GPU: replay ratio and learning rate stay, the batch and its steps do not."""

_RETURNS_OF_A_GENERATION: dict[str, Any] = {"gamma": 0.999, "n_step": 100, "reward_scale": 100.0}

PRESETS: dict[str, dict[str, Any]] = {
    "paper-r1": {"reward": "R1", "reward_scale": R1_SCALE},
    "paper-r2": {"reward": "R2"},
    "paper-r3": {"reward": "R3"},
    "fast-r1": {"reward": "R1", "reward_scale": R1_SCALE, **_MANY_LANES},
    "fast-r2": {"reward": "R2", **_MANY_LANES},
    "fast-r3": {"reward": "R3", **_MANY_LANES},
    "rank": {"reward": "rank", **_RETURNS_OF_A_GENERATION},
    "fast-rank": {"reward": "rank", **_RETURNS_OF_A_GENERATION, **_MANY_LANES},
}
"""Named settings: the paper's three, the same with many lanes on a GPU, and a reward that adds up to the final rank."""


def preset_values(name: str) -> dict[str, Any]:
    """What a preset changes in the defaults."""
    if name not in PRESETS:
        raise choice_error("preset", name, PRESETS)
    return PRESETS[name]


def preset(name: str, **changes: Any) -> TrainingConfig:
    """The settings of a preset, with some changed."""
    return TrainingConfig(**{**preset_values(name), **changes})
