"""How far a value is below another, safe for values that are not finite and for sums of many."""

from __future__ import annotations

import math

from deddqn._jit import kernel

LARGEST_IMPROVEMENT = 1e300  # keeps every sum of improvements finite


@kernel
def improvement(reference, value, worst):
    """How far `value` is below `reference`: 0 if it is not, at most 1e300.

    A reference without a finite value counts as `worst`, the worst finite value known before.
    """
    if not math.isfinite(value):
        return 0.0
    if reference == math.inf:
        reference = worst
    if not value < reference:  # also when `worst` is -inf: nothing finite is known yet
        return 0.0
    return min(reference - value, LARGEST_IMPROVEMENT)
