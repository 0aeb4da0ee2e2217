"""A run whose evaluations are seen, or made, outside: the same run, bit for bit, as without anybody watching."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from deddqn.engine import EpisodeSpec
from deddqn.engine.outside import evaluate_here
from deddqn.engine.run import Run

Evaluate = Callable[[np.ndarray, Callable[[], float]], float]
"""Gets a point and a function that evaluates it with the run's own objective and noise; returns the value."""


def watched_run(spec: EpisodeSpec, evaluate: Evaluate) -> Run:
    """Do a whole run; every point goes through `evaluate`."""
    run = Run(spec)
    while not run.ended:
        first, last = run.ask()
        for i in range(first, last):
            value = evaluate(run.points[i].copy(), lambda i=i: float(evaluate_here(run.arena, i)))  # type: ignore[misc]
            run.tell(i, value)
            if run.ended:
                break
    return run


class Place(NamedTuple):
    """Where a problem stands in its family: what log files are sorted by."""

    family: str
    function: int
    instance: int
    dimension: int

    @property
    def title(self) -> str:
        """A name for the function without characters that file names do not like."""
        return f"{self.family}_f{self.function}"


_PLACE = re.compile(r"([\w-]+):[fF](\d+)(?:/i(\d+))?/d(\d+)")


def place_of(name: str) -> Place:
    """The place of a named problem: ``cec2005:F9/d10``, ``bbob:f3/i1/d10``."""
    match = _PLACE.fullmatch(name)
    if match is None:
        raise ValueError(
            f"problem must have a name with function and dimension, like 'cec2005:F9/d10', to be logged, got {name!r}"
        )
    family = "bbob" if match.group(1) == "bbob-coco" else match.group(1)
    return Place(family, int(match.group(2)), int(match.group(3) or 1), int(match.group(4)))
