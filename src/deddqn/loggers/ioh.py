"""IOHprofiler: runs logged by ``ioh``'s own logger, and finished runs written as files that IOHanalyzer reads.

>>> with IohLogger("out/ioh", "de3") as log:
...     run = log.run(RunSpec(problem=get("bbob:f3/i1/d10"), policy=load_policy("de3")))

In all files ``raw_y`` is the error (value minus optimum) where the optimum is known, as ioh does it for BBOB.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from deddqn._utils.names import escaped
from deddqn._utils.optional_imports import need
from deddqn.engine import RunSpec
from deddqn.engine.run import Run
from deddqn.loggers.base import RunLogger, listed_runs
from deddqn.loggers.ioh_files import write_ioh_logs
from deddqn.loggers.problem_id import parse_problem_id
from deddqn.problems import Problem
from deddqn.problems.wrappers import EvaluationCallback

__all__ = ["IohLogger", "log_with_ioh", "write_ioh_logs"]


class IohLogger(RunLogger):
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
        # ioh writes both into JSON as they are
        self._settings = {"algorithm_name": escaped(algorithm), "algorithm_info": escaped(info)}
        self._positions = positions
        self._loggers: dict[str, Any] = {}
        self.repeat = self.seed = 0
        self._source: _Source | None = None

    def _logger(self, family: str) -> Any:
        """The logger of a family; opened when it is needed."""
        if family not in self._loggers:
            self.folder.mkdir(parents=True, exist_ok=True)
            logger = self._ioh.logger.Analyzer(
                root=str(self.folder), folder_name=family, store_positions=self._positions, **self._settings
            )
            logger.add_run_attributes(self, ["repeat", "seed"])
            self._loggers[family] = logger
        return self._loggers[family]

    def close(self) -> None:
        """Finish the files."""
        self.finish()
        for logger in self._loggers.values():
            logger.close()

    def begin(self, problem: Problem, *, repeat: int = 0, seed: int = 0) -> EvaluationCallback:
        """Begin the log of a run on `problem`; `repeat` and `seed` are noted with it."""
        self.finish()
        self.repeat, self.seed = repeat, seed
        self._source = _Source(self._ioh, problem)
        self._source.problem.attach_logger(self._logger(parse_problem_id(problem.name).family))
        return self._source.tell

    def finish(self) -> None:
        """The run is over."""
        if self._source is not None:
            self._source.problem.reset()
            self._source.problem.detach_logger()
            self._source = None


class _Source:
    """An ioh problem that "evaluates" to values which are already known, so that ioh's logger sees them.

    ioh does not keep its functions alive: this object does.
    """

    def __init__(self, ioh: Any, problem: Problem) -> None:
        problem_id = parse_problem_id(problem.name)
        optimum = 0.0 if problem.optimum is None else float(problem.optimum)
        best = problem.optimum_point if problem.optimum_point is not None else np.full(problem_id.dimension, math.nan)
        solution = ioh.RealSolution(best.tolist(), optimum)
        self._value = 0.0
        self._optimum = optimum
        self._functions = (lambda x: self._value, lambda y, instance: y + optimum, lambda instance, dimension: solution)
        self.problem = ioh.wrap_problem(
            self._functions[0],
            name=problem_id.title,
            dimension=problem_id.dimension,
            instance=problem_id.instance,
            lb=float(problem.lower.min()),
            ub=float(problem.upper.max()),
            transform_objectives=self._functions[1],
            calculate_objective=self._functions[2],
        )
        self.problem.set_id(problem_id.function)

    def tell(self, point: np.ndarray, value: float) -> None:
        """Let the logger see an evaluation."""
        self._value = value - self._optimum
        self.problem(point.tolist())


def log_with_ioh(specs: Iterable[RunSpec], folder: str | Path, algorithm: str | None = None) -> list[Run]:
    """Do runs of one policy one after the other, all logged by ioh under the policy's name or `algorithm`."""
    listed, name = listed_runs(specs, algorithm)
    with IohLogger(folder, name) as log:
        return [log.run(spec) for spec in listed]
