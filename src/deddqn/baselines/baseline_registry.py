"""Baselines by name. The libraries behind them are imported when a run begins."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from deddqn._utils.optional_imports import need
from deddqn._utils.validation import unknown_name
from deddqn.baselines.cmaes import ipop_cmaes, lr_cmaes
from deddqn.baselines.method import Method
from deddqn.baselines.minion import ALGORITHMS, MinionMethod
from deddqn.baselines.scipy_de import ScipyDE

_FACTORIES: dict[str, Callable[[], Method]] = {
    "ipop-cmaes": ipop_cmaes,
    "lr-cmaes": lr_cmaes,
    "scipy-de": ScipyDE,
    **{name: partial(MinionMethod, name) for name in ALGORITHMS},
}


def baseline_names() -> list[str]:
    """The names of all baselines, the paper's two first."""
    return list(_FACTORIES)


LIBRARIES = {"ipop-cmaes": "cma", "lr-cmaes": "cma", **dict.fromkeys(ALGORITHMS, "minionpy")}
"""Baselines that run only with an optional library."""


def check_installed(name: str) -> None:
    """Raise if the library of a baseline is missing."""
    if name in LIBRARIES:
        need(LIBRARIES[name], f"the method {name!r}", "baselines")


def load_baseline(name: str) -> Method:
    """The baseline of this name."""
    if name not in _FACTORIES:
        raise unknown_name("baseline", name, _FACTORIES)
    return _FACTORIES[name]()
