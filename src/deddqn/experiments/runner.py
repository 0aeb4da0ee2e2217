"""From a plan to stored results: skip what is done, run the rest in chunks, store every chunk as it ends."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

from deddqn._utils.optional_imports import need
from deddqn._utils.signals import stopped_by_signals
from deddqn.experiments.evaluation_logs import EvaluationLogs, LogFormat, Recorder
from deddqn.experiments.executors import Executor, LocalExecutor, Task
from deddqn.experiments.methods import MethodSpec, is_picklable, problems_of
from deddqn.experiments.plan import Experiment, Job, Official, plan_experiment
from deddqn.experiments.results import FAILED, FLAGGED, Run
from deddqn.experiments.store import Store
from deddqn.problems import Problem

COMPILED_CHUNK = 500_000  # evaluations of a task: about a second of compiled search,
PYTHON_CHUNK = 50_000  # ... and of a method in Python


@dataclass
class ExperimentSummary:
    """What a call of `run_experiment` did."""

    planned: int
    skipped: int
    ran: int = 0
    flagged: list[Run] = field(default_factory=list)
    failed: list[Run] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    logs: list[Path] = field(default_factory=list)
    resources: str = ""  # nodes and cores at the moment, on a cluster

    def add(self, rows: list[Run], resources: str) -> None:
        """Count rows that are stored."""
        self.ran += len(rows)
        self.flagged += [row for row in rows if row.status == FLAGGED]
        self.failed += [row for row in rows if row.status == FAILED]
        self.resources = resources


OnRows = Callable[[list[Run]], None]
"""Called with the rows of every finished task."""

OnStart = Callable[[ExperimentSummary, int], OnRows]
"""Called with the summary so far and the evaluations to make; returns what is called after every task."""


def _no_progress(summary: ExperimentSummary, evaluations: int) -> OnRows:
    return lambda rows: None


def run_experiment(
    experiment: Experiment,
    out: str | os.PathLike[str],
    *,
    workers: int | None = None,
    extend: bool = False,
    retry_failed: bool = False,
    logs: Sequence[LogFormat] = (),
    on_start: OnStart = _no_progress,
    cluster: str | None = None,
) -> ExperimentSummary:
    """Run the jobs of an experiment that are not stored in the folder `out` yet.

    Parameters
    ----------
    workers : tasks at a time; as many as there are cores by default.
    extend : let the folder's plan grow by new methods, problems and repeats.
    retry_failed : run jobs again that failed before.
    logs : formats in which every evaluation is logged too (see `deddqn.loggers.formats`); stored runs that have no
        such log are run again, with the same results.
    on_start : called with the summary so far and the evaluations to make; returns what is called after every task.
    cluster : ``auto`` or the HOST:PORT of a Ray head: the tasks run on its nodes (see docs/cluster.md).
    """
    if cluster is not None and (logs or workers is not None):
        refused = "logs are" if logs else "workers are"
        raise ValueError(f"{refused} of one machine: leave them out on a cluster")
    store = Store(out)
    evaluation_logs = EvaluationLogs(store, logs)
    for form in evaluation_logs.formats:
        if not isinstance(form, LogFormat):
            raise ValueError(f"logs must be formats such as deddqn.loggers.formats.IohLog(), got {form!r}")
        form.check(experiment.problems.values(), evaluation_logs.folder)
    with _executor(experiment, workers, cluster) as executor, store.locked(), evaluation_logs.session():
        plan = store.adopt(experiment.plan, extend=extend)
        jobs = [job for job in plan.jobs if job.method in experiment.methods and job.problem in experiment.problems]
        done = store.done(retry_failed=retry_failed, logged=evaluation_logs.logged())
        todo = [job for job in jobs if job.key not in done]
        notices = store.problems + evaluation_logs.problems
        summary = ExperimentSummary(planned=len(jobs), skipped=len(jobs) - len(todo), notices=notices)
        summary.resources = executor.resources
        on_rows = on_start(summary, sum(job.budget for job in todo))
        tasks, interrupted = list(tasks_of(experiment, todo, evaluation_logs.recorder)), threading.Event()
        with stopped_by_signals(interrupted.set):
            for rows in executor.results(tasks, interrupted.is_set):
                evaluation_logs.append(rows)
                store.append(rows)
                summary.add(rows, executor.resources)
                on_rows(rows)
        if interrupted.is_set():
            raise KeyboardInterrupt
        if evaluation_logs.formats:
            finished = store.done(retry_failed=True)
            summary.logs = evaluation_logs.join(job for job in plan.jobs if job.key in finished)
    return summary


def tasks_of(experiment: Experiment, jobs: Iterable[Job], recorder: Recorder | None = None) -> Iterator[Task]:
    """Jobs of one method on one problem in chunks; methods in Python first, since they take longest."""
    ordered = sorted(jobs, key=lambda job: experiment.methods[job.method].is_compiled)
    for (method, name), group in groupby(ordered, key=lambda job: (job.method, job.problem)):
        spec, members, problem = experiment.methods[method], list(group), experiment.problems[name]
        in_python = not spec.is_compiled or recorder is not None or problem.objective.python is not None
        size = max(1, (PYTHON_CHUNK if in_python else COMPILED_CHUNK) // members[0].budget)
        for first in range(0, len(members), size):
            yield _task(spec, problem, members[first : first + size], recorder, in_python)


def _task(spec: MethodSpec, problem: Problem, jobs: list[Job], recorder: Recorder | None, in_python: bool) -> Task:
    """What runs in Python runs in a worker process if it can be sent there; compiled runs need none."""
    if in_python and _is_known(problem):
        method = spec.name if spec.by_name else spec.implementation
        if spec.by_name or (not spec.is_compiled and is_picklable(method)):
            return Task(method, problem.name, jobs, recorder, in_process=True)
    return Task(spec.implementation, problem, jobs, recorder, in_process=False)


def _is_known(problem: Problem) -> bool:
    """Whether another process finds the same problem by its name."""
    try:
        return problems_of([problem.name])[problem.name] is problem
    except (KeyError, ValueError):
        return False


@contextmanager
def _executor(experiment: Experiment, workers: int | None, cluster: str | None) -> Iterator[Executor]:
    if cluster is None:
        yield LocalExecutor(len(os.sched_getaffinity(0)) if workers is None else workers)
        return
    need("ray", "work on a cluster", "cluster")
    from deddqn.distributed.experiments import cluster_executor

    with cluster_executor(cluster, experiment) as executor:
        yield executor


def compare(
    methods: Iterable[Any],
    problems: Iterable[str | Problem],
    *,
    out: str | os.PathLike[str],
    runs: int | Official = 25,
    budget: int | Official = 10_000,
    seed: int = 0,
    workers: int | None = None,
    logs: Sequence[LogFormat] = (),
    cluster: str | None = None,
) -> ExperimentSummary:
    """Compare methods on problems and store the results in `out`; call it again to resume where it stopped.

    `methods` are names (of a policy in Python: ``module:policy`` or ``path.py:policy``), policies, or objects with
    ``name`` and ``run(problem, budget, rng) -> Trajectory``; `problems` names, names of suites, or `Problem` objects;
    `runs` and `budget` may be "official", where the problems are those of a competition
    (`deddqn.problems.cec_competitions`); `logs` are formats of `deddqn.loggers.formats`;
    `cluster` is ``auto`` or the address of a Ray cluster to run on.
    """
    planned = plan_experiment(methods, problems, runs=runs, budget=budget, seed=seed)
    return run_experiment(planned, out, workers=workers, logs=logs, cluster=cluster)
