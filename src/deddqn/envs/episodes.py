"""What the episodes of an environment have in common, and which problem comes next."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from deddqn._utils.validation import check_whole_number, choice_error, unknown_name
from deddqn.de import PAPER, DEConfig, Operator, Portfolio
from deddqn.de.portfolio import OperatorValues
from deddqn.engine import RunSpec
from deddqn.optimize.arguments import portfolio_of
from deddqn.policies import fixed
from deddqn.problems import SUITES, Problem, get
from deddqn.rewards import NEEDS_OPTIMUM, NEEDS_SETUP, REWARDS, reward_kernel

ProblemChoice = str | Problem | Iterable[str | Problem]
PortfolioChoice = str | Iterable[Operator | str | OperatorValues]
ARGUMENTS = ("problem", "reward", "portfolio", "max_dimension")
ORDER_STREAM = 0x0DE  # spawn key of the shuffles, apart from those of the runs


def problems_of(choice: ProblemChoice) -> list[Problem]:
    """The problems of a name, of a suite's name, of a Problem, or of a list of them."""
    if isinstance(choice, Problem):
        return [choice]
    if isinstance(choice, str):
        return [get(name) for name in SUITES[choice]] if choice in SUITES else [_named(choice)]
    if not isinstance(choice, Iterable):
        raise ValueError(f"problem must be a name, a suite, a Problem or a list of them, got {choice!r}")
    problems = [problem for one in choice for problem in problems_of(one)]
    if not problems:
        raise ValueError("problem must name at least one problem, got none")
    return problems


def _named(name: str) -> Problem:
    if ":" not in name:
        raise unknown_name("problem or suite", name, SUITES)
    return get(name)


@dataclass(frozen=True, kw_only=True)
class Episodes:
    """The settings of an environment's episodes; `spec` makes one of them.

    Parameters
    ----------
    problems : what is searched.
    reward : name of the reward.
    portfolio : the operators, which are the actions.
    config : how to search.
    max_dimension : dim^max of Table 1 row 5.
    """

    problems: list[Problem]
    reward: str = "R2"
    portfolio: Portfolio = PAPER
    config: DEConfig = field(default_factory=DEConfig)
    max_dimension: int = 30

    @classmethod
    def from_arguments(
        cls,
        problem: ProblemChoice,
        reward: str,
        portfolio: PortfolioChoice | None,
        max_dimension: int,
        settings: Mapping[str, Any],
    ) -> Episodes:
        """Check what a user gave; `settings` are those of `DEConfig`."""
        known = [*ARGUMENTS, *(setting.name for setting in fields(DEConfig) if setting.name != "updating")]
        for name in settings:
            if name not in known:
                raise choice_error("an argument of the environment", name, known)
        return cls(
            problems=problems_of(problem),
            reward=reward,
            portfolio=PAPER if portfolio is None else portfolio_of(portfolio, {}),
            config=DEConfig(**settings),
            max_dimension=max_dimension,
        )

    def __post_init__(self) -> None:
        size, budget = self.config.population_size, self.config.budget
        if budget <= size:
            raise ValueError(f"budget must be more than population_size ({size}) to leave a decision, got {budget}")
        check_whole_number("max_dimension", self.max_dimension, 1)
        reward_kernel(self.reward)
        if self.reward in NEEDS_SETUP:
            raise choice_error("reward", self.reward, [name for name in REWARDS if name not in NEEDS_SETUP])
        for problem in self.problems:
            self.check(problem)

    def check(self, problem: Problem) -> None:
        """Raise ValueError where a problem cannot be used."""
        if not problem.evaluable:
            raise ValueError(f"problem must have a function, but {problem.name!r} is only a box")
        if self.reward in NEEDS_OPTIMUM and problem.optimum is None:
            raise ValueError(f"reward {self.reward!r} needs a known optimum, but {problem.name!r} has none")

    def spec(self, problem: Problem, seed: int, repeat: int) -> RunSpec:
        """One episode. Its decisions come from outside; a policy is there only to carry dim^max."""
        policy = fixed(0)
        policy.max_dimension = self.max_dimension
        return RunSpec(
            problem=problem,
            policy=policy,
            portfolio=self.portfolio,
            config=self.config,
            seed=seed,
            repeat=repeat,
            reward=self.reward,
            observe=True,
        )

    def largest(self) -> RunSpec:
        """The episode that needs most room."""
        return max((self.spec(problem, 0, 0) for problem in self.problems), key=lambda spec: spec.size)


class Order:
    """Deals the problems in cycles: every cycle holds all of them, in an order shuffled by the seed."""

    def __init__(self, problems: list[Problem], seed: int) -> None:
        self._problems = problems
        self._generator = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(ORDER_STREAM,)))
        self._waiting: list[int] = []

    def next(self) -> Problem:
        """The problem of the next episode."""
        if not self._waiting:
            self._waiting = self._generator.permutation(len(self._problems)).tolist()
        return self._problems[self._waiting.pop(0)]
