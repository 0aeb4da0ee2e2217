"""The state of one DE run: every number of a run lies in one flat float64 array, its *arena*.

A run is saved, copied, sent to another process or stacked into vectorised runs by handling that one array.
"""

from __future__ import annotations

import math
from enum import IntEnum

import numpy as np

from deddqn._jit import Field, Layout, shared
from deddqn._jit.contents import (
    ANYTHING,
    AS_BEGUN,
    COUNT,
    FINITE,
    FLAG,
    ONE,
    VALUES,
    index,
    order,
    slots,
    whole,
    within,
)
from deddqn.de.cma_state import LARGEST_LAMBDA, MODEL_FIELDS, fewest_samples, largest_lambda
from deddqn.de.config import DEConfig
from deddqn.de.constraint_state import CONSTRAINT_FIELDS, Pair
from deddqn.de.discrete_state import DISCRETE_FIELDS, discrete_sizes
from deddqn.de.local_state import LOCAL_FIELDS, Phase
from deddqn.de.mutation import ARCHIVE_DONORS, CMA, GAUSS
from deddqn.de.pending_state import PENDING_FIELDS
from deddqn.de.portfolio import Portfolio
from deddqn.de.success_state import MEMORY_SIZE, SUCCESS_FIELDS, SuccessSum
from deddqn.de.surrogate_state import SURROGATE_FIELDS, surrogate_size
from deddqn.rng import STATE_WORDS, Stream

DONORS = 5


class Counter(IntEnum):
    """Integers of a run."""

    DIMENSION = 0
    ALLOCATED = 1  # rows of the population arrays; the population in use may be smaller
    N_OPS = 2
    POPULATION = 3  # NP in use
    BUDGET = 4  # FE^max
    EVALUATIONS = 5  # t
    GENERATION = 6  # finished generations
    GENERATION_SIZE = 7  # evaluations of the current generation: NP, or what the budget leaves
    INITIALISED = 8  # 0 while points without values are evaluated: a new population, samples, a local search's
    DEFERRED = 9
    DONORS_DRAWN = 10  # individuals of this generation that have their donors
    PROPOSED = 11  # ... that have a trial
    RECORDED = 12  # ... that are recorded; in deferred mode all are recorded at once
    TOLD = 13  # ... whose value has been told
    BEST = 14  # index of the best parent
    STAGNATION = 15  # evaluations since f_bsf improved
    NON_FINITE = 16  # evaluations that gave NaN or an infinity
    ENDED = 17  # 0, or why the run ended: an `End`
    REPAIR = 18
    NOISY = 19
    FINAL_POPULATION = 20  # what the population shrinks to; ALLOCATED if it does not
    ARCHIVE_ROOM = 21  # most members of the archive now; 0: there is none
    ARCHIVED = 22  # members of the archive
    RENUMBERED = 23  # 1 when the population that begins is not the last one with its numbers: see `origin`
    RESTARTS = 24
    SURROGATE_CHECKED = 25  # the generation, from 1 on, that has checked whether the surrogate is out of date
    BEST_POPULATION_SIZE = 26  # individuals of the best population that a restart replaced, or of DE while it waits
    POPULATION_START = 27  # evaluations before the population's own
    FINAL_EVALUATIONS = 28  # evaluations at the end of the budget that are for the best population
    RECENT_POINTS = 29  # evaluated points so far that are no parents
    TRAINING_POINTS = 30  # of the surrogate; 0: it was not fitted yet
    REFIT_AT = 31  # evaluations when it was made
    TIED = 32  # recorded trials of this generation with exactly the value of their parents
    POINTS = 33  # of a discrete space; 0 where a coordinate is continuous
    VISITED = 34  # ... that are remembered
    IMMEDIATE = 35  # a trial that is not worse replaces its parent at once
    EXPONENTIAL = 36  # crossover
    PYTHON_STRATEGY = 37  # where a Python object lies that writes the mutants; 0: the portfolio's strategies do
    STRICT = 38  # points that violate a constraint have no value: they are never equal to feasible ones
    ASYNCHRONOUS = 39
    PENDING = 40  # trials, and points of a new population, that were asked for and have no value yet
    CURSOR = 41  # the individual whose trial is asked for next; of a new population: individuals asked for so far
    TICKETS = 42  # points asked for so far: see `tickets`
    FOREIGN = 43  # values told of points that were not asked for
    DECIDING = 44  # 1 + the individual with donors for which nothing is chosen yet; 0: there is none
    HORIZON = 45  # evaluations that the policy plans for: BUDGET, or less where the end is not known
    FIRST_POPULATION = 46  # of a run whose end is not known; 0 where it is
    NOISE_HANDLING = 47
    WHOLE_BUDGET = 48  # BUDGET, or more before CMA-ES is tried: DE plans without its share
    SAMPLING = 49  # CMA-ES searches: populations are its samples
    HAND_OVER = 50  # evaluations after which it is tried; WHOLE_BUDGET where it is not
    DECISION = 51  # evaluations after which it goes on only if it is ahead
    TRIED = 52  # it was, or is being, tried, or was not worth it
    LOCAL_PHASE = 53  # what the local search waits for: a `Phase`
    LOCAL_FROM = 54  # evaluations after which it begins; WHOLE_BUDGET where there is none
    LOCAL_DONE = 55  # it has begun, came too late, or has no share


class Scalar(IntEnum):
    """Floats of a run."""

    F_BSF = 0  # best value so far, +inf before the first finite one
    F_WSF = 1  # worst finite value so far, -inf before the first
    MEAN = 2  # of the parents' finite values, at the start of the generation
    DEVIATION = 3
    MEDIAN = 4  # +inf when no parent has a finite value
    DIAGONAL = 5  # of the box
    OPTIMUM = 6  # f_opt, NaN where unknown
    TARGET_ERROR = 7
    TARGET_VALUE = 8
    PBEST = 9
    ARCHIVE = 10  # its room in populations
    RESTART_TOLERANCE = 11
    SQUARED_LENGTH_SCALE = 12  # l of the surrogate's kernel
    FEASIBLE_BSF = 13  # best value so far of a point that satisfies all constraints, +inf while there is none
    LEVEL = 14  # violations up to here count as none
    FIRST_LEVEL = 15  # NaN until the initial population is known
    BEST_VALUE = 16  # of all points that counted as feasible, +inf while there is none
    WORST_VALUE = 17  # of them, 0 while there is none
    SPREAD = 18  # of the keys of other points, above the worst value
    WORST_VIOLATION = 19  # finite one so far
    DITHER = 20  # what every generation may add to F
    DITHERED = 21  # what this generation has added
    TO_BEAT = 22  # best value of DE when CMA-ES took over
    CMA_EXTENT = 23  # that the population of DE must have by then
    RATE_SHARE = 24  # of the trials whose F follows the success rate
    SUCCESS_RATE = 25  # share of the last generation's trials that improved on their parents


class Outcome(IntEnum):
    """What is known about one recorded trial: what metrics, rewards and policies are made from."""

    PARENT = 0  # f(x_i)
    TRIAL = 1  # f(u_i), +inf if it was not finite
    BEST = 2  # f(x_best), the best parent
    BSF = 3  # best so far before this trial
    WSF = 4  # worst so far before this trial
    MEDIAN = 5  # of the parents
    OPTIMUM = 6
    NEW_BSF = 7  # best so far with this trial
    NEW_WSF = 8  # worst so far with this trial
    REWARD = 9


class End(IntEnum):
    """Why a run ended."""

    NOT_YET = 0
    BUDGET = 1
    TARGET = 2
    EXHAUSTED = 3  # all points of a discrete space are evaluated


# What the slots may hold in memory that comes from a file; bounds are sizes of the layout and other counters

COUNTERS = slots(
    Counter,
    DIMENSION=AS_BEGUN,
    ALLOCATED=AS_BEGUN,
    N_OPS=AS_BEGUN,
    POPULATION=whole(1, "NP"),
    BUDGET=whole(1, "WHOLE_BUDGET"),
    EVALUATIONS=whole(0, "BUDGET"),
    GENERATION=COUNT,
    GENERATION_SIZE=whole(0, "POPULATION"),
    INITIALISED=FLAG,
    DEFERRED=AS_BEGUN,
    DONORS_DRAWN=whole(0, "GENERATION_SIZE"),
    PROPOSED=whole(0, "DONORS_DRAWN"),
    RECORDED=whole(0, "TOLD"),
    TOLD=whole(0, "GENERATION_SIZE"),
    BEST=index("POPULATION"),
    STAGNATION=COUNT,
    NON_FINITE=whole(0, "EVALUATIONS"),
    ENDED=index(len(End)),
    REPAIR=AS_BEGUN,
    NOISY=FLAG,
    FINAL_POPULATION=AS_BEGUN,
    ARCHIVE_ROOM=whole(0, "archive"),
    ARCHIVED=whole(0, "ARCHIVE_ROOM"),
    RENUMBERED=FLAG,
    RESTARTS=COUNT,
    SURROGATE_CHECKED=COUNT,
    BEST_POPULATION_SIZE=whole(0, "best_population"),
    POPULATION_START=whole(0, "EVALUATIONS"),
    FINAL_EVALUATIONS=AS_BEGUN,
    RECENT_POINTS=COUNT,
    TRAINING_POINTS=whole(0, "training_points"),
    REFIT_AT=whole(0, "EVALUATIONS"),
    TIED=whole(0, "RECORDED"),
    POINTS=AS_BEGUN,
    VISITED=whole(0, "visited"),
    IMMEDIATE=AS_BEGUN,
    EXPONENTIAL=AS_BEGUN,
    PYTHON_STRATEGY=AS_BEGUN,
    STRICT=AS_BEGUN,
    ASYNCHRONOUS=AS_BEGUN,
    PENDING=whole(0, "pending_rows"),
    CURSOR=whole(0, "POPULATION"),
    TICKETS=COUNT,
    FOREIGN=COUNT,
    DECIDING=whole(0, "POPULATION"),
    HORIZON=whole(1, "BUDGET"),
    FIRST_POPULATION=AS_BEGUN,
    NOISE_HANDLING=AS_BEGUN,
    WHOLE_BUDGET=AS_BEGUN,
    SAMPLING=FLAG,
    HAND_OVER=AS_BEGUN,
    DECISION=AS_BEGUN,
    TRIED=FLAG,
    LOCAL_PHASE=index(len(Phase)),
    LOCAL_FROM=AS_BEGUN,
    LOCAL_DONE=FLAG,
)
SCALARS = slots(
    Scalar,
    F_BSF=VALUES,
    F_WSF=within(-math.inf, math.inf),
    MEAN=FINITE,
    DEVIATION=within(0, math.inf),
    MEDIAN=VALUES,
    DIAGONAL=within(0, math.inf),
    OPTIMUM=ANYTHING,
    TARGET_ERROR=AS_BEGUN,
    TARGET_VALUE=AS_BEGUN,
    PBEST=AS_BEGUN,
    ARCHIVE=AS_BEGUN,
    RESTART_TOLERANCE=AS_BEGUN,
    SQUARED_LENGTH_SCALE=within(0, math.inf),
    FEASIBLE_BSF=VALUES,
    LEVEL=within(0, math.inf),
    FIRST_LEVEL=ANYTHING,
    BEST_VALUE=VALUES,
    WORST_VALUE=FINITE,
    SPREAD=FINITE,
    WORST_VIOLATION=FINITE,
    DITHER=AS_BEGUN,
    DITHERED=FINITE,
    TO_BEAT=VALUES,
    CMA_EXTENT=AS_BEGUN,
    RATE_SHARE=AS_BEGUN,
    SUCCESS_RATE=within(0, ONE),
)

DE_STATE = Layout(
    "de_state",
    Field("counters", "int", (len(Counter),), holds=COUNTERS),
    Field("scalars", "float", (len(Scalar),), holds=SCALARS),
    Field("outcome", "float", (len(Outcome),), "of the latest trial", holds=ANYTHING),
    Field("streams", "word", (len(Stream), STATE_WORDS), holds=ANYTHING),
    Field("lower", "float", ("D",), "the initialisation range; its diagonal is the unit of distance", holds=AS_BEGUN),
    Field("upper", "float", ("D",), holds=AS_BEGUN),
    Field(
        "search_lower", "float", ("D",), "bounds of trials, -inf where there is none", holds=within(-math.inf, math.inf)
    ),
    Field("search_upper", "float", ("D",), holds=within(-math.inf, math.inf)),
    Field("strategy", "int", ("K",), "codes of the portfolio's strategies", holds=AS_BEGUN),
    Field("scale", "float", ("K",), "F, or where its mean starts", holds=AS_BEGUN),
    Field("crossover", "float", ("K",), "CR, or where its mean starts", holds=AS_BEGUN),
    Field("adapts", "int", ("K",), "which of them are drawn around learned means: an index of ADAPTS", holds=AS_BEGUN),
    Field("applications", "int", ("K",), "recorded trials per operator", holds=COUNT),
    Field("best_point", "float", ("D",), "x_bsf", holds=FINITE),
    Field("parents", "float", ("rows", "D"), "the population, and from row NP on the archive", holds=FINITE),
    Field("fitness", "float", ("NP",), "of the parents; +inf where it is not finite or not known yet", holds=VALUES),
    Field("trials", "float", ("trial_rows", "D"), holds=FINITE),
    Field("values", "float", ("trial_rows",), "told values of the trials", holds=ANYTHING),
    Field("told", "int", ("NP",), holds=FLAG),
    Field("donors", "int", ("NP", DONORS), holds=index("NP")),
    Field("choices", "int", ("trial_rows",), "operators", holds=index("K")),
    Field(
        "order", "int", ("NP",), "parents from best to worst at the start of the generation", holds=order("POPULATION")
    ),
    Field(
        "archive_donors",
        "int",
        (DONORS,),
        "donors of a trial of which one may be a member of the archive",
        holds=index("rows"),
    ),
    Field(
        "origin",
        "int",
        ("renumbered",),
        "old numbers of a renumbered population; -1 for new individuals",
        holds=index("NP", -1),
    ),
    Field(
        "best_population",
        "float",
        ("best_population", "D"),
        "the best population that a restart replaced, from best to worst; or that of DE while another one searches",
        holds=FINITE,
    ),
    Field("best_population_fitness", "float", ("best_population",), holds=VALUES),
    Field("weights", "float", ("sample",), "of the better half in a Gaussian sample", holds=ANYTHING),
    *SUCCESS_FIELDS,
    *SURROGATE_FIELDS,
    *MODEL_FIELDS,
    *LOCAL_FIELDS,
    *CONSTRAINT_FIELDS,
    *DISCRETE_FIELDS,
    *PENDING_FIELDS,
)
"""The state of a run with NP individuals, D coordinates and K operators; see `de_state_sizes`."""


def de_state_sizes(
    portfolio: Portfolio,
    config: DEConfig,
    dimension: int,
    constraints: int = 0,
    points: float | None = None,
    trial_rows: int | None = None,
) -> dict[str, int]:
    """The sizes of the fields; what nobody uses takes no room.

    `constraints` is the number of constraint values. `points` is None where no coordinate is discrete, else the number
    of points, inf where one is continuous. `trial_rows` are NP unless given.
    """
    size, hands_over = config.population_size, config.cma_share > 0.0
    local = dimension if config.local_share > 0.0 else 0
    waits = hands_over or local > 0  # the population of DE
    most_samples = largest_lambda(dimension, config.budget - config.hand_over) if hands_over else 0
    shrinks = config.final_population not in (None, size)
    adapts = any(entry.adapts for entry in portfolio)
    uses = {entry.strategy for entry in portfolio}
    archived = int(archive_room(config.archive, size)) if uses & ARCHIVE_DONORS.keys() else 0
    rows = max(size if trial_rows is None else trial_rows, most_samples, local)
    return {
        "NP": max(size, most_samples, local),
        "D": dimension,
        "K": len(portfolio),
        "rows": max(size + archived, most_samples, local),
        "archive": archived,
        "renumbered": size if shrinks or waits or config.restart_tolerance > 0.0 else 0,
        "best_population": size if waits or min(config.restart_tolerance, config.restart_final_fraction) > 0.0 else 0,
        "candidates": config.n_candidates if config.n_candidates > 1 else 0,
        "candidate_D": dimension if config.n_candidates > 1 else 0,
        "training_points": surrogate_size(dimension) if config.n_candidates > 1 else 0,
        "model_D": dimension if CMA in uses or hands_over else 0,
        "noisy_D": dimension if CMA in uses and config.noise_handling else 0,
        "model_points": max(most_samples, LARGEST_LAMBDA * fewest_samples(dimension) if CMA in uses else 0),
        "local_D": local,
        "recent": 10 + 30 * dimension // int(fewest_samples(dimension)) + 1 if hands_over else 0,
        "sample": size if GAUSS in uses else 0,
        "adapted": rows if adapts else 0,
        "memory": MEMORY_SIZE if adapts else 0,
        "success_sums": len(SuccessSum) if adapts else 0,
        "constraints": constraints,
        "pair": len(Pair) if constraints else 0,
        "constrained_D": dimension if constraints else 0,
        **discrete_sizes(dimension, points),
        "trial_rows": rows,
        "pending_rows": rows if config.updating == "asynchronous" else 0,
    }


@shared
def known_individuals(counters):
    """The individuals that the policy decides for: those of DE, which wait while somebody else searches."""
    waiting = counters[Counter.SAMPLING] or counters[Counter.LOCAL_PHASE]
    return counters[Counter.BEST_POPULATION_SIZE] if waiting else counters[Counter.POPULATION]


@shared
def archive_room(rate, population):
    """The most members of an archive of `rate` populations."""
    return np.int64(rate * population + 0.5)
