"""Targets: when a run may stop."""

from __future__ import annotations

from deddqn._jit import kernel
from deddqn.de.state import Scalar


@kernel
def target_reached(scalars):
    """True when the best so far is good enough to stop."""
    best = scalars[Scalar.FEASIBLE_BSF]
    return best <= scalars[Scalar.TARGET_VALUE] or best - scalars[Scalar.OPTIMUM] < scalars[Scalar.TARGET_ERROR]
