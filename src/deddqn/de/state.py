"""The memory of one search: every number of a run lies in one flat float64 array, its *arena*.

A run is saved, copied, sent to another process or stacked into lanes by handling that one array.
"""

from __future__ import annotations

from enum import IntEnum

from deddqn.records import Field, Layout
from deddqn.streams import STATE_WORDS, Stream

DONORS = 5


class Count(IntEnum):
    """Integers of a search."""

    DIMENSION = 0
    ALLOCATED = 1  # rows of the population arrays; the population in use may be smaller
    N_OPS = 2
    POPULATION = 3  # NP in use
    BUDGET = 4  # FE^max
    EVALUATIONS = 5  # t
    GENERATION = 6  # finished generations
    GENERATION_SIZE = 7  # evaluations of the current generation: NP, or what the budget leaves
    INITIALISED = 8  # 0 while the initial population is evaluated
    DEFERRED = 9
    DRAWN = 10  # individuals of this generation that have their donors
    PROPOSED = 11  # ... that have a trial
    CURSOR = 12  # ... that are settled; in deferred mode all are settled at once
    TOLD = 13  # ... whose value has been told
    BEST = 14  # index of the best parent
    STAGNATION = 15  # evaluations since f_bsf improved
    NON_FINITE = 16  # evaluations that gave NaN or an infinity
    ENDED = 17  # 0, or why the run ended: an `End`
    REPAIR = 18
    NOISY = 19


class Mark(IntEnum):
    """Floats of a search."""

    F_BSF = 0  # best value so far, +inf before the first finite one
    F_WSF = 1  # worst finite value so far, -inf before the first
    MEAN = 2  # of the parents' finite values, at the start of the generation
    DEVIATION = 3
    MEDIAN = 4  # +inf when no parent has a finite value
    DIAGONAL = 5  # of the box
    OPTIMUM = 6  # f_opt, NaN where unknown
    TARGET_ERROR = 7
    TARGET_VALUE = 8


class Fact(IntEnum):
    """What is known about one settled trial: what metrics, rewards and policies are made from."""

    PARENT = 0  # f(x_i)
    TRIAL = 1  # f(u_i), +inf if it was not finite
    BEST = 2  # f(x_best), the best parent
    BSF = 3  # best so far before this trial
    WSF = 4  # worst so far before this trial
    MEDIAN = 5  # of the parents
    OPTIMUM = 6


class End(IntEnum):
    """Why a run ended."""

    NOT_YET = 0
    BUDGET = 1
    TARGET = 2


SEARCH = Layout(
    "search",
    Field("counts", "int", (len(Count),)),
    Field("marks", "float", (len(Mark),)),
    Field("facts", "float", (len(Fact),), "of the trial settled last"),
    Field("streams", "word", (len(Stream), STATE_WORDS)),
    Field("lower", "float", ("D",), "the initialisation range; its diagonal is the unit of distance"),
    Field("upper", "float", ("D",)),
    Field("search_lower", "float", ("D",), "bounds of trials, -inf where there is none"),
    Field("search_upper", "float", ("D",)),
    Field("strategy", "int", ("K",), "codes of the portfolio's strategies"),
    Field("scale", "float", ("K",), "F"),
    Field("crossover", "float", ("K",), "CR"),
    Field("applications", "int", ("K",), "settled trials per operator"),
    Field("best_point", "float", ("D",), "x_bsf"),
    Field("parents", "float", ("NP", "D")),
    Field("fitness", "float", ("NP",), "of the parents; +inf where it is not finite or not known yet"),
    Field("trials", "float", ("NP", "D")),
    Field("values", "float", ("NP",), "told values of the trials"),
    Field("told", "int", ("NP",)),
    Field("donors", "int", ("NP", DONORS)),
    Field("choices", "int", ("NP",), "operators"),
    Field("order", "int", ("NP",), "parents from best to worst at the start of the generation"),
)
"""The memory of a search with NP rows, D coordinates and K operators."""
