"""The settings of a policy search, and the named ones that they start from."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from deddqn._utils.validation import choice_error
from deddqn.de.budget_rules import RULES
from deddqn.de.config import DEConfig
from deddqn.de.portfolio import EXTENDED
from deddqn.training.strict_json import RunSettings, check, from_values, to_values

_WITH_BUDGET = re.compile(r"([^@]+)(?:@([1-9][0-9]{0,14}))?")


@dataclass(frozen=True, kw_only=True)
class PolicySearchConfig(RunSettings):
    """Settings of a policy search. With a constant `n_candidates` above 1 the gate is searched, too.

    Parameters
    ----------
    suite : named suite of training problems.
    problems : training problems by name, instead of a suite, each once; names like cec2005:F1/d10, or made:17/d23@40000
        where a problem has a budget of its own.
    generations : generations of CMA-ES.
    offspring : policies per generation (lambda of CMA-ES).
    repeats : runs of a policy per problem and generation.
    sample : problems that a generation runs on, drawn for it (0: all).
    sigma : initial standard deviation of every weight.
    start : name or file of a softmax policy to start from; the uniform policy (all weights 0) if empty.
    reference_repeats : runs per reference policy and problem.
    pool : CSV file of `deddqn export` whose runs are the references instead, for instance those of strong peers,
        with the budgets that the problems have here.
    mean_window : generations that the moving average of the means of CMA-ES looks back on. The average is what is
        validated and kept, because a mean moves with the noise of its last generations; 1 takes the mean itself.
    evaluate_every : generations between validations of the average on other seeds.
    evaluate_repeats : runs per problem of a validation.
    seed : root of all randomness.
    threads : threads of the runs (0: all cores).
    checkpoint_seconds : time between two checkpoints.
    max_seconds : stop with a checkpoint after this time (0: never).
    tensorboard : also write TensorBoard files, where it is installed.
    by_budget : names of settings that follow budget and dimension (see `deddqn.de.budget_rules`).
    """

    suite: str = "cec2005-train"
    problems: tuple[str, ...] = ()
    generations: int = 100
    offspring: int = 16
    repeats: int = 1
    sample: int = 0
    sigma: float = 1.0
    start: str = ""
    reference_repeats: int = 10
    pool: str = ""
    mean_window: int = 1
    evaluate_every: int = 10
    evaluate_repeats: int = 4
    seed: int = 0
    threads: int = 0
    checkpoint_seconds: float = 30.0
    max_seconds: float = 0.0
    tensorboard: bool = False
    by_budget: str = ""

    def __post_init__(self) -> None:
        for name in (
            "generations",
            "repeats",
            "reference_repeats",
            "mean_window",
            "evaluate_every",
            "evaluate_repeats",
        ):
            check(name, getattr(self, name) >= 1, "at least 1", getattr(self, name))
        check("offspring", self.offspring >= 4, "at least 4", self.offspring)
        check("sample", self.sample >= 0, "0 or more", self.sample)
        self.de_config()
        self.operators()
        check("problems", not isinstance(self.problems, str), "a sequence of names", repr(self.problems))
        _ = self.with_budgets
        check("sigma", 0.0 < self.sigma < float("inf"), "a positive number", self.sigma)

    def de_config(self) -> DEConfig:
        """The settings of the runs."""
        return replace(super().de_config(), by_budget=self.by_budget)

    @property
    def with_budgets(self) -> list[tuple[str, int]]:
        """The names of the problems, and their budgets."""
        found = []
        for name in self.problems:
            match = _WITH_BUDGET.fullmatch(name) if isinstance(name, str) else None
            if match is None:
                raise ValueError(f"problems must look like 'made:17/d23' or 'made:17/d23@40000', got {name!r}")
            found.append((match[1], int(match[2] or self.budget)))
        names = [name for name, _ in found]
        check("problems", len(set(names)) == len(names), "different ones", self.problems)
        return found

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> PolicySearchConfig:
        """Settings from JSON values; ``"preset"`` names where they start from. An unknown key is an error."""
        given = dict(values)
        name = given.pop("preset", "softmax")
        if name not in SEARCH_PRESETS:
            raise choice_error("preset", name, SEARCH_PRESETS)
        return from_values(cls, SEARCH_PRESETS[name], given)

    def to_json(self) -> dict[str, Any]:
        """The settings as JSON values."""
        return to_values(self)


SEARCH_PRESETS: dict[str, dict[str, Any]] = {
    "softmax": {},
    "softmax-x": {
        "portfolio": EXTENDED.values,
        "final_population": 7,
        "pbest": 0.2,
        "restart_tolerance": 0.03,
        "restart_final_fraction": 0.3,
        "repair": "midpoint",
        "n_candidates": 2,
        "mean_window": 40,
    },
}
SEARCH_PRESETS["softmax-budget"] = {
    **SEARCH_PRESETS["softmax-x"],
    "restart_final_fraction": 0.0,
    "by_budget": " ".join(RULES),
}
"""Named settings: the paper's portfolio; the extended one with the settings of `softmax-x`, or of `softmax-budget`."""
