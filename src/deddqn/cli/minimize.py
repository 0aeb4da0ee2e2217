"""``deddqn minimize``: a benchmark problem by name, or a function of yours, with live progress."""

from __future__ import annotations

import importlib
import json
import os
import sys
import time
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import tyro
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

import deddqn
from deddqn._utils.atomic import write_text
from deddqn._utils.disk_errors import reason
from deddqn._utils.validation import UnknownNameError, check_whole_number
from deddqn.optimize.optimizer import Optimizer
from deddqn.problems import Problem, get
from deddqn.problems.problem import USER_FUNCTION

SAVE_EVERY = 5.0  # seconds
SHOWN_MOVES = 3  # the most used ones, in the line of progress


@dataclass(frozen=True, kw_only=True)
class Options:
    """What to minimise and how."""

    problem: tyro.conf.Positional[str]
    """A problem such as cec2005:F9/d10, or a function of one point as mymodule:function."""
    bounds: str | None = None
    """For a function: "-5,5", or one pair per coordinate as "-5,5;0,1"."""
    dimension: int | None = None
    """Number of coordinates, where the name or the bounds do not tell."""
    policy: str | None = None
    """Who chooses the operators: a name (see 'deddqn policies') or a policy file; the best shipped one by default."""
    maxfun: int = 10_000
    """Most evaluations."""
    population_size: int | None = None
    """NP; 100, or what the policy was made with."""
    final_population: int | None = None
    """What NP shrinks to over the evaluations."""
    portfolio: str | None = None
    """The operators to choose from: paper or extended; those of the policy by default."""
    n_candidates: int | None = None
    """Candidates per trial that the surrogate pre-screens; the policy's own number by default."""
    ftarget: float | None = None
    """Stop at this value."""
    maxtime: float | None = None
    """Stop after so many seconds."""
    workers: int = 1
    """Processes that evaluate a generation (-1: all cores)."""
    seed: int = 0
    """The same seed gives the same run."""
    save: Path | None = None
    """Save the search to this file, at least every few seconds and at the end."""
    resume: Path | None = None
    """Continue the search saved in this file (its settings are those it was begun with)."""
    out: Annotated[Path | None, tyro.conf.arg(name="json")] = None
    """Write the result as JSON to this file; "-" writes it to standard output."""


def run(options: Options) -> int:
    """Minimise; print the result."""
    _check(options)
    target = _target(options)
    optimizer = _optimizer(options, target)
    function = None if isinstance(target, Problem) else target
    console = Console(stderr=True)
    status = 0
    saving = _Saving(optimizer, options.save, console)
    with _Watch(optimizer, options, console, saving) as watch:
        try:
            optimizer.optimize(function, workers=options.workers, maxtime=options.maxtime, callback=watch.note)
        except KeyboardInterrupt:
            status = 130
        except Exception as error:
            if _is_ours(error):
                raise
            traceback.print_exc()  # of the user's function: shown whole, and what was found is kept
            status = 1
    if options.save is not None:
        if saving.save():
            console.print(f"saved to {options.save}; continue with --resume {options.save}", soft_wrap=True)
        else:
            status = status or 1
    return _report(optimizer, target, options) or status


def _check(options: Options) -> None:
    """What would go wrong only after the search."""
    check_whole_number("seed", options.seed, 0)
    for name, path in (("save", options.save), ("json", options.out)):
        if path is None or str(path) == "-":
            continue
        if not path.absolute().parent.is_dir() or path.is_dir():
            raise ValueError(f"{name} must be a file in a folder that exists, got {str(path)!r}")
        if not os.access(path.absolute().parent, os.W_OK):
            raise ValueError(f"{name} must lie in a folder that can be written to, got {str(path)!r}")


def _is_ours(error: Exception) -> bool:
    """Whether an error tells what is wrong with the arguments; errors of the user's function arise elsewhere."""
    last = traceback.extract_tb(error.__traceback__)[-1].filename
    return isinstance(error, ValueError) and Path(deddqn.__file__).parent in Path(last).parents


def _target(options: Options) -> Any:
    """The problem, or the function that ``module:function`` names (modules of the current folder are found)."""
    try:
        problem = get(options.problem, dimension=options.dimension)
        if options.bounds is not None:
            raise ValueError(f"bounds must be left out: {problem.name} has its own, got {options.bounds!r}")
        return problem
    except UnknownNameError:
        module_name, _, name = options.problem.partition(":")
        if not name or module_name in ("cec2005", "bbob"):
            raise
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        raise ValueError(
            f"problem must be a known problem or module:function, got {options.problem!r}: {error}"
        ) from None
    if not callable(getattr(module, name, None)):
        raise ValueError(f"problem must name a function, but module {module_name!r} has no function {name!r}")
    return getattr(module, name)


def _optimizer(options: Options, target: Any) -> Optimizer:
    if options.resume is not None:
        return _resumed(options, target)
    return Optimizer(
        target if isinstance(target, Problem) else _bounds(options),
        policy=options.policy,
        maxfun=options.maxfun,
        ftarget=options.ftarget,
        population_size=options.population_size,
        final_population=options.final_population,
        portfolio=options.portfolio,
        n_candidates=options.n_candidates,
        updating="sequential" if options.workers == 1 else "deferred",
        rng=options.seed,
    )


def _resumed(options: Options, target: Any) -> Optimizer:
    """The saved search, if it was one on the same problem or box."""
    optimizer = Optimizer.load(options.resume or "")
    name = target.name if isinstance(target, Problem) else USER_FUNCTION
    if optimizer.problem.name != name:
        raise ValueError(f"resume must hold a search on {options.problem}, got one on {optimizer.problem.name!r}")
    if options.bounds is not None and not np.array_equal(optimizer.problem.bounds, _bounds(options)):
        raise ValueError(f"bounds must be those of the saved search, or left out, got {options.bounds!r}")
    return optimizer


def _bounds(options: Options) -> list[tuple[float, float]]:
    if options.bounds is None:
        raise ValueError('bounds must be given for a function, as --bounds "-5,5"')
    try:
        pairs = [tuple(map(float, pair.split(","))) for pair in options.bounds.split(";")]
        box = [(low, high) for low, high in pairs]
    except ValueError:
        raise ValueError(f'bounds must look like "-5,5" or "-5,5;0,1", got {options.bounds!r}') from None
    if options.dimension is not None and options.dimension < 1:
        raise ValueError(f"dimension must be at least 1, got {options.dimension}")
    if len(box) == 1:
        return box * (options.dimension if options.dimension is not None else 1)
    if options.dimension is not None and options.dimension != len(box):
        raise ValueError(f"dimension must be {len(box)} as in the bounds, got {options.dimension}")
    return box


class _Saving:
    """Saves the search now and then, if there is a `path`; the search goes on where that fails."""

    def __init__(self, optimizer: Optimizer, path: Path | None, console: Console) -> None:
        self.optimizer, self.path, self.console = optimizer, path, console
        self.tried = time.monotonic()
        self.failed = ""  # why the last attempt did

    def save_if_due(self) -> None:
        """Save if the last attempt is some seconds ago; say once that it fails, until it works again."""
        if self.path is not None and time.monotonic() - self.tried > SAVE_EVERY:
            before = self.failed
            if not self.save(quiet=bool(before)) and not before:
                self.console.print("the search goes on, and tries again to save", soft_wrap=True)

    def save(self, *, quiet: bool = False) -> bool:
        """Save now; False if that fails, and say why unless `quiet`."""
        assert self.path is not None
        try:
            self.optimizer.save(self.path)
            self.failed = ""
        except OSError as error:
            self.failed = reason(error)
            if not quiet:
                self.console.print(f"cannot save to {self.path}: {self.failed}", soft_wrap=True, markup=False)
        self.tried = time.monotonic()
        return not self.failed


class _Watch:
    """A progress bar that is updated after every generation, which is also when the search is saved."""

    def __init__(self, optimizer: Optimizer, options: Options, console: Console, saving: _Saving) -> None:
        self.optimizer, self.saving = optimizer, saving
        self.started = time.monotonic()
        self.before = optimizer.result.nfev
        self.progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=20),
            TextColumn("{task.completed}/{task.total}"),
            TextColumn("{task.fields[speed]}/s"),
            TextColumn("best {task.fields[best]}"),
            TextColumn("[dim]{task.fields[shares]}"),
            TimeElapsedColumn(),
            console=console,
        )
        self.task = self.progress.add_task(
            options.problem, total=optimizer.maxfun, speed="-", best="-", shares="", completed=self.before
        )

    def __enter__(self) -> _Watch:
        self.progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.note(self.optimizer.result)
        self.progress.stop()

    def note(self, intermediate_result: Any) -> None:
        """Show where the search stands."""
        result = intermediate_result
        seconds = max(time.monotonic() - self.started, 1e-9)
        total = max(1, int(result.strategy_counts.sum()))
        used = sorted(zip(result.strategy_counts.tolist(), result.strategies, strict=True), reverse=True)
        shares = " ".join(f"{name} {count / total:.0%}" for count, name in used[:SHOWN_MOVES])
        speed = f"{(result.nfev - self.before) / seconds:,.0f}"
        self.progress.update(self.task, completed=result.nfev, speed=speed, best=f"{result.fun:.6g}", shares=shares)
        self.saving.save_if_due()


def _report(optimizer: Optimizer, target: Any, options: Options) -> int:
    """Print the result and write it to the file; if that fails, print what would be there, and return 1."""
    result = optimizer.result
    error = None
    if isinstance(target, Problem) and target.optimum is not None and np.isfinite(result.fun):
        error = float(result.fun - target.optimum)
    summary = {
        "problem": options.problem,
        "x": result.x.tolist(),
        "fun": result.fun if np.isfinite(result.fun) else None,
        "error": error,
        "nfev": result.nfev,
        "nit": result.nit,
        "success": result.success,
        "message": result.message,
        "policy": result.policy,
        "seed": result.seed,
        "strategy_counts": dict(zip(result.strategies, result.strategy_counts.tolist(), strict=True)),
        "non_finite": result.non_finite,
    }
    text = json.dumps(summary, indent=2) + "\n"
    failed = options.out is not None and str(options.out) != "-" and not _written(options.out, text)
    if failed or str(options.out) == "-":
        print(text, end="", flush=True)
        return int(failed)
    print(f"f = {result.fun:.10g}" + (f"  (error {error:.3g})" if error is not None else ""))
    print("x = " + np.array2string(result.x, precision=6, threshold=50))
    print(f"{result.nfev} evaluations, policy {result.policy}. {result.message}")
    return 0


def _written(path: Path, text: str) -> bool:
    """Whether the text could be written; says why not."""
    try:
        write_text(path, text)
    except OSError as error:
        print(f"deddqn minimize: cannot write {path}: {reason(error)}; the result follows", file=sys.stderr)
        return False
    return True
