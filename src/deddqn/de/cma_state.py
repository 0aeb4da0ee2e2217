"""What a run remembers for the strategy cma, and for CMA-ES as a second searcher: fields of the DE state."""

from __future__ import annotations

import math
from enum import IntEnum

import numpy as np

from deddqn._jit import Field, shared
from deddqn._jit.contents import ANYTHING, COUNT, index, slots, whole, within

LARGEST_LAMBDA = 8  # of the strategy cma, in units of its first one
SAMPLED_SHARE, MOST_SAMPLES = 1e-3, 1000  # the first lambda of CMA-ES as a second searcher: of its evaluations, at most


class Model(IntEnum):
    """Floats of the strategy cma."""

    SIGMA = 0  # 0: the distribution has to be restarted
    SAMPLES = 1  # waiting
    UPDATES = 2  # since it began
    STALE = 3  # updates without a better value
    BEST = 4  # value since it began
    LAMBDA = 5  # samples per update
    BEGUN = 6  # how often it began
    COLLECTED = 7  # trials of this generation that were looked at
    WINDOW = 8  # updates that the next look at the progress counts, under noise
    WINDOW_SUM = 9  # of their median values
    LAST_MEDIAN = 10  # mean of them at the last look
    AVERAGED = 11  # means in `model_average`
    SPREAD_SUM = 12  # of their interquartile ranges
    TAKEN_OVER_AT = 13  # from here on of CMA-ES as a second searcher: evaluations before its own
    FIRST_RANGE = 14  # of the values of the distribution's first samples
    UNFACTORED = 15  # updates of C since U was made
    NOTED = 16  # best values in `recent` so far


MODEL = slots(
    Model,
    SIGMA=ANYTHING,
    SAMPLES=whole(0, "model_points"),
    UPDATES=COUNT,
    STALE=within(0, math.inf),
    BEST=ANYTHING,
    LAMBDA=whole(0, "model_points"),
    BEGUN=COUNT,
    COLLECTED=whole(0, "RECORDED"),
    WINDOW=COUNT,
    WINDOW_SUM=ANYTHING,
    LAST_MEDIAN=ANYTHING,
    AVERAGED=COUNT,
    SPREAD_SUM=ANYTHING,
    TAKEN_OVER_AT=whole(0, "EVALUATIONS"),
    FIRST_RANGE=ANYTHING,
    UNFACTORED=COUNT,
    NOTED=COUNT,
)

MODEL_FIELDS = (
    Field("model", "float", (len(Model),), "of the strategy cma", holds=MODEL),
    Field("model_mean", "float", ("model_D",), "m of the normal distribution of the strategy cma", holds=ANYTHING),
    Field("model_average", "float", ("noisy_D",), "of m since lambda is what it is, under noise", holds=ANYTHING),
    Field("model_covariance", "float", ("model_D", "model_D"), "C", holds=ANYTHING),
    Field("model_factor", "float", ("model_D", "model_D"), "U with U'U = C, upper triangular", holds=ANYTHING),
    Field("path_sigma", "float", ("model_D",), "evolution path of the step size", holds=ANYTHING),
    Field("path_covariance", "float", ("model_D",), "... of the covariance", holds=ANYTHING),
    Field("model_step", "float", ("model_D",), "of the mean, over sigma", holds=ANYTHING),
    Field(
        "model_white",
        "float",
        ("model_D",),
        "solution of U' white = step; or the normal numbers of a sample",
        holds=ANYTHING,
    ),
    Field(
        "model_points", "float", ("model_points", "model_D"), "samples that wait for the next update", holds=ANYTHING
    ),
    Field("model_values", "float", ("model_points",), holds=ANYTHING),
    Field("recent", "float", ("recent",), "best values of the last updates of CMA-ES", holds=ANYTHING),
    Field("model_order", "int", ("model_points",), holds=index("model_points")),
)


@shared
def fewest_samples(dimension):
    """The lambda that the strategy cma begins with, and CMA-ES ends with."""
    return 4 + np.int64(3.0 * math.log(dimension))


@shared
def largest_lambda(dimension, evaluations):
    """The lambda that CMA-ES begins with where it has so many evaluations."""
    return max(fewest_samples(dimension), np.int64(min(SAMPLED_SHARE * evaluations, MOST_SAMPLES) + 0.5))
