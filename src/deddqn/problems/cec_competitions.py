"""The suites of later CEC competitions through ``minionpy`` (extra `baselines`): for reporting, never for choosing.

==================  =========================  =============  ============================  ====
name                dimensions                 optimum        official budget               runs
==================  =========================  =============  ============================  ====
``cec2011:F1``-22   each its own (1 to 240)    not known      150,000                       25
``cec2014:F1``-30   2, 10, 20, 30, 50, 100     100 x number   10,000 D                      51
``cec2017:F1``-30   2, 10, 20, 30, 50, 100     100 x number   10,000 D                      51
``cec2020:F1``-10   5, 10, 15, 20              by function    50,000; 1, 3 and 10 million   30
``cec2022:F1``-12   10, 20                     by function    200,000; 1 million            30
==================  =========================  =============  ============================  ====

Some functions have no data at D = 2 and 20; then the name is refused. They are functions of Python to the loop,
which calls back for every evaluation. CEC2011 collects real-world problems; its suite is called ``cec2011``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from deddqn._utils.optional_imports import need
from deddqn._utils.validation import UnknownNameError
from deddqn.problems.problem import Problem


@dataclass(frozen=True)
class Competition:
    """One year's functions."""

    functions: int
    dimensions: tuple[int, ...]  # none: every function has its own
    library_class: str
    budgets: dict[int, int]  # by dimension; 0 stands for all others, per coordinate if it is in `per_coordinate`
    per_coordinate: bool = False
    runs: int = 51  # of every function


_MANY = (2, 10, 20, 30, 50, 100)
COMPETITIONS = {
    "cec2011": Competition(22, (), "CEC2011", {0: 150_000}, runs=25),
    "cec2014": Competition(30, _MANY, "CEC2014Functions", {0: 10_000}, per_coordinate=True),
    "cec2017": Competition(30, _MANY, "CEC2017Functions", {0: 10_000}, per_coordinate=True),
    "cec2020": Competition(
        10, (5, 10, 15, 20), "CEC2020Functions", {5: 50_000, 10: 10**6, 15: 3 * 10**6, 20: 10**7}, runs=30
    ),
    "cec2022": Competition(12, (10, 20), "CEC2022Functions", {10: 200_000, 20: 10**6}, runs=30),
}
_NAME = re.compile(r"(cec20\d\d):F(\d+)(?:/d(\d+))?")
MISSING = {
    ("cec2014", 2): (*range(17, 23), 29, 30),
    ("cec2017", 2): (*range(11, 23), 29, 30),
    ("cec2017", 20): (*range(11, 20), 29, 30),
}
"""Hybrid functions, and compositions of them, that were published without data for these dimensions."""

WITHDRAWN = {"cec2017": (2,)}
"""Functions that the organisers took out of the competition: F2 is unstable in higher dimensions."""

SHARES = (0.01, 0.02, 0.03, 0.05, *(k / 10 for k in range(1, 11)))
"""Of the budget, after which CEC2014 and CEC2017 ask for the error."""


def official_budget(family: str, dimension: int) -> int:
    """The evaluations that the competition allows."""
    year = COMPETITIONS[family]
    budget = year.budgets.get(dimension, year.budgets.get(0, 0))
    return budget * dimension if year.per_coordinate else budget


def entry_of(name: str) -> tuple[str, int, int] | None:
    """Competition, number and dimension of a problem whose name holds all three; None for other problems."""
    match = _NAME.fullmatch(name)
    if match is None or match.group(1) not in COMPETITIONS or match.group(3) is None:
        return None
    return match.group(1), int(match.group(2)), int(match.group(3))


def official_marks(name: str, budget: int) -> np.ndarray:
    """The evaluations after which the competition of a problem asks for its error; none with another budget.

    Shares of the budget (2014, 2017), D^(k/5 - 3) of it for k = 0 to 15 (2020, 2022), or every third of it (2011).
    """
    entry = entry_of(name)
    if entry is None or official_budget(entry[0], entry[2]) != budget:
        return np.empty(0, dtype=np.int64)
    family, _, dimension = entry
    if family == "cec2011":
        shares = np.arange(1, 4) / 3
    elif family in ("cec2014", "cec2017"):
        shares = np.array(SHARES)
    else:
        shares = float(dimension) ** (np.arange(16) / 5 - 3)
    return np.floor(shares * budget + 1e-6).astype(np.int64)  # 10^(10/5 - 3) of 200,000 are 20,000


def load(name: str, dimension: int | None, noise: bool) -> Problem:
    """The problem of a name."""
    match = _NAME.fullmatch(name)
    if match is None or not 1 <= int(match.group(2)) <= COMPETITIONS[match.group(1)].functions:
        family = name.partition(":")[0]
        raise UnknownNameError(
            f"unknown problem {name!r}; Known: {family}:F1 to {family}:F{COMPETITIONS[family].functions}"
            + ("" if family == "cec2011" else ", each with a dimension (/d10)")
        )
    family, number = match.group(1), int(match.group(2))
    in_name = int(match.group(3)) if match.group(3) else None
    if in_name is not None and dimension is not None and in_name != dimension:
        raise ValueError(f"dimension must agree with the name {name!r}, got {dimension}")
    return _made(family, number, _checked_dimension(family, number, in_name or dimension))


def _checked_dimension(family: str, number: int, wanted: int | None) -> int | None:
    known = COMPETITIONS[family].dimensions
    if not known:
        return wanted
    if wanted not in known:
        raise ValueError(f"dimension must be one of {', '.join(map(str, known))} for {family}, got {wanted}")
    if number in MISSING.get((family, wanted), ()):
        raise ValueError(f"dimension must be another one: {family}:F{number} has no data for {wanted} coordinates")
    return wanted


def _made(family: str, number: int, dimension: int | None) -> Problem:
    library = need("minionpy", f"the problems of {family}", "baselines")
    source: Any = getattr(library, COMPETITIONS[family].library_class)(number, dimension)
    bounds = np.asarray(source.bounds, dtype=np.float64)
    if dimension is not None and len(bounds) != dimension:
        raise ValueError(f"dimension must be {len(bounds)} for {family}:F{number}, got {dimension}")
    optimum = None if family == "cec2011" else float(source.f_opt)
    return Problem.from_function(
        lambda x: source([x.tolist()])[0], bounds, name=f"{family}:F{number}/d{len(bounds)}", optimum=optimum
    )


def names_at(family: str, dimension: int) -> tuple[str, ...]:
    """All functions of a competition that exist in one dimension."""
    missing = MISSING.get((family, dimension), ())
    numbers = range(1, COMPETITIONS[family].functions + 1)
    return tuple(f"{family}:F{number}/d{dimension}" for number in numbers if number not in missing)


SUITES: dict[str, tuple[str, ...]] = {
    "cec2011": tuple(f"cec2011:F{number}" for number in range(1, COMPETITIONS["cec2011"].functions + 1)),
    **{f"{family}-d{d}": names_at(family, d) for family, year in COMPETITIONS.items() for d in year.dimensions},
}
"""``cec2011`` as a whole, the others by dimension: ``cec2017-d30``."""
