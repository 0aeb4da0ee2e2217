"""Files that IOHanalyzer and iohinspector read, from runs that are already done; ioh itself is not needed."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from deddqn._utils.atomic import write_text
from deddqn._utils.names import folder_names
from deddqn.loggers.problem_id import ProblemId, parse_problem_id

FORMAT_VERSION = "0.3.22"  # of the ioh whose files these imitate


class LoggedRun(NamedTuple):
    """One run: its best value (or error, where the optimum is known) after some numbers of evaluations."""

    method: str
    problem_id: ProblemId
    repeat: int
    seed: int
    total: int  # evaluations in all
    evaluations: np.ndarray
    best: np.ndarray

    @classmethod
    def from_row(cls, row: Any) -> LoggedRun:
        """From a row of results: a mapping or an object with method, problem, repeat, checkpoints, best and optimum."""
        known = row if isinstance(row, Mapping) else vars(row)
        missing = [name for name in ("method", "problem", "checkpoints", "best") if name not in known]
        if missing:
            raise ValueError(f"rows must have {missing[0]!r} to be written as IOHprofiler files, got {sorted(known)}")
        evaluations = np.asarray(known["checkpoints"], dtype=np.int64)
        best = np.asarray(known["best"], dtype=np.float64)
        if evaluations.shape != best.shape or evaluations.ndim != 1:
            raise ValueError(f"checkpoints and best must be as long as each other, got {len(evaluations)}, {len(best)}")
        if evaluations.size and evaluations[0] != 1:
            raise ValueError(f"checkpoints must begin at evaluation 1: readers know runs by it, got {evaluations[0]}")
        optimum = known.get("optimum")
        if optimum is not None and math.isfinite(optimum):
            best = best - optimum
        total = int(known.get("evaluations") or (evaluations[-1] if evaluations.size else 0))
        problem_id = parse_problem_id(str(known["problem"]))
        repeat, seed = int(known.get("repeat") or 0), int(known.get("seed") or 0)
        return cls(str(known["method"]), problem_id, repeat, seed, total, evaluations, best)

    def lines(self) -> list[tuple[int, float]]:
        """The first evaluation, where the best value improved, and the end."""
        pairs = list(zip(self.evaluations.tolist(), self.best.tolist(), strict=True))
        found = pairs[:1]
        for evaluations, value in pairs[1:]:
            if value < found[-1][1]:
                found.append((evaluations, value))
        if found[-1][0] < self.total:
            found.append((self.total, found[-1][1]))
        return found


def write_ioh_logs(rows: Iterable[Any], folder: str | Path) -> list[Path]:
    """Write finished runs as IOHprofiler data, in ``folder/<method>/<family>``; return those folders.

    Rows without a trajectory (failed runs) are left out. A trajectory holds best values so far after some numbers of
    evaluations, so a file is as fine as the trajectory is.
    """
    if Path(folder).is_file():
        raise ValueError(f"folder must be a folder, got the file {str(folder)!r}")
    runs = [run for run in map(LoggedRun.from_row, rows) if run.evaluations.size]
    if not runs:
        raise ValueError("rows must hold at least one run with a trajectory, got none")
    runs.sort(key=lambda run: (run.method, run.problem_id, run.repeat, run.seed))
    written: list[Path] = []
    folders = folder_names(run.method for run in runs)
    for (method, family), of_family in groupby(runs, key=lambda run: (run.method, run.problem_id.family)):
        target = Path(folder) / folders[method] / family
        for _, of_function in groupby(of_family, key=lambda run: run.problem_id.function):
            _write_function(target, method, list(of_function))
        written.append(target)
    return written


def _write_function(target: Path, method: str, runs: list[LoggedRun]) -> None:
    problem_id = runs[0].problem_id
    data = f"data_f{problem_id.function}_{problem_id.title}"
    (target / data).mkdir(parents=True, exist_ok=True)
    scenarios = []
    for dimension in sorted({run.problem_id.dimension for run in runs}):
        path = f"{data}/IOHprofiler_f{problem_id.function}_DIM{dimension}.dat"
        members = [run for run in runs if run.problem_id.dimension == dimension]
        write_text(target / path, "".join(_data(run) for run in members))
        scenarios.append({"dimension": dimension, "path": path, "runs": [_run_entry(run) for run in members]})
    index = {
        "version": FORMAT_VERSION,
        "suite": problem_id.family,
        "function_id": problem_id.function,
        "function_name": problem_id.title,
        "maximization": False,
        "algorithm": {"name": method, "info": "written by deddqn"},
        "run_attributes": ["repeat", "seed"],
        "attributes": ["evaluations", "raw_y"],
        "scenarios": scenarios,
    }
    write_text(
        target / f"IOHprofiler_f{problem_id.function}_{problem_id.title}.json", json.dumps(index, indent=1) + "\n"
    )


def _data(run: LoggedRun) -> str:
    return "evaluations raw_y\n" + "".join(f"{evaluations} {value!r}\n" for evaluations, value in run.lines())


def _run_entry(run: LoggedRun) -> dict[str, Any]:
    lines = run.lines()
    reached = next(line for line in lines if line[1] == lines[-1][1])
    best = {"evals": reached[0], "y": reached[1], "x": []}
    return {
        "instance": run.problem_id.instance,
        "evals": run.total,
        "best": best,
        "repeat": run.repeat,
        "seed": run.seed,
    }
