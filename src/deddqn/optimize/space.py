"""`Space`: named parameters as coordinates of a search, and back; also as a TOML or JSON file."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from deddqn._utils.atomic import write_text
from deddqn._utils.validation import choice_error, suggestion
from deddqn.optimize.parameters import KINDS, Float, Parameter


class Space(Mapping[str, Parameter]):
    """Named parameters, in their order the coordinates of a search.

    ``minimize(fun, space=space)`` calls `fun` with a dictionary of Python values: floats, ints, strings, bools.

    Parameters
    ----------
    parameters : name -> `Float`, `Int`, `Categorical` or `Bool`; also as keywords.

    Examples
    --------
    >>> from deddqn import Categorical, Float, Int, Space
    >>> space = Space(rate=Float(1e-4, 1.0, log=True), layers=Int(1, 4), kind=Categorical(["relu", "tanh"]))
    >>> space.decode(space.encode({"rate": 1.0, "layers": 2, "kind": "tanh"}))
    {'rate': 1.0, 'layers': 2, 'kind': 'tanh'}
    """

    def __init__(self, parameters: Mapping[str, Parameter] | None = None, /, **more: Parameter) -> None:
        self._parameters = {**(parameters or {}), **more}
        if not self._parameters:
            raise ValueError("a space must have at least one parameter, got none")
        earlier: dict[str, Parameter] = {}
        for name, parameter in self._parameters.items():
            if not isinstance(name, str) or not name:
                raise ValueError(f"names of parameters must be strings, got {name!r}")
            if not isinstance(parameter, tuple(KINDS.values())):
                raise ValueError(f"parameter {name!r} must be a Float, Int, Categorical or Bool, got {parameter!r}")
            with _naming(name):
                _check_condition(parameter, earlier)
            earlier[name] = parameter

    def __getitem__(self, name: str) -> Parameter:
        return self._parameters[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._parameters)

    def __len__(self) -> int:
        return len(self._parameters)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Space) and list(self.items()) == list(other.items())

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Space({self._parameters!r})"

    @property
    def names(self) -> tuple[str, ...]:
        """The names, in the order of the coordinates."""
        return tuple(self._parameters)

    @property
    def bounds(self) -> np.ndarray:
        """(D, 2): lower and upper bounds of the coordinates."""
        return np.array([parameter.bounds for parameter in self.values()], dtype=np.float64)

    @property
    def integrality(self) -> np.ndarray:
        """(D,): what the coordinates are."""
        return np.array([parameter.integrality for parameter in self.values()], dtype=np.int64)

    # Values and coordinates

    def decode(self, x: Any) -> dict[str, Any]:
        """The values that a point (D,) holds; without the parameters whose conditions they do not meet."""
        values: dict[str, Any] = {}
        for (name, parameter), coordinate in zip(self.items(), x, strict=True):
            if is_active(parameter, values):
                values[name] = parameter.decode(float(coordinate))
        return values

    def encode(self, params: Mapping[str, Any]) -> np.ndarray:
        """The point (D,) that holds these values; `decode` gives them back (log floats but for the last digits).

        A parameter whose condition is not met must be left out, and its coordinate is the lowest one.
        """
        if not isinstance(params, Mapping):
            raise ValueError(f"params must be a dictionary of {', '.join(map(repr, self))}, got {params!r}")
        for name in params:
            if name not in self._parameters:
                raise ValueError(
                    f"params must have names of the space; {suggestion(str(name), self)}got {name!r}, "
                    f"known: {', '.join(map(repr, self))}"
                )
        point = np.empty(len(self))
        for k, (name, parameter) in enumerate(self.items()):
            active = is_active(parameter, params)
            if active != (name in params):
                rule = "given" if active else "left out where its condition is not met"
                raise ValueError(f"params: {name!r} must be {rule}, got {dict(params)!r}")
            with _naming(name):
                point[k] = parameter.encode(params[name]) if active else parameter.bounds[0]
        return point

    # Plain values and files

    def to_dict(self) -> dict[str, dict[str, Any]]:
        """The space as plain values, as in a JSON file."""
        return {name: parameter.described() for name, parameter in self.items()}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Space:
        """A space from plain values: name -> {"type": "float", "low": .., "high": .., ..}; unknown keys are errors."""
        if not isinstance(values, Mapping):
            raise ValueError(f"a space must map names to parameters, got {values!r}")
        made = {}
        for name, described in values.items():
            with _naming(name):
                made[name] = _parameter_from(described)
        return cls(made)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the space to a ``.toml`` or ``.json`` file."""
        from deddqn.optimize.space_files import write_toml

        values = self.to_dict()
        text = write_toml(values) if _format(path) == ".toml" else json.dumps(values, indent=2) + "\n"
        write_text(Path(path), text)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Space:
        """Read a space from a ``.toml`` or ``.json`` file."""
        from deddqn.optimize.space_files import read_values

        try:
            return cls.from_dict(read_values(Path(path), _format(path)))
        except ValueError as error:
            raise ValueError(f"{os.fspath(path)} must hold a space: {error}") from None


def is_active(parameter: Parameter, values: Mapping[str, Any]) -> bool:
    """Whether a parameter exists beside the values of earlier ones."""
    condition: Mapping[str, Any] = getattr(parameter, "when", None) or {}
    return all(name in values and values[name] in _listed(wanted) for name, wanted in condition.items())


def _listed(wanted: Any) -> Sequence[Any]:
    return wanted if isinstance(wanted, list | tuple) else [wanted]


def _check_condition(parameter: Parameter, earlier: Mapping[str, Parameter]) -> None:
    for name, wanted in (getattr(parameter, "when", None) or {}).items():
        if name not in earlier:
            raise ValueError(
                f"when must name parameters that come before; {suggestion(str(name), earlier)}got {name!r}"
            )
        if isinstance(earlier[name], Float):
            raise ValueError(f"when must name parameters that are no Float, got {name!r}")
        for value in _listed(wanted):
            earlier[name].encode(value)


def _parameter_from(described: Any) -> Parameter:
    if not isinstance(described, Mapping) or "type" not in described:
        raise ValueError(f"it must have a type, one of {', '.join(map(repr, KINDS))}, got {described!r}")
    if described["type"] not in KINDS:
        raise choice_error("type", described["type"], KINDS)
    kind = KINDS[described["type"]]
    fields = {each.name: each for each in dataclasses.fields(kind)}
    values = {key: value for key, value in described.items() if key != "type"}
    for key in values:
        if key not in fields:
            raise ValueError(f"unknown key {key!r}; {suggestion(key, fields)}known: type, {', '.join(fields)}")
    for key, each in fields.items():
        if key not in values and each.default is dataclasses.MISSING:
            raise ValueError(f"{key} must be given for a {described['type']}, got {dict(described)!r}")
    return kind(**values)


class _naming:
    """Puts the name of a parameter before the text of a ValueError."""

    def __init__(self, name: object) -> None:
        self.name = name

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, ValueError):
            raise ValueError(f"parameter {self.name!r}: {error}") from None


def _format(path: str | os.PathLike[str]) -> str:
    ending = Path(path).suffix.lower()
    if ending not in (".toml", ".json"):
        raise ValueError(f"a file of a space must end in .toml or .json, got {os.fspath(path)!r}")
    return ending
