"""Optuna's distributions as a box: one coordinate per parameter, and the way back."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution

from deddqn.problems.integrality import Integrality


class Encoding:
    """A search space as the box that is searched.

    Numbers keep their scale or take their logarithm, numbers with a step and integers are counted in steps from the
    lowest one, and a category is the number of the choice. Integers on a logarithmic scale are logarithms, rounded on
    the way back: neighbours are as far apart as their ratio says.

    Attributes
    ----------
    bounds : (D, 2) the box.
    integrality : (D,) what each coordinate is, see `Integrality`.
    """

    def __init__(self, space: Mapping[str, BaseDistribution]) -> None:
        self.space = dict(space)
        limits = [_limits(distribution) for distribution in self.space.values()]
        self.bounds = np.array([(low, high) for low, high, _ in limits], dtype=np.float64)
        self.integrality = np.array([kind for _, _, kind in limits], dtype=np.int64)

    def encode(self, params: Mapping[str, Any]) -> np.ndarray:
        """The point (D,) of parameters, inside of the box."""
        point = [_coordinate(distribution, params[name]) for name, distribution in self.space.items()]
        return np.clip(np.array(point, dtype=np.float64), self.bounds[:, 0], self.bounds[:, 1])

    def decode(self, point: np.ndarray) -> dict[str, Any]:
        """The parameters of a point (D,)."""
        return {
            name: _value(distribution, float(x))
            for (name, distribution), x in zip(self.space.items(), point, strict=True)
        }

    def fits(self, distributions: Mapping[str, BaseDistribution]) -> bool:
        """Whether a trial with these distributions has a point in the box."""
        return all(distributions.get(name) == distribution for name, distribution in self.space.items())


def _limits(distribution: Any) -> tuple[float, float, Integrality]:
    """Lower and upper bound of a coordinate, and what it is."""
    if isinstance(distribution, CategoricalDistribution):
        return 0.0, len(distribution.choices) - 1.0, Integrality.CATEGORICAL
    if isinstance(distribution, IntDistribution) and distribution.log:
        return math.log(distribution.low - 0.5), math.log(distribution.high + 0.5), Integrality.CONTINUOUS
    if isinstance(distribution, FloatDistribution) and distribution.log:
        return math.log(distribution.low), math.log(distribution.high), Integrality.CONTINUOUS
    if distribution.step is None:
        return distribution.low, distribution.high, Integrality.CONTINUOUS
    steps = round((distribution.high - distribution.low) / distribution.step)
    return 0.0, float(steps), Integrality.INTEGER


def _coordinate(distribution: Any, value: Any) -> float:
    if isinstance(distribution, CategoricalDistribution):
        return float(distribution.to_internal_repr(value))
    if distribution.log:
        return math.log(value)
    if distribution.step is None:
        return float(value)
    return float(round((value - distribution.low) / distribution.step))


def _value(distribution: Any, x: float) -> Any:
    if isinstance(distribution, CategoricalDistribution):
        return distribution.choices[int(x)]
    if isinstance(distribution, IntDistribution):
        whole = round(math.exp(x)) if distribution.log else distribution.low + int(x) * distribution.step
        return min(max(whole, distribution.low), distribution.high)
    if distribution.log:
        x = math.exp(x)
    elif distribution.step is not None:
        x = distribution.low + x * distribution.step
    return float(min(max(x, distribution.low), distribution.high))
