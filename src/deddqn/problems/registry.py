"""Problems by name: ``get("cec2005:F18/d30")``, and named suites of them."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from deddqn._utils.validation import UnknownNameError, suggestion, unknown_name
from deddqn.problems import bbob, cec2005, cec_competitions
from deddqn.problems.made import recipes
from deddqn.problems.problem import Objective, Problem
from deddqn.problems.transforms.ill_conditioned import StretchedObjective, random_stretch
from deddqn.problems.transforms.quantized import QuantisedObjective

PAPER_DIMENSIONS = (10, 30)
VARIANTS = (1, 2, 3, 4)
STRETCHED = QUANTISED = (1, 2)
MADE = 200  # problems of a made suite; there are many more
_STRETCHES = 20050  # seeds their random numbers


def get(name: str, *, dimension: int | None = None, noise: bool = True) -> Problem:
    """A problem by its name, with the dimension in the name (``cec2005:F18/d30``) or beside it.

    Parameters
    ----------
    name : ``cec2005:F1`` .. ``cec2005:F25`` or ``bbob:f1/i1`` .. ``bbob:f24/i1``, with or without ``/d<dimension>``;
        also ``cec2017:F1`` and others (`deddqn.problems.cec_competitions`).
        ``cec2005:F1/v3`` is the third variant of F1, with another shift and (where F1 has one) another rotation;
        ``cec2005:F1/s3`` is this variant, stretched, and ``cec2005:F1/q3`` this variant with plateaus.
        ``made:17``, ``made-held-out:17`` and ``made-mixture:17`` are problems drawn by number (`deddqn.problems.made`).
    dimension : 2, 10, 30 or 50 for CEC2005, 2 or more for BBOB.
    noise : False switches the noise of F4, F17, F24 and F25 off.
    """
    if not isinstance(name, str):
        raise ValueError(f"name must be that of a problem, such as 'cec2005:F18/d30', got {name!r}")
    prefix, _, rest = name.partition(":")
    if prefix not in _FAMILIES or not rest:
        raise UnknownNameError(
            f"unknown problem {name!r}; {suggestion(name, [*problem_names(), *bbob.SUITES['bbob-small']])}"
            f"Names look like 'cec2005:F18/d30' or 'bbob:f3/i1/d10'; families: {', '.join(_FAMILIES)}"
        )
    return _FAMILIES[prefix](name, dimension, noise)


def problem_names() -> list[str]:
    """The names of the problems that need no further package, with their dimensions."""
    return [f"cec2005:F{n}/d{d}" for n in cec2005.TABLE for d in cec2005.DIMENSIONS]


def _cec2005(name: str, dimension: int | None, noise: bool) -> Problem:
    match = re.fullmatch(r"cec2005:F(\d+)(?:/([vsq])(\d+))?(?:/d(\d+))?", name)
    if match is None or int(match.group(1)) not in cec2005.TABLE:
        dimensions = ", ".join(f"/d{d}" for d in cec2005.DIMENSIONS)
        raise UnknownNameError(
            f"unknown problem {name!r}; {suggestion(name, problem_names())}"
            f"Known: cec2005:F1 to cec2005:F{max(cec2005.TABLE)}, each with {dimensions}"
        )
    in_name = int(match.group(4)) if match.group(4) else None
    if in_name is not None and dimension is not None and in_name != dimension:
        raise ValueError(f"dimension must agree with the name {name!r}, got {dimension}")
    wanted = in_name if in_name is not None else dimension
    if wanted is None:
        raise ValueError(
            f"dimension must be given, in the name ({name}/d10) or as an argument: one of {cec2005.DIMENSIONS}"
        )
    number, kind, variant = int(match.group(1)), match.group(2) or "v", int(match.group(3) or 0)
    definition = cec2005.load(number, wanted, variant)
    objective = Objective(definition.kernel, definition.data, definition.work_size)
    if kind == "s":
        rng = np.random.default_rng([_STRETCHES, number, variant])
        objective = StretchedObjective(objective, definition.optimum_point, random_stretch(wanted, rng))
    elif kind == "q":
        objective = QuantisedObjective(objective, definition.optimum_point, definition.lower, definition.upper)
    changed = f"/{kind}{variant}" if variant or kind != "v" else ""
    return Problem(
        f"cec2005:F{number}{changed}/d{wanted}",
        definition.lower,
        definition.upper,
        objective,
        optimum=definition.optimum,
        optimum_point=definition.optimum_point,
        noisy=definition.noisy and noise,
        bounded=definition.bounded,
        title=definition.title,
    )


_FAMILIES: dict[str, Callable[[str, int | None, bool], Problem]] = {
    "cec2005": _cec2005,
    "bbob": bbob.load,
    "bbob-coco": bbob.load,
    **dict.fromkeys(cec_competitions.COMPETITIONS, cec_competitions.load),
    **dict.fromkeys(recipes.FAMILIES, recipes.load),
}

SUITES: dict[str, tuple[str, ...]] = {
    "cec2005-train": tuple(f"cec2005:F{n}/d{d}" for d in PAPER_DIMENSIONS for n in cec2005.TRAIN),
    "cec2005-test": tuple(f"cec2005:F{n}/d{d}" for d in PAPER_DIMENSIONS for n in cec2005.TEST),
    "cec2005-varied": tuple(
        f"cec2005:F{n}/v{v}/d{d}" for d in PAPER_DIMENSIONS for v in VARIANTS for n in cec2005.TRAIN
    ),
    "cec2005-stretched": tuple(
        f"cec2005:F{n}/s{v}/d{d}" for d in PAPER_DIMENSIONS for v in STRETCHED for n in cec2005.TRAIN
    ),
    "cec2005-quantised": tuple(
        f"cec2005:F{n}/q{v}/d{d}" for d in PAPER_DIMENSIONS for v in QUANTISED for n in cec2005.TRAIN
    ),
    "cec2005": tuple(f"cec2005:F{n}/d{d}" for d in PAPER_DIMENSIONS for n in cec2005.TABLE),
    **bbob.SUITES,
    **cec_competitions.SUITES,
    "made-train": tuple(f"made:{number}" for number in range(MADE)),
    "made-validation": tuple(f"made-held-out:{number}" for number in range(MADE)),
}
"""The paper's training and test problems (Sect. 5.1), variants of the training problems, stretched and quantised
ones, and all of CEC2005, each at D = 10 and 30; then BBOB's and those of later competitions; then made problems, each
with a dimension of its own."""


def suite(name: str, *, noise: bool = True) -> list[Problem]:
    """The problems of a named suite: ``cec2005-train``, ``cec2005-test``, ``bbob-d10``, ..."""
    if name not in SUITES:
        raise unknown_name("suite", name, SUITES)
    return [get(problem, noise=noise) for problem in SUITES[name]]
