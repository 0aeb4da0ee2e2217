"""From a plan to stored results: skip what is done, run the rest in chunks, store every chunk as it ends."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any, Protocol

from deddqn._utils.optional_imports import need
from deddqn._utils.validation import check_whole_number
from deddqn.experiments.evaluation_logs import LogBooks, LogFormat, Recorder
from deddqn.experiments.executors import Task, Workers
from deddqn.experiments.lock import sole_use
from deddqn.experiments.methods import Contestant, problems_of, travels
from deddqn.experiments.plan import Experiment, Job, experiment
from deddqn.experiments.results import FAILED, FLAGGED, Run
from deddqn.experiments.store import Store
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
    logs: list[Path] = field(default_factory=list)
    where: str = ""  # nodes and cores of the moment, on a cluster

    def note(self, rows: list[Run], where: str) -> None:
        """Enter rows that are stored."""
        self.ran += len(rows)
        self.flagged += [row for row in rows if row.status == FLAGGED]
        self.failed += [row for row in rows if row.status == FAILED]
        self.where = where


Listener = Callable[[list[Run]], None]
Beginner = Callable[[Outcome, int], Listener]


class Crew(Protocol):
    """Who runs the tasks."""

    @property
    def where(self) -> str:
        """Nodes and cores in words; nothing on this machine."""

    def results(self, tasks: list[Task]) -> Iterator[list[Run]]:
        """Rows of finished tasks as they come."""


def _silent(outcome: Outcome, evaluations: int) -> Listener:
    return lambda runs: None


def run_experiment(
    what: Experiment,
    out: str | os.PathLike[str],
    *,
    workers: int | None = None,
    extend: bool = False,
    retry_failed: bool = False,
    logs: Sequence[LogFormat] = (),
    begin: Beginner = _silent,
    cluster: str | None = None,
) -> Outcome:
    """Run the jobs of an experiment that are not stored in the folder `out` yet.

    Parameters
    ----------
    workers : tasks at a time; as many as there are cores by default.
    extend : let the folder's plan grow by new methods, problems and repeats.
    retry_failed : run jobs again that failed before.
    logs : formats in which every evaluation is logged too (see `deddqn.loggers.formats`); stored runs that have no
        such log are run again, with the same results.
    begin : called with the outcome so far and the evaluations to make; gives what is called after every task.
    cluster : ``auto`` or the HOST:PORT of a Ray head: the tasks run on its nodes (see docs/cluster.md).
    """
    if cluster is not None and (logs or workers is not None):
        refused = "logs are" if logs else "workers are"
        raise ValueError(f"{refused} of one machine: leave them out on a cluster")
    store = Store(out)
    books = LogBooks(store, logs)
    for form in books.formats:
        if not isinstance(form, LogFormat):
            raise ValueError(f"logs must be formats such as deddqn.loggers.formats.IohLog(), got {form!r}")
        form.check(what.problems.values(), books.folder)
    with _crew(what, workers, cluster) as crew:
        store.create()
        with sole_use(Path(out)), books.kept():
            plan = store.adopt(what.plan, extend=extend)
            jobs = [job for job in plan.jobs if job.method in what.contestants and job.problem in what.problems]
            done = store.done(retry_failed=retry_failed, logged=books.logged())
            todo = [job for job in jobs if job.key not in done]
            outcome = Outcome(planned=len(jobs), skipped=len(jobs) - len(todo), notices=store.problems + books.problems)
            outcome.where = crew.where
            tell = begin(outcome, sum(job.budget for job in todo))
            for rows in crew.results(list(tasks_of(what, todo, books.recorder))):
                books.append(rows)
                store.append(rows)
                outcome.note(rows, crew.where)
                tell(rows)
            if books.formats:
                finished = store.done(retry_failed=True)
                outcome.logs = books.join(job for job in plan.jobs if job.key in finished)
    return outcome


def tasks_of(what: Experiment, jobs: Iterable[Job], recorder: Recorder | None = None) -> Iterator[Task]:
    """Jobs of one method on one problem in chunks; methods in Python first, since they take longest."""
    ordered = sorted(jobs, key=lambda job: what.contestants[job.method].is_policy)
    for (method, problem), group in groupby(ordered, key=lambda job: (job.method, job.problem)):
        contestant, members, place = what.contestants[method], list(group), what.problems[problem]
        in_python = not contestant.is_policy or recorder is not None or place.objective.python is not None
        size = max(1, (METHOD_CHUNK if in_python else LANES_CHUNK) // members[0].budget)
        for first in range(0, len(members), size):
            yield _task(contestant, place, members[first : first + size], recorder, in_python)


def _task(
    contestant: Contestant, problem: Problem, jobs: list[Job], recorder: Recorder | None, in_python: bool
) -> Task:
    """What runs in Python goes to a process of its own if it can travel there; compiled lanes do not need to."""
    if in_python and _is_known(problem):
        method = contestant.name if contestant.by_name else contestant.played
        if contestant.by_name or (not contestant.is_policy and travels(method)):
            return Task(method, problem.name, jobs, recorder, in_process=True)
    return Task(contestant.played, problem, jobs, recorder, in_process=False)


def _is_known(problem: Problem) -> bool:
    """Whether another process finds the same problem by its name."""
    try:
        return problems_of([problem.name])[problem.name] is problem
    except (KeyError, ValueError):
        return False


class LocalCrew:
    """The cores of this machine."""

    where = ""

    def __init__(self, workers: int) -> None:
        check_whole_number("workers", workers, 1)
        self.workers = workers

    def results(self, tasks: list[Task]) -> Iterator[list[Run]]:
        """Rows of finished tasks as they come; few tasks wait, so that little is lost or held."""
        pool, waiting = Workers(self.workers), iter(tasks)
        running: set[Future[list[Run]]] = set()
        try:
            while True:
                for task in waiting:
                    running.add(pool.submit(task))
                    if len(running) >= AHEAD * self.workers:
                        break
                if not running:
                    return
                finished, running = wait(running, return_when=FIRST_COMPLETED)
                for future in finished:
                    yield future.result()
        finally:
            pool.close()


@contextmanager
def _crew(what: Experiment, workers: int | None, cluster: str | None) -> Iterator[Crew]:
    if cluster is None:
        yield LocalCrew(len(os.sched_getaffinity(0)) if workers is None else workers)
        return
    need("ray", "work on a cluster", "cluster")
    from deddqn.distributed.experiments import cluster_crew

    with cluster_crew(cluster, what) as crew:
        yield crew


def compare(
    methods: Iterable[Any],
    problems: Iterable[str | Problem],
    *,
    out: str | os.PathLike[str],
    runs: int = 25,
    budget: int = 10_000,
    seed: int = 0,
    workers: int | None = None,
    logs: Sequence[LogFormat] = (),
    cluster: str | None = None,
) -> Outcome:
    """Compare methods on problems and store the results in `out`; call it again to go on where it stopped.

    `methods` are names, policies, or objects with ``name`` and ``run(problem, budget, rng) -> Trajectory``;
    `problems` names, names of suites, or `Problem` objects; `logs` are formats of `deddqn.loggers.formats`;
    `cluster` is ``auto`` or the address of a Ray cluster to run on.
    """
    what = experiment(methods, problems, runs=runs, budget=budget, seed=seed)
    return run_experiment(what, out, workers=workers, logs=logs, cluster=cluster)
