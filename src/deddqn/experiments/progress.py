"""Live progress of long work: what is done, and how much time is left."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from deddqn.experiments.results import OK, Run
from deddqn.experiments.runner import ExperimentSummary, OnRows, OnStart

EVERY = 15.0  # seconds between lines where there is no terminal


def _columns(unit: str) -> tuple[ProgressColumn, ...]:
    return (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn(unit),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[pace]}"),
    )


@contextmanager
def steps(console: Console, title: str, total: int, unit: str) -> Iterator[Callable[[str], None]]:
    """A callback for every finished step: a bar on a terminal, and a line now and then elsewhere."""
    with Progress(*_columns(unit), console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task(title, total=total, pace="")
        started = last = time.monotonic()
        done = 0

        def advance(step: str) -> None:
            nonlocal done, last
            done += 1
            bar.update(task, advance=1, description=step)
            now = time.monotonic()
            if not console.is_terminal and now - last >= EVERY:
                last = now
                left = (now - started) * (total / done - 1.0)
                console.print(f"{done} of {total} {unit}, about {left:.0f} s left", markup=False)

        yield advance


@contextmanager
def live(console: Console) -> Iterator[OnStart]:
    """An `OnStart` that shows a bar on a terminal, and a line now and then elsewhere."""
    with Progress(*_columns("runs"), console=console, disable=not console.is_terminal) as bar:

        def on_start(summary: ExperimentSummary, evaluations: int) -> OnRows:
            for notice in summary.notices:
                console.print(f"note: {notice}", markup=False)
            if summary.skipped:
                console.print(f"{summary.skipped} of {summary.planned} runs are stored already")
            todo = summary.planned - summary.skipped
            task = bar.add_task("comparing", total=todo, pace=summary.resources)
            lines = _Lines(console, todo, evaluations)

            def on_rows(runs: list[Run]) -> None:
                pace = lines.add(runs, summary.resources)
                bar.update(task, advance=len(runs), description=f"{runs[-1].method} on {runs[-1].problem}", pace=pace)
                for run in runs:
                    if run.status != OK:
                        console.print(
                            f"{run.status}: {run.method} on {run.problem}, run {run.repeat}: {run.note}", markup=False
                        )
                if not console.is_terminal:
                    lines.print(pace)

            return on_rows

        yield on_start


class _Lines:
    """Progress for logs."""

    def __init__(self, console: Console, runs: int, evaluations: int) -> None:
        self.console, self.runs, self.evaluations = console, runs, evaluations
        self.started = self.last = time.monotonic()
        self.done = self.spent = 0

    def add(self, runs: list[Run], resources: str) -> str:
        """Count runs that are done; return the pace, and on a cluster its nodes and cores."""
        self.done += len(runs)
        self.spent += sum(run.budget for run in runs)
        pace = f"{self.spent / max(time.monotonic() - self.started, 1e-9):,.0f} evaluations/s"
        return f"{resources}, {pace}" if resources else pace

    def print(self, pace: str) -> None:
        """Print the progress, if it is time."""
        now = time.monotonic()
        if now - self.last < EVERY:
            return
        self.last = now
        left = (now - self.started) * (self.evaluations / max(self.spent, 1) - 1.0)
        self.console.print(f"{self.done} of {self.runs} runs, {pace}, about {left:.0f} s left")
