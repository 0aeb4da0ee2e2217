"""Stable-Baselines3: the vector environment as its VecEnv, so that DQN, PPO and the others train on compiled runs.

>>> from stable_baselines3 import PPO
>>> from deddqn.envs.stable_baselines3 import DEVecEnv
>>> model = PPO("MlpPolicy", DEVecEnv(32, problem="cec2005-train", reward="R2")).learn(100_000)
"""

from __future__ import annotations

from typing import Any

from deddqn._utils.optional_imports import need

need("gymnasium", "the Stable-Baselines3 environment", "gym")
need("stable_baselines3", "the Stable-Baselines3 environment", "sb3")

import numpy as np  # noqa: E402
from gymnasium.vector import AutoresetMode  # noqa: E402
from stable_baselines3.common.vec_env import VecEnv  # noqa: E402

from deddqn.envs.vector_env import DEVectorEnv  # noqa: E402


class DEVecEnv(VecEnv):
    """`DEVectorEnv` behind the interface of Stable-Baselines3; see there for the contract.

    The info of a run is empty, except in the step that ends its episode: then it holds ``terminal_observation``,
    ``TimeLimit.truncated`` (always False: the budget is part of the state) and the final info of the episode. Wrap it
    in ``VecMonitor`` for returns and lengths in the log.

    Parameters
    ----------
    num_envs : number of runs.
    arguments : those of ``gymnasium.make_vec("deddqn/DE-v0", ...)``: problem, reward, portfolio, budget, ...
    """

    def __init__(self, num_envs: int = 1, **arguments: Any) -> None:
        if "autoreset_mode" in arguments:
            raise ValueError("autoreset_mode must be left out: Stable-Baselines3 resets in the same step")
        self.envs = DEVectorEnv(num_envs, autoreset_mode=AutoresetMode.SAME_STEP, **arguments)
        super().__init__(num_envs, self.envs.single_observation_space, self.envs.single_action_space)
        self._actions: np.ndarray | None = None

    def reset(self) -> np.ndarray:
        """Begin new episodes with the seeds and options that were set (see ``seed`` and ``set_options``)."""
        options: dict[str, Any] = {
            key: [index.get(key) for index in self._options]
            for key in {key for index in self._options for key in index}
        }
        states, infos = self.envs.reset(seed=self._seeds, options=options or None)
        self.reset_infos = [_of_run(infos, index) for index in range(self.num_envs)]
        self._reset_seeds()
        self._reset_options()
        return states

    def step_async(self, actions: np.ndarray) -> None:
        """Keep the actions for `step_wait`."""
        self._actions = actions

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """States, rewards, ends and infos of the step; runs that ended are already in their next episode."""
        states, rewards, ends, _, infos = self.envs.step(self._actions)
        runs: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for index in np.flatnonzero(ends).tolist():
            runs[index] = _of_run(infos["final_info"], index)
            runs[index]["terminal_observation"] = infos["final_obs"][index]
            runs[index]["TimeLimit.truncated"] = False
            self.reset_infos[index] = _of_run(infos, index)
        return states, rewards.astype(np.float32), ends, runs

    def close(self) -> None:
        """Nothing is open."""
        self.envs.close()

    # The runs are no environments of their own: attributes and methods are those of all.

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """An attribute of the vector environment, once per run."""
        value = getattr(self.envs, attr_name)
        return [value for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Set an attribute of the vector environment, for all runs at once."""
        if len(list(self._get_indices(indices))) != self.num_envs:
            raise ValueError(f"indices must be all runs: they share their attributes, got {indices}")
        setattr(self.envs, attr_name, value)

    def env_method(self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any) -> list[Any]:
        """Not possible: runs have no methods of their own."""
        raise NotImplementedError(f"runs have no methods of their own, so {method_name!r} cannot be called on them")

    def env_is_wrapped(self, wrapper_class: type, indices: Any = None) -> list[bool]:
        """Runs are not wrapped."""
        return [False for _ in self._get_indices(indices)]


def _of_run(infos: dict[str, Any], index: int) -> dict[str, Any]:
    """One run's info from the arrays of all."""
    plain = {key: value for key, value in infos.items() if not key.startswith(("_", "final_"))}
    return {key: np.array(value[index]) if np.ndim(value[index]) else value[index] for key, value in plain.items()}
