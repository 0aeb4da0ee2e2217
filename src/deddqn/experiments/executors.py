"""Where jobs run: threads for compiled lanes, one helper process per thread for everything else.

A helper that dies (killed, crashed) takes only its own jobs with it; a driver that dies takes its helpers along.
"""

from __future__ import annotations

import threading
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

from deddqn.experiments.evaluation_logs import Recorder
from deddqn.experiments.jobs import run_jobs
from deddqn.experiments.plan import Job
from deddqn.experiments.results import Run, failed
from deddqn.experiments.worker_process import Helper, HelperDied


@dataclass(frozen=True)
class Task:
    """Jobs of one method on one problem that run together.

    `method` and `problem` are names where a process can look them up, else the things themselves.
    """

    method: Any
    problem: Any
    jobs: list[Job]
    recorder: Recorder | None
    in_process: bool


class Workers:
    """So many tasks at a time."""

    def __init__(self, number: int) -> None:
        self._threads = ThreadPoolExecutor(number, thread_name_prefix="deddqn-worker")
        self._local = threading.local()
        self._python = threading.Lock()  # a function in Python has the interpreter to itself anyway
        self._helpers: list[Helper] = []

    def submit(self, task: Task) -> Future[list[Run]]:
        """Run a task when there is room."""
        return self._threads.submit(self._run, task)

    def close(self) -> None:
        """Finish what is running, drop what is waiting."""
        self._threads.shutdown(wait=True, cancel_futures=True)
        for helper in self._helpers:
            helper.close()

    def _run(self, task: Task) -> list[Run]:
        if not task.in_process:
            alone = task.recorder is not None or task.problem.objective.python is not None
            with self._python if alone else nullcontext():
                return run_jobs(task.method, task.problem, task.jobs, task.recorder)
        try:
            return self._send(task, task.jobs)
        except HelperDied:
            return [row for job in task.jobs for row in self._run_alone(task, job)]

    def _run_alone(self, task: Task, job: Job) -> list[Run]:
        """A job of a task whose helper died: it fails only if the helper dies again."""
        try:
            return self._send(task, [job])
        except HelperDied as error:
            return [failed(job, "the process that ran it died", str(error))]

    def _send(self, task: Task, jobs: list[Job]) -> list[Run]:
        """Jobs to the helper of this thread; a dead one is replaced at the next call."""
        if getattr(self._local, "helper", None) is None:
            self._local.helper = Helper()
            self._helpers.append(self._local.helper)
        try:
            rows: list[Run] = self._local.helper.run(task.method, task.problem, jobs, task.recorder)
        except HelperDied:
            self._local.helper = None
            raise
        return rows
