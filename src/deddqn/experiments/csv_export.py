"""Stored runs as CSV, for other tools."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pandas as pd

from deddqn._utils.atomic import replacing
from deddqn._utils.disk_errors import clear_errors
from deddqn.experiments.results import LISTS
from deddqn.experiments.store import Store, StoreError

JOB_COLUMNS = ["method", "problem", "repeat"]


def write_csv(
    folder: str | os.PathLike[str], out: str | os.PathLike[str], *, trajectories: bool = False
) -> tuple[int, list[str]]:
    """Write one line per run (or per run and checkpoint); return how many, and what could not be read."""
    frame, notices = _stored(folder)
    shown = trajectory_frame(frame) if trajectories else frame.drop(columns=list(LISTS))
    target = Path(out)
    with clear_errors(f"write {target}", StoreError), replacing(target) as temporary:
        shown.to_csv(temporary, index=False)
    return len(shown), notices


def stored_rows(folder: str | os.PathLike[str]) -> tuple[list[dict[str, Any]], list[str]]:
    """The runs that have a trajectory, one mapping each; and what could not be read."""
    frame, notices = _stored(folder)
    rows: list[dict[str, Any]] = frame.dropna(subset=["checkpoints"]).to_dict("records")
    return rows, notices


def _stored(folder: str | os.PathLike[str]) -> tuple[pd.DataFrame, list[str]]:
    store = Store(folder)
    store.existing_plan()
    return store.read(), store.problems


def trajectory_frame(frame: pd.DataFrame) -> pd.DataFrame:
    """One row per run and checkpoint: evaluations and the best value so far."""
    long = frame[[*JOB_COLUMNS, "optimum", "checkpoints", "best"]].explode(["checkpoints", "best"])
    long = long.dropna(subset=["checkpoints"]).rename(columns={"checkpoints": "evaluations"})
    return long.astype({"evaluations": "int64", "best": "float64"}).reset_index(drop=True)
