"""Many runs of DE as one Gymnasium vector environment: all runs step in one compiled call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from deddqn._utils.validation import check_whole_number, choice_error
from deddqn.envs.env import DEFAULT_PROBLEM, OPTIONS, check_options, observation_space, one_problem
from deddqn.envs.env_kernels import NO_ACTION
from deddqn.envs.episodes import Episodes, PortfolioChoice, ProblemChoice
from deddqn.envs.observation_docs import contract
from deddqn.envs.run_batch import Batch
from deddqn.problems import Problem

Steps = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]


class DEVectorEnv(gym.vector.VectorEnv[np.ndarray, np.ndarray, np.ndarray]):
    __doc__ = contract()

    def __init__(
        self,
        num_envs: int = 1,
        *,
        problem: ProblemChoice = DEFAULT_PROBLEM,
        reward: str = "R2",
        portfolio: PortfolioChoice | None = None,
        max_dimension: int = 30,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        threads: int | None = None,
        **settings: Any,
    ) -> None:
        check_whole_number("num_envs", num_envs, 1)
        self.autoreset_mode = _mode(autoreset_mode)
        self.metadata = {"render_modes": [], "autoreset_mode": self.autoreset_mode}
        self.render_mode = None
        self.num_envs = num_envs
        self.episodes = Episodes.from_arguments(problem, reward, portfolio, max_dimension, settings)
        self._n_ops = len(self.episodes.portfolio)
        self.single_observation_space = observation_space(self._n_ops)
        self.single_action_space = gym.spaces.Discrete(self._n_ops)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._batch = Batch(self.episodes, num_envs, threads)
        self._truncations = np.zeros(num_envs, dtype=np.bool_)
        self._over = np.zeros(num_envs, dtype=np.bool_)  # the episode's end has been told
        self._any_over = self._begun = False
        self._everywhere = np.ones(num_envs, dtype=np.bool_)
        self._everywhere.setflags(write=False)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Begin episodes in all runs, or in those of ``options["reset_mask"]``.

        Seeds and the options ``problem`` and ``repeat`` are one for all runs (seed s means s + k for run k) or a
        sequence with one for each.
        """
        given = check_options(options, (*OPTIONS, "reset_mask"))
        mask = self._mask(given.get("reset_mask"))
        problems = self._problems(given.get("problem"))
        repeats = self._repeats(given.get("repeat"))
        self._seed(seed, mask)
        runs = np.flatnonzero(mask).tolist()
        self._batch.begin(runs, problems, repeats)
        self._batch.observe()
        self._begun = True
        self._over[mask] = False
        self._any_over = bool(self._over.any())
        return self._batch.states.copy(), self._infos(mask)

    def step(self, actions: Any) -> Steps:
        """One operator per run. What happens in runs whose episode is over depends on the autoreset mode."""
        chosen = self._checked(actions)
        if self._any_over:
            chosen = self._begin_again(chosen)
        batch = self._batch
        batch.step(chosen)
        rewards, ends = batch.rewards.copy(), batch.ends.copy()
        infos: dict[str, Any] = {}
        if ends.any():
            if self.autoreset_mode == AutoresetMode.SAME_STEP:
                infos = self._final(ends)
                batch.begin(np.flatnonzero(ends).tolist())
                batch.observe()
            else:
                self._over[:] = ends
                self._any_over = True
        infos.update(self._infos(self._everywhere))
        return batch.states.copy(), rewards, ends, self._truncations.copy(), infos

    def _checked(self, actions: Any) -> np.ndarray:
        """The actions as a vector of integers; they are compared as unsigned ones, so negative ones are too large."""
        if not self._begun:
            raise ResetNeeded("there are no episodes: call reset() before step()")
        given = np.asarray(actions)
        if given.shape != (self.num_envs,) or given.dtype.kind not in "iu":
            raise ValueError(f"actions must be {self.num_envs} whole numbers, one per run, got {actions!r}")
        chosen = given.astype(np.int64)
        if chosen.view(np.uint64).max() >= self._n_ops:
            raise ValueError(f"actions must lie in 0..{self._n_ops - 1}, got {actions!r}")
        return chosen

    def _begin_again(self, chosen: np.ndarray) -> np.ndarray:
        """Mode NextStep: runs that are over begin, whatever their action. Mode Disabled: they are an error."""
        over = np.flatnonzero(self._over).tolist()
        if self.autoreset_mode == AutoresetMode.DISABLED:
            raise ResetNeeded(f"the episodes of runs {over} are over: call reset(options={{'reset_mask': ...}}) first")
        self._batch.begin(over)
        chosen[over] = NO_ACTION
        self._over[:] = False
        self._any_over = False
        return chosen

    def _infos(self, mask: np.ndarray) -> dict[str, Any]:
        infos = self._batch.report()
        infos.update({f"_{key}": mask for key in infos})
        return infos

    def _final(self, ends: np.ndarray) -> dict[str, Any]:
        """Last observations and infos of the episodes that end with this step (mode SameStep)."""
        states = np.full(self.num_envs, None, dtype=object)
        for index in np.flatnonzero(ends).tolist():
            states[index] = self._batch.states[index].copy()
        mask = ends.copy()
        return {"final_obs": states, "_final_obs": mask, "final_info": self._infos(mask), "_final_info": mask}

    # What a reset is given

    def _mask(self, given: Any) -> np.ndarray:
        if given is None:
            return self._everywhere
        mask = np.asarray(given)
        if mask.dtype != np.bool_ or mask.shape != (self.num_envs,) or not mask.any():
            raise ValueError(
                f"options['reset_mask'] must be {self.num_envs} booleans, at least one True, got {given!r}"
            )
        if not self._begun and not mask.all():
            raise ResetNeeded("options['reset_mask'] must be all True, or left out, at the first reset")
        return mask.copy()

    def _problems(self, given: Any) -> list[Problem | None]:
        if given is None:
            return [None] * self.num_envs
        if isinstance(given, str | Problem):
            return [one_problem(given, self.episodes)] * self.num_envs
        return [None if one is None else one_problem(one, self.episodes) for one in self._each_run("problem", given)]

    def _repeats(self, given: Any) -> list[int | None]:
        repeats = [given] * self.num_envs if given is None or np.ndim(given) == 0 else self._each_run("repeat", given)
        for repeat in repeats:
            if repeat is not None:
                check_whole_number("options['repeat']", repeat, 0)
        return repeats

    def _each_run(self, option: str, given: Any) -> list[Any]:
        values = list(given)
        if len(values) != self.num_envs:
            raise ValueError(f"options[{option!r}] must be one, or {self.num_envs} for the runs, got {len(values)}")
        return values

    def _seed(self, seed: Any, mask: np.ndarray) -> None:
        if isinstance(seed, Sequence | np.ndarray):
            seeds = [None if one is None else int(one) for one in seed]
            if len(seeds) != self.num_envs:
                raise ValueError(f"seed must be one, or {self.num_envs} for the runs, got {len(seeds)}")
        elif seed is not None:
            check_whole_number("seed", seed, 0)
            super().reset(seed=int(seed))
            seeds = [int(seed) + index for index in range(self.num_envs)]
        else:
            seeds = [None] * self.num_envs
        if not self._begun:  # runs that were never seeded
            chance = int(self.np_random_seed or 0)
            seeds = [chance + index if one is None else one for index, one in enumerate(seeds)]
        self._batch.seed([one if begins else None for one, begins in zip(seeds, mask, strict=True)])


def _mode(given: AutoresetMode | str) -> AutoresetMode:
    if isinstance(given, AutoresetMode):
        return given
    try:
        return AutoresetMode(given)
    except ValueError:
        raise choice_error("autoreset_mode", given, [mode.value for mode in AutoresetMode]) from None
