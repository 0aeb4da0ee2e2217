"""The environment: steps per second through Python, against an environment that recomputes the features in NumPy."""

from __future__ import annotations

import time
from typing import Any

import gymnasium
import numpy as np

from benchmarks.bars import Bar, print_bars
from deddqn.envs.gymnasium import ENV_ID
from deddqn.problems import get
from tests.reference.de_reference import ReferenceRun

PROBLEM = "cec2005:F9/d10"
LANES = 32
STEPS = 20_000
ROUNDS = 3
PLAIN_STEPS = 100  # measured after the first generations, when the history is full
PORTFOLIO = [(name, 0.5, 1.0) for name in ("rand/1", "rand/2", "rand-to-best/2", "curr-to-rand/1")]


class PlainEnv:
    """The environment as one would write it first: the tests' reference, driven by NumPy's random numbers."""

    def __init__(self, seed: int) -> None:
        self.problem = get(PROBLEM)
        self.rng = np.random.default_rng(seed)
        self.run = ReferenceRun(
            lower=self.problem.lower,
            upper=self.problem.upper,
            portfolio=PORTFOLIO,
            population_size=100,
            budget=10_000,
            optimum=self.problem.optimum,
        )
        self.next = 0

    def reset(self) -> np.ndarray:
        points = self.rng.uniform(self.problem.lower, self.problem.upper, (100, self.problem.dimension))
        self.run.initialise(points, self.problem(points))
        return self._observe()

    def _observe(self) -> np.ndarray:
        others = np.delete(np.arange(100), self.next)
        self.donors = self.rng.choice(others, size=5, replace=False).tolist()
        return np.asarray(self.run.features(self.next, self.donors), dtype=np.float32)

    def step(self, action: int) -> tuple[np.ndarray, float | None]:
        mask = np.ones(self.problem.dimension, dtype=bool)
        trial = self.run.trial(self.next, self.donors, action, mask)
        reward = self.run.commit(self.next, action, trial, float(self.problem(trial)))["R2"]
        self.next = (self.next + 1) % 100
        return self._observe(), reward


def plain_steps_per_second() -> float:
    """Of the plain environment, from its twelfth generation on: the best of some rounds."""
    env, rng = PlainEnv(1), np.random.default_rng(2)
    env.reset()
    for action in rng.integers(4, size=1_100).tolist():
        env.step(action)
    best = 0.0
    for _ in range(ROUNDS):
        started = time.perf_counter()
        for action in rng.integers(4, size=PLAIN_STEPS).tolist():
            env.step(action)
        best = max(best, PLAIN_STEPS / (time.perf_counter() - started))
    return best


def steps_per_second(lanes: int, steps: int, **arguments: Any) -> float:
    """Of the vector environment, resets included: the best of some rounds."""
    actions = np.random.default_rng(2).integers(4, size=(1_000, lanes))
    best = 0.0
    for seed in range(ROUNDS):
        envs = gymnasium.make_vec(ENV_ID, num_envs=lanes, **arguments)
        envs.reset(seed=seed)
        started = time.perf_counter()
        for k in range(steps):
            envs.step(actions[k % 1_000])
        best = max(best, lanes * steps / (time.perf_counter() - started))
    return best


def single_steps_per_second() -> float:
    """Of ``gymnasium.make``'s environment, with gymnasium's own wrappers."""
    env = gymnasium.make(ENV_ID, problem=PROBLEM)
    env.reset(seed=1)
    started = time.perf_counter()
    for _ in range(9_900):
        env.step(1)
    return 9_900 / (time.perf_counter() - started)


def main() -> list[Bar]:
    """Measure and print."""
    plain = plain_steps_per_second()
    ours = steps_per_second(LANES, STEPS, problem=PROBLEM)
    mixed = steps_per_second(LANES, STEPS // 4, problem="cec2005-train")
    many = steps_per_second(512, STEPS // 40, problem="cec2005-train")
    alone = single_steps_per_second()
    bars = [
        Bar(f"vector environment, {LANES} runs, {PROBLEM}, through Python", ours, 100e3, "steps/s", False),
        Bar("the same against a NumPy environment", ours / plain, 100.0, "x", False, f"{plain:,.0f} steps/s"),
    ]
    print_bars(bars)
    print(f"without a bar: the training suite {mixed:,.0f} steps/s with {LANES} lanes, {many:,.0f} with 512;")
    print(f"one environment of gymnasium.make {alone:,.0f} steps/s")
    return bars


if __name__ == "__main__":
    main()
