"""How far a search is: one line, on a terminal or in a notebook, that keeps its numbers at any width."""

from __future__ import annotations

import html
import math
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from deddqn.engine.run import Run

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult
    from rich.live import Live

ALWAYS = "always"
SHOWN_STRATEGIES = 3  # the most used ones
REFRESHED = 4.0  # times per second
EVERY = 15.0  # seconds between lines where there is no terminal
GAP = 2  # columns between two pieces
NARROWEST_BAR, WIDEST_BAR = 8, 30


def top_shares(run: Run) -> list[str]:
    """The most used strategies with their shares of all applications, as "rand/1 40%"; none before the first."""
    counts = run.de_state.applications
    total = int(counts.sum())
    order = np.argsort(-counts, kind="stable")[:SHOWN_STRATEGIES]
    return [f"{run.spec.portfolio.names[k]} {counts[k] / total:.0%}" for k in order if counts[k]]


def generation_line(run: Run) -> str:
    """Where a run stands, for ``disp=True``."""
    shares = top_shares(run)
    mix = f" ({', '.join(shares)})" if shares else ""
    return f"generation {run.generation}: {run.evaluations} evaluations, f = {run.best_value:g}{mix}"


def check_progress(progress: Any) -> bool | str:
    """What `minimize` takes: True, False or "always"."""
    if isinstance(progress, bool | np.bool_):
        return bool(progress)
    if not isinstance(progress, str) or progress != ALWAYS:
        raise ValueError(f"progress must be True, False or {ALWAYS!r}, got {progress!r}")
    return progress


def display(progress: bool | str, run: Run, maxfun: int | None, deadline: float | None, *, alone: bool) -> Silent:
    """What shows the progress here: a bar on a terminal or in a notebook; elsewhere lines if `progress` is "always".

    `maxfun` and `deadline`, a moment of the monotonic clock, are None where nobody knows; `alone` is False where worker
    processes are forked, which must not happen beside a thread that draws.
    """
    if not progress:
        return Silent()
    from rich.console import Console

    console = Console(stderr=True)
    standing = Standing(run, maxfun, deadline)
    if console.is_jupyter:
        return NotebookBar(standing)
    if console.is_terminal and not console.is_dumb_terminal:
        return TerminalBar(standing, console, alone)
    return Lines(standing) if progress == ALWAYS else Silent()


class Standing:
    """Where a run stands, as pieces of a line."""

    def __init__(self, run: Run, maxfun: int | None, deadline: float | None) -> None:
        self.run, self.maxfun, self.deadline = run, maxfun, deadline
        self.started, self.before = time.monotonic(), run.evaluations
        self.over = False

    @property
    def share(self) -> float:
        """How much of the search is done, by evaluations or by time, in [0, 1]; 0 where nobody knows."""
        shares = [0.0]
        if self.maxfun is not None:
            shares.append(self.run.evaluations / self.maxfun)
        if self.deadline is not None:
            shares.append((time.monotonic() - self.started) / max(self.deadline - self.started, 1e-9))
        return min(1.0, max(shares))

    def numbers(self) -> list[str]:
        """Evaluations, best value and time, most important first."""
        most = " evaluations" if self.maxfun is None else f"/{self.maxfun:,}"
        found = [f"{self.run.evaluations:,}{most}", f"best {self.run.best_value:.6g}"]
        clock = self._clock()
        return [*found, clock] if clock else found

    def details(self) -> list[str]:
        """What is shown where there is room for it: pace and strategies."""
        new, seconds = self.run.evaluations - self.before, time.monotonic() - self.started
        return [f"{new / max(seconds, 1e-9):,.0f}/s" if new else "", *top_shares(self.run)]

    def _clock(self) -> str:
        now = time.monotonic()
        if self.over:
            return f"took {_minutes(now - self.started)}"
        left = math.inf if self.deadline is None else max(0.0, self.deadline - now)
        new = self.run.evaluations - self.before
        if new and self.maxfun is not None:
            left = min(left, (now - self.started) / new * (self.maxfun - self.run.evaluations))
        return f"{_minutes(left)} left" if left < math.inf else ""


def _minutes(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


@dataclass(frozen=True)
class Fitted:
    """The pieces of a line that fit into a width: numbers, the width of the bar (0: none), details."""

    numbers: list[str]
    bar: int
    details: list[str]


def fit(numbers: list[str], details: list[str], width: int) -> Fitted:
    """Whole pieces in the order of their importance: numbers, a short bar, details, and then a longer bar."""
    shown: list[str] = []
    used = -GAP
    for piece in numbers:
        if shown and used + GAP + len(piece) > width:
            return Fitted(shown, 0, [])
        shown.append(piece)
        used += GAP + len(piece)
    if used + GAP + NARROWEST_BAR > width:
        return Fitted(shown, 0, [])
    used += GAP + NARROWEST_BAR
    more: list[str] = []
    for piece in filter(None, details):
        if used + GAP + len(piece) > width:
            break
        more.append(piece)
        used += GAP + len(piece)
    return Fitted(shown, min(WIDEST_BAR, NARROWEST_BAR + width - used), more)


class Silent:
    """A display that shows nothing."""

    def __enter__(self) -> Silent:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def note(self) -> None:
        """A generation is over."""


class Lines(Silent):
    """A line now and then, and one at the end: for logs."""

    def __init__(self, standing: Standing) -> None:
        self.standing, self.last = standing, time.monotonic()

    def __exit__(self, *_: object) -> None:
        self.standing.over = True
        self._print()

    def note(self) -> None:
        """Print a line, if it is time."""
        if time.monotonic() - self.last >= EVERY:
            self.last = time.monotonic()
            self._print()

    def _print(self) -> None:
        pieces = [*self.standing.numbers(), *self.standing.details()]
        print("  ".join(filter(None, pieces)), file=sys.stderr, flush=True)


class TerminalBar(Silent):
    """One line that is drawn again and again, by a thread if the run is `alone`, else after generations."""

    def __init__(self, standing: Standing, console: Console, alone: bool) -> None:
        self.standing, self.console, self.alone = standing, console, alone
        self.last = 0.0
        self.live: Live | None = None

    def __enter__(self) -> TerminalBar:
        from rich.live import Live

        self.live = Live(
            self,
            console=self.console,
            auto_refresh=self.alone,
            refresh_per_second=REFRESHED,
            # What the function prints goes above the line; but not what goes to a file or comes from a worker.
            redirect_stdout=self.alone and sys.stdout.isatty(),
            redirect_stderr=self.alone,
        )
        self.live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.standing.over = True
        if self.live is not None:
            self.live.stop()

    def note(self) -> None:
        """Draw, if it is time and no thread does."""
        if self.live is not None and not self.alone and time.monotonic() - self.last >= 1.0 / REFRESHED:
            self.last = time.monotonic()
            self.live.refresh()

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """The line, in the width that there is now."""
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        fitted = fit(self.standing.numbers(), self.standing.details(), options.max_width)
        cells: list[Any] = [Text(piece, no_wrap=True, overflow="crop") for piece in fitted.numbers]
        if fitted.bar:
            cells.append(ProgressBar(total=1.0, completed=self.standing.share, width=fitted.bar))
        cells += [Text(piece, style="dim", no_wrap=True) for piece in fitted.details]
        grid = Table.grid(padding=(0, GAP, 0, 0), pad_edge=False)
        grid.add_row(*cells)
        yield grid


class NotebookBar(Silent):
    """An output of a notebook's cell that is replaced."""

    def __init__(self, standing: Standing) -> None:
        self.standing, self.last = standing, time.monotonic()
        self.handle: Any = None

    def __enter__(self) -> NotebookBar:
        from IPython.display import HTML, display  # a notebook has it

        self.html = HTML
        self.handle = display(HTML(self.page()), display_id=True)
        return self

    def __exit__(self, *_: object) -> None:
        self.standing.over = True
        self._update()

    def note(self) -> None:
        """Replace the output, if it is time."""
        if time.monotonic() - self.last >= 1.0 / REFRESHED:
            self.last = time.monotonic()
            self._update()

    def _update(self) -> None:
        if self.handle is not None:
            self.handle.update(self.html(self.page()))

    def page(self) -> str:
        """The line as HTML."""
        numbers = " &ensp; ".join(map(html.escape, self.standing.numbers()))
        rest = html.escape("  ".join(filter(None, self.standing.details())))
        bar = f'<progress max="1" value="{self.standing.share:.4f}"></progress>'
        return f'<div>{numbers} &ensp; {bar} &ensp; <span style="opacity:.6">{rest}</span></div>'
