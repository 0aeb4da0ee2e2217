"""What the loggers of ioh and COCO have in common: they see one run after the other, and change none of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import replace
from types import TracebackType
from typing import Self

from deddqn.engine import RunSpec
from deddqn.engine.run import Run
from deddqn.problems import Problem
from deddqn.problems.wrappers import EvaluationCallback, with_callback


class RunLogger(ABC):
    """Logs the runs of one algorithm; closed by ``with`` or by `close`."""

    @abstractmethod
    def begin(self, problem: Problem, *, repeat: int = 0, seed: int = 0) -> EvaluationCallback:
        """Begin the log of a run on `problem`; returns a callback for its evaluations."""

    @abstractmethod
    def finish(self) -> None:
        """The run is over; nothing happens if none has begun."""

    def close(self) -> None:
        """Finish the files."""
        self.finish()

    def run(self, spec: RunSpec) -> Run:
        """Do a run and log every evaluation; it is the run that the spec gives without a logger, bit for bit."""
        tell = self.begin(spec.problem, repeat=spec.repeat, seed=spec.seed)
        run = Run(replace(spec, problem=with_callback(spec.problem, tell)))
        run.advance(spec.config.budget)
        self.finish()
        return run

    def attach(self, problem: Problem) -> Problem:
        """The same problem with every evaluation logged, as a new run; for optimisers that take a Problem.

        Its noise, if it has some, is that of the run or of the direct calls that evaluate it.
        """
        return with_callback(problem, self.begin(problem))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


def listed_runs(specs: Iterable[RunSpec] | RunSpec, algorithm: str | None) -> tuple[list[RunSpec], str]:
    """The runs to log, and the name of their policy unless `algorithm` says otherwise."""
    listed = [specs] if isinstance(specs, RunSpec) else list(specs)
    for spec in listed:
        if not isinstance(spec, RunSpec):
            raise ValueError(f"specs must hold runs (RunSpec), got {spec!r}")
    if not listed:
        raise ValueError("specs must hold at least one run, got none")
    return listed, algorithm if algorithm is not None else getattr(listed[0].policy, "name", "policy")
