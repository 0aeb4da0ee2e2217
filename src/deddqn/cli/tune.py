"""``deddqn tune METHOD``: find the parameters of an adaptive policy on the training functions."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from deddqn._utils.optional_imports import need
from deddqn.experiments.tuning import Tuning, clear_storage_errors, decide, open_study, search, write_json
from deddqn.policies.adaptive import TUNED, tuned


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options of ``deddqn tune``."""

    method: Annotated[str, tyro.conf.Positional]
    """pm-adapss, f-auc or rec-pm."""
    trials: int = 100
    """How many settings to try in all; those of an interrupted run count."""
    runs: int = 5
    """Runs per problem and trial."""
    budget: int = 10_000
    """Evaluations per run."""
    out: Path = Path("out/tune")
    """Folder of the study and the result."""
    seed: int = 0
    """Root of all randomness."""
    workers: int | None = None
    """Threads; all cores by default."""
    cluster: str | None = None
    """Run on a Ray cluster: 'auto', or HOST:PORT of its head (docs/guide/distributed.md)."""
    ship: bool = False
    """Also put the result among the tuned values of the package (its tuned.json)."""


def run(options: Options) -> int:
    """Search, decide, write and show."""
    with _remote(options) as remote:
        return _run(options, remote)


@contextmanager
def _remote(options: Options) -> Iterator[Any]:
    """What makes the runs on a cluster; None on this machine."""
    if options.cluster is None:
        yield None
        return
    if options.workers is not None:
        raise ValueError("workers are of one machine: leave them out on a cluster")
    need("ray", "work on a cluster", "cluster")
    from deddqn.distributed.experiments import cluster_evaluator

    with cluster_evaluator(options.cluster) as remote:
        yield remote


def _run(options: Options, remote: Any) -> int:
    tuning = Tuning(
        method=options.method,
        trials=options.trials,
        runs=options.runs,
        budget=options.budget,
        seed=options.seed,
        out=options.out,
        workers=options.workers,
        remote=remote,
    )
    path = tuning.out / f"{tuning.method}.json"
    with clear_storage_errors(tuning), tuning.locked():
        study = open_study(tuning)
        _show_search(tuning, study)
        record = decide(tuning, study)
        write_json(path, record)
    if options.ship:
        write_json(TUNED, {**tuned(), tuning.method: record})
    _show(tuning.method, record)
    print(f"written: {path}")
    return 0


def _show_search(tuning: Tuning, study: Any) -> None:
    from rich.progress import Progress

    from deddqn.experiments.tuning import finished

    with Progress() as progress:
        task = progress.add_task(tuning.method, total=tuning.trials, completed=len(finished(study)))
        since = time.monotonic()
        for done, best in search(tuning, study):
            now = time.monotonic()
            pace, since = f"{tuning.protocol.evaluations / (now - since):,.0f} evaluations/s", now
            where = "" if tuning.remote is None else f", {tuning.remote.where}"
            text = f"{tuning.method}: {done}, best score {best:.4f}, {pace}{where}"
            progress.update(task, advance=1, description=text)


def _show(method: str, record: dict[str, Any]) -> None:
    print(f"{method}, score = {record['score_means']}")
    for name in ("tuned", "default", "random"):
        parameters = record.get({"tuned": "parameters", "default": "default_parameters"}.get(name, ""), "")
        line = f"  {name:<8} {record['score'][name]:.4f} +- {record['standard_error'][name]:.4f}"
        print(f"{line}  {json.dumps(parameters) if parameters else ''}".rstrip())
