"""Callbacks of either scipy style, called after every generation."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from deddqn.optimize.optimizer import Optimizer


def asks_to_stop(callback: Callable[..., Any], optimizer: Optimizer) -> bool:
    """Call the callback; True if it wants the search to stop, by what it returns or by StopIteration."""
    try:
        names = set(inspect.signature(callback).parameters)
    except (TypeError, ValueError):
        names = set()
    try:
        if names == {"intermediate_result"}:
            return bool(callback(intermediate_result=optimizer.result))
        return bool(callback(optimizer.result.x, convergence=optimizer.convergence))
    except StopIteration:
        return True
