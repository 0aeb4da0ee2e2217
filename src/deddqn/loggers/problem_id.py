"""Where a problem stands in its family: log files are sorted by it."""

from __future__ import annotations

import re
from typing import NamedTuple


class Place(NamedTuple):
    """Family, and what it calls the problem."""

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
