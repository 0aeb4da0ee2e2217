"""``explain``: run a policy, look at all of its decisions, and play it against the controls."""

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
    Contest,
    Tell,
    best_fixed,
    compare_errors,
    fixed_policies,
    measure_shares,
    own_shares,
    play,
    silent,
)
from deddqn.explain.decision_summary import Picture, picture_of
from deddqn.explain.decisions import MEASURED, Ground, compiled_policy
from deddqn.explain.importance import Importance, permutation_importance
from deddqn.explain.policy_inputs import sight_of, why_blind
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
    control : also play the controls (three quarters of the work and more).
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
        self.ground  # noqa: B018  (checks the rest)

    @cached_property
    def chosen(self) -> CompiledPolicy:
        """The policy itself."""
        return compiled_policy(self.policy)

    @cached_property
    def where(self) -> dict[str, Problem]:
        """The problems by name."""
        return problems_of(self.problems)

    @cached_property
    def ground(self) -> Ground:
        """How its runs are made."""
        given = {"budget": self.budget}
        if self.population_size is not None:
            given["population_size"] = self.population_size
        return Ground(
            repeats=self.repeats,
            seed=self.seed,
            portfolio=self.chosen.portfolio or PAPER,
            config=config_for(self.chosen.de, **given),
            threads=self.threads,
        )

    @property
    def steps(self) -> int:
        """Batches of runs that `explain` tells about."""
        controls = 4 + len(self.ground.portfolio) if self.control else 0
        return len(self.where) * (1 + controls)


@dataclass(frozen=True)
class Explanation:
    """All that is known about a policy's decisions: what the tables and the page are made from."""

    policy: str
    source: str  # the name or path that it was loaded from; empty for an object
    valued: str  # what its values are called; empty if it has none
    blind: str  # why it has none; empty if it has
    operators: tuple[str, ...]
    repeats: int
    seed: int
    budget: int
    population_size: int
    sampled: int  # decisions that were permuted
    pictures: tuple[Picture, ...]
    importance: tuple[Importance, ...] = ()
    errors: Mapping[str, Mapping[str, np.ndarray]] = field(default_factory=dict)  # method -> problem -> errors
    contests: tuple[Contest, ...] = ()
    fixed_of: Mapping[str, str] = field(default_factory=dict)  # problem -> its best fixed strategy
    fixed_overall: str = ""

    @property
    def problems(self) -> tuple[str, ...]:
        """Their names."""
        return tuple(picture.problem for picture in self.pictures)

    @property
    def methods(self) -> tuple[str, ...]:
        """The policy, then the controls that were played."""
        return tuple(self.errors)


def explain(request: Request, tell: Tell = silent) -> Explanation:
    """Run the policy and its controls; `tell` hears of every batch of runs (`request.steps` of them)."""
    policy, ground = request.chosen, request.ground
    policy.check_portfolio(ground.portfolio)
    sight = sight_of(policy, len(ground.portfolio))
    pictures, samples, errors = [], [], {}
    for k, (name, problem) in enumerate(request.where.items()):
        picture, sample, errors[name] = picture_of(
            policy, problem, ground, sight, states=request.states, seed=request.seed + k
        )
        pictures.append(picture)
        samples.append(sample)
        tell(f"{policy.name} on {name}")
    of_problem = np.repeat(np.arange(len(samples)), [len(sample) for sample in samples])
    importance: list[Importance] = []
    if sight is not None and of_problem.size:
        importance = permutation_importance(sight, np.concatenate(samples), of_problem, seed=request.seed)
    seen = Explanation(
        policy=policy.name,
        source=policy.source or "",
        valued="" if sight is None else sight.valued,
        blind=why_blind(policy) if sight is None else "",
        operators=ground.portfolio.names,
        repeats=request.repeats,
        seed=request.seed,
        budget=request.budget,
        population_size=request.ground.config.population_size,
        sampled=of_problem.size,
        pictures=tuple(pictures),
        importance=tuple(importance),
        errors={policy.name: errors},
    )
    return _with_controls(seen, request, tell) if request.control else seen


def _with_controls(seen: Explanation, request: Request, tell: Tell) -> Explanation:
    """The same with the controls: own shares, the best strategy of each problem, and the best one over all."""
    policy, where, ground = request.chosen, request.where, request.ground
    mine = seen.errors[policy.name]
    shares = measure_shares(policy, where, ground, tell=tell)
    others = fixed_policies(ground)
    by_problem, overall = best_fixed([play(other, where, ground, first=MEASURED, tell=tell) for other in others])
    controls: dict[str, CompiledPolicy | dict[str, CompiledPolicy]] = {
        OWN_SHARES: own_shares(policy.name, shares, ground),
        BEST_FIXED: {problem: others[op] for problem, op in by_problem.items()},
        ONE_FIXED: others[overall],
    }
    played = {name: play(control, where, ground, tell=tell) for name, control in controls.items()}
    names = ground.portfolio.names
    return replace(
        seen,
        errors={**seen.errors, **played},
        contests=tuple(compare_errors(policy.name, mine, name, theirs, where) for name, theirs in played.items()),
        fixed_of={problem: names[op] for problem, op in by_problem.items()},
        fixed_overall=names[overall],
    )
