"""Parameters of a space: what values each may take, and how a value is held by one coordinate of the search.

`Float`, `Int`, `Categorical` and `Bool` are described by plain values (``type``, ``low``, ``high``, ..), which is how
they are written to files.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any, ClassVar

from deddqn.problems.integrality import LARGEST_INTEGER, LARGEST_LOG_INTEGER, Integrality

Value = str | int | float | bool | None
Condition = Mapping[str, Any]


def finite(argument: str, value: Any) -> float:
    """A finite float from a number."""
    if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(value):
        raise ValueError(f"{argument} must be a finite number, got {value!r}")
    return float(value)


def whole(argument: str, value: Any) -> int:
    """An int from an integer, or from a float without fraction."""
    is_whole = isinstance(value, Integral) or (isinstance(value, Real) and float(value).is_integer())
    if isinstance(value, bool) or not is_whole:
        raise ValueError(f"{argument} must be a whole number, got {value!r}")
    return int(value)


@dataclass(frozen=True, eq=True)
class Parameter:
    """What all kinds have in common.

    A coordinate lies in `bounds`, and `integrality` says what it is to the search. `decode` takes any number between
    the bounds; `encode` takes a value of the parameter, and raises ValueError for others.
    """

    kind: ClassVar[str]

    @property
    def bounds(self) -> tuple[float, float]:
        """Lower and upper bound of the coordinate."""
        raise NotImplementedError

    @property
    def integrality(self) -> Integrality:
        """What the coordinate is."""
        raise NotImplementedError

    def encode(self, value: Any) -> float:
        """The coordinate that holds a value."""
        raise NotImplementedError

    def decode(self, coordinate: float) -> Any:
        """The value that a coordinate holds."""
        raise NotImplementedError

    def described(self) -> dict[str, Any]:
        """Plain values from which `Space.from_dict` makes the parameter again."""
        raise NotImplementedError

    def _check_when(self, when: Any) -> None:
        if when is not None and (not isinstance(when, Mapping) or not when):
            raise ValueError(f"when must map names of parameters to values, as {{'kernel': 'rbf'}}, got {when!r}")


def _with_options(values: dict[str, Any], **options: Any) -> dict[str, Any]:
    """Described values with the options that are not what they are by default."""
    given = {name: value for name, value in options.items() if value is not None and value is not False}
    return {**values, **{name: dict(value) if isinstance(value, Mapping) else value for name, value in given.items()}}


@dataclass(frozen=True)
class Float(Parameter):
    """A number.

    Parameters
    ----------
    low, high : bounds; both are possible values.
    log : search on a logarithmic scale; `low` must be positive.
    step : only low, low + step, .. are possible; not with `log`.
    when : the parameter exists only when other ones have these values: ``{"kernel": "rbf"}``, or a list of values.
    """

    low: float
    high: float
    log: bool = field(default=False, kw_only=True)
    step: float | None = field(default=None, kw_only=True)
    when: Condition | None = field(default=None, kw_only=True)
    kind: ClassVar[str] = "float"

    def __post_init__(self) -> None:
        object.__setattr__(self, "low", finite("low", self.low))
        object.__setattr__(self, "high", finite("high", self.high))
        if self.step is not None:
            object.__setattr__(self, "step", finite("step", self.step))
        _check_range(self.low, self.high, self.log, self.step)
        if not math.isfinite(self.high - self.low):
            raise ValueError(f"low and high must be a finite distance apart, got {self.low} and {self.high}")
        self._check_when(self.when)

    @property
    def _steps(self) -> int:
        assert self.step is not None
        return math.floor((self.high - self.low) / self.step * (1.0 + 1e-12))

    @property
    def bounds(self) -> tuple[float, float]:
        if self.step is not None:
            return 0.0, float(self._steps)
        return (math.log(self.low), math.log(self.high)) if self.log else (self.low, self.high)

    @property
    def integrality(self) -> Integrality:
        return Integrality.CONTINUOUS if self.step is None else Integrality.INTEGER

    def encode(self, value: Any) -> float:
        number = finite("value", value)
        if not self.low <= number <= self.high:
            raise ValueError(f"value must lie in [{self.low}, {self.high}], got {value!r}")
        if self.step is None:
            return math.log(number) if self.log else number
        steps = round((number - self.low) / self.step)
        if steps > self._steps or not math.isclose(self._at(steps), number, rel_tol=1e-9, abs_tol=1e-9 * self.step):
            raise ValueError(f"value must be {self.low} + k * {self.step}, got {value!r}")
        return float(steps)

    def decode(self, coordinate: float) -> float:
        if self.step is not None:
            return self._at(round(coordinate))
        return min(max(math.exp(coordinate) if self.log else float(coordinate), self.low), self.high)

    def _at(self, steps: int) -> float:
        assert self.step is not None
        return min(
            max(float(f"{self.low + steps * self.step:.15g}"), self.low), self.high
        )  # 0.3, not 0.30000000000000004

    def described(self) -> dict[str, Any]:
        values = {"type": self.kind, "low": self.low, "high": self.high}
        return _with_options(values, log=self.log, step=self.step, when=self.when)


@dataclass(frozen=True)
class Int(Parameter):
    """An integer; the parameters are those of `Float`, as integers. With `log` every integer is still possible."""

    low: int
    high: int
    log: bool = field(default=False, kw_only=True)
    step: int | None = field(default=None, kw_only=True)
    when: Condition | None = field(default=None, kw_only=True)
    kind: ClassVar[str] = "int"

    def __post_init__(self) -> None:
        object.__setattr__(self, "low", whole("low", self.low))
        object.__setattr__(self, "high", whole("high", self.high))
        if self.step is not None:
            object.__setattr__(self, "step", whole("step", self.step))
        _check_range(self.low, self.high, self.log, self.step)
        largest = LARGEST_LOG_INTEGER if self.log else LARGEST_INTEGER
        if max(abs(self.low), abs(self.high)) > largest:
            raise ValueError(f"low and high must lie within {largest:g} of 0, got {self.low} and {self.high}")
        self._check_when(self.when)

    @property
    def bounds(self) -> tuple[float, float]:
        if self.log:
            return math.log(self.low), math.log(self.high)
        return (float(self.low), float(self.high)) if self.step is None else (0.0, float(self._steps))

    @property
    def _steps(self) -> int:
        return (self.high - self.low) // (self.step or 1)

    @property
    def integrality(self) -> Integrality:
        return Integrality.LOG_INTEGER if self.log else Integrality.INTEGER

    def encode(self, value: Any) -> float:
        number = whole("value", value)
        if not self.low <= number <= self.high:
            raise ValueError(f"value must lie in [{self.low}, {self.high}], got {value!r}")
        if self.step is not None and (number - self.low) % self.step:
            raise ValueError(f"value must be {self.low} + k * {self.step}, got {value!r}")
        if self.log:
            return math.log(number)
        return float(number if self.step is None else (number - self.low) // self.step)

    def decode(self, coordinate: float) -> int:
        number = round(math.exp(coordinate) if self.log else coordinate)
        return min(max(number if self.step is None else self.low + number * self.step, self.low), self.high)

    def described(self) -> dict[str, Any]:
        values = {"type": self.kind, "low": self.low, "high": self.high}
        return _with_options(values, log=self.log, step=self.step, when=self.when)


def _check_range(low: float, high: float, log: Any, step: float | None) -> None:
    if not low <= high:
        raise ValueError(f"low must be at most high, got {low} and {high}")
    if not isinstance(log, bool):
        raise ValueError(f"log must be True or False, got {log!r}")
    if log and not low > 0:
        raise ValueError(f"low must be above 0 with log, got {low}")
    if step is not None and (log or not step > 0):
        raise ValueError(f"step must be above 0, and left out with log, got {step!r}")


@dataclass(frozen=True)
class Categorical(Parameter):
    """One of several values without an order.

    Parameters
    ----------
    choices : the values, different ones: strings, numbers, True, False or None.
    ordered : the order of the choices means something: neighbours are alike.
    when : as for `Float`.
    """

    choices: tuple[Value, ...]
    ordered: bool = field(default=False, kw_only=True)
    when: Condition | None = field(default=None, kw_only=True)
    kind: ClassVar[str] = "categorical"

    def __post_init__(self) -> None:
        if isinstance(self.choices, str | bytes) or not isinstance(self.choices, Iterable):
            raise ValueError(f"choices must be a list of values, got {self.choices!r}")
        object.__setattr__(self, "choices", tuple(_plain(choice) for choice in self.choices))
        if len(set(map(_identity, self.choices))) < max(len(self.choices), 1):
            raise ValueError(f"choices must be different values, at least one, got {self.choices!r}")
        if not isinstance(self.ordered, bool):
            raise ValueError(f"ordered must be True or False, got {self.ordered!r}")
        self._check_when(self.when)

    @property
    def bounds(self) -> tuple[float, float]:
        return 0.0, len(self.choices) - 1.0

    @property
    def integrality(self) -> Integrality:
        return Integrality.INTEGER if self.ordered else Integrality.CATEGORICAL

    def encode(self, value: Any) -> float:
        wanted = _identity(_plain(value))
        for code, choice in enumerate(self.choices):
            if _identity(choice) == wanted:
                return float(code)
        raise ValueError(f"value must be one of {', '.join(map(repr, self.choices))}; got {value!r}")

    def decode(self, coordinate: float) -> Value:
        return self.choices[min(max(round(coordinate), 0), len(self.choices) - 1)]

    def described(self) -> dict[str, Any]:
        values = {"type": self.kind, "choices": list(self.choices)}
        return _with_options(values, ordered=self.ordered, when=self.when)


def _plain(value: Any) -> Value:
    """A choice as a value that files can hold; numpy's numbers become Python's."""
    if hasattr(value, "item") and getattr(value, "ndim", None) == 0:
        value = value.item()
    if value is None or isinstance(value, str | bool | int) or (isinstance(value, float) and math.isfinite(value)):
        return value
    raise ValueError(
        f"choices must be strings, finite numbers, True, False or None (or names of what they stand for), got {value!r}"
    )


def _identity(value: Value) -> tuple[bool, Value]:
    """1, 1.0 and numpy's 1 are the same choice; True is another one."""
    return isinstance(value, bool), value


@dataclass(frozen=True)
class Bool(Parameter):
    """False or True."""

    when: Condition | None = field(default=None, kw_only=True)
    kind: ClassVar[str] = "bool"

    def __post_init__(self) -> None:
        self._check_when(self.when)

    @property
    def bounds(self) -> tuple[float, float]:
        return 0.0, 1.0

    @property
    def integrality(self) -> Integrality:
        return Integrality.CATEGORICAL

    def encode(self, value: Any) -> float:
        plain = _plain(value)
        if not isinstance(plain, bool):
            raise ValueError(f"value must be True or False, got {value!r}")
        return float(plain)

    def decode(self, coordinate: float) -> bool:
        return coordinate >= 0.5

    def described(self) -> dict[str, Any]:
        return _with_options({"type": self.kind}, when=self.when)


KINDS: dict[str, type[Parameter]] = {kind.kind: kind for kind in (Float, Int, Categorical, Bool)}
"""By the word that files have for them."""
