"""The adaptive policies of the comparison by name: tuned, as published, or with given parameters.

=============================  ===========================================================================
name                           parameters
=============================  ===========================================================================
``pm-adapss``                  the tuned ones of ``tuned.json`` (found on the training functions only)
``pm-adapss:default``          the published ones
``pm-adapss:window=20,p_min=0``  the published ones except for those given
=============================  ===========================================================================
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from deddqn._utils.validation import unknown_name
from deddqn.policies.f_auc import f_auc
from deddqn.policies.pm_adapss import pm_adapss
from deddqn.policies.policy import CompiledPolicy
from deddqn.policies.rec_pm import rec_pm

ADAPTIVE: dict[str, Callable[..., CompiledPolicy]] = {"pm-adapss": pm_adapss, "f-auc": f_auc, "rec-pm": rec_pm}
TUNED = Path(__file__).parent / "tuned.json"
"""Tuned parameters with their provenance, written by ``deddqn tune``."""


@cache
def tuned() -> dict[str, Any]:
    """The content of ``tuned.json``: name -> record with "parameters"; empty if there is none."""
    return dict(json.loads(TUNED.read_text(encoding="utf-8"))) if TUNED.exists() else {}


def default_parameters(method: str) -> dict[str, Any]:
    """The published parameters of an adaptive policy."""
    signature = inspect.signature(ADAPTIVE[method])
    return {key: value.default for key, value in signature.parameters.items() if key != "name"}


def adaptive_policy(name: str) -> CompiledPolicy:
    """The adaptive policy of a name as in the table above."""
    method, colon, given = name.partition(":")
    if not colon:
        parameters = tuned().get(method, {}).get("parameters", {})
    else:
        parameters = {} if given == "default" else _parse(method, given)
    return ADAPTIVE[method](**parameters, name=name)


def _parse(method: str, text: str) -> dict[str, Any]:
    """Parameters from ``key=value,key=value``."""
    known = default_parameters(method)
    parameters: dict[str, Any] = {}
    for part in text.split(","):
        key, equals, value = part.partition("=")
        if not equals:
            raise ValueError(f"policy '{method}:..' needs 'default' or parameters like {_example(known)}, got {part!r}")
        if key not in known:
            raise unknown_name(f"parameter of {method}", key, known)
        try:
            parameters[key] = type(known[key])(value)
        except ValueError:
            kind = "an integer" if isinstance(known[key], int) else "a number"
            raise ValueError(f"{key} must be {kind}, got {value!r}") from None
    return parameters


def _example(known: dict[str, Any]) -> str:
    return repr(",".join(f"{key}={value}" for key, value in known.items()))
