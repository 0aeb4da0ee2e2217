"""Greedy evaluation on held-out seeds, and the rank score: where final errors stand among those of reference runs."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from deddqn.de.config import DEConfig
from deddqn.de.portfolio import PAPER, Portfolio
from deddqn.engine import RunSpec, VectorizedRuns
from deddqn.policies import CompiledPolicy, load_policy
from deddqn.problems import Problem

HELD_OUT = 1_000_000_000
"""Evaluations use repeats from here on; trainings count theirs from 0."""

REFERENCES = ("random", "de1", "de2", "de3", "de4", "mixture:0.01,0,0.83,0.16")
"""The policies of the reference pool: the paper's non-adaptive ones, and what the authors' R2 network plays."""

SOLVED = 1e-8  # an error below this counts as 0


@dataclass(frozen=True)
class Evaluation:
    """Runs of one policy: rows are problems, columns repeats."""

    errors: np.ndarray  # (problems, repeats): final error, or final value where the optimum is unknown
    returns: np.ndarray  # (problems, repeats): summed reward
    shares: np.ndarray  # (problems, operators): how often each operator was applied
    evaluations: int

    @property
    def mean_return(self) -> float:
        """The mean summed reward of a run."""
        return float(self.returns.mean())


def evaluate(policy: CompiledPolicy, problems: Sequence[Problem], **settings: Any) -> Evaluation:
    """Run the policy as it is, several times on every problem; the settings are those of `evaluate_all`."""
    return evaluate_all([policy], problems, **settings)[0]


def evaluate_all(
    policies: Sequence[CompiledPolicy],
    problems: Sequence[Problem],
    *,
    repeats: int = 25,
    first: int = HELD_OUT,
    seed: int = 0,
    portfolio: Portfolio = PAPER,
    config: DEConfig | None = None,
    reward: str = "R2",
    reward_setups: Sequence[np.ndarray] | None = None,
    threads: int | None = None,
) -> list[Evaluation]:
    """Run every policy `repeats` times on every problem, all runs side by side and all policies on the same seeds."""
    setups = reward_setups if reward_setups is not None else [np.zeros(0)] * len(problems)
    lanes = VectorizedRuns(
        [
            RunSpec(
                problem=problem,
                policy=policy,
                portfolio=portfolio,
                config=config or DEConfig(),
                seed=seed,
                repeat=first + r,
                reward=reward,
                reward_setup=setup,
            )
            for policy in policies
            for problem, setup in zip(problems, setups, strict=True)
            for r in range(repeats)
        ],
        threads=threads,
    )
    lanes.advance()
    return _evaluations(lanes, problems, (len(policies), len(problems), repeats))


def _evaluations(lanes: VectorizedRuns, problems: Sequence[Problem], shape: tuple[int, int, int]) -> list[Evaluation]:
    """What runs in the order (policy, problem, repeat) came to."""
    values, totals, evaluations, _ = np.moveaxis(lanes.summary().reshape(*shape, 4), -1, 0)
    applied = np.array(lanes.strategy_counts, dtype=float).reshape(*shape, -1).sum(axis=2)
    return [
        Evaluation(
            errors=final_errors(values[k], problems),
            returns=totals[k],
            shares=applied[k] / applied[k].sum(axis=1, keepdims=True),
            evaluations=int(evaluations[k].sum()),
        )
        for k in range(shape[0])
    ]


def final_errors(values: np.ndarray, problems: Sequence[Problem]) -> np.ndarray:
    """Best values (problems, runs) as errors where the optimum is known; solved runs are equal."""
    optima = np.array([0.0 if p.optimum is None else p.optimum for p in problems])[:, None]
    known = np.array([p.optimum is not None for p in problems])[:, None]
    errors = values - optima
    return np.where(known & (errors < SOLVED), 0.0, errors)


def reference_policies(portfolio: Portfolio = PAPER) -> list[CompiledPolicy]:
    """The policies of the pool; for portfolios other than the paper's, uniform and one operator each."""
    names = REFERENCES if portfolio == PAPER else ["random", *(f"de{k + 1}" for k in range(len(portfolio)))]
    policies = [load_policy(name) for name in names]
    return [policy for policy in policies if isinstance(policy, CompiledPolicy)]


def reference_errors(problems: Sequence[Problem], *, portfolio: Portfolio = PAPER, **settings: Any) -> np.ndarray:
    """(problems, runs): final errors of the reference policies, pooled; settings are those of `evaluate_all`."""
    found = evaluate_all(reference_policies(portfolio), problems, portfolio=portfolio, **settings)
    return np.concatenate([evaluation.errors for evaluation in found], axis=1)


def errors_of(path: str | Path, problems: Sequence[Problem]) -> np.ndarray:
    """(problems, runs): the final errors of all runs in a CSV file of `deddqn export`."""
    found: dict[str, list[float]] = {problem.name: [] for problem in problems}
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["problem"] in found:
                found[row["problem"]].append(float(row["error"]))
    runs = {len(errors) for errors in found.values()}
    if len(runs) != 1 or runs == {0}:
        raise ValueError(f"pool must hold the same number of runs of every problem, got {sorted(runs)} in {path}")
    errors = np.array(list(found.values()))
    return np.where(errors < SOLVED, 0.0, errors)


def rank_scores(errors: np.ndarray, pool: np.ndarray) -> np.ndarray:
    """(problems,): the mean share of the pooled runs on the same problem that are worse (ties count half)."""
    scores = np.empty(len(errors))
    for k, (mine, theirs) in enumerate(zip(errors, np.sort(pool, axis=1), strict=True)):
        not_better = theirs.size - np.searchsorted(theirs, mine, side="left")
        worse = theirs.size - np.searchsorted(theirs, mine, side="right")
        scores[k] = np.mean(not_better + worse) / (2.0 * theirs.size)
    return scores


def rank_score(errors: np.ndarray, pool: np.ndarray) -> float:
    """The mean of `rank_scores` over the problems: 1 beats every reference run, 0.5 is as good as the pool."""
    return float(rank_scores(errors, pool).mean())
