"""From a plan to stored results: skip what is done, run the rest in chunks, store every chunk as it ends."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

from deddqn.experiments.contestants import Contestant, problems_of, travels
from deddqn.experiments.lock import sole_use
from deddqn.experiments.plan import Experiment, Job, experiment
from deddqn.experiments.results import FAILED, FLAGGED, Run
from deddqn.experiments.store import Store
from deddqn.experiments.workers import Task, Workers
from deddqn.problems import Problem

LANES_CHUNK = 500_000  # evaluations of a task: about a second of compiled search,
METHOD_CHUNK = 50_000  # ... and of a method in Python
AHEAD = 2  # tasks per worker that wait ready


@dataclass
class Outcome:
    """What a call of `run_experiment` did."""

    planned: int
    skipped: int
    ran: int = 0
    flagged: list[Run] = field(default_factory=list)
    failed: list[Run] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)


Listener = Callable[[list[Run]], None]
Beginner = Callable[[Outcome, int], Listener]


def _silent(outcome: Outcome, evaluations: int) -> Listener:
    return lambda runs: None


def run_experiment(
    what: Experiment,
    out: str | os.PathLike[str],
    *,
    workers: int | None = None,
    extend: bool = False,
    retry_failed: bool = False,
    begin: Beginner = _silent,
) -> Outcome:
    """Run the jobs of an experiment that are not stored in the folder `out` yet.

    Parameters
    ----------
    workers : tasks at a time; as many as there are cores by default.
    extend : let the folder's plan grow by new methods, problems and repeats.
    retry_failed : run jobs again that failed before.
    begin : called with the outcome so far and the evaluations to make; gives what is called after every task.
    """
    store = Store(out)
    store.create()
    with sole_use(Path(out)):
        plan = store.adopt(what.plan, extend=extend)
        jobs = [job for job in plan.jobs if job.method in what.contestants and job.problem in what.problems]
        done = store.done(retry_failed=retry_failed)
        todo = [job for job in jobs if job.key not in done]
        outcome = Outcome(planned=len(jobs), skipped=len(jobs) - len(todo), notices=list(store.problems))
        tell = begin(outcome, sum(job.budget for job in todo))
        for rows in _results(list(tasks_of(what, todo)), workers or len(os.sched_getaffinity(0))):
            store.append(rows)
            outcome.ran += len(rows)
            outcome.flagged += [row for row in rows if row.status == FLAGGED]
            outcome.failed += [row for row in rows if row.status == FAILED]
            tell(rows)
    return outcome


def tasks_of(what: Experiment, jobs: Iterable[Job]) -> Iterator[Task]:
    """Jobs of one method on one problem in chunks; methods in Python first, since they take longest."""
    ordered = sorted(jobs, key=lambda job: what.contestants[job.method].is_policy)
    for (method, problem), group in groupby(ordered, key=lambda job: (job.method, job.problem)):
        contestant, members = what.contestants[method], list(group)
        size = max(1, (LANES_CHUNK if contestant.is_policy else METHOD_CHUNK) // members[0].budget)
        for first in range(0, len(members), size):
            yield _task(contestant, what.problems[problem], members[first : first + size])


def _task(contestant: Contestant, problem: Problem, jobs: list[Job]) -> Task:
    """Methods in Python go to a process of their own if they and the problem can; compiled lanes do not need to."""
    if contestant.is_policy:
        return Task(contestant.played, problem, jobs, in_process=False)
    named = problem.name if _is_known(problem) else problem
    method = contestant.name if contestant.by_name else contestant.played
    if not isinstance(named, str) or not (contestant.by_name or travels(method)):
        return Task(contestant.played, problem, jobs, in_process=False)
    return Task(method, named, jobs, in_process=True)


def _is_known(problem: Problem) -> bool:
    """Whether another process finds the same problem by its name."""
    try:
        return problems_of([problem.name])[problem.name] is problem
    except (KeyError, ValueError):
        return False


def _results(tasks: list[Task], workers: int) -> Iterator[list[Run]]:
    """Rows of finished tasks as they come; few tasks wait, so that little is lost or held."""
    pool, waiting = Workers(workers), iter(tasks)
    running: set[Future[list[Run]]] = set()
    try:
        while True:
            for task in waiting:
                running.add(pool.submit(task))
                if len(running) >= AHEAD * workers:
                    break
            if not running:
                return
            finished, running = wait(running, return_when=FIRST_COMPLETED)
            for future in finished:
                yield future.result()
    finally:
        pool.close()


def compare(
    methods: Iterable[Any],
    problems: Iterable[str | Problem],
    *,
    out: str | os.PathLike[str],
    runs: int = 25,
    budget: int = 10_000,
    seed: int = 0,
    workers: int | None = None,
) -> Outcome:
    """Compare methods on problems and store the results in `out`; call it again to go on where it stopped.

    `methods` are names, policies, or objects with ``name`` and ``run(problem, budget, rng) -> Trajectory``;
    `problems` names, names of suites, or `Problem` objects.
    """
    what = experiment(methods, problems, runs=runs, budget=budget, seed=seed)
    return run_experiment(what, out, workers=workers)
