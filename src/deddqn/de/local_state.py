"""What a run remembers for its local search: fields of the DE state."""

from __future__ import annotations

import math
from enum import IntEnum

from deddqn._jit import Field
from deddqn._jit.contents import ANYTHING, COUNT, FINITE, FLAG, VALUES, slots, within


class Phase(IntEnum):
    """What the points are that a local search waits for."""

    NONE = 0  # there is no local search now
    GRADIENT = 1  # x, moved along every coordinate
    LINE = 2  # one point on the line from x


class Local(IntEnum):
    """Floats of the local search."""

    VALUE = 0  # f(x)
    SPACING = 1  # of differences, in widths of the box
    STEP = 2  # how far on the line the next point is
    SLOPE = 3  # of the line
    BEST_STEP = 4  # of the points on this line that were accepted; 0: none was
    BEST_VALUE = 5
    TRIES = 6  # points on this line so far
    FRESH = 7  # the metric is that of the box: nothing was learned yet
    MOVED = 8  # x has moved since the differences became shorter


LOCAL = slots(
    Local,
    VALUE=VALUES,
    SPACING=within(0, 1),
    STEP=within(0, math.inf),
    SLOPE=within(-math.inf, 0),
    BEST_STEP=within(0, math.inf),
    BEST_VALUE=VALUES,
    TRIES=COUNT,
    FRESH=FLAG,
    MOVED=FLAG,
)

LOCAL_FIELDS = (
    Field("local", "float", (len(Local),), "of the local search", holds=LOCAL),
    Field("local_point", "float", ("local_D",), "x", holds=FINITE),
    Field("local_best", "float", ("local_D",), "the best point on the line", holds=FINITE),
    Field("local_gradient", "float", ("local_D",), "at x", holds=ANYTHING),
    Field(
        "local_direction",
        "float",
        ("local_D",),
        "of the line; 0 where a bound is in the way, or nothing slopes",
        holds=ANYTHING,
    ),
    Field("local_moved", "float", ("local_D",), "the last step of x", holds=ANYTHING),
    Field(
        "local_change", "float", ("local_D",), "of the gradient in that step, and what is made of it", holds=ANYTHING
    ),
    Field("local_metric", "float", ("local_D", "local_D"), "H, the inverse of the second derivatives", holds=ANYTHING),
)
