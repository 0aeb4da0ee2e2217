"""The recorded digests, where they hold, and how those of today differ from them."""

from __future__ import annotations

import json
import math
import os
import platform
from collections.abc import Iterable, Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
from llvmlite import binding
from numba import config, njit

from tests.digests import lane_runs, machine_runs, option_runs, policy_runs
from tests.digests.case import GROUPS, MACHINE, MATH, Case, digest

RECORD = Path(__file__).with_name("recorded.json")


def all_cases() -> Iterator[Case]:
    """Every case; without the compiler those that take little time then, and whose bits do not depend on it."""
    for module in (policy_runs, option_runs, lane_runs, machine_runs):
        for case in module.cases():
            if case.plain or not config.DISABLE_JIT:
                yield case


def selected(groups: Iterable[str] = GROUPS, part: str = "", *, plain: bool = False) -> list[Case]:
    """The cases of these groups whose name contains `part`; `plain`: only those that run without the compiler too."""
    chosen = set(groups)
    return [c for c in all_cases() if c.group in chosen and part in c.name and (c.plain or not plain)]


def digests(cases: Iterable[Case]) -> dict[str, str]:
    """The digests of cases by their names."""
    return {case.name: digest(case.compute()) for case in cases}


@njit
def _functions(points, values):
    for k in range(points.size):
        x = points[k]
        values[k, 0], values[k, 1] = math.exp(20.0 * x), math.log(1e-9 + abs(x))
        values[k, 2], values[k, 3] = math.tan(1.5 * x), math.pow(1.0 + 0.9 * x, 3.7)


def conditions() -> dict[str, dict[str, str]]:
    """By group, what must be as recorded for its digests to hold."""
    points = np.linspace(-1.0, 1.0, 4001)
    values = np.empty((points.size, 4))
    _functions(points, values)
    found = {"exp, log, tan and pow": digest([values, np.power(0.9, np.arange(100.0))])}
    machine = {"processor": str(binding.get_host_cpu_name()), "system": platform.system()}
    for package in ("numpy", "scipy", "numba", "torch"):
        try:
            machine[package] = version(package)
        except PackageNotFoundError:
            continue
    return {MATH: found, MACHINE: machine | found}


def elsewhere(group: str) -> str:
    """Why the digests of a group need not be those of the record here; empty if they must."""
    recorded, here = read()["conditions"].get(group, {}), conditions().get(group, {})
    differs = [
        f"{name} {here[name]} instead of {recorded.get(name)}" for name in here if here[name] != recorded.get(name)
    ]
    return f"recorded with another machine: {', '.join(differs)}" if differs else ""


def read() -> dict[str, Any]:
    """The record."""
    return dict(json.loads(RECORD.read_text(encoding="utf-8")))


def write() -> int:
    """Record the digests of today; return how many."""
    cases = list(all_cases())
    found = digests(cases)
    groups = {group: {c.name: found[c.name] for c in cases if c.group == group} for group in GROUPS}
    temporary = RECORD.with_suffix(".tmp")
    text = json.dumps({"conditions": conditions(), "digests": groups}, indent=1)
    temporary.write_text(text + "\n", encoding="utf-8")
    os.replace(temporary, RECORD)
    return len(found)


def differences(cases: list[Case]) -> list[str]:
    """In words, which cases have another digest than recorded, or none."""
    recorded, found = read()["digests"], digests(cases)
    return [
        f"{case.name}: {found[case.name]} instead of {recorded[case.group].get(case.name)}"
        for case in cases
        if found[case.name] != recorded[case.group].get(case.name)
    ]


def lost(group: str) -> list[str]:
    """Recorded names that no case has any more, although all that it needs is installed."""
    names = set(read()["digests"][group]) - {case.name for case in all_cases()}
    return sorted(name for name in names if not name.startswith(machine_runs.missing()))
