"""One run as a row: what it reached, what it cost, how it went, and with which versions."""

from __future__ import annotations

import hashlib
import json
import math
import platform
from dataclasses import dataclass, field, fields
from functools import cache
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from deddqn._utils.plain_json import CHECKSUM, check_checksum
from deddqn._utils.validation import check_name
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

FORMAT_KEY, FORMAT = b"deddqn-results", b"1"
SCHEMA = pa.schema([(f.name, _ARROW[str(f.type)]) for f in fields(Run)], metadata={FORMAT_KEY: FORMAT})
"""The columns of a result file; files of 0.1.0 have no checksum in their metadata."""

MOST_ROWS, LARGEST_TABLE = 10_000_000, 2**32

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
    """Rows as an Arrow table, with their checksum in its metadata."""
    columns = [_column([getattr(run, f.name) for run in runs], f.type) for f in SCHEMA]
    table = pa.Table.from_arrays(columns, schema=SCHEMA)
    return table.replace_schema_metadata({**SCHEMA.metadata, CHECKSUM: _checksum(table)})


def read_table(content: bytes) -> pa.Table:
    """The rows in the bytes of a result file; ValueError if they are not rows of results.

    What the file declares (columns, rows, sizes) is checked before its data are read.
    """
    file = pq.ParquetFile(pa.BufferReader(content), page_checksum_verification=True)
    declared, metadata = file.metadata, file.schema_arrow.metadata or {}
    if not file.schema_arrow.equals(SCHEMA) or metadata.get(FORMAT_KEY) != FORMAT:
        raise ValueError("its columns are not those of a result file")
    groups = [declared.row_group(k) for k in range(declared.num_row_groups)]
    if declared.num_rows > MOST_ROWS or sum(group.total_byte_size for group in groups) > LARGEST_TABLE:
        raise ValueError(f"it declares {declared.num_rows:,} rows, or more bytes than the {LARGEST_TABLE:,} allowed")
    table = file.read(use_threads=False)
    table.validate(full=True)
    stated = metadata.get(CHECKSUM.encode())
    if stated is not None:
        check_checksum(stated.decode(), _checksum(table))
    _check_rows(table)
    return table.replace_schema_metadata(SCHEMA.metadata)


def _check_rows(table: pa.Table) -> None:
    """What every reader of stored runs relies on."""
    if any(column.null_count for column in table.columns):
        raise ValueError("it has empty cells")
    if not set(table["status"].to_pylist()) <= {OK, FLAGGED, FAILED}:
        raise ValueError("it has a status that there is none of")
    for name in ("key", "method", "problem"):
        for text in table[name].unique().to_pylist():
            check_name(name, text)
    lengths = {name: pc.list_value_length(table[name]).to_numpy() for name in LISTS}
    counts, operators = lengths["strategy_counts"], lengths["operators"]
    if not np.array_equal(lengths["checkpoints"], lengths["best"]) or np.any(counts % np.maximum(operators, 1)):
        raise ValueError("it has lists of lengths that do not go together")
    for name in LISTS:
        if table[name].combine_chunks().flatten().null_count:
            raise ValueError("it has empty numbers")
    if min((pc.min(table[name]).as_py() or 0 for name in ("repeat", "budget", "seed", "evaluations")), default=0) < 0:
        raise ValueError("it has negative counts")


def _checksum(table: pa.Table) -> str:
    """Of what the rows say, not of how they are stored."""
    total = hashlib.sha256()
    for column in table.columns:
        values = column.combine_chunks()
        if pa.types.is_list(values.type):
            total.update(pc.list_value_length(values).to_numpy(zero_copy_only=False).astype("<i8").tobytes())
            values = values.flatten()
        if values.type == pa.string():
            texts = values.to_pylist()
            total.update(json.dumps(texts).encode())
        else:
            total.update(values.to_numpy(zero_copy_only=False).tobytes())
        total.update(b"|")
    return total.hexdigest()


def _column(values: list[Any], kind: Any) -> pa.Array:
    """Lists of numbers go through one flat array: a Python object per number would take most of the time."""
    if not pa.types.is_list(kind) or kind.value_type == pa.string():
        return pa.array(values, type=kind)
    flat = np.fromiter(chain.from_iterable(values), dtype=kind.value_type.to_pandas_dtype())
    offsets = np.cumsum([0, *map(len, values)], dtype=np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(flat))
