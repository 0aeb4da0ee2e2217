"""The control that takes the state away: is a policy better than its operator shares alone?

A policy is compared with *its own shares played at random*: per problem and generation the same strategies, equally
often, measured in runs on other seeds; and with the best fixed strategy, chosen on other seeds. All start from the
same initial populations. Mann-Whitney per problem, Holm over the problems.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from deddqn.analysis.statistics import (
    ALPHA,
    PairResult,
    Samples,
    WinTieLoss,
    compare_pair,
    mann_whitney,
    win_tie_loss,
)
from deddqn.de.config import DEConfig, config_for
from deddqn.de.portfolio import PAPER
from deddqn.experiments.methods import problems_of
from deddqn.explain.decisions import (
    EVALUATION_REPEATS,
    MEASUREMENT_REPEATS,
    Protocol,
    compiled_policy,
    count_choices,
    decisions,
    shares_of,
)
from deddqn.policies import CompiledPolicy, Policy, fixed, schedule_policy
from deddqn.problems import Problem

ProgressCallback = Callable[[str], None]
Errors = Mapping[str, np.ndarray]  # problem -> final errors of the runs


def no_progress(step: str) -> None:
    """Report nothing."""


@dataclass(frozen=True)
class ControlComparison:
    """A policy against a control, problem by problem."""

    policy: str
    control: str
    results: tuple[PairResult, ...]

    @property
    def tally(self) -> WinTieLoss:
        """How often the policy is significantly better, neither, or worse."""
        return win_tie_loss(self.results)


@dataclass(frozen=True)
class OwnShares:
    """A policy against its own shares: the errors of both by problem, the tests, and the shares themselves."""

    comparison: ControlComparison
    policy_errors: Errors
    control_errors: Errors
    shares: Mapping[str, np.ndarray]  # problem -> (generations, operators)

    @property
    def verdict(self) -> str:
        """Whether the state matters, in plain words."""
        return state_verdict(self.comparison)


def state_verdict(comparison: ControlComparison) -> str:
    """Whether the state matters, from the comparison of a policy with its own shares."""
    tally, problems, own = comparison.tally, len(comparison.results), "its own shares played at random"
    if tally.wins and tally.losses:
        return (
            f"The state matters both ways: the policy ends significantly better than {own} on {tally.wins} of "
            f"{problems} problems, and worse on {tally.losses}."
        )
    if tally.wins:
        return (
            f"The state matters on {tally.wins} of {problems} problems: there the policy ends significantly better "
            f"than {own}, and nowhere worse."
        )
    if tally.losses:
        return (
            f"The state does not help: on {tally.losses} of {problems} problems the policy ends significantly worse "
            f"than {own}, and nowhere better."
        )
    return (
        f"No sign that the state matters: on none of {problems} problems does the policy end significantly better or "
        f"worse than {own}."
    )


def cannot_tell(repeats: int, problems: int) -> str:
    """Why so few runs cannot show a difference, whatever it is; empty if they can."""
    apart = mann_whitney(np.arange(repeats), np.arange(repeats) + repeats)
    if apart * problems < ALPHA:
        return ""
    return (
        f"With {repeats} runs on {problems} problems no difference can be significant: even where all runs of one side "
        f"are better, p is {min(1.0, apart * problems):.2g} after Holm's correction. More runs can tell."
    )


def against_own_shares(
    policy: str | Policy,
    problems: str | Problem | Iterable[str | Problem],
    *,
    repeats: int = 25,
    seed: int = 0,
    share_repeats: int | None = None,
    first: int = EVALUATION_REPEATS,
    config: DEConfig | None = None,
    threads: int | None = None,
    progress: ProgressCallback = no_progress,
) -> OwnShares:
    """Compare a policy with its own shares played at random.

    Parameters
    ----------
    policy : a name, a file or a compiled policy.
    problems : names, names of suites, or problems.
    repeats : runs of either side per problem.
    share_repeats : runs per problem that the shares are measured in; as many as `repeats` by default.
    first : number of the first repeat; 0 gives the runs of ``deddqn compare``. Shares are measured
        on the repeats from `MEASUREMENT_REPEATS` on, whatever this is.
    config : of all runs; by default the policy's own settings.
    progress : called with a few words when a batch of runs is done (three per problem).
    """
    chosen, where = compiled_policy(policy), problems_of(problems)
    protocol = Protocol(
        repeats=repeats,
        seed=seed,
        portfolio=chosen.portfolio or PAPER,
        config=config or config_for(chosen.de),
        threads=threads,
    )
    mine = run_policy(chosen, where, protocol, first=first, progress=progress)
    measuring = replace(protocol, repeats=share_repeats if share_repeats is not None else repeats)
    shares = measure_shares(chosen, where, measuring, progress=progress)
    control = own_shares(chosen.name, shares, protocol)
    theirs = run_policy(control, where, protocol, first=first, progress=progress)
    comparison = compare_errors(chosen.name, mine, "own shares", theirs, where)
    return OwnShares(comparison, mine, theirs, shares)


def run_policy(
    policy: CompiledPolicy | Mapping[str, CompiledPolicy],
    problems: Mapping[str, Problem],
    protocol: Protocol,
    *,
    first: int = EVALUATION_REPEATS,
    progress: ProgressCallback = no_progress,
) -> dict[str, np.ndarray]:
    """Final errors by problem, of one policy or of one per problem."""
    found = {}
    for name, problem in problems.items():
        chosen = policy if isinstance(policy, CompiledPolicy) else policy[name]
        found[name] = protocol.errors(chosen, problem, first)
        progress(f"{chosen.name} on {name}")
    return found


def measure_shares(
    policy: CompiledPolicy,
    problems: Mapping[str, Problem],
    protocol: Protocol,
    *,
    first: int = MEASUREMENT_REPEATS,
    progress: ProgressCallback = no_progress,
) -> dict[str, np.ndarray]:
    """By problem, how often the policy chooses each operator in each generation: (generations, operators)."""
    found = {}
    for name, problem in problems.items():
        counts = np.zeros((0, len(protocol.portfolio)))
        for taken in decisions(protocol.runs(policy, problem, first)):
            counts = count_choices(counts, taken)
        found[name] = shares_of(counts)
        progress(f"shares of {policy.name} on {name}")
    return found


def own_shares(name: str, shares: Mapping[str, np.ndarray], protocol: Protocol) -> dict[str, CompiledPolicy]:
    """The control: by problem, the policy that draws operators with these shares."""
    title = f"own shares of {name}"
    return {
        problem: schedule_policy(table, name=title, portfolio=protocol.portfolio) for problem, table in shares.items()
    }


def fixed_policies(protocol: Protocol) -> list[CompiledPolicy]:
    """One policy per operator of the portfolio that always chooses it."""
    return [fixed(op) for op in range(len(protocol.portfolio))]


def best_fixed(runs: Sequence[Errors]) -> tuple[dict[str, int], int]:
    """The operator whose runs have the lowest mean rank on each problem, and over all problems.

    `runs` are the errors of the fixed strategies, by operator; runs of a problem are ranked together.
    """
    from scipy.stats import rankdata

    problems = list(runs[0])
    ranks = np.empty((len(problems), len(runs)))
    for row, problem in zip(ranks, problems, strict=True):
        together = np.array([errors[problem] for errors in runs])
        row[:] = rankdata(together).reshape(together.shape).mean(axis=1)
    by_problem = {problem: int(op) for problem, op in zip(problems, ranks.argmin(axis=1), strict=True)}
    return by_problem, int(ranks.mean(axis=0).argmin())


def compare_errors(
    policy: str, mine: Errors, control: str, theirs: Errors, problems: Mapping[str, Problem]
) -> ControlComparison:
    """Mann-Whitney on every problem, Holm over them."""
    cells = {(side, name): errors[name] for side, errors in ((policy, mine), (control, theirs)) for name in problems}
    unknown = frozenset(name for name, problem in problems.items() if problem.optimum is None)
    samples = Samples((policy, control), tuple(problems), cells, unknown)
    return ControlComparison(policy, control, tuple(compare_pair(samples, policy, control)))
