"""``deddqn animate PROBLEM``: a population on a contour, each individual coloured by the strategy that made it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from deddqn.policies import best_policy


@dataclass(frozen=True, kw_only=True)
class Options:
    """The problem must have two dimensions."""

    problem: Annotated[str, tyro.conf.Positional, tyro.conf.arg(help="such as cec2005:F10/d2 or bbob:f3/i1/d2")]
    policy: Annotated[str | None, tyro.conf.arg(help="a name or a policy file; the best shipped one by default")] = None
    population_size: Annotated[int, tyro.conf.arg(help="NP")] = 60
    generations: Annotated[int, tyro.conf.arg(help="after the initial population")] = 40
    seed: Annotated[int, tyro.conf.arg(help="the same seed gives the same run")] = 0
    between: Annotated[int, tyro.conf.arg(help="images per generation")] = 3
    milliseconds: Annotated[int, tyro.conf.arg(help="per image")] = 70
    out: Annotated[Path, tyro.conf.arg(help="the GIF to write")] = Path("out/search.gif")


def run(options: Options) -> int:
    """Run, draw, write."""
    from deddqn.animation import record_animation, write_gif

    animation = record_animation(
        options.problem,
        options.policy if options.policy is not None else best_policy(),
        population_size=options.population_size,
        generations=options.generations,
        seed=options.seed,
    )
    path = write_gif(animation, options.out, between=options.between, milliseconds=options.milliseconds)
    print(f"open {path} ({path.stat().st_size / 1024:.0f} KiB, {len(animation.frames) - 1} generations)")
    return 0
