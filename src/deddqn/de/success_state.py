"""What a run remembers of F and CR: see `deddqn.de.success_history`."""

from __future__ import annotations

import math
from enum import IntEnum

from deddqn._jit import Field
from deddqn._jit.contents import ANYTHING, COUNT, ONE, within

MEMORY_SIZE = 6  # remembered per operator (H of L-SHADE)


class SuccessSum(IntEnum):
    """What a generation's successes teach one operator."""

    LARGEST = 0  # improvement, the unit of the weights
    WEIGHT = 1  # sum of w
    SCALE = 2  # sum of w F
    SCALE_SQUARED = 3
    CROSSOVER = 4


SUCCESS_FIELDS = (
    Field("trial_f", "float", ("adapted",), "F of the trials", holds=within(0, math.inf)),
    Field("trial_cr", "float", ("adapted",), "CR of the trials", holds=within(0, ONE)),
    Field(
        "memory_f",
        "float",
        ("K", "memory"),
        "M_F of SHADE: the newest means of every operator",
        holds=within(0, math.inf),
    ),
    Field("memory_cr", "float", ("K", "memory"), "M_CR", holds=within(0, ONE)),
    Field(
        "success_sums",
        "float",
        ("K", "success_sums"),
        "sums over the successes of a generation: see `SuccessSum`",
        holds=ANYTHING,
    ),
    Field("memory_updates", "int", ("K",), "updates of the memory so far", holds=COUNT),
)
