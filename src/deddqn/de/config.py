"""The settings of one run of Differential Evolution, with the paper's values as defaults (Table 2)."""

from __future__ import annotations

import math
from dataclasses import dataclass

from deddqn.names import check_whole_number, choice_error

REPAIRS = ("clip", "reflect", "midpoint")
UPDATINGS = ("sequential", "deferred")
SMALLEST_POPULATION = 6  # a parent and five donors


@dataclass(frozen=True, kw_only=True)
class DEConfig:
    """How to search; what to search with is the portfolio, and who chooses from it the policy.

    Parameters
    ----------
    population_size : NP, at least 6 (a parent and five donors).
    budget : FE^max, evaluations including the initial population.
    repair : what happens to a coordinate outside of the bounds: "clip", "reflect" or "midpoint".
    updating : "sequential" decides for every individual with the newest history; "deferred" proposes a whole
        generation first, for vectorised or parallel objectives.
    target_error : a run ends when the error is below this, where the optimum is known.
    target_value : a run ends when a value is not above this.
    """

    population_size: int = 100
    budget: int = 10_000
    repair: str = "clip"
    updating: str = "sequential"
    target_error: float = 1e-8
    target_value: float = float("-inf")

    def __post_init__(self) -> None:
        donors = " (a parent and five donors)"
        check_whole_number("population_size", self.population_size, SMALLEST_POPULATION, donors)
        check_whole_number("budget", self.budget, 1, " evaluation")
        if not self.target_error >= 0.0:
            raise ValueError(f"target_error must be 0 or more, got {self.target_error}")
        if math.isnan(self.target_value):
            raise ValueError(f"target_value must be a number, got {self.target_value}")
        if self.repair not in REPAIRS:
            raise choice_error("repair", self.repair, REPAIRS)
        if self.updating not in UPDATINGS:
            raise choice_error("updating", self.updating, UPDATINGS)
