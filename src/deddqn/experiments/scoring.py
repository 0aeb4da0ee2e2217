"""How good the parameters of a policy are, on the training functions, as a number without a scale.

A run is placed among reference runs on the same problem (`random` and the published defaults of the adaptive
policies): the share of them that ended with a lower error, ties counted half. The score is the mean place over all
problems and runs: 0 beats every reference run, 1/2 is as good as they are, 1 is worse than all. Ranks instead of
errors, because errors of different functions lie orders of magnitude apart.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from deddqn.de import DEConfig
from deddqn.engine import RunSpec, VectorizedRuns
from deddqn.policies import Policy, load_policy
from deddqn.problems import SUITES, get

TRAINING_SUITE = "cec2005-train"
"""The only functions that parameters are chosen on."""

REFERENCES = ("random", "pm-adapss:default", "f-auc:default", "rec-pm:default")
SOLVED = 1e-8  # an error below counts as 0


class Spreader(Protocol):
    """Runs an arena on many machines."""

    @property
    def where(self) -> str:
        """Nodes and cores in words."""

    def __call__(self, arena: Arena, policy: Policy) -> np.ndarray:
        """The final errors (problems, runs) of a policy."""


@dataclass(frozen=True, kw_only=True)
class Arena:
    """The runs that a score is made of.

    Parameters
    ----------
    problems : names, by default the training suite.
    runs : runs per problem.
    budget : evaluations per run.
    seed : root of the random streams.
    first : number of the first repeat; other repeats are fresh runs.
    threads : how many threads work; all cores by default.
    spread : what runs the arena instead, on a cluster.
    """

    problems: tuple[str, ...] = SUITES[TRAINING_SUITE]
    runs: int = 5
    budget: int = 10_000
    seed: int = 0
    first: int = 0
    threads: int | None = None
    spread: Spreader | None = None

    def __post_init__(self) -> None:
        if self.runs < 1 or self.budget < 1:
            raise ValueError(f"runs and budget must be at least 1, got {self.runs} and {self.budget}")

    @property
    def evaluations(self) -> int:
        """Of all its runs together."""
        return len(self.problems) * self.runs * self.budget

    def errors(self, policy: str | Policy) -> np.ndarray:
        """The final errors (problems, runs) of a policy; those below 1e-8 are 0."""
        chosen, config = load_policy(policy), DEConfig(budget=self.budget)
        if self.spread is not None:
            return self.spread(self, chosen)
        made = [get(name) for name in self.problems]
        specs = [
            RunSpec(problem=problem, policy=chosen, config=config, seed=self.seed, repeat=repeat)
            for problem in made
            for repeat in range(self.first, self.first + self.runs)
        ]
        lanes = VectorizedRuns(specs, threads=self.threads)
        lanes.advance()
        errors = lanes.errors.reshape(len(made), self.runs)
        return np.where(errors < SOLVED, 0.0, errors)

    def references(self, each: Callable[[str], None] = lambda name: None) -> np.ndarray:
        """The errors (problems, reference runs) that candidates are placed among, each problem's sorted."""
        pool = []
        for name in REFERENCES:
            pool.append(self.errors(name))
            each(name)
        return np.sort(np.concatenate(pool, axis=1), axis=1)


def places(errors: np.ndarray, references: np.ndarray) -> np.ndarray:
    """The share of the sorted `references` (problems, m) below each of `errors` (problems, n), ties counted half."""
    shares = np.empty_like(errors)
    for row, mine, others in zip(shares, errors, references, strict=True):
        below = np.searchsorted(others, mine, side="left")
        not_above = np.searchsorted(others, mine, side="right")
        row[:] = 0.5 * (below + not_above) / len(others)
    return shares


def score(errors: np.ndarray, references: np.ndarray) -> float:
    """The mean place; lower is better."""
    return float(places(errors, references).mean())


def standard_error(problem_places: Sequence[np.ndarray] | np.ndarray) -> float:
    """Of the mean place over the runs, the problems being given."""
    rows = np.asarray(problem_places)
    if rows.shape[1] < 2:
        return float("nan")
    return float(np.sqrt(np.sum(rows.var(axis=1, ddof=1) / rows.shape[1])) / len(rows))
