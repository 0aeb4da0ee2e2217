"""Vectorised runs whose operators are chosen outside, one decision at a time: plain steps, for tests."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from deddqn.de.state import Counter
from deddqn.engine import VectorizedRuns
from deddqn.engine.loop import evaluate_population
from deddqn.engine.stepping import act, evaluate_proposed, observe


def states_of(runs: VectorizedRuns) -> np.ndarray:
    """The states (runs, features) of the decisions that are due; zeros where a run has ended."""
    episodes = runs.episodes
    states = np.zeros((len(runs), episodes[0].observer.features.size))
    for index, (arena, episode) in enumerate(zip(runs.arenas, episodes, strict=True)):
        evaluate_population(arena.ctypes.data)
        if observe(arena.ctypes.data) >= 0:
            states[index] = episode.observer.features
    return states


def step(runs: VectorizedRuns, operators: Sequence[int] | np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Apply one operator per run; return next states, rewards and ends. Ended runs stay as they are."""
    rewards, ends = np.zeros(len(runs)), np.zeros(len(runs), dtype=np.bool_)
    for index, (arena, episode) in enumerate(zip(runs.arenas, runs.episodes, strict=True)):
        evaluate_population(arena.ctypes.data)
        if observe(arena.ctypes.data) >= 0:
            act(arena.ctypes.data, int(operators[index]))
            rewards[index] = episode.core.rewards[evaluate_proposed(arena.ctypes.data)]
            evaluate_population(arena.ctypes.data)
        ends[index] = episode.de_state.counters[Counter.ENDED] != 0
    return states_of(runs), rewards, ends
