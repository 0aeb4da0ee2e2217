"""Targets: when a run may stop."""

from __future__ import annotations

from deddqn._jit import kernel
from deddqn.de.state import Mark


@kernel
def target_reached(marks):
    """True when the best so far is good enough to stop."""
    best = marks[Mark.F_BSF]
    return best <= marks[Mark.TARGET_VALUE] or best - marks[Mark.OPTIMUM] < marks[Mark.TARGET_ERROR]
