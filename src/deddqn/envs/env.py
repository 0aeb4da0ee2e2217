"""One run of DE as a Gymnasium environment; see `deddqn.envs.gymnasium`, which registers it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.error import ResetNeeded

from deddqn._utils.validation import check_whole_number, choice_error
from deddqn.envs.episodes import Episodes, PortfolioChoice, ProblemChoice, problems_of
from deddqn.envs.observation_docs import contract
from deddqn.envs.run_batch import Batch
from deddqn.features.layout import n_features, signed_mask
from deddqn.problems import Problem

DEFAULT_PROBLEM = "cec2005:F9/d10"
OPTIONS = ("problem", "repeat")


def observation_space(n_ops: int) -> gym.spaces.Box:
    """The states of a portfolio of `n_ops` operators: in [0, 1], signed features in [-1, 1]."""
    low = np.where(signed_mask(n_ops), -1.0, 0.0).astype(np.float32)
    return gym.spaces.Box(low, np.ones(n_features(n_ops), dtype=np.float32), dtype=np.float32)


def check_options(options: Mapping[str, Any] | None, known: tuple[str, ...] = OPTIONS) -> dict[str, Any]:
    """The options of a reset, or the error for one that does not exist."""
    if options is not None and not isinstance(options, Mapping):
        raise ValueError(f"options must be a mapping of {', '.join(map(repr, known))}, got {options!r}")
    given = dict(options or {})
    for name in given:
        if name not in known:
            raise choice_error("options", name, known)
    return given


def one_problem(choice: Any, episodes: Episodes) -> Problem:
    """The problem of ``options["problem"]``, which must be a single one that the environment can use."""
    problems = problems_of(choice)
    if len(problems) != 1:
        raise ValueError(f"options['problem'] must be one problem, got {choice!r} with {len(problems)}")
    episodes.check(problems[0])
    return problems[0]


class DEEnv(gym.Env[np.ndarray, np.int64]):
    __doc__ = contract()

    metadata: dict[str, Any] = {"render_modes": []}

    def __init__(
        self,
        problem: ProblemChoice = DEFAULT_PROBLEM,
        *,
        reward: str = "R2",
        portfolio: PortfolioChoice | None = None,
        max_dimension: int = 30,
        render_mode: str | None = None,
        **settings: Any,
    ) -> None:
        if render_mode is not None:
            raise ValueError(f"render_mode must be None: there is nothing to render, got {render_mode!r}")
        self.render_mode = None
        self.episodes = Episodes.from_arguments(problem, reward, portfolio, max_dimension, settings)
        n_ops = len(self.episodes.portfolio)
        self.observation_space = observation_space(n_ops)
        self.action_space = gym.spaces.Discrete(n_ops)
        self._n_ops = n_ops
        self._batch = Batch(self.episodes, 1)
        self._actions = np.zeros(1, dtype=np.int64)
        self._seeded = self._running = False

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Begin an episode: the first of `seed`, or the next one. Options: ``problem``, ``repeat``."""
        given = check_options(options)
        problem = one_problem(given["problem"], self.episodes) if "problem" in given else None
        if "repeat" in given:
            check_whole_number("options['repeat']", given["repeat"], 0)
        super().reset(seed=seed)
        if seed is not None or not self._seeded:
            self._batch.seed([self.np_random_seed])
            self._seeded = True
        self._batch.begin([0], [problem], [given.get("repeat")])
        self._batch.observe()
        self._running = True
        return self._batch.states[0].copy(), self._info()

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Make the next individual's trial by operator `action`, and evaluate it."""
        if not self._running:
            raise ResetNeeded("there is no episode, or it is over: call reset() before step()")
        if not self.action_space.contains(action):
            raise ValueError(f"action must be a whole number in 0..{self._n_ops - 1}, got {action!r}")
        self._actions[0] = action
        self._batch.step(self._actions)
        ended = bool(self._batch.ends[0])
        self._running = not ended
        return self._batch.states[0].copy(), float(self._batch.rewards[0]), ended, False, self._info()

    def _info(self) -> dict[str, Any]:
        return self._batch.report_one(0)
