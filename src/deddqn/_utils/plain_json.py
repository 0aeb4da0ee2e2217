"""JSON from files that anybody may have made: bounded, without duplicates, and of a stated form.

A form says what a value must be: a type (``float`` admits whole numbers, ``int`` no booleans), ``None``, a tuple of
forms (any of them), ``[form]`` (a list of these), ``{"key": form}`` (an object with exactly these keys, those whose
names end in "?" optional; with the key "*?" others may be there, too), or `Mapped` (an object with any keys).
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any

DEEPEST = 32
LARGEST = 10**300  # of a whole number where a float is meant
CHECKSUM = "sha256"
OTHERS = "*"


@dataclass(frozen=True)
class Mapped:
    """An object with any keys, whose values have one form."""

    form: Any


@dataclass(frozen=True)
class Exactly:
    """One value, such as the name of a format."""

    value: str | int


def parse_json(text: str | bytes, form: Any = None, name: str = "it") -> Any:
    """The value of a JSON text that has the given form, if one is given; ValueError otherwise."""
    try:
        value = json.loads(text, object_pairs_hook=_object)
    except RecursionError:
        raise ValueError(f"{name} is nested too deeply") from None
    _check_depth(value, name)
    if form is not None:
        check_form(value, form, name)
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"the key {next(n for n in names if names.count(n) > 1)[:60]!r} is there twice")
    return found


def _check_depth(value: Any, name: str) -> None:
    level, depth = [value], 0
    while level:
        depth += 1
        if depth > DEEPEST:
            raise ValueError(f"{name} is nested deeper than {DEEPEST} levels")
        level = [
            inner
            for outer in level
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]


def check_form(value: Any, form: Any, name: str) -> None:
    """Raise ValueError, with the place and what was found there, unless `value` has the form."""
    if isinstance(form, tuple):
        if not any(_has_form(value, one) for one in form):
            raise ValueError(f"{name} must be {_words(form)}, got {_shown(value)}")
    elif isinstance(form, list):
        _check_type(value, list, name)
        for k, item in enumerate(value):
            check_form(item, form[0], f"{name}[{k}]")
    elif isinstance(form, Mapped):
        _check_type(value, dict, name)
        for key, item in value.items():
            check_form(item, form.form, f"{name}.{key[:60]}")
    elif isinstance(form, dict):
        _check_object(value, form, name)
    elif isinstance(form, Exactly):
        if type(value) is not type(form.value) or value != form.value:
            raise ValueError(f"{name} must be {form.value!r}, got {_shown(value)}")
    else:
        _check_type(value, form, name)


def _check_object(value: Any, form: dict[str, Any], name: str) -> None:
    _check_type(value, dict, name)
    forms = {key.removesuffix("?"): inner for key, inner in form.items()}
    for key in form:
        if not key.endswith("?") and key not in value:
            raise ValueError(f"{name} must have {key!r}")
    for key, item in value.items():
        if key not in forms and OTHERS not in forms:
            raise ValueError(f"{name} must have no {key[:60]!r}")
        check_form(item, forms.get(key, object), f"{name}.{key[:60]}")


def _has_form(value: Any, form: Any) -> bool:
    try:
        check_form(value, form, "")
    except ValueError:
        return False
    return True


def _check_type(value: Any, kind: Any, name: str) -> None:
    if kind is None:
        fits = value is None
    elif kind is float:
        fits = isinstance(value, float) or (isinstance(value, int) and abs(value) <= LARGEST)
    else:
        fits = isinstance(value, kind)
    if not fits or (isinstance(value, bool) and kind not in (bool, object)):
        raise ValueError(f"{name} must be {_words(kind)}, got {_shown(value)}")


def _words(form: Any) -> str:
    if isinstance(form, tuple):
        return " or ".join(map(_words, form))
    if isinstance(form, Exactly):
        return repr(form.value)
    if isinstance(form, list | dict | Mapped):
        return "a list" if isinstance(form, list) else "an object"
    return _NAMES[form]


_NAMES: dict[Any, str] = {str: "text", int: "a whole number", float: "a number", bool: "true or false", None: "null"}
_NAMES |= {list: "a list", dict: "an object", object: "anything"}


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def checksum(content: Any, *parts: bytes | memoryview) -> str:
    """The checksum of a JSON value, in any order of its keys, and of further bytes: against accidents, not forgery."""
    total = hashlib.sha256(json.dumps(content, sort_keys=True).encode())
    for part in parts:
        total.update(len(part).to_bytes(8, "little"))
        total.update(part)
    return total.hexdigest()


def check_checksum(stated: Any, found: str) -> None:
    """Refuse contents that are not those that were written."""
    if stated != found:
        raise ValueError("its contents are not those that were written (the checksum differs)")
