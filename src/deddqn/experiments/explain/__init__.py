"""Why a policy does what it does: its decisions, what they depend on, and the control that takes the state away.

The names are imported when they are used: the controls need neither pandas nor pyarrow.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from deddqn.lazy import lazy_names

if TYPE_CHECKING:
    from deddqn.experiments.explain.control import (
        Contest,
        OwnShares,
        against_own_shares,
        measure_shares,
        own_shares,
        play,
    )
    from deddqn.experiments.explain.importance import Importance, permutation_importance
    from deddqn.experiments.explain.page import draw_page, findings, write_page
    from deddqn.experiments.explain.storage import ExplanationError, read_explanation, write_explanation
    from deddqn.experiments.explain.study import Explanation, Request, explain
    from deddqn.experiments.explain.watch import MEASURED, PLAYED, Ground
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "deddqn.experiments.explain.control": (
                *("Contest", "OwnShares", "against_own_shares", "measure_shares", "own_shares", "play"),
            ),
            "deddqn.experiments.explain.importance": ("Importance", "permutation_importance"),
            "deddqn.experiments.explain.page": ("draw_page", "findings", "write_page"),
            "deddqn.experiments.explain.storage": ("ExplanationError", "read_explanation", "write_explanation"),
            "deddqn.experiments.explain.study": ("Explanation", "Request", "explain"),
            "deddqn.experiments.explain.watch": ("MEASURED", "PLAYED", "Ground"),
        },
    )

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
