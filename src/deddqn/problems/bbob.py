"""BBOB: the 24 noiseless functions of COCO, in instances, through ``ioh`` or through COCO's own ``cocoex``.

``bbob:f3/i1/d10`` is function 3, instance 1, in 10 dimensions, evaluated by ioh; ``bbob-coco:f3/i1/d10`` is the same
problem evaluated by cocoex. They agree to rounding, but for f7 next to its optimum, where ioh is up to 1e-6 lower: it
is f_opt on a whole plateau. Runs on them have the same random streams. Both are functions of Python to the loop: it
calls back for every evaluation.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from deddqn._utils.optional_imports import need
from deddqn._utils.validation import UnknownNameError, check_whole_number, suggestion
from deddqn.problems.problem import Problem

FUNCTIONS = range(1, 25)
INSTANCES = range(1, 16)
"""The instances of a suite; others can be had by name."""

LAST_INSTANCE = 214_748  # their seeds, 10,000 x instance + function, fit into 32 bits: beyond, ioh and COCO differ

DIMENSIONS = (2, 3, 5, 10, 20, 30, 40)
"""The dimensions of suites: COCO's, and the 30 of the paper. Others can be had by name."""

BOX = (-5.0, 5.0)
_NAME = re.compile(r"(bbob|bbob-coco):f(\d+)(?:/i(\d+))?(?:/d(\d+))?")


class BbobProblem(Problem):
    """A BBOB problem; `source` is the object of ioh or cocoex that evaluates it."""

    function: int
    instance: int
    source: Any

    @property
    def seed_name(self) -> str:
        """The same for both implementations, so that one seed begins the same run."""
        return f"bbob:f{self.function}/i{self.instance}"


def load(name: str, dimension: int | None, noise: bool) -> BbobProblem:
    """The problem of a name; the instance is 1 unless the name says otherwise."""
    family, function, instance, wanted = parse(name, dimension)
    return SOURCES[family](function, instance, wanted)


def parse(name: str, dimension: int | None = None) -> tuple[str, int, int, int]:
    """Family, function, instance and dimension of a name."""
    match = _NAME.fullmatch(name)
    if match is None or int(match.group(2)) not in FUNCTIONS:
        family = "bbob-coco" if name.startswith("bbob-coco") else "bbob"
        near = [f"{family}:f{f}/i1/d{d}" for f in FUNCTIONS for d in DIMENSIONS]
        raise UnknownNameError(
            f"unknown problem {name!r}; {suggestion(name, near)}"
            f"Known: {family}:f1 to {family}:f24, each with an instance (/i1) and a dimension (/d10)"
        )
    instance, in_name = int(match.group(3) or 1), int(match.group(4)) if match.group(4) else None
    if in_name is not None and dimension is not None and in_name != dimension:
        raise ValueError(f"dimension must agree with the name {name!r}, got {dimension}")
    wanted = in_name if in_name is not None else dimension
    if wanted is None:
        raise ValueError(f"dimension must be given, in the name ({name}/d10) or as an argument: 2 or more")
    check_whole_number("dimension", wanted, 2, " for BBOB")
    check_whole_number("instance", instance, 1)
    if instance > LAST_INSTANCE:
        raise ValueError(f"instance must be at most {LAST_INSTANCE}, got {instance}")
    return match.group(1), int(match.group(2)), instance, int(wanted)


def from_ioh(function: int, instance: int, dimension: int) -> BbobProblem:
    """A problem evaluated by ioh."""
    ioh = need("ioh", "the BBOB problems", "bbob")
    source = ioh.get_problem(function, instance, dimension, ioh.ProblemClass.BBOB)
    best = source.optimum
    # ioh reads a list faster than an array
    problem = _made(f"bbob:f{function}/i{instance}/d{dimension}", lambda x: source(x.tolist()), dimension, best.y)
    problem.optimum_point = np.array(best.x)
    problem.title = re.sub(r"(?<!^)(?=[A-Z])", " ", source.meta_data.name).lower()
    return _placed(problem, function, instance, source)


def from_cocoex(function: int, instance: int, dimension: int) -> BbobProblem:
    """A problem evaluated by cocoex, without its suite and observers (see `deddqn.loggers.coco` for those)."""
    cocoex = need("cocoex", "the BBOB problems of COCO", "bbob")
    source = cocoex.BareProblem("bbob", function, dimension, instance)
    best = float(source.best_value())
    problem = _made(f"bbob-coco:f{function}/i{instance}/d{dimension}", source, dimension, best)
    return _placed(problem, function, instance, source)


def _made(name: str, evaluate: Callable[[np.ndarray], float], dimension: int, optimum: float) -> BbobProblem:
    problem = BbobProblem.from_function(evaluate, [BOX] * dimension, name=name, optimum=optimum)
    assert isinstance(problem, BbobProblem)
    return problem


def _placed(problem: BbobProblem, function: int, instance: int, source: Any) -> BbobProblem:
    problem.function, problem.instance, problem.source = function, instance, source
    return problem


SOURCES: dict[str, Callable[[int, int, int], BbobProblem]] = {"bbob": from_ioh, "bbob-coco": from_cocoex}


def names_at(dimension: int, family: str = "bbob") -> tuple[str, ...]:
    """24 functions x instances 1-15 in one dimension."""
    return tuple(f"{family}:f{f}/i{i}/d{dimension}" for f in FUNCTIONS for i in INSTANCES)


SUITES: dict[str, tuple[str, ...]] = {
    "bbob": names_at(10) + names_at(20),
    "bbob-small": tuple(f"bbob:f{f}/i1/d10" for f in FUNCTIONS),
    "bbob-paper": tuple(f"bbob:f{f}/i1/d{d}" for d in (10, 30) for f in FUNCTIONS),
    **{f"bbob-d{d}": names_at(d) for d in DIMENSIONS},
    **{f"bbob-coco-d{d}": names_at(d, "bbob-coco") for d in (10, 20)},
}
"""``bbob`` has D = 10 and 20; ``bbob-small`` every function once, ``bbob-paper`` once at each D of the paper;
``bbob-coco-*`` is evaluated by cocoex."""
