"""``deddqn report DIR``: the page, the tables and the figures of a comparison."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import tyro


@dataclass(frozen=True, kw_only=True)
class Options:
    """The page is DIR/report/index.html unless --out says otherwise."""

    folder: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="DIR", help="folder of the experiment")]
    out: Annotated[Path | None, tyro.conf.arg(help="where to write; DIR/report by default")] = None
    methods: Annotated[list[str], tyro.conf.arg(help="only these; all of the experiment by default")] = field(
        default_factory=list
    )
    control: Annotated[str | None, tyro.conf.arg(help="who is tested against all others")] = None
    figures: Annotated[bool, tyro.conf.arg(help="also draw PDF and PNG figures")] = True


def run(options: Options) -> int:
    """Write the report and say where it is."""
    from deddqn.report import write_report

    page = write_report(
        options.folder, options.out, figures=options.figures, methods=options.methods, control=options.control
    )
    print(f"open {page}")
    return 0
