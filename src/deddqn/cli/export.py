"""``deddqn export DIR --out FILE.csv``: one line per run, for other tools."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from deddqn.experiments.export import write_csv


@dataclass(frozen=True, kw_only=True)
class Options:
    """One line per run; with --trajectories one line per run and checkpoint."""

    folder: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="DIR", help="folder of the experiment")]
    out: Annotated[Path, tyro.conf.arg(help="the CSV file to write")]
    trajectories: Annotated[bool, tyro.conf.arg(help="the best value over evaluations instead")] = False


def run(options: Options) -> int:
    """Write the file and say how long it is."""
    lines, notices = write_csv(options.folder, options.out, trajectories=options.trajectories)
    for notice in notices:
        print(f"note: {notice}", file=sys.stderr)
    print(f"{lines} lines in {options.out}")
    return 0
