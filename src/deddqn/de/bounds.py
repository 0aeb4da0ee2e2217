"""Repair of trial coordinates that left the bounds."""

from __future__ import annotations

import math

from deddqn._jit import kernel
from deddqn.de.config import REPAIRS
from deddqn.rng import uniform

CLIP, REFLECT, RANDOM = (REPAIRS.index(name) for name in ("clip", "reflect", "random"))
MOST_REFLECTIONS = 100  # then the coordinate is clipped


@kernel
def reflected(value, low, high):
    """The value, mirrored at the bounds until it lies inside them."""
    for _ in range(MOST_REFLECTIONS):
        if value < low:
            value = low + (low - value)
        elif value > high:
            value = high - (value - high)
        else:
            break
    return min(max(value, low), high)


@kernel
def repair(how, trial, parent, lower, upper):
    """Bring `trial` into the bounds, coordinate by coordinate; `parent` lies inside them. Writes `trial`."""
    for d in range(trial.size):
        value, low, high = trial[d], lower[d], upper[d]
        if low <= value <= high and math.isfinite(value):
            continue
        if not math.isfinite(value):
            trial[d] = parent[d]
        elif how == CLIP:
            trial[d] = min(max(value, low), high)
        elif how == REFLECT:
            trial[d] = reflected(value, low, high)
        else:
            middle = 0.5 * parent[d] + 0.5 * (low if value < low else high)
            trial[d] = min(max(middle, low), high)  # halves of the smallest numbers are 0


@kernel
def draw_outside_again(trial, lower, upper, stream):
    """Draw the coordinates of a mutant that left the bounds uniformly within them. Writes `trial`."""
    for d in range(trial.size):
        if not lower[d] <= trial[d] <= upper[d]:
            trial[d] = lower[d] + uniform(stream) * (upper[d] - lower[d])
