"""The memory of the observer: finished generations, the window and the feature vector, in the run's arena."""

from __future__ import annotations

import math
from enum import IntEnum

from deddqn._jit import Field, Layout
from deddqn._jit.contents import ANYTHING, AS_BEGUN, COUNT, FINITE, VALUES, index, slots, whole, within
from deddqn.features.layout import METRICS, n_features


class Tally(IntEnum):
    """Integers of an observer."""

    N_OPS = 0
    GENERATIONS = 1  # gen: how many finished generations are remembered
    OBSERVED = 2  # 0: nobody reads the features, so they are not computed
    FINISHED = 3  # generations finished so far
    IN_WINDOW = 4
    ENTERED = 5  # elements that ever entered the window
    MAX_DIMENSION = 6  # dim^max of Table 1 row 5


TALLIES = slots(
    Tally,
    N_OPS=AS_BEGUN,
    GENERATIONS=AS_BEGUN,
    OBSERVED=AS_BEGUN,
    FINISHED=COUNT,
    IN_WINDOW=whole(0, "W"),
    ENTERED=COUNT,
    MAX_DIMENSION=AS_BEGUN,
)

AUTHORS_FIELDS = (
    Field("described", "int", ("authors",), "generations whose parents were looked at", holds=COUNT),
    Field("accepted_stagnation", "int", ("authors",), "accepted trials since f_bsf improved", holds=COUNT),
    Field("worst_parent", "float", ("authors",), "f_wsf: of all parents so far", holds=within(-math.inf, math.inf)),
    Field("improved_parent", "float", ("authors_D",), "x_bsf: whose trial improved f_bsf last", holds=FINITE),
)
"""What the authors' state needs beside the paper's (`deddqn.features.authors_landscape`)."""

OBSERVER = Layout(
    "observer",
    Field("tallies", "int", (len(Tally),), holds=TALLIES),
    Field("features", "float", ("features",), "19 + 20 K; blocks are rewritten only when they change", holds=FINITE),
    Field(
        "applications",
        "float",
        ("slots", "K"),
        "N_tot; slot FINISHED % slots is the current generation's",
        holds=within(0, math.inf),
    ),
    Field("successes", "float", ("slots", "4K"), "N_succ_m, metric-major", holds=within(0, math.inf)),
    Field("sums", "float", ("slots", "4K"), "sum of OM_m", holds=within(0, math.inf)),
    Field("bests", "float", ("slots", "4K"), "best OM_m", holds=within(0, math.inf)),
    Field("window_op", "int", ("W",), "-1 where the window is not filled yet", holds=index("K", -1)),
    Field("window_entry", "int", ("W",), "when the element entered", holds=COUNT),
    Field("window_metrics", "float", ("W", METRICS), "OM_1..OM_4", holds=FINITE),
    Field("window_value", "float", ("W",), "f(u)", holds=VALUES),
    Field("scratch", "float", (3, "4K"), holds=ANYTHING),
    Field("states", "float", ("rows", "features"), "of the trials that are not recorded yet", holds=FINITE),
    *AUTHORS_FIELDS,
)
"""The memory of an observer: the features, `slots` generations (gen finished ones and the current), a window of W."""


def observer_sizes(
    n_ops: int, generations: int, window: int, state_rows: int, *, authors_dimension: int = 0
) -> dict[str, int]:
    """The sizes of an observer's fields; `authors_dimension` is D where the state is the authors', else 0."""
    return {
        "K": n_ops,
        "4K": METRICS * n_ops,
        "features": n_features(n_ops),
        "slots": generations + 1,
        "W": window,
        "rows": state_rows,
        "authors": min(authors_dimension, 1),
        "authors_D": authors_dimension,
    }
