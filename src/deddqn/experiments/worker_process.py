"""A worker process: reads tasks from its standard input, writes rows to its standard output, ends with its driver.

Unlike a process of `multiprocessing` it never imports the main module of the driver, so a script that calls
`compare` needs no ``if __name__ == "__main__"``.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
import time
from typing import IO, Any

from deddqn.experiments.plan import Job
from deddqn.experiments.results import Run

ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
"""Linear algebra in one thread per process: there are as many processes as cores."""


class WorkerDied(RuntimeError):
    """The process ended before it answered."""


class WorkerProcess:
    """The driver's end."""

    def __init__(self) -> None:
        environment = {**os.environ, **ONE_THREAD, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
        command = [sys.executable, "-m", "deddqn.experiments.worker_process", str(os.getpid())]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, start_new_session=True
        )

    def run(self, method: Any, problem: Any, jobs: list[Job], recorder: Any = None) -> list[Run]:
        """The rows of the jobs; `WorkerDied` if there will be none."""
        try:
            pickle.dump((method, problem, jobs, recorder), self._pipe(self._process.stdin))
            self._pipe(self._process.stdin).flush()
            rows: list[Run] = pickle.load(self._pipe(self._process.stdout))
        except (OSError, EOFError, pickle.UnpicklingError) as error:
            self._process.kill()
            self.close()
            raise WorkerDied(f"the worker process ended with status {self._process.returncode}") from error
        return rows

    def kill(self) -> None:
        """End the process now; who waits for its answer learns that there is none."""
        self._process.kill()

    def close(self) -> None:
        """End the process, which has nothing to do."""
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None and not pipe.closed:
                try:
                    pipe.close()
                except OSError:  # it is dead already
                    pass
        self._process.wait()

    @staticmethod
    def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
        assert pipe is not None
        return pipe


def end_with_parent(parent: int) -> None:
    """End this process when its parent is gone."""

    def poll() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=poll, daemon=True).start()


def main() -> None:
    """Answer tasks until there are no more; whatever a method prints goes to the standard error."""
    end_with_parent(int(sys.argv[1]))
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    from deddqn.experiments.jobs import run_named_jobs

    while True:
        try:
            task = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        pickle.dump(run_named_jobs(*task), answers)
        answers.flush()


if __name__ == "__main__":
    main()
