"""The settings of a search that were given, checked; the policy's own hold for the others."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from deddqn.de.budget_rules import follow_budget
from deddqn.de.config import SMALLEST_POPULATION, DEConfig, config_for
from deddqn.optimize.arguments import asynchronous_candidates, number, population_of, whole_number
from deddqn.optimize.noisy import check_noisy, noisy_config
from deddqn.optimize.planning import MOST_UNPLANNED, Plan
from deddqn.optimize.stopping import Limits
from deddqn.policies.policy import Policy


def limits_of(maxiter: Any, ftarget: Any, tol: Any, atol: Any) -> Limits:
    """When to stop, checked."""
    return Limits(
        None if maxiter is None else whole_number("maxiter", maxiter, 1),
        None if ftarget is None else number("ftarget", ftarget),
        number("tol", tol, 0.0),
        number("atol", atol, 0.0),
    )


def plan_search(
    policy: Policy,
    dimension: int,
    limits: Limits,
    *,
    given_size: int | None,
    maxfun: Any,
    population_size: Any,
    final_population: Any,
    updating: str,
    noisy: bool,
    **others: Any,
) -> tuple[Plan, DEConfig]:
    """The plan of a new search, and its settings; `given_size` is that of an initial population that was given.

    Where a schedule over the budget was given, there is one, though the end may not be known.
    """
    if maxfun is None and updating == "asynchronous":
        maxfun = MOST_UNPLANNED  # pending points cannot follow a plan that changes
    evaluations = MOST_UNPLANNED if maxfun is None else whole_number("maxfun", maxfun, 1)
    for name in ("cma_share", "local_share"):
        if maxfun is None and others[name]:
            raise ValueError(f"{name} must be 0 without maxfun, of which it is a share, got {others[name]}")
    own = getattr(policy, "de", {})
    sized = population_size is not None or given_size is not None
    follows = not sized and "population_size" in own.get("by_budget", "") and final_population is None
    size = given_size or population_of(
        population_size, None, policy, evaluations, final_population, dimension=dimension
    )
    if others["n_candidates"] is None and updating == "asynchronous":
        others["n_candidates"] = asynchronous_candidates(policy)
    given = search_settings(limits, final_population=final_population, **others)
    if others["cma_share"] is not None and "cma_extent" in own.get("by_budget", ""):
        given["cma_extent"] = np.inf  # who asks for CMA-ES gets it
    if not follows:
        given["population_size"] = size
    by_rule = config_for(own, **given, budget=evaluations, updating=updating)
    config = follow_budget(by_rule, dimension)
    if config.cma_share == 1.0 and given_size is not None:
        raise ValueError("cma_share must be below 1 where init is a population, got 1")
    if evaluations < config.population_size and not noisy:
        raise ValueError(f"maxfun must be at least the population size {config.population_size}, got {maxfun}")
    largest = size if sized else config_for(own).population_size
    plan = Plan.of(
        config, None if maxfun is None else evaluations, sized=sized, largest=largest, by_budget=by_rule.by_budget
    )
    if noisy:
        check_noisy(init=given_size, updating=updating if updating == "asynchronous" else None)
        check_noisy(population_size=population_size, final_population=final_population, **others)
        return replace(plan, noisy=True, maxfun=evaluations), noisy_config(config, dimension, evaluations)
    schedule = (final_population, others["restart_tolerance"], others["restart_final_fraction"])
    if maxfun is not None or any(setting is not None for setting in schedule):
        return plan, config
    return plan, plan.unplanned(config, dimension)


def shares_of(planned: bool, **given: Any) -> dict[str, Any]:
    """The shares of CMA-ES and local search: those given, else None (the policy's own), or 0 where there is no plan."""
    return {name: share if share is not None or planned else 0.0 for name, share in given.items()}


def search_settings(
    limits: Limits,
    *,
    final_population: Any,
    restart_tolerance: Any,
    restart_final_fraction: Any,
    n_candidates: Any,
    repair: Any,
    cma_share: Any,
    local_share: Any,
) -> dict[str, Any]:
    """Settings of `DEConfig` by name, for those that are not None."""
    given: dict[str, Any] = {"target_value": -np.inf if limits.ftarget is None else limits.ftarget}
    if final_population is not None:
        given["final_population"] = whole_number("final_population", final_population, SMALLEST_POPULATION)
    if restart_tolerance is not None:
        given["restart_tolerance"] = number("restart_tolerance", restart_tolerance, 0.0)
    elif limits.tol > 0.0 or limits.atol > 0.0:
        given["restart_tolerance"] = 0.0  # who wants to stop at convergence does not want a restart there
    if limits.tol > 0.0 or limits.atol > 0.0:
        given["cma_share"] = given["local_share"] = 0.0
    for name, share in (("cma_share", cma_share), ("local_share", local_share)):
        if share is not None:
            given[name] = number(name, share, 0.0)
    if restart_final_fraction is not None:
        given["restart_final_fraction"] = number("restart_final_fraction", restart_final_fraction, 0.0)
    if n_candidates is not None:
        given["n_candidates"] = whole_number("n_candidates", n_candidates, 1)
    if repair is not None:
        given["repair"] = repair
    return given
