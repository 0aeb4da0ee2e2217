"""Executors of tasks on this machine: threads for compiled runs, one worker process per thread for everything else.

A worker process that dies (killed, crashed) fails only its own jobs; a driver that dies takes its processes along.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, Protocol

from deddqn._utils.validation import check_whole_number
from deddqn.experiments.evaluation_logs import Recorder
from deddqn.experiments.jobs import Stopped, run_jobs
from deddqn.experiments.plan import Job
from deddqn.experiments.results import Run, failed
from deddqn.experiments.worker_process import WorkerDied, WorkerProcess
from deddqn.policies.policy import is_python_policy

AHEAD = 2  # tasks per worker that wait ready
POLL = 0.1  # seconds between looks at whether to stop
PATIENCE = 1.0  # seconds that threads have to stop; one that is inside of a user's function may not see that it should


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

    def results(self, tasks: list[Task], stopped: Stopped) -> Iterator[list[Run]]:
        """Rows of finished tasks as they come; when `stopped` says so, what is under way is given up."""


class WorkerPool:
    """A fixed number of tasks at a time.

    Its threads are daemons: the process need not wait for a function of the user that takes long.
    """

    def __init__(self, number: int) -> None:
        self._tasks: queue.SimpleQueue[Task | None] = queue.SimpleQueue()
        self._answers: queue.SimpleQueue[list[Run] | BaseException] = queue.SimpleQueue()
        self._python = threading.Lock()  # a function in Python has the interpreter to itself anyway
        self._stopping = threading.Event()
        self._processes: dict[int, WorkerProcess] = {}  # by thread
        names = (f"deddqn-worker-{k}" for k in range(number))
        self._threads = [threading.Thread(target=self._work, name=name, daemon=True) for name in names]
        for thread in self._threads:
            thread.start()

    def submit(self, task: Task) -> None:
        """Run a task when there is room."""
        self._tasks.put(task)

    def answer(self, timeout: float) -> list[Run] | None:
        """The rows of a task that has finished, or what it raised; None if there is none within `timeout` seconds."""
        try:
            found = self._answers.get(timeout=timeout)
        except queue.Empty:
            return None
        if isinstance(found, BaseException):
            raise found
        return found

    def stop(self) -> list[list[Run]]:
        """Give up what is under way, end threads and processes; the rows of tasks that have finished all the same."""
        self._stopping.set()
        for _ in self._threads:
            self._tasks.put(None)
        deadline = time.monotonic() + PATIENCE
        while (alive := [thread for thread in self._threads if thread.is_alive()]) and time.monotonic() < deadline:
            for process in list(self._processes.values()):
                process.kill()
            alive[0].join(POLL)
        for thread in self._threads:
            if not thread.is_alive() and (idle := self._processes.pop(thread.ident or 0, None)) is not None:
                idle.close()
        found = [self._answers.get() for _ in range(self._answers.qsize())]
        return [rows for rows in found if isinstance(rows, list)]  # the others are errors of what was given up

    def _work(self) -> None:
        while (task := self._tasks.get()) is not None and not self._stopping.is_set():
            try:
                self._answers.put(self._run(task))
            except BaseException as error:
                self._answers.put(error)

    def _run(self, task: Task) -> list[Run]:
        if not task.in_process:
            in_python = task.problem.objective.python is not None or is_python_policy(task.method)
            alone = task.recorder is not None or in_python
            with self._python if alone else nullcontext():
                return run_jobs(task.method, task.problem, task.jobs, task.recorder, self._stopping.is_set)
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
        thread = threading.get_ident()
        if self._stopping.is_set():
            raise KeyboardInterrupt
        if thread not in self._processes:
            self._processes[thread] = WorkerProcess()
        try:
            rows: list[Run] = self._processes[thread].run(task.method, task.problem, jobs, task.recorder)
        except WorkerDied:
            del self._processes[thread]
            if self._stopping.is_set():
                raise KeyboardInterrupt from None
            raise
        return rows


class LocalExecutor:
    """The cores of this machine."""

    resources = ""

    def __init__(self, workers: int) -> None:
        check_whole_number("workers", workers, 1)
        self.workers = workers

    def results(self, tasks: list[Task], stopped: Stopped) -> Iterator[list[Run]]:
        """Rows of finished tasks as they come; few tasks wait, so that little is lost or held."""
        pool, waiting, running = WorkerPool(self.workers), iter(tasks), 0
        try:
            while not stopped():
                while running < AHEAD * self.workers and (task := next(waiting, None)) is not None:
                    pool.submit(task)
                    running += 1
                if running == 0:
                    break
                if (rows := pool.answer(POLL)) is not None:
                    running -= 1
                    yield rows
        except BaseException:
            pool.stop()
            raise
        yield from pool.stop()
