"""COCO: runs on BBOB problems seen by COCO's own observer, whose folders ``cocopp`` turns into pages.

>>> with CocoObserver("out/coco/de3", "de3") as observer:
...     run = observer.run(EpisodeSpec(problem=get("bbob:f3/i1/d10"), policy=load_policy("de3")))
>>> # then: python -m cocopp -o out/pages out/coco/de3
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from deddqn.engine import EpisodeSpec
from deddqn.engine.run import Run
from deddqn.integrations.watch import Place, place_of, watched_run
from deddqn.problems import Problem
from deddqn.problems.packages import need

__all__ = ["CocoObserver", "log_with_coco"]

DIMENSIONS = (2, 3, 5, 10, 20, 40)
"""What COCO's suite has."""


class CocoObserver:
    """COCO's bbob observer for runs of this package; one algorithm, any number of runs one after the other.

    Parameters
    ----------
    folder : where the files go; COCO adds a number to its name if it exists (see `folder` afterwards).
    algorithm : the name in the files.
    info : a line about it.
    """

    def __init__(self, folder: str | Path, algorithm: str, *, info: str = "") -> None:
        self._cocoex = need("cocoex", "logging with COCO's observer", "bbob")
        target = Path(folder).absolute()
        if re.search(r"\s", str(target)):
            raise ValueError(f"folder must have no spaces: COCO's options cannot hold them, got {str(target)!r}")
        target.parent.mkdir(parents=True, exist_ok=True)
        said = {
            "outer_folder": str(target.parent),
            "result_folder": target.name,
            "algorithm_name": re.sub(r"[^\w.,=-]+", "_", algorithm),
            "algorithm_info": '"' + (info or algorithm).replace('"', "'") + '"',
        }
        self._cocoex.log_level("warning")
        self._observer = self._cocoex.Observer("bbob", " ".join(f"{key}: {value}" for key, value in said.items()))
        self._open: Any = None
        self._suite: Any = None

    @property
    def folder(self) -> Path:
        """Where the files really are."""
        return Path(self._observer.result_folder)

    def __enter__(self) -> CocoObserver:
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Finish the files."""
        self._finish()

    def run(self, spec: EpisodeSpec) -> Run:
        """Do a run on a BBOB problem; COCO evaluates, and its observer logs."""
        observed = self._begin(spec.problem)
        run = watched_run(spec, lambda point, own: float(observed(point)))
        self._finish()
        return run

    def attach(self, problem: Problem) -> Problem:
        """The same problem evaluated and logged by COCO, as a new run; for optimisers that take a Problem."""
        observed = self._begin(problem)
        return Problem.from_function(observed, problem.bounds, name=problem.name, optimum=problem.optimum)

    def _begin(self, problem: Problem) -> Callable[[np.ndarray], float]:
        place = _in_suite(problem)
        self._finish()
        self._suite = self._cocoex.Suite(
            "bbob", f"instances: {place.instance}", f"dimensions: {place.dimension} function_indices: {place.function}"
        )
        self._open = self._suite.get_problem(0)
        self._open.observe_with(self._observer)
        observed: Callable[[np.ndarray], float] = self._open
        return observed

    def _finish(self) -> None:
        if self._open is not None:
            self._open.free()
            self._open = self._suite = None


def _in_suite(problem: Problem) -> Place:
    place = place_of(problem.name)
    if place.family != "bbob":
        raise ValueError(f"problem must be one of BBOB to be seen by COCO's observer, got {problem.name!r}")
    if place.dimension not in DIMENSIONS:
        raise ValueError(f"dimension must be one of {DIMENSIONS} for COCO's observer, got {place.dimension}")
    return place


def log_with_coco(specs: Iterable[EpisodeSpec], folder: str | Path, algorithm: str | None = None) -> list[Run]:
    """Do runs of one policy one after the other, all seen by COCO's observer; sorted, as COCO wants it."""
    listed = list(specs)
    if not listed:
        raise ValueError("specs must hold at least one run, got none")
    places = [_in_suite(spec.problem) for spec in listed]
    order = sorted(range(len(listed)), key=lambda k: (places[k].function, places[k].dimension, places[k].instance))
    name = algorithm if algorithm is not None else getattr(listed[0].policy, "name", "policy")
    with CocoObserver(folder, name) as observer:
        runs = {k: observer.run(listed[k]) for k in order}
    return [runs[k] for k in range(len(listed))]
