"""Check at the border: what users hand to `minimize` and `Optimizer`, as what the engine takes."""

from __future__ import annotations

from typing import Any

import numpy as np

from deddqn.de.config import SMALLEST_POPULATION
from deddqn.names import choice_error
from deddqn.problems.problem import check_bounds
from deddqn.streams import Stream, streams_at

INITS = ("uniform", "latinhypercube", "sobol")


def split_bounds(bounds: Any) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper bounds from (lower, upper) pairs or a scipy ``Bounds`` object."""
    if hasattr(bounds, "lb") and hasattr(bounds, "ub"):
        low, high = np.broadcast_arrays(np.atleast_1d(bounds.lb), np.atleast_1d(bounds.ub))
        return check_bounds(low, high)
    try:
        pairs = np.asarray(bounds, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"bounds must be (lower, upper) pairs of numbers, got {bounds!r}") from None
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        raise ValueError(f"bounds must be (lower, upper) pairs, one per coordinate, got shape {pairs.shape}")
    return check_bounds(pairs[:, 0], pairs[:, 1])


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
        whole = int(value)
    except (TypeError, ValueError, OverflowError):
        whole = least - 1
    if isinstance(value, bool | np.bool_) or whole != value or whole < least:
        raise ValueError(f"{argument} must be a whole number of at least {least}, got {value!r}")
    return whole


def number(argument: str, value: Any, least: float = -np.inf) -> float:
    """A float that is not NaN and at least `least`."""
    try:
        found = float(value)
    except (TypeError, ValueError):
        found = np.nan
    if not found >= least:
        rule = "a number" if least == -np.inf else f"a number of at least {least:g}"
        raise ValueError(f"{argument} must be {rule}, got {value!r}")
    return found


def check_start(x0: Any, lower: np.ndarray, upper: np.ndarray) -> np.ndarray | None:
    """The point to include in the initial population, inside of the bounds."""
    if x0 is None:
        return None
    point = np.asarray(x0, dtype=np.float64)
    if point.shape != lower.shape:
        raise ValueError(f"x0 must have shape {lower.shape} like the bounds, got {point.shape}")
    outside = ~((point >= lower) & (point <= upper))
    if outside.any():
        at = int(np.argmax(outside))
        raise ValueError(f"x0 must lie inside of the bounds, got {point[at]} at coordinate {at}")
    return point


def initial_population(
    init: Any, size: int, lower: np.ndarray, upper: np.ndarray, place: tuple[int, str]
) -> np.ndarray | None:
    """The initial population for `init`, None for the uniform one that the engine draws itself.

    `place` is (seed, name): designs take their random numbers from the run's init stream.
    """
    if isinstance(init, str):
        if init not in INITS:
            raise choice_error("init", init, INITS)
        return None if init == "uniform" else lower + _design(init, size, lower.size, place) * (upper - lower)
    return init_array(init, lower, upper)


def init_array(init: Any, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """A population given as an array (S, D), inside of the bounds."""
    population = np.asarray(init, dtype=np.float64)
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


def _design(init: str, size: int, dimension: int, place: tuple[int, str]) -> np.ndarray:
    from scipy.stats import qmc

    words = streams_at(*place, dimension)[Stream.INIT]
    generator = np.random.default_rng([int(word) for word in words])
    if init == "latinhypercube":
        design: np.ndarray = qmc.LatinHypercube(dimension, rng=generator).random(size)
    else:
        power = int(np.ceil(np.log2(size)))
        design = qmc.Sobol(dimension, rng=generator).random_base2(power)[:size]
    return design
