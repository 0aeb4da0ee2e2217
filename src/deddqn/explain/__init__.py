"""Why a policy does what it does: its decisions, what they depend on, and a control that ignores the state.

The names are imported when they are used: the controls need neither pandas nor pyarrow.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from deddqn._utils.lazy_imports import lazy_names

if TYPE_CHECKING:
    from deddqn.explain.control_comparison import (
        ControlComparison,
        OwnShares,
        against_own_shares,
        measure_shares,
        own_shares,
        run_policy,
    )
    from deddqn.explain.decisions import EVALUATION_REPEATS, MEASUREMENT_REPEATS, Protocol
    from deddqn.explain.explanation_page import draw_page, findings, write_page
    from deddqn.explain.importance import Importance, permutation_importance
    from deddqn.explain.storage import ExplanationError, read_explanation, write_explanation
    from deddqn.explain.study import Explanation, Request, explain
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "deddqn.explain.control_comparison": (
                *("ControlComparison", "OwnShares", "against_own_shares", "measure_shares", "own_shares", "run_policy"),
            ),
            "deddqn.explain.importance": ("Importance", "permutation_importance"),
            "deddqn.explain.explanation_page": ("draw_page", "findings", "write_page"),
            "deddqn.explain.storage": ("ExplanationError", "read_explanation", "write_explanation"),
            "deddqn.explain.study": ("Explanation", "Request", "explain"),
            "deddqn.explain.decisions": ("MEASUREMENT_REPEATS", "EVALUATION_REPEATS", "Protocol"),
        },
    )

__all__ = [
    "EVALUATION_REPEATS",
    "MEASUREMENT_REPEATS",
    "ControlComparison",
    "Explanation",
    "ExplanationError",
    "Importance",
    "OwnShares",
    "Protocol",
    "Request",
    "against_own_shares",
    "draw_page",
    "explain",
    "findings",
    "measure_shares",
    "own_shares",
    "permutation_importance",
    "read_explanation",
    "run_policy",
    "write_explanation",
    "write_page",
]
