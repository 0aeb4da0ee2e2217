"""The decisions of a policy on one problem, summarised: operator shares, gaps between values, and the decision map."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deddqn.explain.decisions import (
    EVALUATION_REPEATS,
    Decisions,
    Protocol,
    count_choices,
    decisions,
    final_errors,
    shares_of,
)
from deddqn.explain.policy_inputs import PolicyInputs
from deddqn.policies import CompiledPolicy
from deddqn.problems import Problem

PROGRESS_EDGES = tuple(k / 10 for k in range(11))
STAGNATION_EDGES = (0.0, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
"""Cells of the map, both in parts of the budget; stagnation is mostly short, so its cells widen."""


@dataclass(frozen=True)
class Gaps:
    """How far the best value lies above the second, over the generations of a problem's runs."""

    low: np.ndarray  # (generations,) first quartile
    median: np.ndarray
    high: np.ndarray
    relative: float  # median of gap over (best minus worst), over all decisions


@dataclass(frozen=True)
class DecisionSummary:
    """One problem: evaluations at the starts of the generations, and what was decided in them."""

    problem: str
    evaluations: np.ndarray  # (generations,)
    shares: np.ndarray  # (generations, operators)
    cells: np.ndarray  # (progress, stagnation, operators): decisions in each cell of the map
    gaps: Gaps | None


class _Collector:
    """Adds up decisions of one problem."""

    def __init__(self, n_ops: int, policy_inputs: PolicyInputs | None, keep: float, rng: np.random.Generator) -> None:
        self.policy_inputs, self.keep, self.rng = policy_inputs, keep, rng
        self.counts = np.zeros((0, n_ops))
        self.begun: dict[int, float] = {}
        self.cells = np.zeros((len(PROGRESS_EDGES) - 1, len(STAGNATION_EDGES) - 1, n_ops))
        self.kept: list[np.ndarray] = []
        self.gaps: list[np.ndarray] = []  # (n, 3): generation, gap, gap over span

    def add(self, taken: Decisions) -> None:
        """One slice of decisions."""
        self.counts = count_choices(self.counts, taken)
        for generation in np.unique(taken.generations):
            first = float(taken.progress[taken.generations == generation].min())
            self.begun[int(generation)] = min(first, self.begun.get(int(generation), 1.0))
        cell = (cell_of(taken.progress, PROGRESS_EDGES), cell_of(taken.stagnation, STAGNATION_EDGES))
        np.add.at(self.cells, (*cell, taken.choices), 1.0)
        if self.policy_inputs is not None:
            self._value(self.policy_inputs, taken)

    def _value(self, policy_inputs: PolicyInputs, taken: Decisions) -> None:
        inputs = taken.inputs[taken.used]
        self.kept.append(inputs[self.rng.random(len(inputs)) < self.keep])
        ordered = np.sort(policy_inputs.values(inputs), axis=1)
        if ordered.shape[1] < 2:
            return
        gap, span = ordered[:, -1] - ordered[:, -2], ordered[:, -1] - ordered[:, 0]
        relative = np.divide(gap, span, out=np.zeros_like(gap), where=span > 0.0)
        self.gaps.append(np.column_stack([taken.generations[taken.used], gap, relative]))

    def gap_quartiles(self) -> Gaps | None:
        """Quartiles by generation; None without values."""
        rows = np.concatenate(self.gaps) if self.gaps else np.zeros((0, 3))
        if not len(rows):
            return None
        by_generation = rows[np.argsort(rows[:, 0], kind="stable")]
        starts = np.searchsorted(by_generation[:, 0], np.arange(len(self.counts) + 1))
        quartiles = np.full((len(self.counts), 3), np.nan)
        for generation, (first, last) in enumerate(zip(starts, starts[1:], strict=False)):
            if last > first:
                quartiles[generation] = np.percentile(by_generation[first:last, 1], [25, 50, 75])
        low, median, high = quartiles.T
        return Gaps(low, median, high, float(np.median(rows[:, 2])))


def cell_of(values: np.ndarray, edges: tuple[float, ...]) -> np.ndarray:
    """The cell that each value lies in."""
    return np.clip(np.searchsorted(edges, values, side="right") - 1, 0, len(edges) - 2)


def summarize_decisions(
    policy: CompiledPolicy,
    problem: Problem,
    protocol: Protocol,
    policy_inputs: PolicyInputs | None,
    *,
    states: int,
    seed: int,
) -> tuple[DecisionSummary, np.ndarray, np.ndarray]:
    """Run the policy on the problem; return what it did, the inputs of about `states` decisions, and its errors."""
    runs = protocol.runs(policy, problem, EVALUATION_REPEATS)
    budget = protocol.config.budget
    most = max(1, protocol.repeats * (budget - protocol.config.population_size))
    collector = _Collector(len(protocol.portfolio), policy_inputs, states / most, np.random.default_rng(seed))
    for taken in decisions(runs, policy_inputs):
        collector.add(taken)
    width = 0 if policy_inputs is None else policy_inputs.width
    sample = np.concatenate(collector.kept) if collector.kept else np.zeros((0, width))
    begun = [round(budget * collector.begun.get(g, 0.0)) for g in range(max(len(collector.counts), 1))]
    summary = DecisionSummary(
        problem=problem.name,
        evaluations=np.array(begun, dtype=np.int64),
        shares=shares_of(collector.counts),
        cells=collector.cells,
        gaps=collector.gap_quartiles(),
    )
    return summary, sample, final_errors(runs)
