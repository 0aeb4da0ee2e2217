"""``explain``: run a policy, record all of its decisions, and compare it with its controls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from deddqn._utils.validation import check_whole_number
from deddqn.de.config import config_for
from deddqn.de.portfolio import PAPER
from deddqn.evaluation import TRAINING_SUITE
from deddqn.experiments.methods import problems_of
from deddqn.explain.control_comparison import (
    ControlComparison,
    ProgressCallback,
    best_fixed,
    compare_errors,
    fixed_policies,
    measure_shares,
    no_progress,
    own_shares,
    run_policy,
)
from deddqn.explain.decision_summary import DecisionSummary, summarize_decisions
from deddqn.explain.decisions import MEASUREMENT_REPEATS, Protocol, compiled_policy
from deddqn.explain.importance import Importance, permutation_importance
from deddqn.explain.policy_inputs import inputs_of, why_opaque
from deddqn.policies import CompiledPolicy, Policy
from deddqn.problems import Problem

OWN_SHARES, BEST_FIXED, ONE_FIXED = "own shares", "best fixed", "one fixed"
"""The controls: own shares at random; the best strategy of each problem; the one that is best over all problems."""


@dataclass(frozen=True, kw_only=True)
class Request:
    """What to explain, and how much to run for it.

    Parameters
    ----------
    policy : a name, the path of a policy file, or a compiled policy.
    problems : names, names of suites, or problems; the training suite by default.
    repeats, seed, budget : of the runs, per problem.
    population_size : NP; by default the policy's own.
    states : decisions per problem that are drawn for the permutations.
    control : also run the controls (three quarters of the work and more).
    """

    policy: str | Policy
    problems: str | Problem | tuple[str | Problem, ...] = (TRAINING_SUITE,)
    repeats: int = 25
    seed: int = 0
    budget: int = 10_000
    population_size: int | None = None
    states: int = 500
    control: bool = True
    threads: int | None = None

    def __post_init__(self) -> None:
        check_whole_number("states", self.states, 1)
        self.protocol  # noqa: B018  (checks the rest)

    @cached_property
    def chosen(self) -> CompiledPolicy:
        """The policy itself."""
        return compiled_policy(self.policy)

    @cached_property
    def where(self) -> dict[str, Problem]:
        """The problems by name."""
        return problems_of(self.problems)

    @cached_property
    def protocol(self) -> Protocol:
        """How its runs are made."""
        given = {"budget": self.budget}
        if self.population_size is not None:
            given["population_size"] = self.population_size
        return Protocol(
            repeats=self.repeats,
            seed=self.seed,
            portfolio=self.chosen.portfolio or PAPER,
            config=config_for(self.chosen.de, **given),
            threads=self.threads,
        )

    @property
    def steps(self) -> int:
        """Batches of runs that `explain` reports."""
        controls = 4 + len(self.protocol.portfolio) if self.control else 0
        return len(self.where) * (1 + controls)


@dataclass(frozen=True)
class Explanation:
    """All that is known about a policy's decisions: what the tables and the page are made from."""

    policy: str
    source: str  # the name or path that it was loaded from; empty for an object
    valued: str  # what its values are called; empty if it has none
    opaque: str  # why it has none; empty if it has
    operators: tuple[str, ...]
    repeats: int
    seed: int
    budget: int
    population_size: int
    sampled: int  # decisions that were permuted
    summaries: tuple[DecisionSummary, ...]
    importance: tuple[Importance, ...] = ()
    errors: Mapping[str, Mapping[str, np.ndarray]] = field(default_factory=dict)  # method -> problem -> errors
    comparisons: tuple[ControlComparison, ...] = ()
    fixed_of: Mapping[str, str] = field(default_factory=dict)  # problem -> its best fixed strategy
    fixed_overall: str = ""

    @property
    def problems(self) -> tuple[str, ...]:
        """Their names."""
        return tuple(summary.problem for summary in self.summaries)


def explain(request: Request, progress: ProgressCallback = no_progress) -> Explanation:
    """Run the policy and its controls; `progress` is called after every batch of runs (`request.steps` of them)."""
    policy, protocol = request.chosen, request.protocol
    policy.check_portfolio(protocol.portfolio)
    policy_inputs = inputs_of(policy, len(protocol.portfolio))
    summaries, samples, errors = [], [], {}
    for k, (name, problem) in enumerate(request.where.items()):
        summary, sample, errors[name] = summarize_decisions(
            policy, problem, protocol, policy_inputs, states=request.states, seed=request.seed + k
        )
        summaries.append(summary)
        samples.append(sample)
        progress(f"{policy.name} on {name}")
    of_problem = np.repeat(np.arange(len(samples)), [len(sample) for sample in samples])
    importance: list[Importance] = []
    if policy_inputs is not None and of_problem.size:
        importance = permutation_importance(policy_inputs, np.concatenate(samples), of_problem, seed=request.seed)
    found = Explanation(
        policy=policy.name,
        source=policy.source or "",
        valued="" if policy_inputs is None else policy_inputs.valued,
        opaque=why_opaque(policy) if policy_inputs is None else "",
        operators=protocol.portfolio.names,
        repeats=request.repeats,
        seed=request.seed,
        budget=request.budget,
        population_size=request.protocol.config.population_size,
        sampled=of_problem.size,
        summaries=tuple(summaries),
        importance=tuple(importance),
        errors={policy.name: errors},
    )
    return _with_controls(found, request, progress) if request.control else found


def _with_controls(found: Explanation, request: Request, progress: ProgressCallback) -> Explanation:
    """The same with the controls: own shares, the best strategy of each problem, and the best one over all."""
    policy, where, protocol = request.chosen, request.where, request.protocol
    mine = found.errors[policy.name]
    shares = measure_shares(policy, where, protocol, progress=progress)
    others = fixed_policies(protocol)
    by_problem, overall = best_fixed(
        [run_policy(other, where, protocol, first=MEASUREMENT_REPEATS, progress=progress) for other in others]
    )
    controls: dict[str, CompiledPolicy | dict[str, CompiledPolicy]] = {
        OWN_SHARES: own_shares(policy.name, shares, protocol),
        BEST_FIXED: {problem: others[op] for problem, op in by_problem.items()},
        ONE_FIXED: others[overall],
    }
    control_errors = {
        name: run_policy(control, where, protocol, progress=progress) for name, control in controls.items()
    }
    names = protocol.portfolio.names
    return replace(
        found,
        errors={**found.errors, **control_errors},
        comparisons=tuple(
            compare_errors(policy.name, mine, name, theirs, where) for name, theirs in control_errors.items()
        ),
        fixed_of={problem: names[op] for problem, op in by_problem.items()},
        fixed_overall=names[overall],
    )
