"""Ctrl-C: what is finished is stored, and nobody waits for what is not."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import psutil
import pytest

from deddqn.experiments import compare
from deddqn.experiments.executors import LocalExecutor, WorkerPool
from deddqn.experiments.plan import plan_experiment
from deddqn.experiments.runner import tasks_of
from tests.experiments.methods_for_tests import PROBLEMS, rows

ROOT = Path(__file__).resolve().parents[2]

DRIVER = """
import sys
from deddqn.experiments.plan import plan_experiment
from deddqn.experiments.runner import run_experiment
from tests.experiments.methods_for_tests import PROBLEMS, Endless

class InThread(Endless):  # of the main module: no other process finds it
    name = "in-thread"

def on_start(summary, evaluations):
    return lambda rows: print("stored", flush=True)

method = Endless() if sys.argv[2] == "process" else InThread()
planned = plan_experiment(["random", method], PROBLEMS[:1], runs=2, budget=300)
run_experiment(planned, sys.argv[1], workers=2, on_start=on_start)
"""


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("where", ["process", "thread"])
def test_ctrl_c_stores_what_is_finished_and_waits_for_nobody(tmp_path, where, sign):
    """One worker is busy with a method that never ends: in a process of its own, or in a thread."""
    paths = os.pathsep.join([str(ROOT), str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, "-c", DRIVER, str(tmp_path), where]
    process = subprocess.Popen(command, env={**os.environ, "PYTHONPATH": paths}, stdout=subprocess.PIPE, text=True)
    with process:
        assert process.stdout.readline() == "stored\n"
        children = psutil.Process(process.pid).children(recursive=True)
        process.send_signal(sign)
        assert process.wait(timeout=60) in (-signal.SIGINT, 130)
    assert (len(children) > 0) == (where == "process")
    assert not psutil.wait_procs(children, timeout=20)[1]
    assert {row["method"] for row in rows(tmp_path)} == {"random"}
    assert compare(["random"], PROBLEMS[:1], runs=2, budget=300, out=tmp_path / "whole").ran == len(rows(tmp_path))
    assert rows(tmp_path) == rows(tmp_path / "whole")


def test_rows_that_finished_meanwhile_are_not_dropped():
    """The driver takes the rows of a task, and is asked to stop while another task has finished."""
    planned = plan_experiment(["random", "de1"], PROBLEMS, runs=2, budget=300)
    tasks, stopped = list(tasks_of(planned, planned.plan.jobs)), threading.Event()
    taken = []
    for found in LocalExecutor(1).results(tasks, stopped.is_set):
        taken += found
        stopped.set()
    complete = {(run.method, run.problem) for run in taken}
    assert len(taken) == 2 * len(complete)
    assert 1 <= len(complete) <= len(tasks)
    for found in LocalExecutor(2).results(tasks, lambda: False):
        taken += found
    assert {(run.method, run.problem) for run in taken} == {(t.jobs[0].method, t.jobs[0].problem) for t in tasks}


def test_an_answer_that_waits_is_given_when_the_pool_stops():
    planned = plan_experiment(["random"], PROBLEMS, runs=2, budget=300)
    tasks = list(tasks_of(planned, planned.plan.jobs))
    pool = WorkerPool(1)
    for task in tasks:
        pool.submit(task)
    first = pool.answer(60.0)
    while pool._answers.empty():
        pass
    (second,) = pool.stop()
    assert [run.problem for run in (*first, *second)] == [t.jobs[0].problem for t in tasks for _ in t.jobs]
    assert not any(thread.is_alive() for thread in pool._threads)
