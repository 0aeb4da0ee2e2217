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

import deddqn
from deddqn._utils.atomic import write_text
from deddqn._utils.disk_errors import reason
from deddqn._utils.validation import UnknownNameError, check_whole_number
from deddqn.cli.own_modules import find_own_modules
from deddqn.optimize.optimizer import Optimizer
from deddqn.optimize.space import Space
from deddqn.problems import Problem, get
from deddqn.problems.problem import USER_FUNCTION

FAILED, INTERRUPTED = 1, 130  # exit statuses
SAVE_EVERY = 5.0  # seconds
DEFAULT_MAXFUN = 10_000
SETTINGS = (
    *("policy", "population_size", "final_population", "portfolio", "n_candidates", "cma_share", "local_share"),
    *("ftarget", "seed"),
)
"""Options that a search is begun with, and a resumed one has already."""


@dataclass(frozen=True, kw_only=True)
class Options:
    """What to minimise and how."""

    problem: tyro.conf.Positional[str]
    """A problem such as cec2005:F9/d10, or a function of one point as mymodule:function."""
    bounds: str | None = None
    """For a function: "-5,5", or one pair per coordinate as "-5,5;0,1"."""
    space: Path | None = None
    """For a function of a dictionary: a TOML or JSON file of named parameters, instead of bounds."""
    constraints: str | None = None
    """For a function: scipy's constraint objects, or a ReturnedConstraint, one or a list, as mymodule:name."""
    dimension: int | None = None
    """Number of coordinates, where the name or the bounds do not tell."""
    policy: str | None = None
    """Who chooses the operators: a name (see 'deddqn policies'), a policy file, module:policy; the best by default."""
    maxfun: int | None = None
    """Most evaluations; 10000 by default, or what fits into maxtime. With resume: so many in all."""
    population_size: int | None = None
    """NP; 100, or what the policy was made with."""
    final_population: int | None = None
    """What NP shrinks to over the evaluations."""
    portfolio: str | None = None
    """The operators to choose from: paper or extended; those of the policy by default."""
    n_candidates: int | None = None
    """Candidates per trial that the surrogate pre-screens; the policy's own number by default."""
    cma_share: float | None = None
    """Share of the evaluations that CMA-ES is tried for; the policy's own by default."""
    local_share: float | None = None
    """Last share of the evaluations, for a local search from the best point; the policy's own by default."""
    ftarget: float | None = None
    """Stop at this value."""
    maxtime: float | None = None
    """Stop after so many seconds."""
    noisy: bool = False
    """The function gives other values when a point is evaluated again: search and estimate accordingly."""
    workers: int = 1
    """Processes that evaluate a generation (-1: all cores)."""
    seed: int | None = None
    """The same seed gives the same run; 0 by default."""
    save: Path | None = None
    """Save the search to this file, at least every few seconds and at the end."""
    resume: Path | None = None
    """Continue the search saved in this file (its settings are those it was begun with)."""
    out: Annotated[Path | None, tyro.conf.arg(name="json")] = None
    """Write the result as JSON to this file; "-" writes it to standard output."""


def run(options: Options) -> int:
    """Minimise; print the result."""
    find_own_modules()
    _check(options)
    target = _target(options)
    optimizer = _optimizer(options, target)
    saving = _Saving(optimizer, options.save)
    status = _search(optimizer, None if isinstance(target, Problem) else target, options, saving)
    saved = options.save is None or saving.save()
    if options.save is not None and saved:
        print(f"saved to {options.save}; continue with --resume {options.save}", file=sys.stderr)
    found = optimizer.result
    if status == FAILED:
        print(f"the function failed after {found.nfev} evaluations; best value {found.fun:.6g}", file=sys.stderr)
        return FAILED
    written = _report(optimizer, target, options)
    feasible = "maxcv" not in found or found.success or status
    return status or (0 if saved and written and np.isfinite(found.fun) and feasible else FAILED)


def _search(optimizer: Optimizer, function: Any, options: Options, saving: _Saving) -> int:
    """Search with a line of progress, saving now and then; return the exit status."""

    def save(xk: Any, convergence: float) -> None:
        saving.save_if_due()

    try:
        optimizer.optimize(
            function,
            workers=options.workers,
            maxtime=options.maxtime,
            callback=save,
            progress="always",
            constraints=None if options.resume is None else _constraints(options),
        )
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:
        if _is_ours(error):
            raise
        traceback.print_exc()  # of the user's function: shown whole
        return FAILED
    return 0


def _check(options: Options) -> None:
    """What would go wrong only after the search."""
    if options.seed is not None:
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
        for name in ("bounds", "space", "constraints"):
            if getattr(options, name) is not None:
                given = str(getattr(options, name))
                raise ValueError(f"{name} must be left out: {problem.name} has its own bounds, got {given!r}")
        return problem
    except UnknownNameError:
        module_name, _, name = options.problem.partition(":")
        if not name or module_name in ("cec2005", "bbob"):
            raise
    function = _named(options.problem, "problem must be a known problem or module:function")
    if not callable(function):
        raise ValueError(f"problem must name a function, but module {module_name!r} has no function {name!r}")
    return function


def _named(reference: str, rule: str) -> Any:
    """What ``module:name`` stands for, None if the module has no such name; modules of the current folder are found."""
    module_name, _, name = reference.partition(":")
    try:
        return getattr(importlib.import_module(module_name), name, None)
    except (ModuleNotFoundError, ValueError) as error:
        raise ValueError(f"{rule}, got {reference!r}: {error}") from None


def _constraints(options: Options) -> Any:
    if options.constraints is None:
        return None
    rule = "constraints must name what a module holds, as module:name"
    found = _named(options.constraints, rule) if ":" in options.constraints else None
    if found is None:
        raise ValueError(f"{rule}, got {options.constraints!r}")
    return found


def _optimizer(options: Options, target: Any) -> Optimizer:
    if options.resume is not None:
        return _resumed(options, target)
    space = _space(options)
    optimizer = Optimizer(
        target if isinstance(target, Problem) else _bounds(options) if space is None else None,
        space=space,
        policy=options.policy,
        maxfun=DEFAULT_MAXFUN if options.maxfun is None and options.maxtime is None else options.maxfun,
        ftarget=options.ftarget,
        population_size=options.population_size,
        final_population=options.final_population,
        portfolio=options.portfolio,
        n_candidates=options.n_candidates,
        cma_share=options.cma_share,
        local_share=options.local_share,
        updating="sequential" if options.workers == 1 else "deferred",
        rng=options.seed or 0,
        constraints=_constraints(options),
        noisy=options.noisy,
    )
    optimizer.label = options.problem
    return optimizer


def _resumed(options: Options, target: Any) -> Optimizer:
    """The saved search, if it was one on the same problem, or on the same function and box."""
    for name in SETTINGS:
        if getattr(options, name) is not None:
            raise ValueError(
                f"{name} must be left out with resume: a saved search keeps its own, got {getattr(options, name)!r}"
            )
    optimizer = Optimizer.load(options.resume or "")
    name = target.name if isinstance(target, Problem) else USER_FUNCTION
    begun_with = optimizer.label or options.problem  # a search that Python saved has none
    if optimizer.problem.name != name or (name == USER_FUNCTION and begun_with != options.problem):
        known = optimizer.label if optimizer.problem.name == USER_FUNCTION else optimizer.problem.name
        raise ValueError(f"resume must hold a search on {options.problem}, got one on {known or 'a function'!r}")
    if options.bounds is not None and not np.array_equal(optimizer.problem.bounds, _bounds(options)):
        raise ValueError(f"bounds must be those of the saved search, or left out, got {options.bounds!r}")
    if options.space is not None and _space(options) != optimizer.space:
        raise ValueError(f"space must be that of the saved search, or left out, got {str(options.space)!r}")
    if options.maxfun is not None:
        optimizer.extend(maxfun=options.maxfun)
    return optimizer


def _space(options: Options) -> Space | None:
    if options.space is None:
        return None
    for name in ("bounds", "dimension"):
        if getattr(options, name) is not None:
            raise ValueError(f"{name} must be left out with a space, got {getattr(options, name)!r}")
    try:
        return Space.load(options.space)
    except OSError as error:
        raise ValueError(f"space must be a file that can be read, got {str(options.space)!r}: {error}") from None


def _bounds(options: Options) -> list[tuple[float, float]]:
    if options.bounds is None:
        raise ValueError('bounds must be given for a function, as --bounds "-5,5", or a space, as --space space.toml')
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

    def __init__(self, optimizer: Optimizer, path: Path | None) -> None:
        self.optimizer, self.path = optimizer, path
        self.tried = time.monotonic()
        self.failed = False  # in the last attempt

    def save_if_due(self) -> None:
        """Save if the last attempt is some seconds ago; say once that it fails, until it works again."""
        if self.path is not None and time.monotonic() - self.tried > SAVE_EVERY:
            before = self.failed
            if not self.save(quiet=before) and not before:
                print("the search goes on, and tries again to save", file=sys.stderr)

    def save(self, *, quiet: bool = False) -> bool:
        """Save now; False if that fails, and say why unless `quiet`."""
        try:
            self.optimizer.save(self.path or "")
            self.failed = False
        except OSError as error:
            self.failed = True
            if not quiet:
                print(f"cannot save to {self.path}: {reason(error)}", file=sys.stderr)
        self.tried = time.monotonic()
        return not self.failed


def _report(optimizer: Optimizer, target: Any, options: Options) -> bool:
    """Print the result and write it to the file; if that fails, print what would be there, and return False."""
    result = optimizer.result
    error = None
    if isinstance(target, Problem) and target.optimum is not None and np.isfinite(result.fun):
        error = float(result.fun - target.optimum)
    summary = {
        "problem": options.problem,
        "x": result.x.tolist(),
        **({"params": result.params} if optimizer.space is not None else {}),
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
        **({"maxcv": result.maxcv if np.isfinite(result.maxcv) else None} if "maxcv" in result else {}),
    }
    text = json.dumps(summary, indent=2) + "\n"
    failed = options.out is not None and str(options.out) != "-" and not _written(options.out, text)
    if failed or str(options.out) == "-":
        print(text, end="", flush=True)
        return not failed
    print(f"f = {result.fun:.10g}" + (f"  (error {error:.3g})" if error is not None else ""))
    if optimizer.space is None:
        print("x = " + np.array2string(result.x, precision=6, threshold=50))
    else:
        print("\n".join(f"{name} = {_shown(value)}" for name, value in result.params.items()))
    print(f"{result.nfev} evaluations, policy {result.policy}. {result.message}")
    return True


def _written(path: Path, text: str) -> bool:
    """Whether the text could be written; says why not."""
    try:
        write_text(path, text)
    except OSError as error:
        print(f"deddqn minimize: cannot write {path}: {reason(error)}; the result follows", file=sys.stderr)
        return False
    return True


def _shown(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
