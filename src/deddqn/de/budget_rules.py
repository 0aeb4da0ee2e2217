"""Settings that follow the budget and the dimension, for policies that name them in their own setting ``by_budget``.

========================  ============================================================================================
setting                   rule, with B evaluations and D coordinates
========================  ============================================================================================
``restart_tolerance``     0: no restarts
``cma_share``             0.25 above 3000 D evaluations, 0 below, and with restarts or asynchronous values
``cma_extent``            a thousandth: a population that is still wide goes on alone
``local_share``           0.2, at most 150 (D + 1) evaluations; 0 with less than D + 2, above 1000 coordinates, with
                          restarts, and where values do not come one by one, for points on a line wait for each other
``population_size``       the square root of B' min(1, D / 8), with B' = (1 - ``cma_share``) B; at least the final
                          population, at most 1000
``n_candidates``          3 up to 30,000 evaluations, 2 above; 1 above 10 D^3
``archive``               D / 10 populations, between one half and two
``rate_share``            one half with more than 12 coordinates and at least 1500 D evaluations, else 0
========================  ============================================================================================

A search whose end is not known has no B: there the policy's constants hold, restarts among them.

Chosen on made problems (``made:``), judged on functions left out (``made-held-out:``): see docs/results/world.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from deddqn.de.config import DEConfig

LARGEST_POPULATION = 1000  # budgets above a million were not looked at
FEW_COORDINATES = 8  # need fewer individuals
LONG_SEARCH = 30_000  # evaluations, above which pre-screening pays less
DENSE_SEARCH = 10  # evaluations per D^3, above which it does not pay: the population itself covers few coordinates
CMA_SHARE, CMA_FROM = 0.25, 3000  # of CMA-ES, and the evaluations per coordinate above which trying it costs little
CMA_EXTENT = 1e-3  # of the box, to which the population of DE has contracted by then
LOCAL_SHARE, GRADIENTS = 0.2, 150  # of the local search; it needs no more than so many
MOST_COORDINATES = 1000  # of the local search, which remembers D^2 numbers
RATE_SHARE = 0.5  # of F that follows the success rate: with more than so many coordinates, and from so many evaluations
RATE_COORDINATES, RATE_FROM = 12, 1500  # per coordinate on
SMALLEST_ARCHIVE, LARGEST_ARCHIVE = 0.5, 2.0  # populations


def _cma_share(config: DEConfig, dimension: int) -> float:
    possible = config.restart_tolerance == 0.0 and config.updating != "asynchronous"
    return CMA_SHARE if possible and config.budget > CMA_FROM * dimension else 0.0


def _local_share(config: DEConfig, dimension: int) -> float:
    possible = config.restart_tolerance == 0.0 and config.updating == "sequential"
    share = min(LOCAL_SHARE, GRADIENTS * (dimension + 1) / config.budget)
    has_room = share * config.budget >= dimension + 2 and dimension <= MOST_COORDINATES
    return share if possible and has_room else 0.0


def _population(config: DEConfig, dimension: int) -> int:
    root = math.sqrt(config.decision * min(1.0, dimension / FEW_COORDINATES))
    return max(min(math.floor(root + 0.5), LARGEST_POPULATION), config.final_population or DEConfig.population_size)


def _candidates(config: DEConfig, dimension: int) -> int:
    if config.budget > DENSE_SEARCH * dimension**3:
        return 1
    return 3 if config.budget <= LONG_SEARCH else 2


def _archive(config: DEConfig, dimension: int) -> float:
    return min(max(dimension / 10.0, SMALLEST_ARCHIVE), LARGEST_ARCHIVE)


def _rate_share(config: DEConfig, dimension: int) -> float:
    long_enough = config.budget >= RATE_FROM * dimension
    return RATE_SHARE if long_enough and dimension > RATE_COORDINATES else 0.0


RULES: dict[str, Callable[[DEConfig, int], Any]] = {
    "restart_tolerance": lambda config, dimension: 0.0,
    "cma_share": _cma_share,
    "cma_extent": lambda config, dimension: CMA_EXTENT,
    "local_share": _local_share,
    "population_size": _population,
    "n_candidates": _candidates,
    "archive": _archive,
    "rate_share": _rate_share,
}
"""What may stand in ``by_budget``; each gets the settings, with what stands before it here, and the dimension."""


def follow_budget(config: DEConfig, dimension: int) -> DEConfig:
    """The settings of a search with `dimension` coordinates: those that follow the budget get their values."""
    names = config.by_budget.split()
    for name, rule in RULES.items():
        if name in names:
            config = replace(config, **{name: rule(config, dimension)})
    return replace(config, by_budget="") if names else config
