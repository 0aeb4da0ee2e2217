"""``deddqn compare``: run methods on problems and store every run; stop and resume at will."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro
from rich.console import Console

from deddqn._utils.validation import unknown_name
from deddqn.cli.own_modules import find_own_modules
from deddqn.experiments.plan import PAPER_BUDGET, PAPER_RUNS, Experiment, plan_experiment, preset
from deddqn.loggers.formats import LOGS
from deddqn.problems import SUITES


@dataclass(frozen=True, kw_only=True)
class Options:
    """Results go to OUT; call it again with the same options to resume where it stopped."""

    out: Annotated[Path, tyro.conf.arg(help="folder of the experiment")]
    preset: Annotated[Literal["paper"] | None, tyro.conf.arg(help="a known experiment")] = None
    methods: Annotated[
        tuple[str, ...],
        tyro.conf.arg(help="names, policy files, or policies in Python as mymodule:policy or path.py:policy"),
    ] = ()
    problems: Annotated[tuple[str, ...], tyro.conf.arg(help="names such as cec2005:F9/d10, or of suites")] = ()
    suite: Annotated[str | None, tyro.conf.arg(help="a suite of problems (see 'deddqn problems')")] = None
    runs: Annotated[
        int | Literal["official"], tyro.conf.arg(help="per method and problem; official: the competition's")
    ] = PAPER_RUNS
    budget: Annotated[
        int | Literal["official"], tyro.conf.arg(help="evaluations per run; official: the competition's")
    ] = PAPER_BUDGET
    population_size: Annotated[int | None, tyro.conf.arg(help="NP of the shared DE; 100 by default")] = None
    seed: Annotated[int, tyro.conf.arg(help="root of all random numbers")] = 0
    workers: Annotated[int | None, tyro.conf.arg(help="tasks at a time; all cores by default")] = None
    cluster: Annotated[
        str | None, tyro.conf.arg(help="Ray cluster: 'auto', or HOST:PORT of its head (docs/guide/distributed.md)")
    ] = None
    extend: Annotated[bool, tyro.conf.arg(help="add methods, problems or runs to the folder's plan")] = False
    retry_failed: Annotated[bool, tyro.conf.arg(help="run jobs again that failed")] = False
    log: Annotated[
        tuple[Literal["ioh", "coco"], ...],
        tyro.conf.arg(help="also log every evaluation, with ioh's logger or COCO's observer, into OUT/logs"),
    ] = ()


def plan_of(options: Options) -> Experiment:
    """The experiment that the options ask for."""
    if options.suite is not None and options.suite not in SUITES:
        raise unknown_name("suite", options.suite, SUITES)
    problems = (*((options.suite,) if options.suite is not None else ()), *options.problems)
    de = {} if options.population_size is None else {"population_size": options.population_size}
    sizes: dict[str, Any] = {"runs": options.runs, "budget": options.budget, "seed": options.seed, "de": de}
    if options.preset is None:
        if not options.methods or not problems:
            raise ValueError("name methods and problems: --methods and --suite or --problems, or --preset paper")
        return plan_experiment(options.methods, problems, **sizes)
    if options.methods or problems:
        raise ValueError("--preset brings its own methods and problems; leave out --methods, --suite and --problems")
    return preset(options.preset, **sizes)


def run(options: Options) -> int:
    """Run the experiment; status 1 if a run failed."""
    from deddqn.experiments.progress import live
    from deddqn.experiments.runner import run_experiment

    find_own_modules()
    console = Console()
    planned = plan_of(options)
    console.print(planned.plan.describe(), markup=False)
    if planned.plan.missing:
        console.print(f"not available here, left out: {', '.join(planned.plan.missing)}", markup=False)
    with live(console) as on_start:
        summary = run_experiment(
            planned,
            options.out,
            workers=options.workers,
            extend=options.extend,
            retry_failed=options.retry_failed,
            logs=[LOGS[name]() for name in dict.fromkeys(options.log)],
            on_start=on_start,
            cluster=options.cluster,
        )
    trouble = f", {len(summary.flagged)} flagged, {len(summary.failed)} failed" * bool(summary.flagged + summary.failed)
    console.print(f"{summary.ran} runs stored in {options.out}{trouble}", markup=False)
    for folder in summary.logs:
        console.print(f"logs: a folder per method in {folder}", markup=False)
    console.print(f"next: deddqn report {options.out}", markup=False)
    return 1 if summary.failed else 0
