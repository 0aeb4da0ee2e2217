"""Files of spaces: TOML and JSON, read strictly."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from deddqn._utils.plain_json import parse_json
from deddqn._utils.reading import read_limited

LARGEST_FILE = 2**24


def read_values(path: Path, ending: str) -> dict[str, Any]:
    """The values of a file; a name that comes twice is an error in both formats."""
    try:
        text = read_limited(path, LARGEST_FILE).decode()
        values = tomllib.loads(text) if ending == ".toml" else parse_json(text)
    except (tomllib.TOMLDecodeError, json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"it is not {ending[1:].upper()}: {error}") from None
    if not isinstance(values, dict):
        raise ValueError(f"it must map names to parameters, got {type(values).__name__}")
    return values


def write_toml(values: Mapping[str, Mapping[str, Any]]) -> str:
    """Parameters as tables, one after the other."""
    tables = []
    for name, described in values.items():
        lines = [f"{_key(key)} = {_toml(value, name)}" for key, value in described.items()]
        tables.append("\n".join([f"[{_key(name)}]", *lines]) + "\n")
    return "\n".join(tables)


def _key(name: str) -> str:
    bare = name.isascii() and all(c.isalnum() or c in "-_" for c in name)
    return name if bare else _string(name)


def _string(text: str) -> str:
    """JSON's strings are TOML's, but for one character that TOML wants escaped."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _toml(value: Any, name: str) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(key)} = {_toml(item, name)}" for key, item in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_toml(item, name) for item in value) + "]"
    if value is None:
        raise ValueError(f"parameter {name!r}: TOML has no word for None; use a .json file")
    if isinstance(value, bool):
        return "true" if value else "false"
    return _string(value) if isinstance(value, str) else repr(value)
