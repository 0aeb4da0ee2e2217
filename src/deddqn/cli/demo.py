"""``deddqn demo``: a small comparison of all DE methods, its report, and a plot of one run.

The functions are those of CEC2005 that are neither among the paper's training functions nor among its test functions:
no policy was trained or tuned on them, and the comparison that counts is not anticipated. Two are relatives of training
functions all the same: F4 is F2 with noise, and F25 is the composition F24 without bounds, begun elsewhere.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro
from rich.console import Console

from deddqn._utils.lock import FolderLock
from deddqn._utils.optional_imports import need
from deddqn.experiments.plan import plan_experiment
from deddqn.optimize import minimize, plot
from deddqn.policies import policy_names
from deddqn.problems import get

PROBLEMS = ("cec2005:F4/d10", "cec2005:F7/d10", "cec2005:F25/d10", "cec2005:F4/d30", "cec2005:F7/d30")
DRAWN = "cec2005:F25/d10"
NOTE = (
    "No policy was trained or tuned on these functions, and they are not the paper's test functions. "
    "F4 (F2 with noise) and F25 (the composition F24 without bounds) are relatives of training functions."
)
"""What the report says about the problems."""


@dataclass(frozen=True, kw_only=True)
class Options:
    """Everything goes below OUT; an earlier comparison there is replaced."""

    out: Annotated[Path, tyro.conf.arg(help="folder of the results")] = Path("out/demo")
    runs: Annotated[int, tyro.conf.arg(help="per method and problem")] = 5
    budget: Annotated[int, tyro.conf.arg(help="evaluations per run")] = 10_000


def run(options: Options) -> int:
    """Compare, report, draw; print the paths."""
    from deddqn.experiments.progress import live
    from deddqn.experiments.runner import run_experiment
    from deddqn.report import write_report

    console = Console()
    need("matplotlib", "the plots of the demo", "report")
    folder = options.out / "comparison"
    if folder.exists():
        with FolderLock(folder):  # not that of a demo which is under way
            shutil.rmtree(folder)
    planned = plan_experiment(policy_names(), PROBLEMS, runs=options.runs, budget=options.budget, seed=0)
    console.print(planned.plan.describe(), markup=False)
    with live(console) as on_start:
        summary = run_experiment(planned, folder, on_start=on_start)
    page = write_report(folder, note=NOTE)
    figure = options.out / "run.png"
    result = minimize(get(DRAWN), maxfun=options.budget, rng=1, history=True)
    plot(result, figure)
    console.print(f"\nthe report:  {page}\none run:     {figure}", markup=False)
    return 1 if summary.failed else 0
