"""Check at the border: what users hand to `minimize` and `Optimizer`, as what the engine takes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from deddqn._utils.validation import choice_error
from deddqn.de.budget_rules import follow_budget
from deddqn.de.config import MOST_TRIALS, SMALLEST_POPULATION, config_for
from deddqn.de.portfolio import PORTFOLIOS, Operator, Portfolio, paper_portfolio
from deddqn.policies.policy import Policy
from deddqn.policies.python_policy import is_python_name, load_python_policy
from deddqn.policies.registry import best_policy, load_policy
from deddqn.problems.integrality import on_lattice, spread_on_lattice
from deddqn.problems.problem import Problem, check_bounds
from deddqn.rng import Stream, streams_at

INITS = ("uniform", "latinhypercube", "sobol", "halton")
LARGEST_WHOLE = 2**53


def split_bounds(bounds: Any) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper bounds from (lower, upper) pairs or a scipy ``Bounds`` object."""
    if hasattr(bounds, "lb") and hasattr(bounds, "ub"):
        low, high = np.broadcast_arrays(np.atleast_1d(bounds.lb), np.atleast_1d(bounds.ub))
        return _check_width(*check_bounds(low, high))
    pairs = floats("bounds", bounds, "(lower, upper) pairs of numbers")
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        raise ValueError(f"bounds must be (lower, upper) pairs, one per coordinate, got shape {pairs.shape}")
    return _check_width(*check_bounds(pairs[:, 0], pairs[:, 1]))


def _check_width(lower: np.ndarray, upper: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    with np.errstate(over="ignore"):
        wide = ~np.isfinite(upper - lower)
    if wide.any():
        at = int(np.argmax(wide))
        raise ValueError(f"bounds must be a finite distance apart, got ({lower[at]}, {upper[at]}) at coordinate {at}")
    return lower, upper


def root_seed(rng: Any, seed: Any) -> int:
    """The seed of a run from scipy's `rng` or its alias `seed`: an int, a Generator, a SeedSequence or None."""
    if rng is not None and seed is not None:
        raise ValueError("seed is an alias of rng: give one of them, got both")
    given = seed if rng is None else rng
    if given is None:
        return int(np.random.SeedSequence().generate_state(1, np.uint64)[0])
    if isinstance(given, np.random.Generator):
        return int(given.integers(2**63))
    if isinstance(given, np.random.SeedSequence):
        return int(given.generate_state(1, np.uint64)[0])
    if isinstance(given, int | np.integer) and not isinstance(given, bool) and given >= 0:
        return int(given)
    raise ValueError(f"rng must be None, an int of 0 or more, a Generator or a SeedSequence, got {given!r}")


def whole_number(argument: str, value: Any, least: int) -> int:
    """An int of at least `least`, from an int or a float without fraction (scipy users write 1e5)."""
    try:
        whole = int(value) if np.ndim(value) == 0 else least - 1
    except (TypeError, ValueError, OverflowError):
        whole = least - 1
    if isinstance(value, bool | np.bool_ | str | bytes) or whole < least or whole != value:
        raise ValueError(f"{argument} must be a whole number of at least {least}, got {value!r}")
    if whole > LARGEST_WHOLE:
        raise ValueError(f"{argument} must be a whole number of at most 2**53, got {value!r}")
    return whole


def number(argument: str, value: Any, least: float = -np.inf) -> float:
    """A float that is not NaN and at least `least`."""
    try:
        wrong = isinstance(value, bool | np.bool_ | str | bytes) or np.ndim(value) != 0
        found = np.nan if wrong else float(value)
    except (TypeError, ValueError, OverflowError):
        found = np.nan
    if not found >= least:
        rule = "a number" if least == -np.inf else f"a number of at least {least:g}"
        raise ValueError(f"{argument} must be {rule}, got {value!r}")
    return found


def flag(argument: str, value: Any) -> bool:
    """True or False; a word such as "no", which Python takes for true, is an error."""
    if not isinstance(value, bool | np.bool_ | int | np.integer) or value not in (0, 1):
        raise ValueError(f"{argument} must be True or False, got {value!r}")
    return bool(value)


def floats(argument: str, value: Any, rule: str) -> np.ndarray:
    """An array of float64 from what a user gave."""
    try:
        given = np.asarray(value)
        if given.dtype.kind not in "biuf":
            raise TypeError
        return given.astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{argument} must be {rule}, got {value!r}") from None


def check_start(x0: Any, lower: np.ndarray, upper: np.ndarray) -> np.ndarray | None:
    """The point to include in the initial population, inside of the bounds."""
    if x0 is None:
        return None
    point = floats("x0", x0, "a point of numbers")
    if point.shape != lower.shape:
        raise ValueError(f"x0 must have shape {lower.shape} like the bounds, got {point.shape}")
    outside = ~((point >= lower) & (point <= upper))
    if outside.any():
        at = int(np.argmax(outside))
        raise ValueError(f"x0 must lie inside of the bounds, got {point[at]} at coordinate {at}")
    return point


def initial_population(
    init: Any, size: int, problem: Problem, box: tuple[np.ndarray, np.ndarray], seed: int
) -> np.ndarray | None:
    """The initial population for `init`, None for the uniform one that the engine draws itself.

    A given one lies in `box`, the bounds before those of integers were brought to integers. Designs take their random
    numbers from the init stream of the run with this `seed`.
    """
    lattice = (problem.lower, problem.upper, problem.integrality)
    if isinstance(init, str):
        if init not in INITS:
            raise choice_error("init", init, INITS)
        if init == "uniform":
            return None
        return spread_on_lattice(_design(init, size, problem.dimension, (seed, problem.seed_name)), *lattice)
    return on_lattice(init_array(init, *box), *lattice)


def init_array(init: Any, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """A population given as an array (S, D), inside of the bounds."""
    population = floats("init", init, f"one of {INITS} or an array of points")
    if population.ndim != 2 or population.shape[1] != lower.size or len(population) < SMALLEST_POPULATION:
        raise ValueError(
            f"init must be one of {INITS} or an array of shape (S, {lower.size}) with S of at least "
            f"{SMALLEST_POPULATION}, got shape {population.shape}"
        )
    inside = (population >= lower) & (population <= upper)
    if not inside.all():
        row, column = np.argwhere(~inside)[0]
        raise ValueError(f"init must lie inside of the bounds, got {population[row, column]} in row {row}")
    return population


def _design(init: str, size: int, dimension: int, seeding: tuple[int, str]) -> np.ndarray:
    from scipy.stats import qmc

    words = streams_at(*seeding, dimension)[Stream.INIT]
    generator = np.random.default_rng([int(word) for word in words])
    if init == "latinhypercube":
        design: np.ndarray = qmc.LatinHypercube(dimension, rng=generator).random(size)
    elif init == "halton":
        design = qmc.Halton(dimension, rng=generator).random(size)
    else:
        power = int(np.ceil(np.log2(size)))
        design = qmc.Sobol(dimension, rng=generator).random_base2(power)[:size]
    return design


ASYNCHRONOUS_CANDIDATES = 3
"""Times the policy's own number of candidates."""

SHORTEST_SEARCH = 50
"""Generations of the first size for which a search should have time."""


def is_planned(problem: Problem, maxfun: Any, updating: Any, *tolerances: Any) -> bool:
    """Whether only bounds limit real coordinates, values come in turn, and only a known number of them ends the search.

    Who gives a tolerance expects the end at convergence, long before the last evaluation.
    """
    plain = problem.constraints is None and not problem.integrality.any()
    return plain and maxfun is not None and updating != "asynchronous" and not any(tolerances)


def choose_policy(
    policy: Any, portfolio: Any, scale: Any, crossover: Any, *, planned: bool = True
) -> tuple[Policy, Portfolio]:
    """The policy and the portfolio that it chooses from: its own one, the paper's, or the one given.

    `planned` says which policy is the default: see `is_planned`.
    """
    constants: dict[str, float] = {}
    for argument, value in (("scale", scale), ("crossover", crossover)):
        if value is not None:
            constants[argument] = number(argument, value, 0.0)
    chosen = known_policy(policy if policy is not None else best_policy(planned))
    own = getattr(chosen, "portfolio", None)
    if portfolio is not None:
        operators = portfolio_of(portfolio, constants)
        if policy is None and own is not None and [e.strategy for e in own] != [e.strategy for e in operators]:
            chosen = load_policy("random")
    elif own is not None:
        operators = Portfolio(entry.with_constants(**constants) for entry in own)
    else:
        operators = paper_portfolio(**constants)
    return chosen, operators


def population_of(size: Any, init: Any, policy: Policy, evaluations: int, final: Any = None, *, dimension: int) -> int:
    """NP: that of an initial population, the one given, or what the policy was made with.

    Where the population shrinks anyway, a short search begins with a smaller one, so that it has time to move:
    no smaller than twice the `final` size, which is the policy's own unless given.
    """
    if isinstance(init, list | np.ndarray):
        return len(init)
    if size is not None:
        return whole_number("population_size", size, SMALLEST_POPULATION)
    own = config_for(getattr(policy, "de", {}), budget=evaluations)
    if own.final_population is None:
        return own.population_size
    if "population_size" in own.by_budget:
        size = follow_budget(own, dimension).population_size
        return size if final is None else max(size, 2 * whole_number("final_population", final, SMALLEST_POPULATION))
    if final is None:
        final = own.final_population
    return scheduled_population(
        own.population_size, whole_number("final_population", final, SMALLEST_POPULATION), evaluations
    )


def scheduled_population(largest: int, final: int, evaluations: int) -> int:
    """NP at the start of a search in which it shrinks to `final`: smaller than `largest` where there is little time."""
    return min(largest, max(evaluations // SHORTEST_SEARCH, 2 * final))


def asynchronous_candidates(policy: Policy) -> int:
    """Candidates per trial where trials are made before the last values are known: more than the policy's own.

    A trial that is out of date gains less, which the surrogate makes up for (chosen in `benchmarks.bench_asynchronous`
    on the instances from 100 on).
    """
    own = config_for(getattr(policy, "de", {})).n_candidates
    return min(ASYNCHRONOUS_CANDIDATES * own, MOST_TRIALS) if own > 1 else 1


def known_policy(policy: Any) -> Policy:
    """A policy by name, path, ``module:attribute`` or as an object; ValueError for an unknown one."""
    if isinstance(policy, type):
        raise ValueError(f"policy must be an object, not a class: give {policy.__name__}(), got {policy!r}")
    try:
        return load_policy(policy)
    except KeyError as error:
        if is_python_name(str(policy)):
            return load_python_policy(str(policy))
        raise ValueError(f"policy must be a known name, a policy file or module:attribute: {error}") from None


def portfolio_of(portfolio: Any, constants: dict[str, float]) -> Portfolio:
    """The portfolio that a user gave; names alone take the run's F and CR."""
    if isinstance(portfolio, str) and portfolio in PORTFOLIOS:
        return Portfolio(entry.with_constants(**constants) for entry in PORTFOLIOS[portfolio])
    known = ", ".join(map(repr, PORTFOLIOS))
    rule = f"portfolio must be a list of strategy names or (strategy, F, CR), or one of {known}"
    if isinstance(portfolio, str | bytes):
        raise ValueError(f"{rule}, got {portfolio!r}")
    try:
        entries = [Operator(e).with_constants(**constants) if isinstance(e, str) else e for e in portfolio]
        made = Portfolio(entries)
        return Portfolio(replace(e, scale=float(e.scale), crossover=float(e.crossover)) for e in made)
    except (TypeError, ValueError, KeyError) as error:
        raise ValueError(f"{rule}, got {portfolio!r}: {error}") from None
