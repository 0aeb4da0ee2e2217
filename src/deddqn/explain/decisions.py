"""Runs of a policy with all of their decisions, in slices that fit into memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from deddqn._utils.validation import check_whole_number
from deddqn.de.config import DEConfig
from deddqn.de.portfolio import PAPER, Portfolio
from deddqn.engine import RunSpec, VectorizedRuns
from deddqn.explain.decision_kernels import PROGRESS, STAGNATION, record_decisions
from deddqn.explain.policy_inputs import Sight, see_address
from deddqn.policies import CompiledPolicy, Policy, load_policy
from deddqn.problems import Problem

PLAYED = 2_000_000_000
"""Explanations play the repeats from here on: trainings and their validations count theirs from 0 and from 1e9."""

MEASURED = 3_000_000_000
"""Shares are measured, and fixed strategies chosen, on the repeats from here on: other seeds than those played."""

SLICE = 2**21  # numbers of inputs that are held at a time


@dataclass(frozen=True, kw_only=True)
class Ground:
    """How policies are run on a problem: how often, from which seed, with which moves and settings."""

    repeats: int = 25
    seed: int = 0
    portfolio: Portfolio = PAPER
    config: DEConfig = field(default_factory=DEConfig)
    threads: int | None = None

    def __post_init__(self) -> None:
        check_whole_number("repeats", self.repeats, 1)
        check_whole_number("seed", self.seed, 0)

    def lanes(self, policy: CompiledPolicy, problem: Problem, first: int) -> VectorizedRuns:
        """The runs of a policy on a problem, from repeat number `first` on."""
        spec = RunSpec(
            problem=problem, policy=policy, portfolio=self.portfolio, config=self.config, seed=self.seed, repeat=first
        )
        return VectorizedRuns((replace(spec, repeat=first + k) for k in range(self.repeats)), threads=self.threads)

    def errors(self, policy: CompiledPolicy, problem: Problem, first: int) -> np.ndarray:
        """(repeats,): final errors of a policy, or best values where the optimum is unknown."""
        lanes = self.lanes(policy, problem, first)
        lanes.advance()
        return final_errors(lanes)


def compiled_policy(policy: str | Policy) -> CompiledPolicy:
    """The policy of a name or file; one that is not compiled is refused."""
    found = load_policy(policy)
    if not isinstance(found, CompiledPolicy):
        raise ValueError(f"policy must be a compiled one, which can run in lanes, got {policy!r}")
    return found


def final_errors(lanes: VectorizedRuns) -> np.ndarray:
    """Errors of the lanes of one problem; best values where the optimum is unknown."""
    return lanes.best_values if lanes.specs[0].problem.optimum is None else lanes.errors


@dataclass(frozen=True)
class Decisions:
    """Decisions of several runs, one row each."""

    choices: np.ndarray
    generations: np.ndarray
    progress: np.ndarray
    stagnation: np.ndarray
    seen: np.ndarray  # whether the decision rested on the inputs
    inputs: np.ndarray  # (n, width)


def decisions(lanes: VectorizedRuns, sight: Sight | None = None) -> Iterator[Decisions]:
    """Run the lanes to their ends; yield all of their decisions, slice by slice."""
    width = 0 if sight is None else sight.width
    length = max(1, SLICE // (max(width, 8) * len(lanes)))
    shape, see = (len(lanes), length), see_address(sight)
    choices, generations, seen = (np.zeros(shape, dtype=np.int64) for _ in range(3))
    times, inputs = np.zeros((*shape, 2)), np.zeros((*shape, width))
    made = np.zeros(len(lanes), dtype=np.int64)
    while True:
        lanes.each(record_decisions, see, choices, generations, times, seen, inputs, made)
        if not made.any():
            return
        kept = np.arange(length) < made[:, None]
        yield Decisions(
            choices=choices[kept],
            generations=generations[kept],
            progress=times[kept][:, PROGRESS],
            stagnation=times[kept][:, STAGNATION],
            seen=seen[kept] != 0,
            inputs=inputs[kept],
        )


def count_choices(counts: np.ndarray, taken: Decisions) -> np.ndarray:
    """`counts` (generations, operators) with these decisions added; it grows by rows where it has to."""
    missing = int(taken.generations.max(initial=-1)) + 1 - len(counts)
    if missing > 0:
        counts = np.vstack([counts, np.zeros((missing, counts.shape[1]))])
    np.add.at(counts, (taken.generations, taken.choices), 1.0)
    return counts


def shares_of(counts: np.ndarray) -> np.ndarray:
    """Counts (generations, operators) as shares; a run that made no decision at all has equal ones."""
    if not counts.sum():
        return np.full((1, counts.shape[1]), 1.0 / counts.shape[1])
    return np.asarray(counts / counts.sum(axis=1, keepdims=True))
