"""Ranks in 18 cells of suite, dimension and budget: ``python -m benchmarks.cells --methods softmax-x --out out/cells``.

The suites are for reporting: nothing is chosen on them, and every evaluation of ours on them is logged. A method is a
policy, with or without settings of `minimize`, as in `benchmarks.world`; a label in front (``new@softmax-x``) keeps two
versions of one policy apart. Each is ranked in a pool of its own: itself and the peers. ``--methods`` with no name
runs the peers alone.

Ranks: on every problem by the median error over the runs (the median best value where no optimum is known; CEC2011).
Errors below 1e-8 count as equal, methods that tie share the mean of their ranks, and a run that failed is worse than
any other. The mean over problems is the rank of the cell. Of CEC2017 all functions but F2, which its organisers
withdrew; of BBOB the first instance of every function.

Runs are saved as they end, to a file per cell and method in ``--out``: a command that was stopped goes on where it was,
and a method that is added later does not run the others again. ``--table`` only prints what is saved.
"""

from __future__ import annotations

import argparse
import csv
import math
import multiprocessing
import os
import signal
import sys
import time
import zlib
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
from scipy.stats import rankdata

from benchmarks.world import best_found, settings_of
from deddqn.analysis.statistics import SOLVED
from deddqn.baselines import baseline_names, check_installed
from deddqn.policies import load_policy
from deddqn.problems import SUITES, get
from deddqn.problems.bbob import FUNCTIONS
from deddqn.problems.cec_competitions import WITHDRAWN

PEERS = ("arrde", "rdex", "jso", "lshade-cnepsin", "rcmaes", "bipop-acmaes", "jade")
COLUMNS = ("problem", "repeat", "result", "seconds", "failure")
NEAR = 0.1  # a rank this close to the first one is level with it
STOPPED = (-signal.SIGINT, -signal.SIGTERM, -signal.SIGKILL)  # by a person: no failure of a method


@dataclass(frozen=True)
class Cell:
    """Problems and the evaluations that a run has on each."""

    problems: tuple[str, ...]
    budget: int


def _bbob(dimension: int) -> tuple[str, ...]:
    return tuple(f"bbob:f{function}/i1/d{dimension}" for function in FUNCTIONS)


def _cec2017(dimension: int) -> tuple[str, ...]:
    withdrawn = {f"cec2017:F{number}/d{dimension}" for number in WITHDRAWN["cec2017"]}
    return tuple(name for name in SUITES[f"cec2017-d{dimension}"] if name not in withdrawn)


CELLS = {
    **{f"cec2011-{budget}": Cell(SUITES["cec2011"], int(float(budget))) for budget in ("2e3", "1e4", "5e4")},
    **{
        f"bbob-d{dimension}-{budget}": Cell(_bbob(dimension), int(float(budget)))
        for dimension, budgets in {
            2: ("1e4",),
            5: ("5e4",),
            10: ("1e3", "1e4", "2e4", "1e5"),
            20: ("2e3", "1e4"),
            30: ("5e4",),
            40: ("4e3", "4e4"),
            100: ("1e4",),
        }.items()
        for budget in budgets
    },
    "cec2022-d10-2e5": Cell(SUITES["cec2022-d10"], 200_000),
    "cec2017-d10-1e5": Cell(_cec2017(10), 100_000),
    "cec2017-d30-3e5": Cell(_cec2017(30), 300_000),
}


@dataclass(frozen=True)
class Task:
    """Runs of a method on a problem of a cell."""

    cell: str
    method: str
    problem: str
    repeats: tuple[int, ...]


def run(task: Task, connection: Connection) -> None:
    """Send a row per run; what a method raises is in the row."""
    for repeat in task.repeats:
        started, result, failure = time.process_time(), math.inf, ""
        try:
            problem = get(task.problem)
            best = best_found(
                task.method.rpartition("@")[2],
                problem,
                CELLS[task.cell].budget,
                repeat=repeat,
                number=zlib.crc32(task.problem.encode()) % 1_000_000,
            )
            result = best if problem.optimum is None else best - problem.optimum
        except Exception as error:
            failure = f"{type(error).__name__}: {error}".splitlines()[0]
        connection.send(_row(task, repeat, result, time.process_time() - started, failure))


def _row(task: Task, repeat: int, result: float, seconds: float, failure: str) -> dict[str, Any]:
    found = {"problem": task.problem, "repeat": repeat, "result": repr(float(result))}
    return {**found, "seconds": f"{seconds:.4g}", "failure": failure}


def rows_of(tasks: Sequence[Task], workers: int) -> Iterator[tuple[Task, dict[str, Any]]]:
    """The rows of all tasks, in the order in which runs end.

    Every task has a process of its own: a library that crashes takes none of the others with it, and what it had not
    finished is a failure.
    """
    fork, waiting = multiprocessing.get_context("fork"), deque(tasks)
    running: dict[Any, tuple[Task, Any, list[int]]] = {}
    while waiting or running:
        while waiting and len(running) < workers:
            receiver, sender = fork.Pipe(duplex=False)
            process = fork.Process(target=run, args=(waiting[0], sender), daemon=True)
            process.start()
            sender.close()
            running[receiver] = (waiting[0], process, list(waiting.popleft().repeats))
        for receiver in wait(list(running)):
            task, process, left = running[receiver]
            try:
                row = receiver.recv()  # type: ignore[union-attr]
                left.remove(row["repeat"])
                yield task, row
            except EOFError:
                process.join()
                del running[receiver]
                for repeat in left if process.exitcode not in STOPPED else ():
                    note = f"its process ended with exit code {process.exitcode}"
                    yield task, _row(task, repeat, math.inf, math.nan, note)


def path_of(out: Path, cell: str, method: str) -> Path:
    """Where the runs of a method in a cell are saved."""
    return out / cell / f"{quote(method, safe='@=,')}.csv"


def read(path: Path) -> list[dict[str, str]]:
    """Saved runs; none where there is no file."""
    if not path.exists():
        return []
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def collect(options: argparse.Namespace) -> None:
    """Run and save what is not saved yet."""
    tasks = []
    for cell, method in ((c, m) for c in options.cells for m in (*options.peers, *options.methods)):
        saved = read(path_of(options.out, cell, method))
        kept = {(row["problem"], int(row["repeat"])) for row in saved if not (options.retry_failed and row["failure"])}
        for problem in CELLS[cell].problems:
            repeats = tuple(k for k in range(options.runs) if (problem, k) not in kept)
            if repeats:
                tasks.append(Task(cell, method, problem, repeats))
    runs, started = sum(len(task.repeats) for task in tasks), time.monotonic()
    for count, (task, row) in enumerate(rows_of(tasks, options.workers), start=1):
        _save(path_of(options.out, task.cell, task.method), row)
        spent = (time.monotonic() - started) / 60
        print(f"\r{count} of {runs} runs, {spent:.1f} min, {task.cell} {task.method}\033[K", end="", file=sys.stderr)
    print(file=sys.stderr)


def _save(path: Path, row: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    new = not path.exists()
    with open(path, "a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS)
        if new:
            writer.writeheader()
        writer.writerow(row)


@dataclass(frozen=True)
class Ranks:
    """Mean ranks in a cell, over the problems on which all methods of the pool have their runs."""

    means: dict[str, float]
    problems: int

    def place(self, method: str) -> int:
        """1 for the first; methods that are level share a place."""
        return 1 + sum(mean < self.means[method] for mean in self.means.values())

    @property
    def first(self) -> str:
        """The method of the best mean rank."""
        return min(self.means, key=lambda name: self.means[name])


def medians_of(rows: Sequence[dict[str, str]], runs: int) -> dict[str, float]:
    """The median result by problem, of problems with all runs; solved ones are 0, failed runs are infinite."""
    found: dict[str, dict[int, float]] = {}
    for row in rows:  # a run that was tried again counts as it ended last
        found.setdefault(row["problem"], {})[int(row["repeat"])] = float(row["result"])
    medians = {}
    for problem, results in found.items():
        if set(range(runs)) <= set(results):
            median = float(np.median([results[k] for k in range(runs)]))
            known = not problem.startswith("cec2011:")
            medians[problem] = 0.0 if known and median < SOLVED else median
    return medians


def ranks_of(medians: dict[str, dict[str, float]]) -> Ranks | None:
    """Mean ranks from the medians of a pool; a method without a single result is left out. None without a problem."""
    pool = {name: found for name, found in medians.items() if any(map(math.isfinite, found.values()))}
    common = set.intersection(*(set(found) for found in pool.values())) if pool else set()
    if not common:
        return None
    ranks = [rankdata([found[problem] for found in pool.values()]) for problem in common]
    return Ranks(dict(zip(pool, np.mean(ranks, axis=0).tolist(), strict=True)), len(common))


def table(options: argparse.Namespace) -> None:
    """Print the ranks by cell, write them to ``ranks.csv``, and name every failure."""
    lines = []
    for own in options.methods or [""]:
        pool = [*([own] if own else []), *options.peers]
        by_cell = {cell: ranks_of(_medians(options, cell, pool)) for cell in options.cells}
        _print_ranks(own, pool, {cell: ranks for cell, ranks in by_cell.items() if ranks is not None})
        for cell, ranks in by_cell.items():
            means = ranks.means if ranks is not None else {}
            lines += [(own, cell, method, f"{mean:.4f}", ranks.problems) for method, mean in means.items() if ranks]
    options.out.mkdir(parents=True, exist_ok=True)
    with open(options.out / "ranks.csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("pool of", "cell", "method", "mean rank", "problems"), *lines])
    _print_failures(options)


def _medians(options: argparse.Namespace, cell: str, pool: Sequence[str]) -> dict[str, dict[str, float]]:
    return {m: medians_of(read(path_of(options.out, cell, m)), options.runs) for m in pool}


def _print_ranks(own: str, pool: Sequence[str], by_cell: dict[str, Ranks]) -> None:
    print(f"\n| cell | problems | {own or 'peers alone'} | first | {' | '.join(m for m in pool if m != own)} |")
    print(f"|---|---|{'---|' * (len(pool) + (1 if own else 2))}")
    for cell, ranks in by_cell.items():
        of = len(CELLS[cell].problems)
        shown = f"{ranks.problems}" if ranks.problems == of else f"{ranks.problems} of {of}"
        mine = f"{ranks.means[own]:.2f} ({ranks.place(own)} of {len(ranks.means)})" if own in ranks.means else ""
        others = " | ".join(f"{ranks.means[m]:.2f}" if m in ranks.means else "-" for m in pool if m != own)
        print(f"| {cell} | {shown} | {mine} | {ranks.first} {ranks.means[ranks.first]:.2f} | {others} |")
    placed = [ranks for ranks in by_cell.values() if own in ranks.means]
    if placed:
        near = sum(ranks.means[own] <= ranks.means[ranks.first] + NEAR for ranks in placed)
        worst = max(ranks.place(own) for ranks in placed)
        print(f"\n{own}: first or within {NEAR} of it in {near} of {len(placed)} cells, never below place {worst}")


def _print_failures(options: argparse.Namespace) -> None:
    for cell, method in ((c, m) for c in options.cells for m in (*options.methods, *options.peers)):
        rows = read(path_of(options.out, cell, method))
        failed = [row for row in rows if row["failure"]]
        if failed:
            names = ", ".join(dict.fromkeys(row["problem"] for row in failed))
            print(f"failed: {method} in {cell}, {len(failed)} of {len(rows)} runs ({names}): {failed[0]['failure']}")


def probe(options: argparse.Namespace) -> None:
    """Print what cells cost: one run of one method on a few problems of each, times all of the problems and runs."""
    print(f"{'cell':<20}{'problems':>9}{'CPU s per run':>15}{'CPU min per method, ' + str(options.runs) + ' runs':>30}")
    total = 0.0
    for name in options.cells:
        problems = CELLS[name].problems
        chosen = problems[3 :: max(len(problems) // 4, 1)]
        rows = [row for _, row in rows_of([Task(name, options.probe, p, (0,)) for p in chosen], 1)]
        seconds = float(np.mean([float(row["seconds"]) for row in rows]))
        total += (minutes := seconds * len(problems) * options.runs / 60)
        print(f"{name:<20}{len(problems):>9}{seconds:>15.3f}{minutes:>30.1f}", flush=True)
    print(f"all: {total:.0f} CPU min per method like {options.probe}")


def main(arguments: Sequence[str]) -> None:
    """Run, save and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cells", description=__doc__.split("\n")[0])
    parser.add_argument("--cells", nargs="+", choices=CELLS, default=list(CELLS), metavar="NAME", help="; ".join(CELLS))
    parser.add_argument("--methods", nargs="*", default=["softmax-x"], help="ours; each is ranked among the peers")
    parser.add_argument("--peers", nargs="*", default=list(PEERS), choices=baseline_names(), metavar="NAME")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--out", type=Path, default=Path("out/cells"))
    parser.add_argument("--retry-failed", action="store_true", help="run again what failed")
    parser.add_argument("--table", action="store_true", help="only print what is saved")
    parser.add_argument("--probe", metavar="METHOD", help="only estimate the cost, from a few runs of this method")
    options = parser.parse_args(arguments)
    for name in options.peers:
        check_installed(name)
    for method in [*options.methods, *([options.probe] if options.probe else [])]:
        if method not in baseline_names():
            load_policy(settings_of(method.rpartition("@")[2])[0])  # an unknown name fails here, not in every run
    if options.probe:
        probe(options)
        return
    if not options.table:
        collect(options)
    table(options)


if __name__ == "__main__":
    main(sys.argv[1:])
