"""Comparisons: plan -> runner -> store -> statistics -> tables, figures, report.

The names below are imported when they are used: tuning needs neither pandas nor pyarrow.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from deddqn.problems.packages import need

if TYPE_CHECKING:
    from deddqn.experiments.plan import Experiment, Job, Plan, experiment, preset
    from deddqn.experiments.report import write_report
    from deddqn.experiments.runner import Outcome, compare, run_experiment
    from deddqn.experiments.store import Store, StoreError

__all__ = [
    "Experiment",
    "Job",
    "Outcome",
    "Plan",
    "Store",
    "StoreError",
    "compare",
    "experiment",
    "preset",
    "run_experiment",
    "write_report",
]

_HOMES = {
    "plan": ("Experiment", "Job", "Plan", "experiment", "preset"),
    "report": ("write_report",),
    "runner": ("Outcome", "compare", "run_experiment"),
    "store": ("Store", "StoreError"),
}


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            for package in ("pandas", "pyarrow"):
                need(package, "comparisons", "report")
            return getattr(importlib.import_module(f"deddqn.experiments.{home}"), name)
    raise AttributeError(f"module 'deddqn.experiments' has no attribute {name!r}")
