"""The settings of one run of Differential Evolution, with the paper's values as defaults (Table 2)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from deddqn._utils.validation import check_whole_number, choice_error

REPAIRS = ("clip", "reflect", "midpoint", "random")
UPDATINGS = ("sequential", "deferred", "immediate", "asynchronous")
CROSSOVERS = ("binomial", "exponential")
SMALLEST_POPULATION = 6  # a parent and five donors
LARGEST_ARCHIVE = 100.0  # populations
MOST_TRIALS = 16
BY_BUDGET = (
    *("cma_share", "cma_extent", "local_share"),
    *("population_size", "n_candidates", "archive", "restart_tolerance", "rate_share"),
)
"""Settings that may follow the budget."""


@dataclass(frozen=True, kw_only=True)
class DEConfig:
    """How to search; what to search with is the portfolio, and who chooses from it the policy.

    Parameters
    ----------
    population_size : NP, at least 6 (a parent and five donors).
    budget : FE^max, evaluations including the initial population.
    repair : what happens to a coordinate outside of the bounds: "clip", "reflect", "midpoint" or "random".
    updating : "sequential" decides for every individual with the newest history; "deferred" proposes a whole
        generation first, for vectorised or parallel objectives; "immediate" is sequential, and a trial that is not
        worse replaces its parent at once (for portfolios without adapted F and CR and without an archive);
        "asynchronous" proposes a trial whenever one is asked for and lets it replace its parent when its value comes,
        in any order.
    target_error : a run ends when the error is below this, where the optimum is known.
    target_value : a run ends when a value is not above this.
    final_population : the population shrinks linearly over the budget from NP to this size; None keeps NP.
    pbest : share of the best parents (at least two) from which the "pbest" strategies draw x_pbest.
    rate_share : share of the trials whose F, where it adapts, follows the success rate of the last generation instead
        of the history (`deddqn.de.success_history`).
    archive : size of the archive of replaced parents, as a multiple of the population in use.
    restart_tolerance : a population whose values and coordinates have come as close as this, relative to the range
        of all values so far and to the box, is replaced by a new one (on plateaus coordinates may be eight times as
        far apart); 0 never restarts.
    restart_final_fraction : last share of the budget, for which the search returns to the best of the replaced
        populations; then a restart is made only if as much is left before it as the population has lived. 0: there is
        no return.
    cma_share : share of the budget that CMA-ES (`deddqn.de.cma_es`) is tried for, before a last part of the same length
        that belongs to whichever of DE and CMA-ES is ahead; below one half. 0: DE alone, 1: CMA-ES alone.
    cma_extent : CMA-ES is tried only if the population of DE has contracted to this by then, the mean distance of its
        coordinates from their means in widths of the box; otherwise DE has the whole budget. inf: it is tried anyway.
    local_share : last share of the budget, for which a local search (`deddqn.de.local_search`) begins at the best
        point; when it has converged, who searched before resumes. Below one half, and where CMA-ES is tried at most the
        share of that. 0: none.
    by_budget : names of settings, separated by spaces, that follow budget and dimension (`deddqn.de.budget_rules`).
    n_candidates : candidates per trial, from 1 to 16; policies that pre-screen evaluate one of them.
    crossover_kind : "binomial", or "exponential": the mutant gives a run of neighbouring coordinates.
    dither : every generation adds a number drawn from [0, dither) to the F of the operators.
    noise_handling : for noisy objectives (`deddqn.de.noise`): the strategy cma does not restart, and samples more per
        update where it makes no progress.
    first_population : for runs whose end is not known (`deddqn.de.anytime`): the population begins with this size, does
        not shrink, and every restart doubles it, up to NP; None is a plan over the budget.
    """

    population_size: int = 100
    budget: int = 10_000
    repair: str = "clip"
    updating: str = "sequential"
    target_error: float = 1e-8
    target_value: float = float("-inf")
    final_population: int | None = None
    pbest: float = 0.11
    rate_share: float = 0.0
    archive: float = 1.0
    restart_tolerance: float = 0.0
    restart_final_fraction: float = 0.0
    n_candidates: int = 1
    crossover_kind: str = "binomial"
    dither: float = 0.0
    first_population: int | None = None
    noise_handling: bool = False
    cma_share: float = 0.0
    cma_extent: float = math.inf
    local_share: float = 0.0
    by_budget: str = ""

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
        check_whole_number("n_candidates", self.n_candidates, 1, " candidate")
        if self.n_candidates > MOST_TRIALS:
            raise ValueError(f"n_candidates must be at most {MOST_TRIALS}, got {self.n_candidates}")
        if self.crossover_kind not in CROSSOVERS:
            raise choice_error("crossover_kind", self.crossover_kind, CROSSOVERS)
        for name in self.by_budget.split():
            if name not in BY_BUDGET:
                raise choice_error("by_budget", name, BY_BUDGET)
        if not (0.0 <= self.cma_share < 0.5 or self.cma_share == 1.0):
            raise ValueError(f"cma_share must lie in [0, 0.5), or be 1 for CMA-ES alone, got {self.cma_share}")
        if not self.cma_extent >= 0.0:
            raise ValueError(f"cma_extent must be 0 or more, got {self.cma_extent}")
        if not 0.0 <= self.local_share < 0.5:
            raise ValueError(f"local_share must lie in [0, 0.5), got {self.local_share}")
        if not 0.0 <= self.dither < math.inf:
            raise ValueError(f"dither must be a finite number of 0 or more, got {self.dither}")
        self._check_population()

    def _check_population(self) -> None:
        if self.final_population is not None:
            check_whole_number("final_population", self.final_population, SMALLEST_POPULATION)
            if self.final_population > self.population_size:
                raise ValueError(
                    f"final_population must be at most population_size ({self.population_size}), "
                    f"got {self.final_population}"
                )
        if self.first_population is not None:
            check_whole_number("first_population", self.first_population, SMALLEST_POPULATION)
            if self.first_population > self.population_size or self.final_population is not None:
                raise ValueError(
                    f"first_population must be at most population_size ({self.population_size}), without a "
                    f"final_population ({self.final_population}), got {self.first_population}"
                )
        if not 0.0 < self.pbest <= 1.0:
            raise ValueError(f"pbest must lie in (0, 1], got {self.pbest}")
        if not 0.0 <= self.rate_share <= 1.0:
            raise ValueError(f"rate_share must lie in [0, 1], got {self.rate_share}")
        if not 0.0 <= self.archive <= LARGEST_ARCHIVE:
            raise ValueError(f"archive must lie in [0, {LARGEST_ARCHIVE:g}], got {self.archive}")
        if not 0.0 <= self.restart_tolerance < 1.0:
            raise ValueError(f"restart_tolerance must lie in [0, 1), got {self.restart_tolerance}")
        if not 0.0 <= self.restart_final_fraction < 1.0:
            raise ValueError(f"restart_final_fraction must lie in [0, 1), got {self.restart_final_fraction}")

    @property
    def hand_over(self) -> int:
        """The evaluations after which CMA-ES is tried; the budget where it never is."""
        if self.cma_share == 1.0:
            return 0
        return max(math.floor((1.0 - 2.0 * self.cma_share) * self.budget + 0.5), 1)  # DE has its first population

    @property
    def decision(self) -> int:
        """The evaluations after which CMA-ES goes on if it is ahead; until then DE plans with so many."""
        return self.budget if self.cma_share == 1.0 else math.floor((1.0 - self.cma_share) * self.budget + 0.5)

    @property
    def local_from(self) -> int:
        """The evaluations after which the local search begins; the budget where it never does."""
        share = self.local_share if self.cma_share in (0.0, 1.0) else min(self.local_share, self.cma_share)
        return math.floor((1.0 - share) * self.budget + 0.5)

    def own_settings(self) -> dict[str, Any]:
        """What a policy made with these settings needs to know of them, where it is not the paper's."""
        paper = DEConfig()
        return {name: getattr(self, name) for name in OWN_SETTINGS if getattr(self, name) != getattr(paper, name)}


OWN_SETTINGS = (
    *("population_size", "final_population", "pbest", "archive", "restart_tolerance", "restart_final_fraction"),
    "rate_share",
    *("repair", "n_candidates", "crossover_kind", "dither", "cma_share", "cma_extent", "local_share", "by_budget"),
)
"""The settings that belong to a policy: they go into its file, and are the defaults of runs with it."""


def config_for(own: Mapping[str, Any], **given: Any) -> DEConfig:
    """The settings of a run: those given, else the policy's `own`, else the paper's.

    A smaller population than the policy's own may begin below the final size: then it does not shrink.
    """
    settings = {**own, **given}
    if "by_budget" in own:
        settings["by_budget"] = " ".join(name for name in own["by_budget"].split() if name not in given)
    if "final_population" in own and "final_population" not in given:
        size = settings.get("population_size", DEConfig.population_size)
        settings["final_population"] = min(own["final_population"], size)
    return DEConfig(**settings)


def check_own(own: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that a policy brings, or the error for a wrong one."""
    for name in own:
        if name not in OWN_SETTINGS:
            raise choice_error("a setting of the policy", name, OWN_SETTINGS)
    DEConfig(**own)
    return dict(own)
