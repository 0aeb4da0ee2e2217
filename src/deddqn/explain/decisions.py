"""Runs of a policy with all of their decisions, in slices that fit into memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from deddqn._utils.validation import check_whole_number
from deddqn.de.config import DEConfig
from deddqn.de.portfolio import PAPER, Portfolio
from deddqn.engine import RunSpec, VectorizedRuns
from deddqn.explain.decision_kernels import CHOICE, GENERATION, PROGRESS, STAGNATION, USED, record_decisions
from deddqn.explain.policy_inputs import PolicyInputs, reader_address
from deddqn.policies import CompiledPolicy, Policy, load_policy
from deddqn.problems import Problem

EVALUATION_REPEATS = 2_000_000_000
"""The policy and its controls run on the repeats from here on; training and validation count theirs from 0 and 1e9."""

MEASUREMENT_REPEATS = 3_000_000_000
"""Shares are measured, and fixed strategies chosen, on the repeats from here on: seeds that nothing is judged on."""

SLICE = 2**21  # inputs that are held at a time


@dataclass(frozen=True, kw_only=True)
class Protocol:
    """How policies are run on a problem: how often, from which seed, with which operators and settings."""

    repeats: int = 25
    seed: int = 0
    portfolio: Portfolio = PAPER
    config: DEConfig = field(default_factory=DEConfig)
    threads: int | None = None

    def __post_init__(self) -> None:
        check_whole_number("repeats", self.repeats, 1)
        check_whole_number("seed", self.seed, 0)

    def runs(self, policy: CompiledPolicy, problem: Problem, first: int) -> VectorizedRuns:
        """The runs of a policy on a problem, from repeat number `first` on."""
        spec = RunSpec(
            problem=problem, policy=policy, portfolio=self.portfolio, config=self.config, seed=self.seed, repeat=first
        )
        return VectorizedRuns((replace(spec, repeat=first + k) for k in range(self.repeats)), threads=self.threads)

    def errors(self, policy: CompiledPolicy, problem: Problem, first: int) -> np.ndarray:
        """(repeats,): final errors of a policy, or best values where the optimum is unknown."""
        runs = self.runs(policy, problem, first)
        runs.advance()
        return final_errors(runs)


def compiled_policy(policy: str | Policy) -> CompiledPolicy:
    """The policy of a name or file; one that is not compiled is refused."""
    found = load_policy(policy)
    if not isinstance(found, CompiledPolicy):
        raise ValueError(f"policy must be a compiled one, got {policy!r}")
    return found


def final_errors(runs: VectorizedRuns) -> np.ndarray:
    """Errors of the runs of one problem; best values where the optimum is unknown."""
    return runs.best_values if runs.specs[0].problem.optimum is None else runs.errors


@dataclass(frozen=True)
class Decisions:
    """Decisions of several runs, one row each."""

    choices: np.ndarray
    generations: np.ndarray
    progress: np.ndarray
    stagnation: np.ndarray
    used: np.ndarray  # whether the decision depends on the inputs
    inputs: np.ndarray  # (n, width)


def decisions(runs: VectorizedRuns, policy_inputs: PolicyInputs | None = None) -> Iterator[Decisions]:
    """Advance the runs to their ends; yield all of their decisions, slice by slice."""
    width = 0 if policy_inputs is None else policy_inputs.width
    length = max(1, SLICE // (max(width, 8) * len(runs)))
    shape, reader = (len(runs), length), reader_address(policy_inputs)
    taken = np.zeros((*shape, 3), dtype=np.int64)
    times, inputs = np.zeros((*shape, 2)), np.zeros((*shape, width))
    made = np.zeros(len(runs), dtype=np.int64)
    while True:
        runs.each(record_decisions, reader, taken, times, inputs, made)
        if not made.any():
            return
        kept = np.arange(length) < made[:, None]
        yield Decisions(
            choices=taken[kept][:, CHOICE],
            generations=taken[kept][:, GENERATION],
            progress=times[kept][:, PROGRESS],
            stagnation=times[kept][:, STAGNATION],
            used=taken[kept][:, USED] != 0,
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
