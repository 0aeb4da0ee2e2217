"""COCO: runs on BBOB problems logged by COCO's own observer, whose folders ``cocopp`` turns into pages.

>>> with CocoObserver("out/coco/de3", "de3") as observer:
...     run = observer.run(RunSpec(problem=get("bbob:f3/i1/d10"), policy=load_policy("de3")))
>>> # then: python -m cocopp -o out/pages out/coco/de3
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from deddqn._utils.optional_imports import need
from deddqn.engine import RunSpec
from deddqn.engine.run import Run
from deddqn.loggers.base import RunLogger, listed_runs
from deddqn.loggers.problem_id import ProblemId, parse_problem_id
from deddqn.problems import Problem
from deddqn.problems.wrappers import EvaluationCallback

__all__ = ["CocoObserver", "log_with_coco"]

DIMENSIONS = (2, 3, 5, 10, 20, 40)
"""What COCO's suite has."""


class CocoObserver(RunLogger):
    """COCO's bbob observer for runs of this package; one algorithm, any number of runs one after the other.

    Parameters
    ----------
    folder : where the files go; COCO adds a number to its name if it exists (see `folder` afterwards).
    algorithm : the name in the files.
    info : a line about it.
    """

    def __init__(self, folder: str | Path, algorithm: str, *, info: str = "") -> None:
        self._cocoex = need("cocoex", "logging with COCO's observer", "bbob")
        target = check_folder(folder)
        target.parent.mkdir(parents=True, exist_ok=True)
        said = {
            "outer_folder": str(target.parent),
            "result_folder": target.name,
            "algorithm_name": re.sub(r"[^\w.,=-]+", "_", algorithm),
            "algorithm_info": '"' + re.sub(r"[\s\x00-\x1f\\]+", " ", info or algorithm).replace('"', "'") + '"',
        }
        self._cocoex.log_level("warning")
        self._observer = self._cocoex.Observer("bbob", " ".join(f"{key}: {value}" for key, value in said.items()))
        self._open: Any = None
        self._suite: Any = None

    @property
    def folder(self) -> Path:
        """Where the files really are."""
        return Path(self._observer.result_folder)

    def begin(self, problem: Problem, *, repeat: int = 0, seed: int = 0) -> EvaluationCallback:
        """Begin the log of a run; COCO evaluates every point that it receives, once more and to the same value."""
        problem_id = coco_problem_id(problem)
        self.finish()
        self._suite = self._cocoex.Suite(
            "bbob",
            f"instances: {problem_id.instance}",
            f"dimensions: {problem_id.dimension} function_indices: {problem_id.function}",
        )
        observed = self._open = self._suite.get_problem(0)
        observed.observe_with(self._observer)
        return lambda point, value: observed(point)

    def finish(self) -> None:
        """The run is over."""
        if self._open is not None:
            self._open.free()
            self._open = self._suite = None


def check_folder(folder: str | Path) -> Path:
    """The absolute path of a folder that COCO can write to."""
    target = Path(folder).absolute()
    if re.search(r"\s", str(target)):
        raise ValueError(f"folder must have no spaces: COCO's options cannot hold them, got {str(target)!r}")
    return target


def coco_problem_id(problem: Problem) -> ProblemId:
    """The identity of a problem that COCO's suite has."""
    problem_id = parse_problem_id(problem.name)
    if problem_id.family != "bbob":
        raise ValueError(f"problem must be one of BBOB for COCO's observer, got {problem.name!r}")
    if problem_id.dimension not in DIMENSIONS:
        raise ValueError(f"dimension must be one of {DIMENSIONS} for COCO's observer, got {problem_id.dimension}")
    return problem_id


def log_with_coco(specs: Iterable[RunSpec], folder: str | Path, algorithm: str | None = None) -> list[Run]:
    """Do runs of one policy one after the other, all logged by COCO's observer; sorted, as COCO expects."""
    listed, name = listed_runs(specs, algorithm)
    ids = [coco_problem_id(spec.problem) for spec in listed]
    order = sorted(range(len(listed)), key=lambda k: (ids[k].function, ids[k].dimension, ids[k].instance))
    with CocoObserver(folder, name) as observer:
        runs = {k: observer.run(listed[k]) for k in order}
    return [runs[k] for k in range(len(listed))]
