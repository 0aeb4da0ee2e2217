"""How many evaluations a search plans for: a number that is known, none, or what the time allows.

======================================  ==============================================================================
what is known                           the search
======================================  ==============================================================================
`maxfun`                                plans with it: the population shrinks over it, its last part is for the best one
neither `maxfun` nor `maxtime`          may be stopped at any moment: the schedule of `deddqn.de.anytime`, at most
                                        `MOST_UNPLANNED` evaluations
`maxtime` alone                         begins like that, and plans after every generation with as many evaluations as
                                        fit into the time that is left at the mean cost so far
======================================  ==============================================================================
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from deddqn.de.anytime import TOLERANCE, first_size
from deddqn.de.budget_rules import follow_budget
from deddqn.de.config import DEConfig
from deddqn.de.state import Counter, End
from deddqn.engine.extension import extend_run
from deddqn.engine.run import Run
from deddqn.optimize.arguments import scheduled_population, whole_number
from deddqn.optimize.noisy import begin_reevaluation

MOST_UNPLANNED = 10_000
LARGEST_BUDGET = 2**53
SMALL_CHANGE = 0.05  # of the evaluations that are left
ROOM = 1.25  # a plan for more individuals than so many times those at the start begins with more


@dataclass(frozen=True)
class Plan:
    """What is known about the end of a search, and the settings that depend on it.

    Parameters
    ----------
    maxfun : the most evaluations, None if that was not said.
    waiting : evaluations of an extension that begins with the next generation, or None.
    sized : whether the population size was given, so that no budget changes it.
    by_budget : settings that follow the budget.
    noisy, judged : whether the answer is to be evaluated again at the end, and whether that has begun.
    largest, final, tolerance, fraction : population_size, final_population, restart_tolerance and
        restart_final_fraction of a search whose end is known.
    """

    maxfun: int | None
    waiting: int | None
    sized: bool
    largest: int
    final: int | None
    tolerance: float
    fraction: float
    noisy: bool = False
    judged: bool = False
    by_budget: str = ""

    @classmethod
    def of(cls, config: DEConfig, maxfun: int | None, *, sized: bool, largest: int, by_budget: str) -> Plan:
        """The plan of a search with the settings `config`, which hold for a known end."""
        known = (config.final_population, config.restart_tolerance, config.restart_final_fraction)
        return cls(maxfun, None, sized, largest, *known, by_budget=by_budget)

    def config_for(self, config: DEConfig, budget: int, in_use: int, dimension: int) -> DEConfig:
        """`config` with the settings for a `budget` that is known, and room for the individuals `in_use`."""
        size = (
            self.largest if self.sized or self.final is None else scheduled_population(self.largest, self.final, budget)
        )
        size = max(size, in_use)
        wanted = replace(
            config,
            budget=budget,
            population_size=size,
            final_population=None if self.final is None else min(self.final, size),
            first_population=None,
            restart_tolerance=self.tolerance,
            restart_final_fraction=self.fraction,
            by_budget=self.by_budget,
        )
        wanted = follow_budget(wanted, dimension)
        return replace(wanted, population_size=max(wanted.population_size, in_use))

    def unplanned(self, config: DEConfig, dimension: int) -> DEConfig:
        """`config` for a search that may be stopped at any moment; itself where nothing in it is a plan."""
        if self.final is None:
            return replace(config, budget=MOST_UNPLANNED)
        return replace(
            config,
            budget=MOST_UNPLANNED,
            population_size=self.largest,
            final_population=None,
            first_population=self.largest if self.sized else first_size(dimension, self.largest),
            restart_tolerance=min(self.tolerance, TOLERANCE),
            restart_final_fraction=0.0,
            cma_share=0.0,
            local_share=0.0,
        )


def extended(plan: Plan, run: Run, maxfun: Any) -> Plan:
    """A plan in which an extension to `maxfun` evaluations waits."""
    counters = run.de_state.counters
    total = whole_number("maxfun", maxfun, 1)
    least = run.evaluations - int(counters[Counter.RECORDED]) + int(counters[Counter.GENERATION_SIZE])
    if plan.noisy:
        raise ValueError(f"maxfun must stay {plan.maxfun} in a search with noisy=True, got {maxfun!r}")
    if total < least:
        raise ValueError(f"maxfun must be at least {least}, the evaluations made or begun so far, got {maxfun}")
    return replace(plan, waiting=total)


def carry_out(plan: Plan, run: Run) -> Plan:
    """Extend a run between two generations, if that waits; return the plan that holds from now on."""
    if plan.noisy and not plan.judged and run.ended == End.BUDGET:
        begin_reevaluation(run, plan.maxfun or MOST_UNPLANNED)
        return replace(plan, judged=True)
    if plan.waiting is None or not run.between_generations:
        return plan
    if plan.waiting < run.evaluations:
        raise ValueError(f"maxfun must be at least {run.evaluations}, the evaluations made, got {plan.waiting}")
    extend_run(run, plan.config_for(run.spec.config, plan.waiting, run.individuals, run.spec.problem.dimension))
    return replace(plan, maxfun=plan.waiting, waiting=None)


def plan_by_clock(plan: Plan, run: Run, affordable: int) -> None:
    """Let a run between two generations plan with as many evaluations in all as the time allows.

    Small changes are left for later: they cost more than they bring.
    """
    config = run.spec.config
    budget = min(max(affordable, run.evaluations + len(run.population)), LARGEST_BUDGET)
    begins = config.first_population is not None
    if not (begins or run.ended) and abs(budget - config.budget) <= SMALL_CHANGE * (budget - run.evaluations):
        return
    wanted = plan.config_for(config, budget, run.individuals, run.spec.problem.dimension)
    if not begins and wanted.population_size <= ROOM * config.population_size:
        wanted = replace(wanted, population_size=config.population_size)
    extend_run(run, wanted)
