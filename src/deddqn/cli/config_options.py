"""Options of a command, generated from the dataclasses that hold its settings.

Every field becomes an option without a default of its own, so that it can be told from one that was not given. Its type
comes from the annotation, its help from the docstring of the dataclass: a new field is a new option by itself.
"""

from __future__ import annotations

import inspect
import re
import typing
from collections.abc import Container, Mapping
from dataclasses import field, fields, make_dataclass
from typing import Annotated, Any, Literal, TypeVar

import tyro

T = TypeVar("T")
YesNo = Literal["yes", "no"]
PLAIN = (str, int, float)


def with_options(base: type[T], configs: Mapping[str, type], *, without: Container[str] = ()) -> type[T]:
    """The dataclass `base` with one more field, None by default, for every field of the configs.

    Parameters
    ----------
    base : the options of a command that are written by hand.
    configs : by a word for them, the dataclasses of settings; a field of several is one option.
    without : names of fields that are no options.
    """
    holders: dict[str, list[str]] = {}
    for word, config in configs.items():
        for each in fields(config):
            if each.name not in without:
                holders.setdefault(each.name, []).append(word)
    made: list[tuple[str, Any, Any]] = []
    for name, words in holders.items():
        kind = option_type(typing.get_type_hints(configs[words[0]])[name])
        text = _help(name, {word: configs[word] for word in words}, everywhere=1 < len(words) == len(configs))
        argument = tyro.conf.arg(help=text, help_behavior_hint="", metavar=_metavar(kind))
        made.append((name, Annotated[kind | None, argument], field(default=None)))
    return make_dataclass(base.__name__, made, bases=(base,), frozen=True, kw_only=True)  # type: ignore[return-value]


def given_values(options: Any, *configs: type) -> dict[str, Any]:
    """The settings of the configs that were given, with the types of the configs."""
    names = dict.fromkeys(each.name for config in configs for each in fields(config))
    values = {name: value for name in names if (value := getattr(options, name, None)) is not None}
    switches = {each.name for config in configs for each in fields(config) if isinstance(each.default, bool)}
    return {name: value == "yes" if name in switches else value for name, value in values.items()}


def option_type(annotation: Any) -> Any:
    """The type of an option: yes or no for a bool, a list for a tuple; what a command line cannot hold has a name."""
    if annotation is bool:
        return YesNo
    if annotation in PLAIN:
        return annotation
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is tuple and arguments[0] in PLAIN:
        return list[arguments[0]]  # type: ignore[valid-type]
    return str


def parameter_texts(config: type) -> dict[str, str]:
    """What the docstrings of a dataclass and of its bases say about their parameters, by name."""
    texts: dict[str, str] = {}
    for part in reversed(config.__mro__):
        section = inspect.cleandoc(part.__dict__.get("__doc__") or "").partition("Parameters\n----------\n")[2]
        for names, text in re.findall(r"^(\w[\w, ]*) : (.*(?:\n[ ]+.*)*)", section, flags=re.MULTILINE):
            texts |= dict.fromkeys(names.split(", "), " ".join(text.split()))
    return texts


def _help(name: str, configs: Mapping[str, type], *, everywhere: bool) -> str:
    """Text and default of a parameter; where they are not those of all configs, each after the word of its config."""
    texts = {word: parameter_texts(config)[name].rstrip(".") for word, config in configs.items()}
    defaults = {word: _default(config, name) for word, config in configs.items()}
    if not everywhere or len(set(texts.values())) > 1:
        return "; ".join(f"{word}: {texts[word]}{_bracketed(defaults[word])}" for word in configs)
    if len(set(defaults.values())) == 1:
        return texts.popitem()[1] + _bracketed(defaults.popitem()[1])
    return texts.popitem()[1] + _bracketed(", ".join(f"{word} {default}" for word, default in defaults.items()))


def _bracketed(default: str) -> str:
    return f" [{default}]" if default else ""


def _default(config: type, name: str) -> str:
    """The default of a field as it is written on a command line."""
    value = next(each.default for each in fields(config) if each.name == name)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if not isinstance(value, tuple):
        return str(value)
    return " ".join(map(str, value)) if all(isinstance(item, PLAIN) for item in value) else ""


def _metavar(kind: Any) -> str:
    if kind is YesNo:
        return "yes|no"
    if typing.get_origin(kind) is list:
        name = typing.get_args(kind)[0].__name__.upper()
        return f"{name} [{name} ...]"
    return str(kind.__name__.upper())
