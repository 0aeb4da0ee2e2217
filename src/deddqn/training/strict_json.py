"""Strict settings from JSON, for every kind of training: unknown keys, wrong types and wrong names are errors."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from deddqn._utils.plain_json import parse_json
from deddqn._utils.reading import read_limited, refusing
from deddqn._utils.validation import suggestion
from deddqn.de.config import DEConfig
from deddqn.de.portfolio import PAPER, OperatorValues, Portfolio, as_portfolio

T = TypeVar("T")
LARGEST_SETTINGS = 2**20


def check(name: str, holds: bool, rule: str, value: object) -> None:
    """Raise ValueError with the argument, the rule and the value, unless it holds."""
    if not holds:
        raise ValueError(f"{name} must be {rule}, got {value}")


@dataclasses.dataclass(frozen=True, kw_only=True)
class RunSettings:
    """Settings of the DE runs of a training.

    Parameters
    ----------
    portfolio : the operators, as (strategy, F, CR) or (strategy, F, CR, adapts), or a name: paper or extended.
    population_size : NP of every run.
    budget : FE^max of every run.
    final_population : what NP is reduced to, linearly over the budget (0: it is not).
    pbest : share of the best parents that the pbest strategies draw from.
    archive : size of the archive of replaced parents, as a multiple of the population.
    restart_tolerance : relative spread of values and coordinates below which a population is replaced (0: no restarts).
    restart_final_fraction : last share of the budget, spent on the best of the replaced populations (0: none).
    repair : what happens to trial vectors outside of the bounds: clip, reflect or midpoint.
    n_candidates : candidate trial vectors per individual, of which pre-screening evaluates one.
    """

    portfolio: tuple[OperatorValues, ...] = PAPER.values
    population_size: int = 100
    budget: int = 10_000
    final_population: int = 0
    pbest: float = DEConfig.pbest
    archive: float = DEConfig.archive
    restart_tolerance: float = DEConfig.restart_tolerance
    restart_final_fraction: float = DEConfig.restart_final_fraction
    repair: str = DEConfig.repair
    n_candidates: int = DEConfig.n_candidates

    def operators(self) -> Portfolio:
        """The portfolio as an object."""
        return Portfolio(self.portfolio)

    def de_config(self) -> DEConfig:
        """The settings of the runs."""
        return DEConfig(
            population_size=self.population_size,
            budget=self.budget,
            final_population=self.final_population or None,
            pbest=self.pbest,
            archive=self.archive,
            restart_tolerance=self.restart_tolerance,
            restart_final_fraction=self.restart_final_fraction,
            repair=self.repair,
            n_candidates=self.n_candidates,
        )


def from_values(kind: type[T], base: Mapping[str, Any], given: Mapping[str, Any]) -> T:
    """A settings dataclass from the values of a preset and those that were given."""
    known = {field.name: field for field in dataclasses.fields(kind)}  # type: ignore[arg-type]
    if isinstance(given.get("portfolio"), str):
        given = {**given, "portfolio": as_portfolio(given["portfolio"]).values}
    for key, value in given.items():
        if key not in known:
            raise ValueError(f"unknown setting {key!r}; {suggestion(key, known)}Known: {', '.join(known)}")
        _check_type(key, value, known[key].default)
    return kind(**{**base, **{key: _as_tuple(value) for key, value in given.items()}})


def to_values(settings: Any) -> dict[str, Any]:
    """The settings as JSON values."""
    return json.loads(json.dumps(dataclasses.asdict(settings)))


def read_values(path: str | Path) -> dict[str, Any]:
    """The JSON object in a file."""
    try:
        with refusing(path, "a settings file (JSON)"):
            values: dict[str, Any] = parse_json(read_limited(path, LARGEST_SETTINGS), dict)
    except FileNotFoundError:
        raise ValueError(f"there is no settings file {path}") from None
    return values


def _check_type(key: str, value: Any, default: Any) -> None:
    """Numbers may be written as 1 or 1.0; anything else must have the type of its default."""
    wanted = type(default)
    if wanted is tuple:
        fits = isinstance(value, list | tuple)
    elif wanted is float:
        fits = isinstance(value, int | float) and not isinstance(value, bool)
    else:
        fits = isinstance(value, wanted) and (wanted is bool or not isinstance(value, bool))
    if not fits:
        raise ValueError(f"{key} must be of type {wanted.__name__}, got {value!r}")


def _as_tuple(value: Any) -> Any:
    return tuple(_as_tuple(item) for item in value) if isinstance(value, list | tuple) else value
