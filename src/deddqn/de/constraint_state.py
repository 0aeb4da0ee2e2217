"""What a run with constraints remembers: fields of the DE state."""

from __future__ import annotations

from enum import IntEnum

from deddqn._jit import Field
from deddqn._jit.contents import ANYTHING, AS_BEGUN, FINITE, VALUES


class Pair(IntEnum):
    """What is known about one point of a constrained run."""

    VALUE = 0  # f, +inf if it was not finite
    VIOLATION = 1  # v, +inf if it was not finite


CONSTRAINT_FIELDS = (
    Field("constraint_lower", "float", ("constraints",), "limits of the constraint values", holds=AS_BEGUN),
    Field("constraint_upper", "float", ("constraints",), holds=AS_BEGUN),
    Field("constraint_tolerance", "float", ("constraints",), "how far beyond them values may be", holds=AS_BEGUN),
    Field("constraint_scale", "float", ("constraints",), "unit of the excess", holds=FINITE),
    Field("constraint_values", "float", ("NP", "constraints"), "of the generation's points", holds=ANYTHING),
    Field("trial_pairs", "float", ("NP", "pair"), "(f, v) of the generation's points: see `Pair`", holds=VALUES),
    Field("parent_pairs", "float", ("NP", "pair"), holds=VALUES),
    Field("recent_pairs", "float", ("training_points", "pair"), holds=VALUES),
    Field("best_population_pairs", "float", ("best_population", "pair"), holds=VALUES),
    Field("model_pairs", "float", ("model_points", "pair"), holds=VALUES),
    Field("model_best_pair", "float", (1, "pair"), "of the best sample since the distribution began", holds=VALUES),
    Field("best_pair", "float", (1, "pair"), "of x_bsf", holds=VALUES),
    Field("answer_pair", "float", (1, "pair"), "of the best point without a level", holds=VALUES),
    Field("answer_point", "float", ("constrained_D",), holds=FINITE),
    Field("answer_constraints", "float", ("constraints",), holds=ANYTHING),
)
