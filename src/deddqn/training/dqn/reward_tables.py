"""Tables behind the rewards that add up to the final error: how far along a best-so-far value is on its problem.

*progress* is the time line of the uniform policy: a value's potential is the part of the budget after which the
median uniform run has reached it. Summed over a run it says how many budgets of the uniform policy the run was
worth; it needs no optimum and gives every problem the same weight. *rank* adds what decides in the end: the share
of the uniform policy's final values that are worse.
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
LONGER = 4  # the time line goes on for so many budgets, so that a better policy still earns
CORNERS = 200  # of the time line
FIRST_REPEAT = 2_000_000_000  # of the runs behind the tables
RANK_WEIGHT = 2.0


def time_lines(
    problems: Sequence[Problem], config: DEConfig, *, portfolio: Portfolio = PAPER, seed: int = 0, threads: int | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Times (corners,) in budgets, best values (problems, runs, corners) of uniform runs, and those at one budget."""
    longer = replace(config, budget=LONGER * config.budget, final_population=None)  # one budget's schedule ends there
    lanes = VectorizedRuns(
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
    marks = np.unique(np.geomspace(first, longer.budget, CORNERS).astype(int))
    marks = np.union1d(marks, [config.budget])
    values = np.empty((len(problems), POTENTIAL_RUNS, len(marks)))
    for k, mark in enumerate(marks.tolist()):
        lanes.advance(mark)
        values[:, :, k] = lanes.best_values.reshape(len(problems), POTENTIAL_RUNS)
    at_budget = values[:, :, int(np.searchsorted(marks, config.budget))]
    return marks / config.budget, values, at_budget


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
    times, values, at_budget = time_lines(problems, config, portfolio=portfolio, seed=seed, threads=threads)
    tables = []
    for runs, final in zip(values, at_budget, strict=True):
        corners, heights = falling_corners(np.median(runs, axis=0), times)
        if reward == "rank":
            corners, heights = add_rank(corners, heights, final)
        tables.append(np.concatenate([corners, heights]))
    return tables


def falling_corners(values: np.ndarray, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Keep the corners where the curve fell, with the time at which it first had each value."""
    new = np.concatenate([[True], np.diff(values) < 0.0])
    if new.sum() == 1:  # nothing ever improved: a step that is worth nothing
        return np.array([values[0], values[0] - 1.0]), np.zeros(2)
    return values[new], times[new]


def add_rank(corners: np.ndarray, heights: np.ndarray, final: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Raise the potential by `RANK_WEIGHT` x the share of the `final` values that are worse, between worst and best."""
    worst_first = np.sort(final)[::-1]
    share = (np.arange(final.size) + 0.5) / final.size
    levels = np.unique(np.concatenate([corners, worst_first]))[::-1]
    time = np.interp(-levels, -corners, heights)
    rank = np.interp(-levels, -worst_first, share, left=0.0, right=1.0)
    return levels, time + RANK_WEIGHT * rank
