"""Evaluation of policies: the same runs for every policy, and the rank score of their final errors.

The rank score of a run is the share of reference runs on the same problem that end worse, ties counted half: the
probability of superiority, known as A12 (Vargha and Delaney 2000). Its mean over runs and problems is 1 where every
reference run is beaten, 1/2 where a policy is as good as the references, and 0 where it is worse than all; higher is
better, everywhere in the package. Ranks instead of errors, because errors of different functions lie orders of
magnitude apart.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from deddqn._utils.reading import read_limited, refusing
from deddqn.de.config import DEConfig
from deddqn.de.portfolio import PAPER, Portfolio
from deddqn.engine import RunSpec, VectorizedRuns
from deddqn.policies import Policy, load_policy
from deddqn.problems import Problem

TRAINING_SUITE = "cec2005-train"
"""The functions that policies are trained, tuned and scored on."""

HELD_OUT = 1_000_000_000
"""Evaluations use the repeats from here on; trainings count theirs from 0."""

REFERENCES = ("random", "de1", "de2", "de3", "de4", "mixture:0.01,0,0.83,0.16")
"""The reference policies: the paper's non-adaptive ones, and the mixture that the authors' R2 network applies."""

LARGEST_POOL = 2**29

SOLVED = 1e-8
"""An error below this counts as 0: solved runs are equal."""


@dataclass(frozen=True)
class Evaluation:
    """Runs of one policy: rows are problems, columns repeats."""

    best_values: np.ndarray  # (problems, repeats)
    errors: np.ndarray  # (problems, repeats): final error, or best value where the optimum is unknown
    returns: np.ndarray  # (problems, repeats): summed reward
    shares: np.ndarray  # (problems, operators): how often each operator was applied
    evaluations: int

    @property
    def mean_return(self) -> float:
        """The mean summed reward of a run."""
        return float(self.returns.mean())


def evaluate_policy(policy: Policy, problems: Sequence[Problem], **settings: Any) -> Evaluation:
    """Run a policy several times on every problem; the settings are those of `evaluate_policies`."""
    return evaluate_policies([policy], problems, **settings)[0]


def evaluate_policies(
    policies: Sequence[Policy],
    problems: Sequence[Problem],
    *,
    repeats: int = 25,
    first: int = HELD_OUT,
    seed: int = 0,
    portfolio: Portfolio = PAPER,
    config: DEConfig | None = None,
    budgets: Sequence[int] | None = None,
    reward: str = "R2",
    reward_setups: Sequence[np.ndarray] | None = None,
    threads: int | None = None,
) -> list[Evaluation]:
    """Run every policy `repeats` times on every problem, as one batch of vectorised runs.

    Parameters
    ----------
    policies, problems : compiled policies, and where they run.
    repeats, first : runs per policy and problem, and the number of the first one; all policies share the seeds.
    seed : root of the random streams.
    portfolio, config : operators and DE settings of all runs.
    budgets : of every problem, instead of that of `config`.
    reward, reward_setups : the reward that is summed, and its constants for every problem.
    threads : threads of the runs; all cores by default.
    """
    setups = reward_setups if reward_setups is not None else [np.zeros(0)] * len(problems)
    shared = config or DEConfig()
    configs = [shared] * len(problems) if budgets is None else [replace(shared, budget=b) for b in budgets]
    runs = VectorizedRuns(
        [
            RunSpec(
                problem=problem,
                policy=policy,
                portfolio=portfolio,
                config=settings,
                seed=seed,
                repeat=first + r,
                reward=reward,
                reward_setup=setup,
            )
            for policy in policies
            for problem, setup, settings in zip(problems, setups, configs, strict=True)
            for r in range(repeats)
        ],
        threads=threads,
    )
    runs.advance()
    return _evaluations(runs, problems, (len(policies), len(problems), repeats))


def _evaluations(runs: VectorizedRuns, problems: Sequence[Problem], shape: tuple[int, int, int]) -> list[Evaluation]:
    """The evaluations of runs in the order (policy, problem, repeat)."""
    values, returns, evaluations, _ = np.moveaxis(runs.summary().reshape(*shape, 4), -1, 0)
    applied = np.array(runs.strategy_counts, dtype=float).reshape(*shape, -1).sum(axis=2)
    return [
        Evaluation(
            best_values=values[k],
            errors=final_errors(values[k], problems),
            returns=returns[k],
            shares=applied[k] / applied[k].sum(axis=1, keepdims=True),
            evaluations=int(evaluations[k].sum()),
        )
        for k in range(shape[0])
    ]


def final_errors(best_values: np.ndarray, problems: Sequence[Problem]) -> np.ndarray:
    """Best values (problems, runs) as errors where the optimum is known, 0 where the run is solved."""
    optima = np.array([0.0 if p.optimum is None else p.optimum for p in problems])[:, None]
    known = np.array([p.optimum is not None for p in problems])[:, None]
    errors = best_values - optima
    return np.where(known & (errors < SOLVED), 0.0, errors)


def read_errors(path: str | Path, problems: Sequence[Problem]) -> np.ndarray:
    """(problems, runs): the final errors of all runs in a CSV file of `deddqn export`."""
    with refusing(path, "a pool of runs"):
        found = _pooled(read_limited(path, LARGEST_POOL).decode(), {problem.name for problem in problems})
        runs = {len(found[problem.name]) for problem in problems}
        if len(runs) != 1 or runs == {0}:
            raise ValueError(f"a pool must hold the same number of runs of every problem, got {sorted(runs)}")
        errors = np.array([found[problem.name] for problem in problems])
    return np.where(errors < SOLVED, 0.0, errors)


def _pooled(text: str, problems: set[str]) -> dict[str, list[float]]:
    """The errors of the problems in a CSV text, whose lines all have the fields of its first."""
    found: dict[str, list[float]] = {name: [] for name in problems}
    lines = csv.reader(io.StringIO(text, newline=""), strict=True)
    header = next(lines, [])
    if header.count("problem") != 1 or header.count("error") != 1:
        raise ValueError(f"its first line must name 'problem' and 'error' once, got {header[:9]}")
    problem, error = header.index("problem"), header.index("error")
    for number, line in enumerate(lines, 2):
        if len(line) != len(header):
            raise ValueError(f"row {number} must have {len(header)} fields, got {len(line)}")
        if line[problem] in found:
            value = float(line[error])
            if math.isnan(value):
                raise ValueError(f"the error in row {number} must be a number, got {line[error]!r}")
            found[line[problem]].append(value)
    return found


def reference_policies(portfolio: Portfolio = PAPER) -> list[Policy]:
    """The reference policies; for portfolios other than the paper's, the uniform one and every operator alone."""
    names = REFERENCES if portfolio == PAPER else ["random", *(f"de{k + 1}" for k in range(len(portfolio)))]
    return [load_policy(name) for name in names]


def reference_errors(problems: Sequence[Problem], *, portfolio: Portfolio = PAPER, **settings: Any) -> np.ndarray:
    """(problems, runs): the final errors of the reference policies; settings are those of `evaluate_policies`."""
    found = evaluate_policies(reference_policies(portfolio), problems, portfolio=portfolio, **settings)
    return np.concatenate([evaluation.errors for evaluation in found], axis=1)


def rank_fractions(errors: np.ndarray, references: np.ndarray) -> np.ndarray:
    """(problems, runs): for every run the share of the references (problems, m) that are worse, ties counted half."""
    return _twice_worse(errors, references) / (2.0 * references.shape[1])


def rank_scores(errors: np.ndarray, references: np.ndarray) -> np.ndarray:
    """(problems,): the rank score of every problem."""
    return _twice_worse(errors, references).mean(axis=1) / (2.0 * references.shape[1])


def rank_score(errors: np.ndarray, references: np.ndarray) -> float:
    """The mean of `rank_scores` over the problems; higher is better."""
    return float(rank_scores(errors, references).mean())


def _twice_worse(errors: np.ndarray, references: np.ndarray) -> np.ndarray:
    """How many references are worse than each run, plus how many are not better: whole numbers, summed exactly."""
    counts = np.empty(errors.shape, dtype=np.int64)
    for row, mine, theirs in zip(counts, errors, np.sort(references, axis=1), strict=True):
        not_better = theirs.size - np.searchsorted(theirs, mine, side="left")
        worse = theirs.size - np.searchsorted(theirs, mine, side="right")
        row[:] = not_better + worse
    return counts


def standard_error(fractions: np.ndarray) -> float:
    """Of the mean of `rank_fractions` over the runs, the problems being given."""
    if fractions.shape[1] < 2:
        return float("nan")
    return float(np.sqrt(np.sum(fractions.var(axis=1, ddof=1) / fractions.shape[1])) / len(fractions))
