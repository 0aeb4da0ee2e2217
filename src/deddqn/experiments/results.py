"""One run as a row: what it reached, what it cost, how it went, and with which versions."""

from __future__ import annotations

import json
import math
import platform
from dataclasses import dataclass, field, fields
from functools import cache
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa

from deddqn._utils.versions import versions
from deddqn.experiments.plan import Job

OK, FLAGGED, FAILED = "ok", "flagged", "failed"


@cache
def versions_here() -> str:
    """The versions that results depend on, as JSON."""
    found = versions(("numpy", "numba", "scipy", "cma", "minionpy"))
    return json.dumps({**found, "machine": platform.machine()}, sort_keys=True)


@dataclass(frozen=True, kw_only=True)
class Run:
    """A finished job. Lists hold the trajectory; `strategy_counts` is (generations, operators), row by row."""

    key: str
    method: str
    problem: str
    repeat: int
    budget: int
    seed: int
    status: str = OK
    note: str = ""
    best_value: float = math.nan
    optimum: float = math.nan
    error: float = math.nan
    evaluations: int = 0
    cpu_seconds: float = math.nan
    non_finite: int = 0
    traceback: str = ""
    versions: str = field(default_factory=versions_here)
    checkpoints: list[int] = field(default_factory=list)
    best: list[float] = field(default_factory=list)
    operators: list[str] = field(default_factory=list)
    strategy_counts: list[int] = field(default_factory=list)


_ARROW: dict[str, Any] = {"str": pa.string(), "int": pa.int64(), "float": pa.float64()}
_ARROW |= {"list[int]": pa.list_(pa.int32()), "list[float]": pa.list_(pa.float64())}
_ARROW |= {"list[str]": pa.list_(pa.string())}

SCHEMA = pa.schema([(f.name, _ARROW[str(f.type)]) for f in fields(Run)], metadata={"deddqn-results": "1"})
"""The columns of a result file."""

LISTS = ("checkpoints", "best", "operators", "strategy_counts")
UNREPEATABLE = ("cpu_seconds", "traceback", "versions")
"""What may differ between two runs of one job."""


def job_columns(job: Job) -> dict[str, Any]:
    """The columns that identify a job."""
    return {
        "key": job.key,
        "method": job.method,
        "problem": job.problem,
        "repeat": job.repeat,
        "budget": job.budget,
        "seed": int(dict(job.settings).get("seed", 0)),
    }


def failed(job: Job, reason: str, traceback: str) -> Run:
    """The row of a job that raised."""
    return Run(**job_columns(job), status=FAILED, note=reason, traceback=traceback)


def to_table(runs: list[Run]) -> pa.Table:
    """Rows as an Arrow table."""
    return pa.Table.from_arrays(
        [_column([getattr(run, f.name) for run in runs], f.type) for f in SCHEMA], schema=SCHEMA
    )


def _column(values: list[Any], kind: Any) -> pa.Array:
    """Lists of numbers go through one flat array: a Python object per number would take most of the time."""
    if not pa.types.is_list(kind) or kind.value_type == pa.string():
        return pa.array(values, type=kind)
    flat = np.fromiter(chain.from_iterable(values), dtype=kind.value_type.to_pandas_dtype())
    offsets = np.cumsum([0, *map(len, values)], dtype=np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(flat))
