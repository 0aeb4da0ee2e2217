"""Cases worked out by hand, as plain data: trials of single strategies, and whole runs step by step.

Every expected number is written as the arithmetic done by hand; nothing here calls an implementation, so
the same cases can be put to the reference and to the compiled engine.  Section and table numbers are the
paper's.

How a run case is read: build the run from the settings, hand in ``population`` and ``values``, compare
``expected_initial``; then for every step compare the expected blocks of the features of ``parent`` (before
the decision), form the trial with ``donors``, ``op`` and ``mask`` (all coordinates from the mutant where the
mask is None), compare it with ``expected_trial``, commit ``value``, compare the rewards and the state.
``None`` always means "not stated".  In a deferred case the features and trials of a whole generation come
first: steps with the same ``generation`` number belong together.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

INF = math.inf
NAN = math.nan

Point = tuple[float, ...]
Portfolio = tuple[tuple[str, float, float], ...]
Blocks = dict[str, tuple[float, ...]]

PAPER_PORTFOLIO: Portfolio = (
    ("rand/1", 0.5, 1.0),
    ("rand/2", 0.5, 1.0),
    ("rand-to-best/2", 0.5, 1.0),
    ("curr-to-rand/1", 0.5, 1.0),
)
TWO_OPERATORS: Portfolio = (("rand/1", 0.5, 1.0), ("curr-to-rand/1", 0.5, 1.0))
THREE_OPERATORS: Portfolio = (("rand/1", 0.5, 1.0), ("rand/2", 0.5, 1.0), ("curr-to-rand/1", 0.5, 1.0))

SINGLE_ROWS = {
    "parent": (1, 1),
    "mean": (2, 2),
    "deviation": (3, 3),
    "budget": (4, 4),
    "dimension": (5, 5),
    "stagnation": (6, 6),
    "donor_distances": (7, 11),
    "best_distance": (12, 12),
    "donor_differences": (13, 17),
    "best_difference": (18, 18),
    "bsf_distance": (19, 19),
}
HISTORY_GROUPS = ("success_rates", "improvement_per_application", "change_of_best", "sum_of_bests", "window")


def block_slice(block: str, operator_count: int) -> slice:
    """Where a block lies in the feature vector (Table 1; rows count from 1, the slice from 0)."""
    if block in SINGLE_ROWS:
        first, last = SINGLE_ROWS[block]
        return slice(first - 1, last)
    size = 4 * operator_count
    start = 19 + size * HISTORY_GROUPS.index(block)
    return slice(start, start + size)


@dataclass(frozen=True)
class TrialCase:
    """One trial: the initial population with its values, the choices, and the repaired trial.

    The initial range is of no importance here; ``search_lower`` and ``search_upper`` bound the trial.
    """

    name: str
    population: tuple[Point, ...]
    values: tuple[float, ...]
    parent: int
    donors: tuple[int, int, int, int, int]
    strategy: str
    scaling: float
    mask: tuple[bool, ...]
    search_lower: Point
    search_upper: Point
    repair: str
    expected_trial: Point


@dataclass(frozen=True)
class Step:
    """One decision: what is chosen, the value of the trial, and what is expected."""

    parent: int
    donors: tuple[int, int, int, int, int]
    op: int
    value: float
    generation: int = 0
    mask: tuple[bool, ...] | None = None
    expected_features: Blocks = field(default_factory=dict)
    expected_trial: Point | None = None
    expected_rewards: tuple[float, float, float | None] | None = None  # R1, R2, R3
    expected_after: dict[str, Any] = field(default_factory=dict)  # attribute of the run -> value


@dataclass(frozen=True)
class RunCase:
    """One run: settings, initial population, steps."""

    name: str
    lower: Point
    upper: Point
    portfolio: Portfolio
    budget: int
    population: tuple[Point, ...]
    values: tuple[float, ...]
    steps: tuple[Step, ...] = ()
    search_lower: Point | None = None
    search_upper: Point | None = None
    max_dimension: int = 30
    optimum: float | None = None
    window_size: int = 50
    generations: int = 10
    repair: str = "clip"
    deferred: bool = False
    expected_initial: dict[str, Any] = field(default_factory=dict)

    def settings(self) -> dict[str, Any]:
        """The keyword arguments of a run."""
        return {
            "lower": self.lower,
            "upper": self.upper,
            "search_lower": self.search_lower,
            "search_upper": self.search_upper,
            "portfolio": list(self.portfolio),
            "population_size": len(self.population),
            "budget": self.budget,
            "max_dimension": self.max_dimension,
            "optimum": self.optimum,
            "window_size": self.window_size,
            "generations": self.generations,
            "repair": self.repair,
            "deferred": self.deferred,
        }


# ---------------------------------------------------------------------------------------------------------
# Trials (Sect. 2.1).  Parent x0; donors r1..r5 = 1, 2, 3, 4, 5; the best parent is x6.

_PLACES: tuple[Point, ...] = (
    (10.0, 20.0),
    (1.0, 2.0),
    (5.0, 7.0),
    (2.0, 1.0),
    (8.0, 3.0),
    (4.0, 9.0),
    (3.0, 6.0),
)
_PLACE_VALUES = (7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0)
_DONORS = (1, 2, 3, 4, 5)
_WIDE_LOWER: Point = (-100.0, -100.0)
_WIDE_UPPER: Point = (100.0, 100.0)
_ALL = (True, True)


def _strategy_case(name: str, strategy: str, scaling: float, expected: Point, **changes: Any) -> TrialCase:
    arguments: dict[str, Any] = {
        "name": name,
        "population": _PLACES,
        "values": _PLACE_VALUES,
        "parent": 0,
        "donors": _DONORS,
        "strategy": strategy,
        "scaling": scaling,
        "mask": _ALL,
        "search_lower": _WIDE_LOWER,
        "search_upper": _WIDE_UPPER,
        "repair": "clip",
        "expected_trial": expected,
    }
    return TrialCase(**{**arguments, **changes})


def _line_case(name: str, repair: str, differences: Point, lower: Point, upper: Point, expected: Point) -> TrialCase:
    """rand/1 with F = 1 from r1 = (5, 5) by the given differences; the parent lies at (2, 4)."""
    origin = (0.0, 0.0)
    population = ((2.0, 4.0), (5.0, 5.0), differences, origin, origin, origin)
    return TrialCase(name, population, (1.0,) * 6, 0, _DONORS, "rand/1", 1.0, _ALL, lower, upper, repair, expected)


_BOX: tuple[Point, Point] = ((0.0, 0.0), (10.0, 10.0))
_OPEN: tuple[Point, Point] = ((-INF, -INF), (INF, INF))

TRIAL_CASES: tuple[TrialCase, ...] = (
    # (1, 2) + 0.5 ((5, 7) - (2, 1)) = (1, 2) + 0.5 (3, 6)
    _strategy_case("rand/1", "rand/1", 0.5, (2.5, 5.0)),
    # (1, 2) + 0.5 ((3, 6) + (8, 3) - (4, 9)) = (1, 2) + 0.5 (7, 0)
    _strategy_case("rand/2", "rand/2", 0.5, (4.5, 2.0)),
    # (1, 2) + 0.5 ((3, 6) - (1, 2) + (7, 0)) = (1, 2) + 0.5 (9, 4)
    _strategy_case("rand-to-best/2", "rand-to-best/2", 0.5, (5.5, 4.0)),
    # (10, 20) + 0.5 ((1, 2) - (10, 20) + (3, 6)) = (10, 20) + 0.5 (-6, -12)
    _strategy_case("curr-to-rand/1", "curr-to-rand/1", 0.5, (7.0, 14.0)),
    # (1, 2) + 2 (3, 6)
    _strategy_case("rand/1 with F = 2", "rand/1", 2.0, (7.0, 14.0)),
    # donors reversed: (4, 9) + 0.5 ((8, 3) - (2, 1)) = (4, 9) + 0.5 (6, 2)
    _strategy_case("rand/1, other donors", "rand/1", 0.5, (7.0, 10.0), donors=(5, 4, 3, 2, 1)),
    # x2 and x6 tie for the best: x2 counts.  (1, 2) + 0.5 ((5, 7) - (1, 2) + (7, 0)) = (1, 2) + 0.5 (11, 5)
    _strategy_case(
        "rand-to-best/2, the lower index of two best",
        "rand-to-best/2",
        0.5,
        (6.5, 4.5),
        values=(7.0, 6.0, 1.0, 4.0, 3.0, 2.0, 1.0),
    ),
    # no finite value: x0 is the best.  (1, 2) + 0.5 ((10, 20) - (1, 2) + (7, 0)) = (1, 2) + 0.5 (16, 18)
    _strategy_case("rand-to-best/2, all values infinite", "rand-to-best/2", 0.5, (9.0, 11.0), values=(INF,) * 7),
    _strategy_case("crossover keeps the first coordinate", "rand/1", 0.5, (10.0, 5.0), mask=(False, True)),
    _strategy_case("crossover keeps the second coordinate", "rand/1", 0.5, (2.5, 20.0), mask=(True, False)),
    # before the repair: (5 - 8, 5 + 9) = (-3, 14)
    _line_case("clip", "clip", (-8.0, 9.0), *_BOX, (0.0, 10.0)),
    # -3 is mirrored at 0, 14 at 10
    _line_case("reflect", "reflect", (-8.0, 9.0), *_BOX, (3.0, 6.0)),
    # (0 + 2) / 2 and (10 + 4) / 2
    _line_case("midpoint", "midpoint", (-8.0, 9.0), *_BOX, (1.0, 7.0)),
    # (-13, 34): -13 -> 13 -> 7; 34 -> -14 -> 14 -> 6
    _line_case("reflect more than once", "reflect", (-18.0, 29.0), *_BOX, (7.0, 6.0)),
    _line_case("inside stays (reflect)", "reflect", (1.0, -5.0), *_BOX, (6.0, 0.0)),
    _line_case("inside stays (midpoint)", "midpoint", (5.0, -5.0), *_BOX, (10.0, 0.0)),
    # (5 + 1e6) in a box of width 1 takes far more than 100 mirrorings: clipped.  After an even number of
    # mirrorings the coordinate lies above the upper bound again.
    _line_case("reflect gives up", "reflect", (1e6, 0.0), (4.0, 4.0), (5.0, 5.0), (5.0, 5.0)),
    _line_case("no bounds (clip)", "clip", (-8.0, 9e9), *_OPEN, (-3.0, 9e9 + 5.0)),
    _line_case("no bounds (reflect)", "reflect", (-8.0, 9e9), *_OPEN, (-3.0, 9e9 + 5.0)),
    _line_case("no bounds (midpoint)", "midpoint", (-8.0, 9e9), *_OPEN, (-3.0, 9e9 + 5.0)),
    # one bound only: 14 is free upwards, -3 is mirrored at 0
    _line_case("one open side (reflect)", "reflect", (-8.0, 9.0), (0.0, 0.0), (10.0, INF), (3.0, 14.0)),
    # 1.7e308 + 1.7e308 overflows: the parent's coordinate 2 takes its place; 5 + (1 - 0) = 6
    TrialCase(
        "overflow takes the parent's coordinate",
        ((2.0, 4.0), (5.0, 5.0), (1.7e308, 1.0), (-1.7e308, 0.0), (0.0, 0.0), (0.0, 0.0)),
        (1.0,) * 6,
        0,
        _DONORS,
        "rand/1",
        1.0,
        _ALL,
        (-INF, -INF),
        (INF, INF),
        "clip",
        (2.0, 6.0),
    ),
    # the overflowing coordinate is that of the parent, inside the box; 5 - 9 = -4 becomes (0 + 4) / 2
    TrialCase(
        "overflow before midpoint",
        ((2.0, 4.0), (5.0, 5.0), (1.7e308, -9.0), (-1.7e308, 0.0), (0.0, 0.0), (0.0, 0.0)),
        (1.0,) * 6,
        0,
        _DONORS,
        "rand/1",
        1.0,
        _ALL,
        (0.0, 0.0),
        (10.0, 10.0),
        "midpoint",
        (2.0, 2.0),
    ),
)


# ---------------------------------------------------------------------------------------------------------
# Run 1: two operators, two full generations and a truncated one.  The box diagonal is 10 (6, 8, 10).
#
# parents of generation 1: f = 10 2 8 4 6 12; mean 7, median 7, best x1; squared deviations
# 9 + 25 + 1 + 9 + 1 + 25 = 70, so std = sqrt(70/6).  f_bsf = 2, f_wsf = 12.

_ZERO2 = (0.0,) * 8
_STD1 = math.sqrt(70 / 6)
_STD2 = math.sqrt(29.5 / 6)

_RUN1_POPULATION: tuple[Point, ...] = ((0.0, 0.0), (3.0, 4.0), (6.0, 8.0), (6.0, 0.0), (0.0, 8.0), (3.0, 0.0))
_RUN1_VALUES = (10.0, 2.0, 8.0, 4.0, 6.0, 12.0)

_RUN1_HISTORY_AFTER_1: Blocks = {
    # OM_1: 1/3, 2/3;  OM_2 and OM_3: 0, 1/3;  OM_4: 1/3, 3/3
    "success_rates": (1 / 3, 2 / 3, 0.0, 1.0, 0.0, 1.0, 1 / 4, 3 / 4),
    # OM_1: 5/3, 10/3;  OM_2 and OM_3: 0, 1/3;  OM_4: 2/3, 13/3
    "improvement_per_application": (1 / 3, 2 / 3, 0.0, 1.0, 0.0, 1.0, 2 / 15, 13 / 15),
    "change_of_best": _ZERO2,
    # OM_1: 5, 9;  OM_2 and OM_3: 0, 1;  OM_4: 2, 6
    "sum_of_bests": (5 / 14, 9 / 14, 0.0, 1.0, 0.0, 1.0, 1 / 4, 3 / 4),
}

_RUN1_FIRST_GENERATION: tuple[Step, ...] = (
    Step(
        parent=0,
        donors=(1, 2, 3, 4, 5),
        op=0,
        value=5.0,
        expected_features={
            "parent": (8 / 10,),
            "mean": (5 / 10,),
            "deviation": (_STD1 / 5,),
            "budget": (14 / 20,),
            "dimension": (2 / 4,),
            "stagnation": (0.0,),
            "donor_distances": (0.5, 1.0, 0.6, 0.8, 0.3),
            "best_distance": (0.5,),
            "donor_differences": (0.8, 0.2, 0.6, 0.4, -0.2),
            "best_difference": (0.8,),
            "bsf_distance": (0.5,),
            "success_rates": _ZERO2,
            "improvement_per_application": _ZERO2,
            "change_of_best": _ZERO2,
            "sum_of_bests": _ZERO2,
            "window": _ZERO2,
        },
        expected_trial=(3.0, 8.0),  # (3, 4) + 0.5 (0, 8)
        expected_rewards=(5.0, 1.0, 5 / 5),
        expected_after={
            "evaluations": 7,
            "f_bsf": 2.0,
            "f_wsf": 12.0,
            "x_bsf": (3.0, 4.0),
            "stagnation": 1,
            "window": [(0, 5.0, 0.0, 0.0, 2.0, 5.0)],
            "counters": (1, 0),
            "generation": 0,
            "fitness": _RUN1_VALUES,  # synchronous: the parents stay until the generation ends
            "population": _RUN1_POPULATION,
        },
    ),
    Step(
        parent=1,
        donors=(0, 2, 3, 4, 5),
        op=1,
        value=1.0,
        expected_features={
            "parent": (0.0,),
            "mean": (5 / 10,),
            "deviation": (_STD1 / 5,),
            "budget": (13 / 20,),
            "stagnation": (1 / 20,),
            "donor_distances": (0.5, 0.5, 0.5, 0.5, 0.4),
            "best_distance": (0.0,),
            "donor_differences": (-0.8, -0.6, -0.2, -0.4, -1.0),
            "best_difference": (0.0,),
            "bsf_distance": (0.0,),
            "success_rates": _ZERO2,  # finished generations only
            "sum_of_bests": _ZERO2,
            "window": (1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0),
        },
        expected_trial=(1.5, 6.0),  # (3, 4) + 0.5 ((-3, -4) + (0, 8))
        expected_rewards=(1.0, 10.0, 1 / 1),
        expected_after={
            "evaluations": 8,
            "f_bsf": 1.0,
            "x_bsf": (1.5, 6.0),
            "stagnation": 0,
            "window": [(0, 5.0, 0.0, 0.0, 2.0, 5.0), (1, 1.0, 1.0, 1.0, 6.0, 1.0)],
            "best_index": 1,
        },
    ),
    Step(
        parent=2,
        donors=(0, 1, 3, 4, 5),
        op=0,
        value=20.0,
        expected_features={
            "parent": (7 / 11,),  # f_bsf = 1 is live, f_wsf = 12
            "mean": (6 / 11,),  # the mean is that of the start of the generation
            "deviation": (_STD1 / 5.5,),
            "budget": (12 / 20,),
            "stagnation": (0.0,),
            "donor_distances": (1.0, 0.5, 0.8, 0.6, math.sqrt(73) / 10),
            "best_distance": (0.5,),  # the best parent, (3, 4)
            "donor_differences": (-2 / 11, 6 / 11, 4 / 11, 2 / 11, -4 / 11),
            "best_difference": (6 / 11,),
            "bsf_distance": (math.sqrt(4.5**2 + 2**2) / 10,),  # to the trial (1.5, 6)
            "window": (5 / 6, 1 / 6, 0.0, 1.0, 0.0, 1.0, 2 / 8, 6 / 8),
        },
        expected_trial=(0.0, 2.0),  # (0, 0) + 0.5 (-3, 4) = (-1.5, 2), clipped
        expected_rewards=(0.0, 0.0, 0.0),
        expected_after={"f_wsf": 20.0, "stagnation": 1, "f_bsf": 1.0},
    ),
    Step(
        parent=3,
        donors=(0, 1, 2, 4, 5),
        op=1,
        value=4.0,  # a tie with the parent: replaces it, but is no success of OM_1
        expected_features={
            "parent": (3 / 19,),
            "mean": (6 / 19,),
            "deviation": (_STD1 / 9.5,),
            "stagnation": (1 / 20,),
            "donor_differences": (-6 / 19, 2 / 19, -4 / 19, -2 / 19, -8 / 19),
        },
        expected_trial=(1.5, 0.0),  # (6, 0) + 0.5 ((-6, 0) + (-3, -4)) = (1.5, -2), clipped
        expected_rewards=(0.0, 0.0, 0.0),
        expected_after={
            "stagnation": 2,
            "window": [(0, 5.0, 0.0, 0.0, 2.0, 5.0), (1, 1.0, 1.0, 1.0, 6.0, 1.0)],
        },
    ),
    Step(
        parent=4,
        donors=(0, 1, 2, 3, 5),
        op=0,
        value=NAN,
        expected_trial=(0.0, 0.0),  # (-1.5, -2), clipped
        expected_rewards=(0.0, 0.0, 0.0),
        expected_after={"stagnation": 3, "non_finite": 1, "f_wsf": 20.0, "f_bsf": 1.0, "evaluations": 11},
    ),
    Step(
        parent=5,
        donors=(0, 1, 2, 3, 4),
        op=1,
        value=3.0,
        expected_trial=(0.0, 0.0),  # (3, 0) + 0.5 ((-3, 0) + (-3, -4)) = (0, -2), clipped
        expected_rewards=(9.0, 1.0, 9 / 3),
        expected_after={
            "evaluations": 12,
            "generation": 1,
            "stagnation": 4,
            "counters": (3, 3),
            "window": [
                (0, 5.0, 0.0, 0.0, 2.0, 5.0),
                (1, 1.0, 1.0, 1.0, 6.0, 1.0),
                (1, 9.0, 0.0, 0.0, 4.0, 3.0),
            ],
            "population": ((3.0, 8.0), (1.5, 6.0), (6.0, 8.0), (1.5, 0.0), (0.0, 8.0), (0.0, 0.0)),
            "fitness": (5.0, 1.0, 8.0, 4.0, 6.0, 3.0),
            "best_index": 1,
            "ended": False,
        },
    ),
)

# parents of generation 2: f = 5 1 8 4 6 3; mean 4.5, median 4.5; squared deviations 29.5; f_wsf = 20
_RUN1_SECOND_GENERATION: tuple[Step, ...] = (
    Step(
        generation=1,
        parent=0,
        donors=(5, 4, 3, 2, 1),
        op=1,
        value=3.0,
        expected_features={
            "parent": (4 / 19,),
            "mean": (3.5 / 19,),
            "deviation": (_STD2 / 9.5,),
            "budget": (8 / 20,),
            "dimension": (2 / 4,),
            "stagnation": (4 / 20,),
            "donor_distances": (math.sqrt(73) / 10, 0.3, math.sqrt(66.25) / 10, 0.3, 0.25),
            "best_distance": (0.25,),
            "donor_differences": (2 / 19, -1 / 19, 1 / 19, -3 / 19, 4 / 19),
            "best_difference": (4 / 19,),
            "bsf_distance": (0.25,),
            **_RUN1_HISTORY_AFTER_1,
            # OM_1: 5, 10;  OM_2 and OM_3: 0, 1;  OM_4: 2, 10 (the tie, OM_4 = 3, is not in the window)
            "window": (1 / 3, 2 / 3, 0.0, 1.0, 0.0, 1.0, 1 / 6, 5 / 6),
        },
        expected_trial=(0.75, 8.0),  # (3, 8) + 0.5 ((-3, -8) + (-1.5, 8))
        expected_rewards=(2.0, 1.0, 2 / 3),
        expected_after={
            "stagnation": 5,
            # full: the oldest of operator 1 goes
            "window": [
                (0, 5.0, 0.0, 0.0, 2.0, 5.0),
                (1, 9.0, 0.0, 0.0, 4.0, 3.0),
                (1, 2.0, 0.0, 0.0, 1.5, 3.0),
            ],
        },
    ),
    Step(
        generation=1,
        parent=1,
        donors=(0, 2, 3, 4, 5),
        op=1,
        value=7.0,
        expected_features=_RUN1_HISTORY_AFTER_1,
        expected_trial=(4.5, 8.0),  # (1.5, 6) + 0.5 ((1.5, 2) + (4.5, 8)) = (4.5, 11), clipped
        expected_rewards=(0.0, 0.0, 0.0),
        expected_after={"stagnation": 6},
    ),
    Step(
        generation=1,
        parent=2,
        donors=(0, 1, 3, 4, 5),
        op=1,
        value=0.5,
        expected_trial=(4.5, 8.0),  # (6, 8) + 0.5 ((-3, 0) + (0, 6)) = (4.5, 11), clipped
        expected_rewards=(7.5, 10.0, 7.5 / 0.5),
        expected_after={
            "stagnation": 0,
            "f_bsf": 0.5,
            "x_bsf": (4.5, 8.0),
            "window": [
                (0, 5.0, 0.0, 0.0, 2.0, 5.0),
                (1, 2.0, 0.0, 0.0, 1.5, 3.0),
                (1, 7.5, 0.5, 0.5, 4.0, 0.5),
            ],
        },
    ),
    Step(
        generation=1,
        parent=3,
        donors=(0, 1, 2, 4, 5),
        op=1,
        value=0.75,
        expected_trial=(0.0, 3.0),  # (1.5, 0) + 0.5 ((1.5, 8) + (-4.5, -2))
        expected_rewards=(3.25, 1.0, 3.25 / 0.75),
        expected_after={
            # OM_2 over the best parent, 1 - 0.75; OM_3 over the live f_bsf = 0.5 is 0
            "window": [
                (0, 5.0, 0.0, 0.0, 2.0, 5.0),
                (1, 7.5, 0.5, 0.5, 4.0, 0.5),
                (1, 3.25, 0.25, 0.0, 3.75, 0.75),
            ],
            "stagnation": 1,
        },
    ),
    Step(
        generation=1,
        parent=4,
        donors=(0, 1, 2, 3, 5),
        op=1,
        value=6.0,
        expected_trial=(0.0, 7.0),  # (0, 8) + 0.5 ((3, 0) + (-4.5, -2)) = (-0.75, 7), clipped
        expected_rewards=(0.0, 0.0, 0.0),
    ),
    Step(
        generation=1,
        parent=5,
        donors=(0, 1, 2, 3, 4),
        op=0,
        value=2.0,
        expected_trial=(0.75, 7.0),  # (3, 8) + 0.5 (-4.5, -2)
        expected_rewards=(1.0, 1.0, 1 / 2),
        expected_after={
            "evaluations": 18,
            "generation": 2,
            "stagnation": 3,
            "counters": (4, 8),
            "window": [
                (1, 7.5, 0.5, 0.5, 4.0, 0.5),
                (1, 3.25, 0.25, 0.0, 3.75, 0.75),
                (0, 1.0, 0.0, 0.0, 2.5, 2.0),
            ],
            "population": ((0.75, 8.0), (1.5, 6.0), (4.5, 8.0), (0.0, 3.0), (0.0, 7.0), (0.75, 7.0)),
            "fitness": (3.0, 1.0, 0.5, 0.75, 6.0, 2.0),
            "best_index": 2,
            "ended": False,
        },
    ),
)

# parents of generation 3: f = 3 1 .5 .75 6 2; sum 13.25, sum of squares 50.8125, so
# variance = (6 x 50.8125 - 13.25^2) / 36 = 129.3125 / 36; f_wsf - f_bsf = 19.5
_RUN1_LAST_GENERATION: tuple[Step, ...] = (
    Step(
        generation=2,
        parent=0,
        donors=(1, 2, 3, 4, 5),
        op=0,
        value=2.5,
        expected_features={
            "parent": (2.5 / 19.5,),
            "mean": (10.25 / 117,),  # (13.25/6 - 0.5) / 19.5
            "deviation": (math.sqrt(129.3125) / 6 / 9.75,),
            "budget": (2 / 20,),
            "stagnation": (3 / 20,),
            "donor_distances": (math.sqrt(4.5625) / 10, 0.375, math.sqrt(25.5625) / 10, 0.125, 0.1),
            "best_distance": (0.375,),
            "donor_differences": (2 / 19.5, 2.5 / 19.5, 2.25 / 19.5, -3 / 19.5, 1 / 19.5),
            "best_difference": (2.5 / 19.5,),
            "bsf_distance": (0.375,),
            # OM_1: 1/3 + 1, 2/3 + 3/5;  OM_4: 1/3 + 1, 1 + 3/5
            "success_rates": (20 / 39, 19 / 39, 0.0, 1.0, 0.0, 1.0, 5 / 11, 6 / 11),
            # OM_1: 6/4, 22.75/8;  OM_4: 4.5/4, 22.25/8
            "improvement_per_application": (48 / 139, 91 / 139, 0.0, 1.0, 0.0, 1.0, 36 / 125, 89 / 125),
            # applications 3, 3 then 1, 5: both differ by 2.
            # OM_1: (1-5)/(5x2) = -2/5, (7.5-9)/(9x2) = -1/12;  OM_2: 0, (.5-1)/(1x2);  OM_3: 0, the same;
            # OM_4: (2.5-2)/(2x2) = 1/8, (4-6)/(6x2) = -1/6
            "change_of_best": (-24 / 29, -5 / 29, 0.0, -1.0, 0.0, -1.0, 3 / 7, -4 / 7),
            # OM_1: 5+1, 9+7.5;  OM_4: 2+2.5, 6+4
            "sum_of_bests": (4 / 15, 11 / 15, 0.0, 1.0, 0.0, 1.0, 9 / 29, 20 / 29),
            # OM_1: 1, 10.75;  OM_4: 2.5, 7.75
            "window": (4 / 47, 43 / 47, 0.0, 1.0, 0.0, 1.0, 10 / 41, 31 / 41),
        },
        expected_trial=(3.75, 8.0),  # (1.5, 6) + 0.5 (4.5, 5) = (3.75, 8.5), clipped
        expected_rewards=(0.5, 1.0, 0.5 / 2.5),
        expected_after={
            "evaluations": 19,
            "ended": False,
            "stagnation": 4,
            "fitness": (3, 1, 0.5, 0.75, 6, 2),
        },
    ),
    Step(
        generation=2,
        parent=1,
        donors=(0, 2, 3, 4, 5),
        op=1,
        value=30.0,
        expected_trial=(3.375, 8.0),  # (1.5, 6) + 0.5 ((-.75, 2) + (4.5, 5)) = (3.375, 9.5), clipped
        expected_rewards=(0.0, 0.0, 0.0),
        expected_after={
            "evaluations": 20,
            "ended": True,
            "generation": 3,
            "f_wsf": 30.0,
            "counters": (5, 9),
            # the truncated generation takes its accepted trial
            "population": ((3.75, 8.0), (1.5, 6.0), (4.5, 8.0), (0.0, 3.0), (0.0, 7.0), (0.75, 7.0)),
            "fitness": (2.5, 1.0, 0.5, 0.75, 6.0, 2.0),
            "window": [
                (1, 7.5, 0.5, 0.5, 4.0, 0.5),
                (1, 3.25, 0.25, 0.0, 3.75, 0.75),
                (0, 0.5, 0.0, 0.0, 0.0, 2.5),
            ],
        },
    ),
)

RUN_TWO_OPERATORS = RunCase(
    name="two operators, sequential",
    lower=(0.0, 0.0),
    upper=(6.0, 8.0),
    portfolio=TWO_OPERATORS,
    budget=20,
    max_dimension=4,
    optimum=0.0,
    window_size=3,
    population=_RUN1_POPULATION,
    values=_RUN1_VALUES,
    steps=_RUN1_FIRST_GENERATION + _RUN1_SECOND_GENERATION + _RUN1_LAST_GENERATION,
    expected_initial={
        "evaluations": 6,
        "f_bsf": 2.0,
        "f_wsf": 12.0,
        "x_bsf": (3.0, 4.0),
        "stagnation": 0,
        "generation": 0,
        "window": [],
        "counters": (0, 0),
        "best_index": 1,
        "ended": False,
        "non_finite": 0,
    },
)


# ---------------------------------------------------------------------------------------------------------
# Run 2: the same start, deferred.  Features are frozen at the start of the generation, commits are live.


def _frozen(step: Step, features: Blocks, **after: Any) -> Step:
    return Step(
        generation=step.generation,
        parent=step.parent,
        donors=step.donors,
        op=step.op,
        value=step.value,
        expected_features={
            "mean": (5 / 10,),
            "deviation": (_STD1 / 5,),
            "budget": (14 / 20,),
            "stagnation": (0.0,),
            "window": _ZERO2,
            **features,
        },
        expected_trial=step.expected_trial,
        expected_rewards=step.expected_rewards,
        expected_after={**step.expected_after, **after},
    )


RUN_DEFERRED = RunCase(
    name="two operators, deferred",
    lower=(0.0, 0.0),
    upper=(6.0, 8.0),
    portfolio=TWO_OPERATORS,
    budget=20,
    max_dimension=4,
    optimum=0.0,
    window_size=3,
    deferred=True,
    population=_RUN1_POPULATION,
    values=_RUN1_VALUES,
    steps=(
        _frozen(_RUN1_FIRST_GENERATION[0], {"parent": (8 / 10,)}),
        _frozen(_RUN1_FIRST_GENERATION[1], {"parent": (0.0,)}),
        # f_bsf is still 2 and x_bsf still (3, 4) for every member of the generation
        _frozen(_RUN1_FIRST_GENERATION[2], {"parent": (6 / 10,), "bsf_distance": (0.5,)}),
        _frozen(_RUN1_FIRST_GENERATION[3], {"parent": (2 / 10,), "bsf_distance": (0.5,)}),
        _frozen(_RUN1_FIRST_GENERATION[4], {"parent": (4 / 10,), "bsf_distance": (0.5,)}),
        _frozen(_RUN1_FIRST_GENERATION[5], {"parent": (10 / 10,), "bsf_distance": (0.4,)}),
    ),
)


# ---------------------------------------------------------------------------------------------------------
# Run 3: the paper's portfolio, 99 features; all four operators, one of them unused in generation 2.
#
# generation 1: f = 80 70 60 50 40 30 20 10, best 10, median 45
#   i op  f(u)  OM_1 OM_2 OM_3 OM_4          i op  f(u)  OM_1 OM_2 OM_3 OM_4
#   0  0   60    20    0    0    0           4  0   35     5    0    0   10
#   1  1   40    30    0    0    5           5  1   50     0    0    0    0
#   2  2    5    55    5    5   40           6  2    8    12    2    0   37
#   3  3    4    46    6    1   41           7  3   44     0    0    0    1
# generation 2: f = 60 40 5 4 35 30 8 10, best 4, median (10 + 30) / 2 = 20
#   0  0   20    40    0    0    0           4  0   25    10    0    0    0
#   1  1   10    30    0    0   10           5  3    2    28    2    1   18
#   2  1    6     0    0    0   14           6  3    9     0    0    0   11
#   3  1    3     1    1    1   17           7  3    1     9    3    1   19


def _others(parent: int, size: int) -> tuple[int, int, int, int, int]:
    first, second, third, fourth, fifth = [index for index in range(size) if index != parent][:5]
    return (first, second, third, fourth, fifth)


def _plain_steps(generation: int, size: int, decisions: tuple[tuple[int, float], ...]) -> tuple[Step, ...]:
    """One step per parent from (operator, value) pairs, nothing expected."""
    return tuple(
        Step(generation=generation, parent=parent, donors=_others(parent, size), op=op, value=value)
        for parent, (op, value) in enumerate(decisions)
    )


_LINE8: tuple[Point, ...] = tuple((float(index),) for index in range(8))
_LINE6: tuple[Point, ...] = tuple((float(index),) for index in range(6))
_RUN3_GENERATION_1 = ((0, 60.0), (1, 40.0), (2, 5.0), (3, 4.0), (0, 35.0), (1, 50.0), (2, 8.0), (3, 44.0))
_RUN3_GENERATION_2 = ((0, 20.0), (1, 10.0), (1, 6.0), (1, 3.0), (0, 25.0), (3, 2.0), (3, 9.0), (3, 1.0))

_RUN3_AFTER_1: Blocks = {
    "success_rates": (
        *(1 / 3, 1 / 6, 1 / 3, 1 / 6),  # 2/2 1/2 2/2 1/2
        *(0.0, 0.0, 2 / 3, 1 / 3),  # 0 0 2/2 1/2
        *(0.0, 0.0, 1 / 2, 1 / 2),  # 0 0 1/2 1/2
        *(1 / 6, 1 / 6, 1 / 3, 1 / 3),  # 1/2 1/2 2/2 2/2
    ),
    "improvement_per_application": (
        *(25 / 168, 30 / 168, 67 / 168, 46 / 168),
        *(0.0, 0.0, 7 / 13, 6 / 13),
        *(0.0, 0.0, 5 / 6, 1 / 6),
        *(10 / 134, 5 / 134, 77 / 134, 42 / 134),
    ),
    "change_of_best": (0.0,) * 16,
    "sum_of_bests": (
        *(20 / 151, 30 / 151, 55 / 151, 46 / 151),
        *(0.0, 0.0, 5 / 11, 6 / 11),
        *(0.0, 0.0, 5 / 6, 1 / 6),
        *(10 / 96, 5 / 96, 40 / 96, 41 / 96),
    ),
    "window": (
        *(25 / 168, 30 / 168, 67 / 168, 46 / 168),
        *(0.0, 0.0, 7 / 13, 6 / 13),
        *(0.0, 0.0, 5 / 6, 1 / 6),
        *(10 / 133, 5 / 133, 77 / 133, 41 / 133),  # the trial 44 is no improvement: its OM_4 = 1 is not here
    ),
}

_RUN3_AFTER_2: Blocks = {
    "success_rates": (
        *(12 / 32, 7 / 32, 6 / 32, 7 / 32),  # 1+1, 1/2+2/3, 1+0, 1/2+2/3
        *(0.0, 2 / 15, 6 / 15, 7 / 15),  # 0, 1/3, 1, 1/2+2/3
        *(0.0, 1 / 6, 1 / 4, 7 / 12),  # 0, 1/3, 1/2, 1/2+2/3
        *(0.1, 0.3, 0.2, 0.4),  # 1/2, 1/2+1, 1, 1+1
    ),
    "improvement_per_application": (
        *(375 / 1621, 244 / 1621, 670 / 1621, 332 / 1621),  # 75/4, 61/5, 67/2, 83/5
        *(0.0, 2 / 59, 35 / 59, 22 / 59),  # 0, 1/5, 7/2, 11/5
        *(0.0, 2 / 33, 25 / 33, 6 / 33),  # 0, 1/5, 5/2, 3/5
        *(25 / 682, 92 / 682, 385 / 682, 180 / 682),  # 10/4, 46/5, 77/2, 90/5
    ),
    # applications 2 2 2 2, then 2 3 0 3: the zero difference of operator 0 is left out
    "change_of_best": (
        *(46 / 87, 0.0, -23 / 87, -18 / 87),  # 20/20, 0/30, -55/(55x2), -18/46
        *(0.0, 1 / 2, -1 / 4, -1 / 4),  # 0, 1/1 (best before is 0), -5/(5x2), -3/6
        *(0.0, 2 / 3, -1 / 3, 0.0),  # 0, 1/1, -5/(5x2), 0
        *(-41 / 181.9, 98.4 / 181.9, -20.5 / 181.9, -22 / 181.9),  # -10/10, 12/5, -40/(40x2), -22/41
    ),
    "sum_of_bests": (
        *(60 / 249, 60 / 249, 55 / 249, 74 / 249),
        *(0.0, 1 / 15, 5 / 15, 9 / 15),
        *(0.0, 1 / 8, 5 / 8, 2 / 8),
        *(10 / 132, 22 / 132, 40 / 132, 60 / 132),
    ),
    "window": (
        *(75 / 286, 61 / 286, 67 / 286, 83 / 286),
        *(0.0, 1 / 19, 7 / 19, 11 / 19),
        *(0.0, 1 / 9, 5 / 9, 3 / 9),
        *(10 / 197, 32 / 197, 77 / 197, 78 / 197),
    ),
}

RUN_PAPER_PORTFOLIO = RunCase(
    name="the paper's portfolio",
    lower=(0.0,),
    upper=(10.0,),
    portfolio=PAPER_PORTFOLIO,
    budget=100,
    population=_LINE8,
    values=(80.0, 70.0, 60.0, 50.0, 40.0, 30.0, 20.0, 10.0),
    steps=(
        *_plain_steps(0, 8, _RUN3_GENERATION_1),
        Step(0, _others(0, 8), 0, 20.0, generation=1, expected_features=_RUN3_AFTER_1),
        *_plain_steps(1, 8, _RUN3_GENERATION_2)[1:],
        Step(
            0,
            _others(0, 8),
            0,
            0.5,
            generation=2,
            expected_features=_RUN3_AFTER_2,
            expected_rewards=(19.5, 10.0, None),
        ),
    ),
)


# ---------------------------------------------------------------------------------------------------------
# Run 4: only the last `generations` generations count.  All parents start at 100; operator 0 succeeds once
# in generation 1 (OM_1 = 10), operator 1 once in generation 2 (OM_1 = 20) and once in generation 3 (5).

_FAILS = ((1, 200.0),) * 5

RUN_SHORT_MEMORY = RunCase(
    name="a memory of two generations",
    lower=(0.0,),
    upper=(10.0,),
    portfolio=TWO_OPERATORS,
    budget=100,
    generations=2,
    population=_LINE6,
    values=(100.0,) * 6,
    steps=(
        *_plain_steps(0, 6, ((0, 90.0), *_FAILS)),
        *_plain_steps(1, 6, (*_FAILS, (1, 80.0))),
        Step(
            0,
            (1, 2, 3, 4, 5),
            1,
            85.0,
            generation=2,
            expected_features={
                # rows for OM_1 only are of interest: rates 1/1 + 0, 0/5 + 1/6
                # generation 1: OM_1 = OM_2 = OM_3 = OM_4 = 10 (all references are 100);
                # generation 2: OM_1 = 100 - 80 = 20, OM_2 = OM_3 = 90 - 80 = 10, OM_4 = 100 - 80 = 20
                "success_rates": (6 / 7, 1 / 7) * 4,
                # operator 0: 10/1; operator 1: 20/11 or 10/11
                "improvement_per_application": (
                    *(110 / 130, 20 / 130),
                    *(110 / 120, 10 / 120),
                    *(110 / 120, 10 / 120),
                    *(110 / 130, 20 / 130),
                ),
                # operator 0: (0-10)/(10x1) = -1; operator 1: (20-0)/1 or (10-0)/1, best before left out
                "change_of_best": (
                    *(-1 / 21, 20 / 21),
                    *(-1 / 11, 10 / 11),
                    *(-1 / 11, 10 / 11),
                    *(-1 / 21, 20 / 21),
                ),
                "sum_of_bests": (10 / 30, 20 / 30, 0.5, 0.5, 0.5, 0.5, 10 / 30, 20 / 30),
            },
        ),
        *_plain_steps(2, 6, (*_FAILS, (1, 200.0)))[1:],
        Step(
            0,
            (1, 2, 3, 4, 5),
            1,
            200.0,
            generation=3,
            expected_features={
                # generation 1 is forgotten; generation 3 (best parent 80, median 100): the trial 85 of the
                # parent 90 has OM_1 = 5, OM_2 = OM_3 = 0, OM_4 = 15
                "success_rates": (0.0, 1.0) * 4,
                "improvement_per_application": (0.0, 1.0) * 4,
                # operator 0: nothing; operator 1 (6 and 6 applications): -15/20, -10/10, -10/10, -5/20
                "change_of_best": (0.0, -1.0) * 4,
                "sum_of_bests": (0.0, 1.0) * 4,
                # the window has no generations: OM_1: 10, 25; OM_2 and OM_3: 10, 10; OM_4: 10, 35
                "window": (10 / 35, 25 / 35, 0.5, 0.5, 0.5, 0.5, 10 / 45, 35 / 45),
            },
        ),
    ),
)


# ---------------------------------------------------------------------------------------------------------
# Run 5: replacement in a full window of two.  f = 9 8 7 6 5 4 4 4; best 4, median 5.5.

RUN_WINDOW = RunCase(
    name="window replacement",
    lower=(0.0,),
    upper=(10.0,),
    portfolio=THREE_OPERATORS,
    budget=100,
    window_size=2,
    population=_LINE8,
    values=(9.0, 8.0, 7.0, 6.0, 5.0, 4.0, 4.0, 4.0),
    steps=(
        Step(0, _others(0, 8), 0, 5.0, expected_after={"window": [(0, 4.0, 0.0, 0.0, 0.5, 5.0)]}),
        Step(
            1,
            _others(1, 8),
            0,
            5.0,
            expected_after={"window": [(0, 4.0, 0.0, 0.0, 0.5, 5.0), (0, 3.0, 0.0, 0.0, 0.5, 5.0)]},
        ),
        # operator 1 has no element: both have f(u) = 5, the older one goes
        Step(
            2,
            _others(2, 8),
            1,
            4.5,
            expected_after={"window": [(0, 3.0, 0.0, 0.0, 0.5, 5.0), (1, 2.5, 0.0, 0.0, 1.0, 4.5)]},
        ),
        # operator 1 has one: it goes, though operator 0 has the higher f(u)
        Step(
            3,
            _others(3, 8),
            1,
            3.0,
            expected_after={"window": [(0, 3.0, 0.0, 0.0, 0.5, 5.0), (1, 3.0, 1.0, 1.0, 2.5, 3.0)]},
        ),
        # operator 2 has none: the highest f(u) = 5 goes, though it is not the newest
        Step(
            4,
            _others(4, 8),
            2,
            4.75,
            expected_after={"window": [(1, 3.0, 1.0, 1.0, 2.5, 3.0), (2, 0.25, 0.0, 0.0, 0.75, 4.75)]},
        ),
        # a tie with the parent does not enter
        Step(
            5,
            _others(5, 8),
            0,
            4.0,
            expected_after={"window": [(1, 3.0, 1.0, 1.0, 2.5, 3.0), (2, 0.25, 0.0, 0.0, 0.75, 4.75)]},
        ),
        # operator 0 has none any more: the highest f(u) is the newest element, 4.75
        Step(
            6,
            _others(6, 8),
            0,
            3.5,
            expected_after={"window": [(1, 3.0, 1.0, 1.0, 2.5, 3.0), (0, 0.5, 0.5, 0.0, 2.0, 3.5)]},
        ),
        # the features of a window with one element each: OM_1 3, .5; OM_2 1, .5; OM_3 1, 0; OM_4 2.5, 2
        Step(
            7,
            _others(7, 8),
            1,
            NAN,
            expected_features={
                "window": (
                    *(1 / 7, 6 / 7, 0.0),
                    *(1 / 3, 2 / 3, 0.0),
                    *(0.0, 1.0, 0.0),
                    *(4 / 9, 5 / 9, 0.0),
                )
            },
            expected_after={"window": [(1, 3.0, 1.0, 1.0, 2.5, 3.0), (0, 0.5, 0.5, 0.0, 2.0, 3.5)]},
        ),
    ),
)


# ---------------------------------------------------------------------------------------------------------
# Run 6: some initial values are not finite.  f = inf nan 3 5 -inf 1: finite 3 5 1, mean 3, median 3,
# variance (0 + 4 + 4) / 3; f_bsf = 1, f_wsf = 5.

RUN_NON_FINITE = RunCase(
    name="non-finite values",
    lower=(0.0,),
    upper=(10.0,),
    portfolio=TWO_OPERATORS,
    budget=100,
    optimum=0.0,
    population=_LINE6,
    values=(INF, NAN, 3.0, 5.0, -INF, 1.0),
    expected_initial={
        "evaluations": 6,
        "non_finite": 3,
        "f_bsf": 1.0,
        "f_wsf": 5.0,
        "x_bsf": (5.0,),
        "fitness": (INF, INF, 3.0, 5.0, INF, 1.0),
        "best_index": 5,
        "ended": False,
    },
    steps=(
        Step(
            0,
            (1, 2, 3, 4, 5),
            0,
            4.0,
            expected_features={
                "parent": (1.0,),
                "mean": (2 / 4,),
                "deviation": (math.sqrt(8 / 3) / 2,),
                "donor_differences": (0.0, 1.0, 1.0, 0.0, 1.0),
                "best_difference": (1.0,),
            },
            expected_trial=(0.5,),  # 1 + 0.5 (2 - 3)
            # the infinite parent counts as f_wsf = 5
            expected_rewards=(1.0, 1.0, 1 / 4),
            expected_after={"window": [(0, 1.0, 0.0, 0.0, 0.0, 4.0)], "stagnation": 1},
        ),
        # an infinite trial replaces an infinite parent, but is no improvement
        Step(
            1,
            (0, 2, 3, 4, 5),
            0,
            INF,
            expected_trial=(0.0,),  # 0 + 0.5 (2 - 3), clipped
            expected_rewards=(0.0, 0.0, 0.0),
            expected_after={"non_finite": 4, "stagnation": 2, "window": [(0, 1.0, 0.0, 0.0, 0.0, 4.0)]},
        ),
        Step(
            2,
            (0, 1, 3, 4, 5),
            0,
            NAN,
            expected_features={
                "parent": (2 / 4,),
                "donor_differences": (-1.0, -1.0, -2 / 4, -1.0, 2 / 4),
                "best_difference": (2 / 4,),
            },
            expected_rewards=(0.0, 0.0, 0.0),
            expected_after={"non_finite": 5},
        ),
        # -inf counts as NaN
        Step(
            3,
            (0, 1, 2, 4, 5),
            0,
            -INF,
            expected_rewards=(0.0, 0.0, 0.0),
            expected_after={"non_finite": 6, "f_bsf": 1.0, "f_wsf": 5.0, "stagnation": 4},
        ),
        # finite, but worse than the f_wsf = 5 that stands for the parent: an improvement with OM_1 = 0
        Step(
            4,
            (0, 1, 2, 3, 5),
            1,
            9.0,
            expected_rewards=(0.0, 1.0, 0.0),
            expected_trial=(1.5,),  # 4 + 0.5 (0 - 4 + 1 - 2)
            expected_after={
                "f_wsf": 9.0,
                "window": [(0, 1.0, 0.0, 0.0, 0.0, 4.0), (1, 0.0, 0.0, 0.0, 0.0, 9.0)],
            },
        ),
        Step(
            5,
            (0, 1, 2, 3, 4),
            1,
            0.5,
            expected_trial=(2.0,),  # 5 + 0.5 (0 - 5 + 1 - 2)
            expected_rewards=(0.5, 10.0, 1.0),
            expected_after={
                "generation": 1,
                "fitness": (4.0, INF, 3.0, 5.0, 9.0, 0.5),
                "population": ((0.5,), (0.0,), (2.0,), (3.0,), (1.5,), (2.0,)),
                "evaluations": 12,
                "best_index": 5,
                "x_bsf": (2.0,),
                "stagnation": 0,
            },
        ),
        # operator 0: 4 applications, one success of OM_1; operator 1: 2 applications, one success of each
        Step(
            0,
            (1, 2, 3, 4, 5),
            0,
            4.0,
            generation=1,
            expected_features={
                "parent": (3.5 / 8.5,),
                "mean": (3.8 / 8.5,),  # (4 + 3 + 5 + 9 + .5) / 5 = 4.3
                "donor_differences": (-1.0, 1 / 8.5, -1 / 8.5, -5 / 8.5, 3.5 / 8.5),
                # OM_1: 1/4, 1/2;  OM_2, OM_3 and OM_4: 0, 1/2
                "success_rates": (1 / 3, 2 / 3, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0),
                # OM_1: 1/4, 0.5/2
                "improvement_per_application": (0.5, 0.5, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0),
            },
        ),
    ),
)

RUN_ALL_INFINITE = RunCase(
    name="no finite initial value",
    lower=(0.0,),
    upper=(10.0,),
    portfolio=TWO_OPERATORS,
    budget=100,
    population=_LINE6,
    values=(NAN, INF, INF, -INF, NAN, INF),
    expected_initial={
        "f_bsf": INF,
        "f_wsf": -INF,
        "x_bsf": (0.0,),
        "best_index": 0,
        "non_finite": 6,
        "stagnation": 0,
    },
    steps=(
        Step(
            0,
            (1, 2, 3, 4, 5),
            0,
            5.0,
            expected_features={
                "parent": (0.0,),
                "mean": (0.0,),
                "deviation": (0.0,),
                "donor_distances": (0.1, 0.2, 0.3, 0.4, 0.5),
                "best_distance": (0.0,),
                "donor_differences": (0.0,) * 5,
                "best_difference": (0.0,),
                "bsf_distance": (0.0,),
            },
            expected_rewards=(0.0, 10.0, None),  # no finite value was known before
            expected_after={
                "f_bsf": 5.0,
                "f_wsf": 5.0,
                "x_bsf": (0.5,),  # 1 + 0.5 (2 - 3)
                "window": [(0, 0.0, 0.0, 0.0, 0.0, 5.0)],
                "stagnation": 0,
            },
        ),
        Step(
            1,
            (0, 2, 3, 4, 5),
            1,
            3.0,
            expected_features={
                "parent": (1.0,),  # the parent is infinite, f_bsf is not
                "mean": (0.0,),
                "deviation": (0.0,),
                "best_distance": (0.1,),
                "donor_differences": (0.0,) * 5,
                "best_difference": (0.0,),
                "bsf_distance": (0.05,),
                "window": _ZERO2,
            },
            # parent, best parent and median are infinite and count as f_wsf = 5; f_bsf = 5
            expected_rewards=(2.0, 10.0, None),
            expected_after={
                "window": [(0, 0.0, 0.0, 0.0, 0.0, 5.0), (1, 2.0, 2.0, 2.0, 2.0, 3.0)],
                "f_bsf": 3.0,
                "f_wsf": 5.0,
            },
        ),
        Step(
            2,
            (0, 1, 3, 4, 5),
            0,
            INF,
            expected_features={"window": (0.0, 1.0) * 4, "parent": (1.0,), "mean": (0.0,)},
            expected_rewards=(0.0, 0.0, None),
            expected_after={"stagnation": 1, "non_finite": 7},
        ),
    ),
)


# ---------------------------------------------------------------------------------------------------------
# Runs 8 and 9: the largest numbers.
#
# f = 1.7 -1.7 0 .85 -.85 0 (x 1e308): mean 0, variance (2 x 1.7^2 + 2 x .85^2) / 6 = 1.7^2 x 2.5 / 6

RUN_HUGE = RunCase(
    name="values of 1.7e308",
    lower=(0.0,),
    upper=(10.0,),
    portfolio=TWO_OPERATORS,
    budget=100,
    optimum=-1.75e308,
    population=_LINE6,
    values=(1.7e308, -1.7e308, 0.0, 0.85e308, -0.85e308, 0.0),
    steps=(
        Step(
            0,
            (1, 2, 3, 4, 5),
            0,
            -1.7e308,
            expected_features={
                "parent": (1.0,),
                "mean": (0.5,),
                "deviation": (math.sqrt(2.5 / 6),),
                "donor_differences": (1.0, 0.5, 0.25, 0.75, 0.5),
                "best_difference": (1.0,),
            },
            # OM_1 is capped; OM_2 and OM_3 are ties; the median is 0.  R3 = 1e300 / 5e306
            expected_rewards=(1e300, 1.0, 1e300 / 5e306),
            expected_after={"window": [(0, 1e300, 0.0, 0.0, 1e300, -1.7e308)]},
        ),
        Step(
            1,
            (0, 2, 3, 4, 5),
            1,
            0.0,
            expected_features={
                "parent": (0.0,),
                "donor_differences": (-1.0, -0.5, -0.75, -0.25, -0.5),
                "best_difference": (0.0,),
                "window": (1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0),
            },
            expected_rewards=(0.0, 0.0, 0.0),
        ),
        Step(
            2,
            (0, 1, 3, 4, 5),
            1,
            -1.0e308,
            expected_features={"parent": (0.5,)},
            expected_after={"window": [(0, 1e300, 0.0, 0.0, 1e300, -1.7e308), (1, 1e300, 0.0, 0.0, 1e300, -1.0e308)]},
        ),
        Step(3, (0, 1, 2, 4, 5), 0, INF, expected_features={"window": (0.5, 0.5, 0, 0, 0, 0, 0.5, 0.5)}),
    ),
)

# Rows 52-67 with a quotient beyond 1e300.  Generation 1: operator 0 improves 1e-10 to 0, operator 1
# improves 1 to 0; generation 2: both improve 1e300 to 0, so the quotients are 1e310 and 1e300.

RUN_HUGE_QUOTIENT = RunCase(
    name="a change of best beyond 1e300",
    lower=(0.0,),
    upper=(10.0,),
    portfolio=TWO_OPERATORS,
    budget=100,
    population=_LINE6,
    values=(1e-10, 1.0, 1e300, 1e300, 1e300, 1e300),
    steps=(
        *_plain_steps(0, 6, ((0, 0.0), (1, 0.0), (0, INF), (1, INF), (0, INF), (1, INF))),
        *_plain_steps(1, 6, ((0, INF), (1, INF), (0, 0.0), (1, 0.0), (0, INF), (1, INF))),
        Step(
            0,
            (1, 2, 3, 4, 5),
            0,
            INF,
            generation=2,
            expected_features={
                # OM_1 as above.  OM_2: 1e-10 and 1e-10, then 0 and 0: -1, -1.  OM_3: 1e-10 and 0 (f_bsf is
                # live), then 0 and 0: -1, 0.  OM_4: 1e300 and 1e300 both times (the medians are 1e300).
                "change_of_best": (0.5, 0.5, -0.5, -0.5, -1.0, 0.0, 0.0, 0.0),
                "sum_of_bests": (0.5, 0.5, 0.5, 0.5, 1.0, 0.0, 0.5, 0.5),
                "parent": (0.0,),
                "mean": (1 / 3,),  # 0 0 0 0 1 1 (x 1e300)
                "deviation": (math.sqrt(2 / 9) / 0.5,),
            },
        ),
    ),
)

# R3: the denominator is at least 1e-8, the reward at most 1e300.

RUN_SMALL_ERROR = RunCase(
    name="the limits of R3",
    lower=(0.0,),
    upper=(10.0,),
    portfolio=TWO_OPERATORS,
    budget=100,
    optimum=0.0,
    deferred=True,  # the target is met by the first commit; the others of the generation follow
    population=_LINE6,
    values=(1.0, 1e300, 1e300, 4.0, 4.0, 4.0),
    steps=(
        Step(
            0,
            (1, 2, 3, 4, 5),
            0,
            0.0,
            expected_rewards=(1.0, 10.0, 1e8),
            expected_after={"ended": False, "evaluations": 7, "f_bsf": 0.0},
        ),
        Step(1, (0, 2, 3, 4, 5), 0, 1e-9, expected_rewards=(1e300, 1.0, 1e300)),
        Step(2, (0, 1, 3, 4, 5), 0, 1e300, expected_rewards=(0.0, 0.0, 0.0)),
        Step(3, (0, 1, 2, 4, 5), 0, 0.5, expected_rewards=(3.5, 1.0, 7.0)),
        Step(4, (0, 1, 2, 3, 5), 0, NAN, expected_rewards=(0.0, 0.0, 0.0)),
        Step(
            5,
            (0, 1, 2, 3, 4),
            0,
            2.0,
            expected_rewards=(2.0, 1.0, 1.0),
            expected_after={
                "ended": True,
                "evaluations": 12,
                "generation": 1,
                "fitness": (0.0, 1e-9, 1e300, 0.5, 4.0, 2.0),
            },
        ),
    ),
)


# ---------------------------------------------------------------------------------------------------------
# Runs that end early, and the edges of the box.

RUN_TARGET = RunCase(
    name="the target in the middle of a generation",
    lower=(0.0,),
    upper=(10.0,),
    portfolio=TWO_OPERATORS,
    budget=100,
    optimum=-7.0,
    population=_LINE6,
    values=(6.0, 5.0, 4.0, 3.0, 2.0, 1.0),
    steps=(
        Step(0, (1, 2, 3, 4, 5), 0, 5.5, expected_after={"ended": False, "generation": 0}),
        # an error of 2^-27 = 7.5e-9, below 1e-8
        Step(
            1,
            (0, 2, 3, 4, 5),
            1,
            -7.0 + 2.0**-27,
            expected_after={
                "ended": True,
                "generation": 1,
                "evaluations": 8,
                "fitness": (5.5, -7.0 + 2.0**-27, 4.0, 3.0, 2.0, 1.0),
            },
        ),
    ),
)

RUN_TARGET_AT_START = RunCase(
    name="the target in the initial population",
    lower=(0.0,),
    upper=(10.0,),
    portfolio=TWO_OPERATORS,
    budget=100,
    optimum=0.0,
    population=_LINE6,
    values=(6.0, 5.0, 0.0, 3.0, 2.0, 1.0),
    expected_initial={"ended": True, "evaluations": 3, "f_bsf": 0.0, "x_bsf": (2.0,), "f_wsf": 6.0},
)

RUN_TARGET_AT_START_DEFERRED = RunCase(
    name="the target in the initial population, deferred",
    lower=(0.0,),
    upper=(10.0,),
    portfolio=TWO_OPERATORS,
    budget=100,
    optimum=0.0,
    deferred=True,  # the whole initial population is evaluated
    population=_LINE6,
    values=(6.0, 5.0, 0.0, 3.0, 2.0, 7.0),
    expected_initial={
        "ended": True,
        "evaluations": 6,
        "generation": 0,
        "f_bsf": 0.0,
        "x_bsf": (2.0,),
        "f_wsf": 7.0,
        "fitness": (6.0, 5.0, 0.0, 3.0, 2.0, 7.0),
    },
)

RUN_BUDGET_AT_START = RunCase(
    name="a budget smaller than the population",
    lower=(0.0,),
    upper=(10.0,),
    portfolio=TWO_OPERATORS,
    budget=4,
    population=_LINE6,
    values=(6.0, 5.0, 4.0, 3.0, 2.0, 1.0),
    expected_initial={"ended": True, "evaluations": 4, "f_bsf": 3.0, "x_bsf": (3.0,), "f_wsf": 6.0},
)

RUN_EQUAL_VALUES = RunCase(
    name="a flat function in a box without width",
    lower=(3.0,),
    upper=(3.0,),
    portfolio=TWO_OPERATORS,
    budget=10,
    max_dimension=1,
    population=((3.0,),) * 6,
    values=(4.0,) * 6,
    steps=(
        Step(
            0,
            (1, 2, 3, 4, 5),
            0,
            4.0,
            expected_features={
                "parent": (0.0,),
                "mean": (0.0,),
                "deviation": (0.0,),
                "budget": (0.4,),
                "dimension": (1.0,),
                "donor_distances": (0.0,) * 5,
                "best_distance": (0.0,),
                "donor_differences": (0.0,) * 5,
                "best_difference": (0.0,),
                "bsf_distance": (0.0,),
            },
            expected_trial=(3.0,),
            expected_rewards=(0.0, 0.0, None),
        ),
    ),
)

# Without bounds the trials leave the initial range, whose diagonal (10) stays the unit: the first trial is
# 5 + 2 (4 - (-4)) = 21, which is 16 away from the second parent.

RUN_OUTSIDE = RunCase(
    name="points outside the initial range",
    lower=(-5.0,),
    upper=(5.0,),
    search_lower=(-INF,),
    search_upper=(INF,),
    portfolio=(("rand/1", 2.0, 1.0),),
    budget=100,
    max_dimension=1,
    population=((-1.0,), (5.0,), (4.0,), (-4.0,), (0.0,), (1.0,)),
    values=(6.0, 5.0, 4.0, 3.0, 2.0, 1.0),
    steps=(
        Step(
            0,
            (1, 2, 3, 4, 5),
            0,
            0.0,
            expected_features={
                "donor_distances": (0.6, 0.5, 0.3, 0.1, 0.2),
                "best_distance": (0.2,),
                "bsf_distance": (0.2,),
                "dimension": (1.0,),
            },
            expected_trial=(21.0,),
        ),
        Step(
            1,
            (0, 2, 3, 4, 5),
            0,
            9.0,
            expected_features={"bsf_distance": (1.0,), "best_distance": (0.4,)},  # 16 / 10, clipped
        ),
    ),
)

RUN_CASES: tuple[RunCase, ...] = (
    RUN_TWO_OPERATORS,
    RUN_DEFERRED,
    RUN_PAPER_PORTFOLIO,
    RUN_SHORT_MEMORY,
    RUN_WINDOW,
    RUN_NON_FINITE,
    RUN_ALL_INFINITE,
    RUN_HUGE,
    RUN_HUGE_QUOTIENT,
    RUN_SMALL_ERROR,
    RUN_TARGET,
    RUN_TARGET_AT_START,
    RUN_TARGET_AT_START_DEFERRED,
    RUN_BUDGET_AT_START,
    RUN_EQUAL_VALUES,
    RUN_OUTSIDE,
)
