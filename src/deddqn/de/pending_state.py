"""What asynchronous runs keep of points that wait for their values: see `deddqn.de.pending`."""

from __future__ import annotations

from enum import IntEnum

from deddqn._jit import Field
from deddqn._jit.contents import COUNT, FLAG, VALUES, index


class Orphan(IntEnum):
    """Why a pending point has no parent."""

    NO_PARENT = -1  # made without one, or the parent is gone: it competes with the worst individual
    OLD_POPULATION = -2  # a restart replaced the population: only its value counts


PENDING_FIELDS = (
    Field("against", "float", ("pending_rows",), "values of the parents when trials were recorded", holds=VALUES),
    Field("trial_parents", "int", ("pending_rows",), "their numbers, or an `Orphan`", holds=index("NP", -2)),
    Field("untried", "int", ("pending_rows",), "1 for points of a new population, 0 for trials", holds=FLAG),
    Field("tickets", "int", ("pending_rows",), "the number of a pending point since the run began", holds=COUNT),
)
