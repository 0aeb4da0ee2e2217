"""Tables of potentials for potential-based rewards (Ng et al. 1999): how far along a best-so-far value is.

The reward of a decision is the rise of the potential, so that a return depends only on where a run started and ended.
The potential of *progress* is the convergence curve of the uniform policy, read backwards: the part of the budget after
which its median run has reached a value. Summed over a run it says how many budgets of the uniform policy the run was
worth; it needs no optimum and gives every problem the same weight. *rank* adds the share of the final values of the
uniform policy that are worse.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from deddqn.de.config import DEConfig
from deddqn.de.portfolio import PAPER, Portfolio
from deddqn.engine import RunSpec, VectorizedRuns
from deddqn.policies import uniform_policy
from deddqn.problems import Problem

POTENTIAL_RUNS = 15
LONGER = 4  # the curve spans so many budgets, so that better policies still gain
POINTS = 200  # of the curve
FIRST_REPEAT = 2_000_000_000  # of the runs behind the tables
RANK_WEIGHT = 2.0


def convergence_curves(
    problems: Sequence[Problem], config: DEConfig, *, portfolio: Portfolio = PAPER, seed: int = 0, threads: int | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Times (points,) in budgets, best values (problems, runs, points) of uniform runs, and those at one budget."""
    longer = replace(config, budget=LONGER * config.budget, final_population=None)  # one budget's schedule ends there
    runs = VectorizedRuns(
        [
            RunSpec(
                problem=p,
                policy=uniform_policy(),
                portfolio=portfolio,
                config=longer,
                seed=seed,
                repeat=FIRST_REPEAT + r,
            )
            for p in problems
            for r in range(POTENTIAL_RUNS)
        ],
        threads=threads,
    )
    first = config.population_size
    checkpoints = np.unique(np.geomspace(first, longer.budget, POINTS).astype(int))
    checkpoints = np.union1d(checkpoints, [config.budget])
    values = np.empty((len(problems), POTENTIAL_RUNS, len(checkpoints)))
    for k, checkpoint in enumerate(checkpoints.tolist()):
        runs.advance(checkpoint)
        values[:, :, k] = runs.best_values.reshape(len(problems), POTENTIAL_RUNS)
    at_budget = values[:, :, int(np.searchsorted(checkpoints, config.budget))]
    return checkpoints / config.budget, values, at_budget


def reward_tables(
    reward: str,
    problems: Sequence[Problem],
    config: DEConfig,
    *,
    portfolio: Portfolio = PAPER,
    seed: int = 0,
    threads: int | None = None,
) -> list[np.ndarray]:
    """One `reward_setup` per problem for the rewards *progress* and *rank*; empty ones for others."""
    if reward not in ("progress", "rank"):
        return [np.zeros(0) for _ in problems]
    times, values, at_budget = convergence_curves(problems, config, portfolio=portfolio, seed=seed, threads=threads)
    tables = []
    for runs, final in zip(values, at_budget, strict=True):
        values_reached, potentials = strictly_falling(np.median(runs, axis=0), times)
        if reward == "rank":
            values_reached, potentials = add_rank(values_reached, potentials, final)
        tables.append(np.concatenate([values_reached, potentials]))
    return tables


def strictly_falling(values: np.ndarray, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The points where a curve fell, with the time at which it first had each value."""
    new = np.concatenate([[True], np.diff(values) < 0.0])
    if new.sum() == 1:  # nothing ever improved: a step without a rise
        return np.array([values[0], values[0] - 1.0]), np.zeros(2)
    return values[new], times[new]


def add_rank(values_reached: np.ndarray, potentials: np.ndarray, final: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Raise the potential by `RANK_WEIGHT` x the share of the `final` values that are worse, between worst and best."""
    worst_first = np.sort(final)[::-1]
    share = (np.arange(final.size) + 0.5) / final.size
    levels = np.unique(np.concatenate([values_reached, worst_first]))[::-1]
    time = np.interp(-levels, -values_reached, potentials)
    rank = np.interp(-levels, -worst_first, share, left=0.0, right=1.0)
    return levels, time + RANK_WEIGHT * rank
