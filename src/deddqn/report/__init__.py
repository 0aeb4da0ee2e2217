"""``deddqn report``: the page, the tables as CSV, Markdown and LaTeX, and the figures as PDF and PNG."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from deddqn._utils.atomic import write_text
from deddqn._utils.disk_errors import clear_errors
from deddqn._utils.optional_imports import need
from deddqn.analysis.comparison import Analysis
from deddqn.analysis.result_tables import ALL
from deddqn.analysis.tables import WRITERS
from deddqn.experiments.store import StoreError
from deddqn.report.comparison_page import comparison_page

PAGE = "index.html"


def check_drawing() -> None:
    """Raise if figures cannot be drawn here."""
    need("matplotlib", "figures (or leave them out: --no-figures)", "report")


def write_report(
    folder: str | os.PathLike[str],
    out: str | os.PathLike[str] | None = None,
    *,
    figures: bool = True,
    methods: Sequence[str] = (),
    control: str | None = None,
    note: str = "",
) -> Path:
    """Write the report of the experiment in `folder` (into ``folder/report`` by default); return the page.

    Parameters
    ----------
    figures : also write the charts of the page as PDF and PNG, which takes matplotlib.
    methods : only these (ranks depend on who takes part); all by default.
    control : who is tested against all others; the paper's control or the best by default.
    note : what readers should know about the comparison; stands under the title of the page.
    """
    if figures:
        check_drawing()
    analysis = Analysis.of_folder(folder, methods=methods, control=control)
    target = Path(out) if out is not None else Path(folder) / "report"
    with clear_errors(f"write the report to {target}", StoreError):
        target.mkdir(parents=True, exist_ok=True)
        for make in ALL:
            table = make(analysis)
            for ending, write in WRITERS.items():
                write_text(target / f"{table.name}.{ending}", write(table))
        write_text(target / PAGE, comparison_page(analysis, os.fspath(folder), note))
        if figures:
            from deddqn.report.figures import write_figures

            write_figures(analysis, target / "figures")
    return target / PAGE
