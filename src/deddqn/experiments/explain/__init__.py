"""Why a policy does what it does: its decisions, what they depend on, and the control that takes the state away.

The names of the page are imported when they are used: the controls need neither pandas nor pyarrow.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from deddqn.experiments.explain.control import Contest, OwnShares, against_own_shares, measure_shares, own_shares, play
from deddqn.experiments.explain.importance import Importance, permutation_importance
from deddqn.experiments.explain.study import Explanation, Request, explain
from deddqn.experiments.explain.watch import MEASURED, PLAYED, Ground

if TYPE_CHECKING:
    from deddqn.experiments.explain.page import draw_page, findings, write_page
    from deddqn.experiments.explain.storage import ExplanationError, read_explanation, write_explanation

__all__ = [
    "MEASURED",
    "PLAYED",
    "Contest",
    "Explanation",
    "ExplanationError",
    "Ground",
    "Importance",
    "OwnShares",
    "Request",
    "against_own_shares",
    "draw_page",
    "explain",
    "findings",
    "measure_shares",
    "own_shares",
    "permutation_importance",
    "play",
    "read_explanation",
    "write_explanation",
    "write_page",
]

_HOMES = {
    "page": ("draw_page", "findings", "write_page"),
    "storage": ("ExplanationError", "read_explanation", "write_explanation"),
}


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            return getattr(importlib.import_module(f"deddqn.experiments.explain.{home}"), name)
    raise AttributeError(f"module 'deddqn.experiments.explain' has no attribute {name!r}")
