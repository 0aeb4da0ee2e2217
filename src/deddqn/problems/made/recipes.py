"""What a number stands for: ``made:17/d23`` is recipe 17 with 23 coordinates, the same everywhere and for ever.

A recipe is drawn from the number alone (structure, base functions, shift, rotation, conditioning, plateaus, ..., and a
dimension and a budget of its own); vectors and matrices are drawn for each dimension. ``made:`` uses the training base
functions, ``made-held-out:`` the others: what is chosen on the first is judged on functions, not only variants, that it
has not met. ``made-mixture:`` and ``made-mixture-held-out:`` are mixtures only, built as in the competitions since
CEC2014: hybrids whose coordinates are rotated before they are shared out, compositions of up to eight components, which
may be hybrids, with weights that are infinite at their optima.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from deddqn._utils.validation import UnknownNameError, check_whole_number
from deddqn.problems.cec2005.variants import random_rotation
from deddqn.problems.made import made_objective as layout
from deddqn.problems.made.base_functions import HALF_WIDTHS, UNIMODAL, Base
from deddqn.problems.made.made_objective import FIELDS, made_objective, work_size
from deddqn.problems.problem import Objective, ObjectiveCall, Problem

FAMILIES: Final = {
    "made": tuple(Base)[: Base.DOUBLE_SUM],
    "made-held-out": tuple(Base)[Base.DOUBLE_SUM :],
    "made-mixture": tuple(Base)[: Base.DOUBLE_SUM],
    "made-mixture-held-out": tuple(Base)[Base.DOUBLE_SUM :],
}
"""The base functions of each family."""

DIMENSIONS: Final = (2, 100)
BUDGETS: Final = (50, 10_000)  # evaluations per coordinate
MOST_COMPONENTS: Final = 5
MIXTURES: Final = ("made-mixture", "made-mixture-held-out")
FEWEST_MIXED: Final = 5  # coordinates of mixtures
REFERENCE_POINTS: Final = 32  # at which the components of a mixture are brought to one scale
MIXED_VALUE: Final = 1000.0  # ... and this is the scale
_SEED: Final = 20_261
_NAME: Final = re.compile(rf"({'|'.join(FAMILIES)}):(\d{{1,9}})(?:/d(\d+))?")


@dataclass(frozen=True)
class Component:
    """One base function and what is done to its coordinates."""

    base: Base
    condition: float  # of L, the ratio of the largest to the smallest eigenvalue of L^2
    rotation: str  # "none", "blocks" or "full"
    block: int  # coordinates per block
    oscillates: bool
    asymmetry: float
    step: float  # width of plateaus, in tenths of the box; 0: none
    fine: bool
    share: float  # of the coordinates, in a hybrid
    gain: float = 1.0  # what it counts beside the others of a composition
    first: bool = True  # False: one hybrid with the component before it


@dataclass(frozen=True)
class Recipe:
    """A made problem without its numbers."""

    family: str
    number: int
    mix: str  # "single", "hybrid" or "composition"
    components: tuple[Component, ...]
    optimum: str  # where: "inside", "near bounds" or "on bounds"
    uneven: bool  # whether coordinates have boxes of different widths
    bias: float
    dimension: int
    budget: int
    turned: bool = False  # a hybrid whose coordinates are rotated before they are shared out

    @property
    def title(self) -> str:
        """In a few words."""
        return f"{self.mix} of {', '.join(c.base.name.lower() for c in self.components)}"


def recipe(family: str, number: int) -> Recipe:
    """The recipe of a number."""
    rng = np.random.default_rng([_SEED, list(FAMILIES).index(family), number])
    if family in MIXTURES:
        mix = str(rng.choice(["hybrid", "composition"]))
        turned, components = True, _mixture(FAMILIES[family], mix, rng)
    else:
        mix = str(rng.choice(["single", "hybrid", "composition"], p=[0.6, 0.2, 0.2]))
        count = 1 if mix == "single" else int(rng.integers(2, MOST_COMPONENTS + 1))
        turned, components = False, tuple(_component(FAMILIES[family], rng) for _ in range(count))
    low, high = np.log((FEWEST_MIXED, DIMENSIONS[1]) if turned else DIMENSIONS)
    dimension = int(np.exp(rng.uniform(low, high)) + 0.5)
    per_coordinate = math.exp(rng.uniform(*np.log(BUDGETS)))
    return Recipe(
        family=family,
        number=number,
        mix=mix,
        components=components,
        optimum=str(rng.choice(["inside", "near bounds", "on bounds"], p=[0.7, 0.15, 0.15])),
        uneven=bool(rng.random() < 0.25),
        bias=float(rng.choice([0.0, round(rng.uniform(-500.0, 500.0), 1)])),
        dimension=dimension,
        budget=round(per_coordinate * dimension),
        turned=turned,
    )


def _mixture(bases: tuple[Base, ...], mix: str, rng: np.random.Generator) -> tuple[Component, ...]:
    """The components of a hybrid, or of a composition, one in five of functions and hybrids."""
    if mix == "hybrid":
        return _hybrid(bases, 1.0, rng)
    of_hybrids = rng.random() < 0.2
    components: list[Component] = []
    for _ in range(int(rng.integers(3, 9))):
        gain = 10.0 ** rng.uniform(-1.0, 1.0)
        if of_hybrids and rng.random() < 0.7:
            components += _hybrid(bases, gain, rng)
        else:
            components.append(replace(_component(bases, rng), gain=gain))
    return tuple(components)


def _hybrid(bases: tuple[Base, ...], gain: float, rng: np.random.Generator) -> tuple[Component, ...]:
    drawn = [_component(bases, rng) for _ in range(int(rng.integers(3, 7)))]
    return tuple(replace(component, gain=gain, first=number == 0) for number, component in enumerate(drawn))


def _component(bases: tuple[Base, ...], rng: np.random.Generator) -> Component:
    base = Base(bases[int(rng.integers(len(bases)))])
    largest = 8.0 if base in UNIMODAL else 3.0  # on wavy functions more only multiplies the waves
    return Component(
        base=base,
        condition=10.0 ** rng.choice([0.0, rng.uniform(0.0, largest)], p=[0.3, 0.7]),
        rotation=str(rng.choice(["none", "blocks", "full"], p=[0.3, 0.2, 0.5])),
        block=int(rng.integers(2, 11)),
        oscillates=bool(rng.random() < 0.3),
        asymmetry=float(rng.choice([0.0, 0.2, 0.5], p=[0.7, 0.2, 0.1])),
        step=float(rng.choice([0.0, rng.choice([0.1, 0.25, 0.5])], p=[0.85, 0.15])),
        fine=bool(rng.random() < 0.7),
        share=float(rng.uniform(0.5, 1.5)),
    )


def load(name: str, dimension: int | None, noise: bool) -> Problem:
    """The problem of a name; without a dimension it has the recipe's own."""
    match = _NAME.fullmatch(name)
    if match is None:
        raise UnknownNameError(
            f"unknown problem {name!r}; Names look like 'made:17/d23', with a number of at most nine digits; "
            f"families: {', '.join(FAMILIES)}"
        )
    in_name = int(match.group(3)) if match.group(3) else None
    if in_name is not None and dimension is not None and in_name != dimension:
        raise ValueError(f"dimension must agree with the name {name!r}, got {dimension}")
    made = recipe(match.group(1), int(match.group(2)))
    wanted = in_name or dimension or made.dimension
    check_whole_number("dimension", wanted, 2, " for made problems")
    return problem_of(made, int(wanted))


def problem_of(made: Recipe, dimension: int) -> Problem:
    """The problem of a recipe with so many coordinates."""
    family = list(FAMILIES).index(made.family)
    rng = np.random.default_rng([_SEED, family, made.number, dimension])
    lower = np.full(dimension, -5.0)
    upper = np.full(dimension, 5.0)
    if made.uneven:
        upper = lower + 10.0 ** rng.uniform(-1.0, 3.0, dimension)
    optimum = origin = _optimum(made, dimension, rng)
    data = _Data(dimension, lower, upper)
    for component, (coordinates, matrix) in zip(made.components, _shares(made, dimension, rng), strict=True):
        if component.first and data.components and made.mix == "composition":
            origin = rng.uniform(-4.5, 4.5, dimension)
        data.add(component, coordinates, origin, rng, matrix)
    if made.mix != "single":
        data.mix(made, rng)
    objective = data.objective(made.bias)
    point = lower + (optimum + 5.0) / 10.0 * (upper - lower)
    name = f"{made.family}:{made.number}/d{dimension}"
    return Problem(name, lower, upper, objective, optimum=made.bias, optimum_point=point, title=made.title)


def _optimum(made: Recipe, dimension: int, rng: np.random.Generator) -> np.ndarray:
    origin = rng.uniform(-4.0, 4.0, dimension)
    if made.optimum == "inside":
        return origin
    at_bounds = rng.random(dimension) < 0.4
    side = rng.choice([-5.0, 5.0], dimension)
    near = side * (1.0 - (0.02 * rng.random(dimension) if made.optimum == "near bounds" else 0.0))
    return np.where(at_bounds, near, origin)


_Share = tuple[np.ndarray, np.ndarray | None]


def _shares(made: Recipe, dimension: int, rng: np.random.Generator) -> list[_Share]:
    """What of the space every component has: all coordinates, or in a hybrid a part, perhaps of rotated ones (rows)."""
    hybrids: list[list[Component]] = []
    for component in made.components:
        if component.first and (made.mix == "composition" or not hybrids):
            hybrids.append([])
        hybrids[-1].append(component)
    return [share for hybrid in hybrids for share in _shares_of(hybrid, made.turned, dimension, rng)]


def _shares_of(hybrid: list[Component], turned: bool, dimension: int, rng: np.random.Generator) -> list[_Share]:
    if len(hybrid) == 1:
        return [(np.arange(dimension), None)]
    shares = np.cumsum([component.share for component in hybrid])
    ends = np.round(shares / shares[-1] * dimension).astype(int)
    parts = [np.sort(part) for part in np.split(rng.permutation(dimension), ends[:-1])]
    if not turned:
        return [(part, None) for part in parts]
    matrix = random_rotation(dimension, rng)
    return [(np.arange(dimension), matrix[part]) for part in parts]


class _Data:
    """The flat data of a made problem, component by component; a component without coordinates is left out."""

    def __init__(self, dimension: int, lower: np.ndarray, upper: np.ndarray) -> None:
        self.dimension = dimension
        self.box = (lower, 10.0 / (upper - lower))
        self.components: list[dict[int, float]] = []
        self.vectors: list[dict[int, np.ndarray]] = []
        self.gains: list[float] = []
        self.leads = True  # whether the next component begins a new one of the composition
        self.weighed = layout.ADDED

    def add(
        self,
        made: Component,
        coordinates: np.ndarray,
        origin: np.ndarray,
        rng: np.random.Generator,
        matrix: np.ndarray | None = None,
    ) -> None:
        """Add a component, with its numbers drawn; `matrix` has the rows of a rotation that is not its own."""
        n = coordinates.size if matrix is None else len(matrix)
        self.leads = self.leads or made.first
        if n == 0:
            return
        block = {"none": 0, "blocks": min(made.block, n), "full": n}[made.rotation]
        widths = [min(block, n - first) for first in range(0, n, block)] if block else []
        exponents = np.linspace(-0.5, 0.5, n) if n > 1 else np.zeros(1)
        numbers = {
            layout.PART_BASE: made.base,
            layout.PART_SCALE: HALF_WIDTHS.get(made.base, 5.0) / 5.0,
            layout.PART_GAIN: 1.0,
            layout.PART_STEP: made.step,
            layout.PART_FINE: made.fine,
            layout.PART_OSCILLATES: made.oscillates,
            layout.PART_ASYMMETRY: made.asymmetry,
            layout.PART_COUNT: n,
            layout.PART_BLOCK: block if matrix is None else layout.TURNED,
            layout.PART_INPUTS: coordinates.size,
            layout.PART_FIRST: self.leads,
        }
        self.leads = False
        self.gains.append(made.gain)
        self.components.append({key: float(value) for key, value in numbers.items()})
        self.vectors.append(
            {
                layout.PART_COORDINATES: coordinates.astype(float),
                layout.PART_ORIGIN: origin[coordinates],
                layout.PART_CONDITION: made.condition ** (0.5 * rng.permutation(exponents)),
                layout.PART_MATRIX: self._rotation(widths, rng) if matrix is None else matrix.ravel(),
            }
        )

    @staticmethod
    def _rotation(widths: list[int], rng: np.random.Generator) -> np.ndarray:
        return np.concatenate([np.zeros(0), *(random_rotation(width, rng).ravel() for width in widths)])

    def mix(self, made: Recipe, rng: np.random.Generator) -> None:
        """Bring the components to one scale; in a composition also offsets, and weights by distance."""
        for component, gain, median in zip(self.components, self.gains, self._medians(rng), strict=True):
            component[layout.PART_GAIN] = gain * MIXED_VALUE / median
        if made.mix != "composition":
            return
        self.weighed = layout.POINTED if made.turned else layout.WEIGHED
        lowest, highest = (0.5, 3.0) if made.turned else (1.0, 2.5)
        number = -1
        for component in self.components:
            if component[layout.PART_FIRST]:
                number += 1
                decay = -0.5 / (self.dimension * rng.uniform(lowest, highest) ** 2)
                component[layout.PART_OFFSET] = 100.0 * number
            component[layout.PART_DECAY] = decay

    def _medians(self, rng: np.random.Generator) -> list[float]:
        """The median of every component alone at random points."""
        lower, inverse = self.box
        points = lower + rng.random((REFERENCE_POINTS, self.dimension)) * 10.0 / inverse
        found = []
        for number in range(len(self.components)):
            alone = _Data(self.dimension, lower, lower + 10.0 / inverse)
            alone.components, alone.vectors = [self.components[number]], [self.vectors[number]]
            call = ObjectiveCall(alone.objective(0.0))
            found.append(max(float(np.median(call.batch(points, np.empty(0)))), 1e-300))
        return found

    def objective(self, bias: float) -> Objective:
        """The objective of the components."""
        return Objective(made_objective, self._packed(bias), work_size(self.dimension, len(self.components)))

    def _packed(self, bias: float) -> np.ndarray:
        """The data as the kernel reads them."""
        lower, inverse = self.box
        frequencies = np.zeros(self.dimension + 8)
        frequencies[: self.dimension] = 1.0 / (2.0 * math.pi * np.sqrt(np.arange(self.dimension) + 1.0))
        first = layout.HEADS
        parts = [np.zeros(first), np.zeros(FIELDS * len(self.components)), lower, inverse, frequencies]
        starts = np.cumsum([part.size for part in parts])
        head, fields = parts[0], parts[1].reshape(-1, FIELDS)
        head[:] = bias, len(self.components), self.weighed, *starts[1:4], starts[0]
        position = int(starts[-1])
        for row, numbers, vectors in zip(fields, self.components, self.vectors, strict=True):
            for key, value in numbers.items():
                row[key] = value
            for key, vector in vectors.items():
                row[key] = position
                parts.append(vector)
                position += vector.size
        data = np.concatenate(parts)
        data.flags.writeable = False
        return data
