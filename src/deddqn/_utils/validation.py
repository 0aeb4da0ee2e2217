"""Errors for unknown names, which suggest a neighbour."""

from __future__ import annotations

import difflib
import functools
import inspect
from collections.abc import Callable, Iterable
from numbers import Integral
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

CLOSE = 0.62
"""How alike two names must be for one to be a misspelling of the other (difflib's ratio)."""


def suggestion(name: str, known: Iterable[str]) -> str:
    """The sentence "did you mean ...?" with the nearest known name, or nothing."""
    lowered, given = {k.lower(): k for k in known}, str(name).lower()
    begun = [k for k in lowered if given and k.startswith(given)]
    near = difflib.get_close_matches(given, lowered, n=1, cutoff=CLOSE) or begun
    return f"did you mean {lowered[near[0]]!r}? " if near else ""


def choice_error(argument: str, value: object, known: Iterable[str]) -> ValueError:
    """The error for an argument that must be one of a few known names."""
    names = list(known)
    return ValueError(
        f"{argument} must be one of {', '.join(map(repr, names))}; {suggestion(str(value), names)}got {value!r}"
    )


def unknown_name(kind: str, name: object, known: Iterable[str]) -> KeyError:
    """The error for a name that a registry does not hold."""
    names = list(known)
    return UnknownNameError(f"unknown {kind} {name!r}; {suggestion(str(name), names)}Known: {', '.join(names)}")


def suggests_keywords(function: Callable[P, R]) -> Callable[P, R]:
    """Let a function tell which keyword was perhaps meant when it gets one that it does not have."""
    known = [name for name in inspect.signature(function).parameters if name != "self"]
    called = function.__qualname__.removesuffix(".__init__")

    @functools.wraps(function)
    def checked(*args: P.args, **kwargs: P.kwargs) -> R:
        for name in kwargs:
            if name not in known:
                raise TypeError(
                    f"{called}() got an unexpected keyword argument {name!r}; {suggestion(name, known)}"
                    f"Known: {', '.join(known)}"
                )
        return function(*args, **kwargs)

    return checked


LONGEST_NAME = 1000


def check_name(argument: str, value: object) -> str:
    """A name that can be printed, written into files and shown in one line; ValueError otherwise."""
    if not isinstance(value, str):
        raise ValueError(f"{argument} must be text, got {value!r}")
    if not value.isprintable() or not 0 < len(value) <= LONGEST_NAME:
        raise ValueError(f"{argument} must have 1 to {LONGEST_NAME} characters that can be printed, got {value[:80]!r}")
    return value


def check_whole_number(argument: str, value: object, least: int, why: str = "") -> None:
    """Raise ValueError unless `value` is an integer of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise ValueError(f"{argument} must be a whole number, got {value!r}")
    if value < least:
        raise ValueError(f"{argument} must be at least {least}{why}, got {value}")


class UnknownNameError(KeyError):
    """A name that is not in a registry; its text is shown as it is (KeyError would show its repr)."""

    def __str__(self) -> str:
        return str(self.args[0])
