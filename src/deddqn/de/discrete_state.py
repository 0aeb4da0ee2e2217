"""What a run with integers or categories remembers: fields of the DE state."""

from __future__ import annotations

import math

from deddqn._jit import Field
from deddqn._jit.contents import ANYTHING, AS_BEGUN

MOST_VISITED_SLOTS = 2**17
MOST_POINTS = 2**53

DISCRETE_FIELDS = (
    Field(
        "integrality",
        "int",
        ("integrality",),
        "of the coordinates: an `Integrality` each; empty where all are 0",
        holds=AS_BEGUN,
    ),
    Field(
        "visited",
        "word",
        ("visited",),
        "hashes of the evaluated points of a discrete space, 0 where there is none",
        holds=ANYTHING,
    ),
)


def discrete_sizes(dimension: int, points: float | None) -> dict[str, int]:
    """The sizes of the fields for a space of so many points (see `Problem.points`)."""
    return {
        "integrality": 0 if points is None else dimension,
        "visited": 0 if points is None or points == math.inf else visited_slots(points),
    }


def visited_slots(points: float) -> int:
    """Slots for the hashes of evaluated points: twice as many as there are points, and 1 MiB at the most."""
    slots = 8
    while slots < 2.0 * points and slots < MOST_VISITED_SLOTS:
        slots *= 2
    return slots
