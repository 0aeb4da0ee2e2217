"""The compositions F15-F25 as data: which ten basic functions, how wide, how stretched."""

from dataclasses import dataclass
from typing import Final

from deddqn.problems.cec2005 import basic
from deddqn.problems.cec2005.flat_data import component_fields
from deddqn.problems.cec2005.memory_map import (
    COMPONENT_NOISE,
    COMPONENTS,
    DECAY,
    GAIN,
    KIND,
    OFFSET,
    SCALE,
    Array,
)
from deddqn.problems.cec2005.source import read

HEIGHT: Final = 2000.0
"""C of the definition: the value of a normalised component at (5, ..., 5)."""

SPHERE_NOISE: Final = 0.1


@dataclass(frozen=True, kw_only=True)
class Mixture:
    """What makes up a composition.

    Attributes
    ----------
    kinds : tuple of int
        The basic functions, numbers of `basic`.
    widths : tuple of float
        sigma: how far each component reaches.
    stretches : tuple of float
        lambda: each component is stretched by it.
    f_max_of : int
        The function under which the normalisation constants are stored.
    rounded : bool
        Whether coordinates far from the optimum are rounded.
    noisy_sphere : bool
        Whether the last component carries noise.
    """

    kinds: tuple[int, ...]
    widths: tuple[float, ...]
    stretches: tuple[float, ...]
    f_max_of: int
    rounded: bool = False
    noisy_sphere: bool = False

    def fields(self, dimension: int) -> Array:
        """Return the numbers of the ten components at `dimension`, shape (COMPONENTS, FIELDS)."""
        f_max = read(f"F{self.f_max_of}/f_max/d{dimension}")
        noise = [0.0] * COMPONENTS
        noise[-1] = SPHERE_NOISE if self.noisy_sphere else 0.0
        columns = {
            KIND: [float(kind) for kind in self.kinds],
            DECAY: [-1.0 / (2.0 * dimension * width**2) for width in self.widths],
            SCALE: [1.0 / stretch for stretch in self.stretches],
            GAIN: [HEIGHT / value for value in f_max],
            OFFSET: [100.0 * component for component in range(COMPONENTS)],
            COMPONENT_NOISE: noise,
        }
        return component_fields(COMPONENTS, columns)


def _pairs(*kinds: int) -> tuple[int, ...]:
    """Each kind twice."""
    return tuple(kind for kind in kinds for _ in range(2))


_FIRST = _pairs(basic.RASTRIGIN, basic.WEIERSTRASS, basic.GRIEWANK, basic.ACKLEY, basic.SPHERE)
_FIRST_STRETCHES = (1.0, 1.0, 10.0, 10.0, 5 / 60, 5 / 60, 5 / 32, 5 / 32, 5 / 100, 5 / 100)
_SECOND = _pairs(basic.ACKLEY, basic.RASTRIGIN, basic.SPHERE, basic.WEIERSTRASS, basic.GRIEWANK)
_SECOND_WIDTHS = (1.0, 2.0, 1.5, 1.5, 1.0, 1.0, 1.5, 1.5, 2.0, 2.0)
_SECOND_STRETCHES = (10 / 32, 5 / 32, 2.0, 1.0, 10 / 100, 5 / 100, 20.0, 10.0, 10 / 60, 5 / 60)
_THIRD = _pairs(basic.SCHAFFER, basic.RASTRIGIN, basic.GRIEWANK_ROSENBROCK, basic.WEIERSTRASS, basic.GRIEWANK)
_THIRD_WIDTHS = (1.0,) * 5 + (2.0,) * 5
_THIRD_STRETCHES = (25 / 100, 5 / 100, 5.0, 1.0, 5.0, 1.0, 50.0, 10.0, 25 / 200, 5 / 200)
_FOURTH = (
    basic.WEIERSTRASS,
    basic.SCHAFFER,
    basic.GRIEWANK_ROSENBROCK,
    basic.ACKLEY,
    basic.RASTRIGIN,
    basic.GRIEWANK,
    basic.ROUNDED_SCHAFFER,
    basic.ROUNDED_RASTRIGIN,
    basic.ELLIPTIC,
    basic.SPHERE,
)
_FOURTH_STRETCHES = (10.0, 5 / 20, 1.0, 5 / 32, 1.0, 5 / 100, 5 / 50, 1.0, 5 / 100, 5 / 100)


def _first(f_max_of: int) -> Mixture:
    return Mixture(kinds=_FIRST, widths=(1.0,) * 10, stretches=_FIRST_STRETCHES, f_max_of=f_max_of)


def _second(f_max_of: int) -> Mixture:
    return Mixture(kinds=_SECOND, widths=_SECOND_WIDTHS, stretches=_SECOND_STRETCHES, f_max_of=f_max_of)


def _third(f_max_of: int, rounded: bool = False) -> Mixture:
    return Mixture(kinds=_THIRD, widths=_THIRD_WIDTHS, stretches=_THIRD_STRETCHES, f_max_of=f_max_of, rounded=rounded)


_NARROW = Mixture(
    kinds=_SECOND,
    widths=(0.1, *_SECOND_WIDTHS[1:]),
    stretches=(0.5 / 32, *_SECOND_STRETCHES[1:]),
    f_max_of=19,
)
_NOISY = Mixture(kinds=_FOURTH, widths=(2.0,) * 10, stretches=_FOURTH_STRETCHES, f_max_of=24, noisy_sphere=True)

MIXTURES: Final = {
    15: _first(15),
    16: _first(16),
    17: _first(16),
    18: _second(18),
    19: _NARROW,
    20: _second(20),
    21: _third(21),
    22: _third(22),
    23: _third(21, rounded=True),
    24: _NOISY,
    25: _NOISY,
}
