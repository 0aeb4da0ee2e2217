"""``deddqn problems``: what can be optimised by name."""

from __future__ import annotations

from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

from deddqn.problems import SUITES
from deddqn.problems.cec2005 import DIMENSIONS, TABLE, TEST, TRAIN


@dataclass(frozen=True, kw_only=True)
class Options:
    """There is nothing to choose."""


def run(options: Options) -> int:
    """Print the problems and the suites."""
    table = Table("problem", "what it is", "optimum", "box", "in the paper", box=None, pad_edge=False)
    for number, entry in TABLE.items():
        role = "train" if number in TRAIN else "test" if number in TEST else ""
        box = f"[{entry.box[0]:.4g}, {entry.box[1]:.4g}]" + ("" if entry.bounded else " to begin, unbounded")
        title = entry.title + (" (noisy)" if entry.noise else "")
        table.add_row(f"cec2005:F{number}", title, f"{entry.optimum:g}", box, role)
    console = Console()
    console.print(table)
    console.print(f"\nDimensions: {', '.join(map(str, DIMENSIONS))}, as in cec2005:F9/d10")
    console.print("BBOB (extra bbob): bbob:f1/i1/d10 .. bbob:f24/i15/d40 through ioh, bbob-coco:... through COCO")
    console.print(
        "CEC competitions (extra baselines): cec2011:F1, cec2014:F1/d10, cec2017:F1/d30, cec2020:F1/d5, cec2022:F1/d20"
    )
    console.print(
        "Made problems: made:17/d23, made-held-out:17, made-mixture:17, any number; without /d each has a "
        "dimension of its own"
    )
    for name, members in SUITES.items():
        console.print(f"Suite {name}: {len(members)} problems")
    return 0
