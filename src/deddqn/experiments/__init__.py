"""Comparisons: plan -> runner -> store -> statistics -> tables, figures, report."""

from deddqn.experiments.plan import Experiment, Job, Plan, experiment, preset
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
]
