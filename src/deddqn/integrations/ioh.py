"""IOHprofiler: runs logged by ``ioh``'s own logger, and finished runs written as files that IOHanalyzer reads.

>>> with IohLogger("out/ioh", "de3") as log:
...     run = log.run(EpisodeSpec(problem=get("bbob:f3/i1/d10"), policy=load_policy("de3")))

In all files ``raw_y`` is the error (value minus optimum) where the optimum is known, as ioh does it for BBOB.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from deddqn.engine import EpisodeSpec
from deddqn.engine.run import Run
from deddqn.integrations.ioh_files import write_ioh_logs
from deddqn.integrations.watch import place_of, watched_run
from deddqn.problems import Problem
from deddqn.problems.packages import need

__all__ = ["IohLogger", "log_with_ioh", "write_ioh_logs"]


class IohLogger:
    """ioh's Analyzer logger for runs of this package; one algorithm, any number of runs one after the other.

    Parameters
    ----------
    folder : where the files go, in a folder per family of problems (ioh knows functions by their number); ioh adds
        a number to the name of a folder that exists.
    algorithm : the name in the files.
    info : a line about it.
    positions : store the points, too.
    """

    def __init__(self, folder: str | Path, algorithm: str, *, info: str = "", positions: bool = False) -> None:
        self._ioh = need("ioh", "logging with ioh", "bbob")
        self.folder = Path(folder).absolute()
        self._facts = {"algorithm_name": algorithm, "algorithm_info": info, "store_positions": positions}
        self._loggers: dict[str, Any] = {}
        self.repeat = self.seed = 0
        self._source: _Source | None = None

    def _logger(self, family: str) -> Any:
        """The logger of a family; opened when it is needed."""
        if family not in self._loggers:
            self.folder.mkdir(parents=True, exist_ok=True)
            logger = self._ioh.logger.Analyzer(root=str(self.folder), folder_name=family, **self._facts)
            logger.add_run_attributes(self, ["repeat", "seed"])
            self._loggers[family] = logger
        return self._loggers[family]

    def __enter__(self) -> IohLogger:
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Finish the files."""
        self._finish()
        for logger in self._loggers.values():
            logger.close()

    def run(self, spec: EpisodeSpec) -> Run:
        """Do a run and log every evaluation; it is the run that the spec gives without a logger."""
        self.repeat, self.seed = spec.repeat, spec.seed
        source = self._begin(spec.problem)
        run = watched_run(spec, lambda point, own: source.tell(point, own()))
        self._finish()
        return run

    def attach(self, problem: Problem) -> Problem:
        """The same problem with every evaluation logged, as a new run; for optimisers that take a Problem.

        Noisy problems draw the noise of direct calls, not that of a run's stream (`run` keeps that).
        """
        source = self._begin(problem)
        return Problem.from_function(
            lambda x: source.tell(x, problem(x)),
            problem.bounds,
            name=problem.name,
            optimum=problem.optimum,
            optimum_point=problem.optimum_point,
        )

    def _begin(self, problem: Problem) -> _Source:
        self._finish()
        self._source = _Source(self._ioh, problem)
        self._source.problem.attach_logger(self._logger(place_of(problem.name).family))
        return self._source

    def _finish(self) -> None:
        if self._source is not None:
            self._source.problem.reset()
            self._source.problem.detach_logger()
            self._source = None


class _Source:
    """An ioh problem that "evaluates" to values which are already known, so that ioh's logger sees them.

    ioh does not keep its functions alive: this object does.
    """

    def __init__(self, ioh: Any, problem: Problem) -> None:
        place = place_of(problem.name)
        optimum = 0.0 if problem.optimum is None else float(problem.optimum)
        best = problem.optimum_point if problem.optimum_point is not None else np.full(place.dimension, math.nan)
        solution = ioh.RealSolution(best.tolist(), optimum)
        self._value = 0.0
        self._optimum = optimum
        self._functions = (lambda x: self._value, lambda y, instance: y + optimum, lambda instance, dimension: solution)
        self.problem = ioh.wrap_problem(
            self._functions[0],
            name=place.title,
            dimension=place.dimension,
            instance=place.instance,
            lb=float(problem.lower.min()),
            ub=float(problem.upper.max()),
            transform_objectives=self._functions[1],
            calculate_objective=self._functions[2],
        )
        self.problem.set_id(place.function)

    def tell(self, point: np.ndarray, value: float) -> float:
        """Let the logger see an evaluation; return its value."""
        self._value = value - self._optimum
        self.problem(point.tolist())
        return value


def log_with_ioh(specs: Iterable[EpisodeSpec], folder: str | Path, algorithm: str | None = None) -> list[Run]:
    """Do runs of one policy one after the other, all logged by ioh under the policy's name or `algorithm`."""
    listed = list(specs)
    if not listed:
        raise ValueError("specs must hold at least one run, got none")
    name = algorithm if algorithm is not None else getattr(listed[0].policy, "name", "policy")
    with IohLogger(folder, name) as log:
        return [log.run(spec) for spec in listed]
