"""Gymnasium: importing this module registers ``deddqn/DE-v0``, with a vector entry point that runs compiled runs.

>>> import gymnasium
>>> import deddqn.envs.gymnasium
>>> env = gymnasium.make("deddqn/DE-v0", problem="cec2005:F9/d10", reward="R2")
>>> envs = gymnasium.make_vec("deddqn/DE-v0", num_envs=32, problem="cec2005-train")
"""

from __future__ import annotations

from deddqn._utils.optional_imports import need

need("gymnasium", "the Gymnasium environment", "gym")

import gymnasium  # noqa: E402

from deddqn.envs.env import DEEnv  # noqa: E402
from deddqn.envs.vector_env import DEVectorEnv  # noqa: E402

__all__ = ["ENV_ID", "DEEnv", "DEVectorEnv"]

ENV_ID = "deddqn/DE-v0"

if ENV_ID not in gymnasium.registry:
    gymnasium.register(id=ENV_ID, entry_point=DEEnv, vector_entry_point=DEVectorEnv)
