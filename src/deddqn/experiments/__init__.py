"""Comparisons of methods on problems: plan -> runner -> store.

The names below are imported when they are used: tuning needs neither pandas nor pyarrow.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from deddqn._utils.lazy_imports import lazy_names
from deddqn._utils.optional_imports import need

if TYPE_CHECKING:
    from deddqn.experiments.plan import Experiment, Job, Plan, plan_experiment, preset
    from deddqn.experiments.runner import ExperimentSummary, compare, run_experiment
    from deddqn.experiments.store import Store, StoreError
else:

    def _check() -> None:
        for package in ("pandas", "pyarrow"):
            need(package, "comparisons", "report")

    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "deddqn.experiments.plan": ("Experiment", "Job", "Plan", "plan_experiment", "preset"),
            "deddqn.experiments.runner": ("ExperimentSummary", "compare", "run_experiment"),
            "deddqn.experiments.store": ("Store", "StoreError"),
        },
        before=_check,
    )

__all__ = [
    "Experiment",
    "ExperimentSummary",
    "Job",
    "Plan",
    "Store",
    "StoreError",
    "compare",
    "plan_experiment",
    "preset",
    "run_experiment",
]
