"""Where jobs run: threads for compiled lanes, one helper process per thread for everything else.

A helper that dies (killed, crashed) takes only its own jobs with it; a driver that dies takes its helpers along.
"""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from multiprocessing import connection
from typing import Any

from deddqn.experiments.execute import run_jobs, run_named_jobs
from deddqn.experiments.plan import Job
from deddqn.experiments.results import Run, failed

ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass(frozen=True)
class Task:
    """Jobs of one method on one problem that run together.

    `method` and `problem` are names where a process can look them up, else the things themselves.
    """

    method: Any
    problem: Any
    jobs: list[Job]
    in_process: bool

    @property
    def evaluations(self) -> int:
        """At most so many."""
        return sum(job.budget for job in self.jobs)


class Workers:
    """So many tasks at a time."""

    def __init__(self, number: int) -> None:
        if number < 1:
            raise ValueError(f"workers must be at least 1, got {number}")
        self._threads = ThreadPoolExecutor(number, thread_name_prefix="deddqn-worker")
        self._local = threading.local()
        self._python = threading.Lock()  # a function in Python has the interpreter to itself anyway
        self._helpers: list[ProcessPoolExecutor] = []

    def submit(self, task: Task) -> Future[list[Run]]:
        """Run a task when there is room."""
        return self._threads.submit(self._run, task)

    def close(self) -> None:
        """Finish what is running, drop what is waiting."""
        self._threads.shutdown(wait=True, cancel_futures=True)
        for helper in self._helpers:
            helper.shutdown(wait=True, cancel_futures=True)

    def _run(self, task: Task) -> list[Run]:
        if not task.in_process:
            alone = task.problem.objective.python is not None
            with self._python if alone else nullcontext():
                return run_jobs(task.method, task.problem, task.jobs)
        try:
            return self._send(task.method, task.problem, task.jobs)
        except BrokenProcessPool:
            return [row for job in task.jobs for row in self._run_alone(task, job)]

    def _run_alone(self, task: Task, job: Job) -> list[Run]:
        """A job of a task whose helper died: it fails only if the helper dies again."""
        self._local.helper = None
        try:
            return self._send(task.method, task.problem, [job])
        except BrokenProcessPool as error:
            self._local.helper = None
            return [failed(job, "the process that ran it died", str(error))]

    def _send(self, method: Any, problem: Any, jobs: list[Job]) -> list[Run]:
        if getattr(self._local, "helper", None) is None:
            spawn = multiprocessing.get_context("spawn")
            self._local.helper = ProcessPoolExecutor(1, mp_context=spawn, initializer=end_with_parent)
            self._helpers.append(self._local.helper)
        rows: list[Run] = self._local.helper.submit(run_named_jobs, method, problem, jobs).result()
        return rows


def end_with_parent() -> None:
    """End this process when its parent is gone: nobody else would tell it."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def wait() -> None:
        connection.wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


@contextmanager
def single_threaded_helpers() -> Iterator[None]:
    """Helper processes that start in here do their linear algebra in one thread: there are enough of them."""
    before = {name: os.environ.get(name) for name in ONE_THREAD}
    os.environ.update(dict.fromkeys(ONE_THREAD, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
