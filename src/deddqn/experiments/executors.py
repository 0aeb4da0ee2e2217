"""Executors of tasks on this machine: threads for compiled runs, one worker process per thread for everything else.

A worker process that dies (killed, crashed) fails only its own jobs; a driver that dies takes its processes along.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, Protocol

from deddqn._utils.validation import check_whole_number
from deddqn.experiments.evaluation_logs import Recorder
from deddqn.experiments.jobs import run_jobs
from deddqn.experiments.plan import Job
from deddqn.experiments.results import Run, failed
from deddqn.experiments.worker_process import WorkerDied, WorkerProcess

AHEAD = 2  # tasks per worker that wait ready


@dataclass(frozen=True)
class Task:
    """Jobs of one method on one problem that run together.

    `method` and `problem` are names where a process can look them up, else the objects themselves.
    """

    method: Any
    problem: Any
    jobs: list[Job]
    recorder: Recorder | None
    in_process: bool


class Executor(Protocol):
    """Runs tasks, somewhere."""

    @property
    def resources(self) -> str:
        """Nodes and cores in words; empty on this machine."""

    def results(self, tasks: list[Task]) -> Iterator[list[Run]]:
        """Rows of finished tasks as they come."""


class WorkerPool:
    """A fixed number of tasks at a time."""

    def __init__(self, number: int) -> None:
        self._threads = ThreadPoolExecutor(number, thread_name_prefix="deddqn-worker")
        self._local = threading.local()
        self._python = threading.Lock()  # a function in Python has the interpreter to itself anyway
        self._processes: list[WorkerProcess] = []

    def submit(self, task: Task) -> Future[list[Run]]:
        """Run a task when there is room."""
        return self._threads.submit(self._run, task)

    def close(self) -> None:
        """Finish what is running, drop what is waiting."""
        self._threads.shutdown(wait=True, cancel_futures=True)
        for process in self._processes:
            process.close()

    def _run(self, task: Task) -> list[Run]:
        if not task.in_process:
            alone = task.recorder is not None or task.problem.objective.python is not None
            with self._python if alone else nullcontext():
                return run_jobs(task.method, task.problem, task.jobs, task.recorder)
        try:
            return self._send(task, task.jobs)
        except WorkerDied:
            return [row for job in task.jobs for row in self._run_alone(task, job)]

    def _run_alone(self, task: Task, job: Job) -> list[Run]:
        """A job of a task whose process died: it fails only if the process dies again."""
        try:
            return self._send(task, [job])
        except WorkerDied as error:
            return [failed(job, "the process that ran it died", str(error))]

    def _send(self, task: Task, jobs: list[Job]) -> list[Run]:
        """Send jobs to the worker process of this thread; a dead one is replaced at the next call."""
        if getattr(self._local, "process", None) is None:
            self._local.process = WorkerProcess()
            self._processes.append(self._local.process)
        try:
            rows: list[Run] = self._local.process.run(task.method, task.problem, jobs, task.recorder)
        except WorkerDied:
            self._local.process = None
            raise
        return rows


class LocalExecutor:
    """The cores of this machine."""

    resources = ""

    def __init__(self, workers: int) -> None:
        check_whole_number("workers", workers, 1)
        self.workers = workers

    def results(self, tasks: list[Task]) -> Iterator[list[Run]]:
        """Rows of finished tasks as they come; few tasks wait, so that little is lost or held."""
        pool, waiting = WorkerPool(self.workers), iter(tasks)
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
