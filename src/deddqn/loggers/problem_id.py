"""The identity of a problem in log files: family, function, instance and dimension."""

from __future__ import annotations

import re
from typing import NamedTuple


class ProblemId(NamedTuple):
    """What a family of benchmarks calls a problem."""

    family: str
    function: int
    instance: int
    dimension: int

    @property
    def title(self) -> str:
        """A name for the function without characters that file names do not like."""
        return f"{self.family}_f{self.function}"


_PATTERN = re.compile(r"([\w-]{1,40}):[fF](\d{1,9})(?:/i(\d{1,9}))?/d(\d{1,9})")


def parse_problem_id(name: str) -> ProblemId:
    """The identity of a named problem: ``cec2005:F9/d10``, ``bbob:f3/i1/d10``."""
    match = _PATTERN.fullmatch(name)
    if match is None:
        raise ValueError(
            f"problem must have a name with function and dimension, like 'cec2005:F9/d10', to be logged, got {name!r}"
        )
    family = "bbob" if match.group(1) == "bbob-coco" else match.group(1)
    return ProblemId(family, int(match.group(2)), int(match.group(3) or 1), int(match.group(4)))
