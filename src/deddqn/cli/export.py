"""``deddqn export DIR --out PATH``: the runs of a comparison for other tools."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import tyro

from deddqn._utils.disk_errors import clear_errors


@dataclass(frozen=True, kw_only=True)
class Options:
    """As CSV: one line per run; with --trajectories one line per run and checkpoint."""

    folder: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="DIR", help="folder of the experiment")]
    out: Annotated[Path, tyro.conf.arg(help="the CSV file, or the folder of the IOHprofiler files, to write")]
    format: Annotated[Literal["csv", "ioh"], tyro.conf.arg(help="csv, or ioh for IOHanalyzer")] = "csv"
    trajectories: Annotated[bool, tyro.conf.arg(help="CSV of the best value over evaluations instead")] = False


def run(options: Options) -> int:
    """Write the file or folder and say what is there."""
    from deddqn.experiments.csv_export import stored_rows, write_csv
    from deddqn.loggers.ioh_files import write_ioh_logs

    if options.format == "ioh":
        if options.trajectories:
            raise ValueError("--trajectories is for CSV: IOHprofiler files always hold them")
        rows, notices = stored_rows(options.folder)
        with clear_errors(f"write to {options.out}"):
            folders = write_ioh_logs(rows, options.out)
        message = f"{len(rows)} runs in {', '.join(map(str, folders))}"
    else:
        lines, notices = write_csv(options.folder, options.out, trajectories=options.trajectories)
        message = f"{lines} lines in {options.out}"
    for notice in notices:
        print(f"note: {notice}", file=sys.stderr)
    print(message)
    return 0
