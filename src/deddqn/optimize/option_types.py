"""Types of what users hand over, for editors and type checkers; what a wrong value raises is said elsewhere."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from deddqn.de.portfolio import Operator, OperatorValues
from deddqn.policies.policy import Policy


class Limits(Protocol):
    """scipy's ``Bounds``, or anything with its limits."""

    @property
    def lb(self) -> Any: ...
    @property
    def ub(self) -> Any: ...


Numbers = NDArray[np.floating[Any]] | NDArray[np.integer[Any]]
BoundsLike = Sequence[Sequence[float]] | Sequence[Numbers] | Numbers | Limits
"""(lower, upper) pairs, or scipy's ``Bounds``."""

PointLike = Sequence[float] | Numbers
InitName = Literal["uniform", "latinhypercube", "sobol", "halton"]
InitLike = InitName | Sequence[PointLike] | Sequence[Mapping[str, Any]] | Numbers
ScipyInitLike = Literal["latinhypercube", "sobol", "halton", "random"] | Sequence[PointLike] | Numbers
PolicyLike = str | os.PathLike[str] | Policy
PortfolioLike = Literal["paper", "extended"] | Iterable[Operator | str | OperatorValues]
Repair = Literal["clip", "reflect", "midpoint", "random"]
Updating = Literal["sequential", "deferred", "immediate", "asynchronous"]
IntegralityLike = int | Sequence[int] | NDArray[np.integer[Any]] | NDArray[np.bool_]
MapLike = Callable[..., Iterable[Any]]
WorkersLike = int | MapLike
Seed = int | np.integer[Any] | np.random.Generator | np.random.SeedSequence
ScipySeed = Seed | np.random.RandomState | np.random.BitGenerator | Sequence[int]
ScipyStrategy = Literal[
    "best1bin",
    "rand1bin",
    "rand2bin",
    "randtobest1bin",
    "currenttobest1bin",
    "best2bin",
    "best1exp",
    "rand1exp",
    "rand2exp",
    "randtobest1exp",
    "currenttobest1exp",
    "best2exp",
]
