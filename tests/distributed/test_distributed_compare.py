"""Comparisons on two real nodes: the rows of one machine, whatever happens to nodes and drivers on the way."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from numba import njit

from deddqn.experiments import compare, plan_experiment, run_experiment
from deddqn.experiments.runner import tasks_of
from deddqn.policies import load_policy, network_policy, save_policy
from deddqn.problems import Problem, get
from tests.distributed.conftest import ROOT
from tests.experiments.methods_for_tests import PROBLEMS, Dying, RandomSearch, Slow, rows

SMALL = {"runs": 3, "budget": 400}


@njit
def bowl(x):
    return np.sum(x * x)


def network_file(path: Path) -> str:
    """A policy file that only the driver's folder has."""
    rng = np.random.default_rng(5)
    weights = [rng.normal(size=shape).astype(np.float32) for shape in ((8, 99), (4, 8))]
    save_policy(path, weights, [np.zeros(len(w), dtype=np.float32) for w in weights], name="mine")
    return str(path)


def test_rows_equal_those_of_one_machine(machines, tmp_path):
    methods = ["random", "de1", "pm-adapss", "scipy-de", RandomSearch(), network_file(tmp_path / "p.safetensors")]
    problems = [*PROBLEMS, Problem.from_function(bowl, [(-5, 5)] * 3, name="bowl", optimum=0.0)]
    local = compare(methods, problems, out=tmp_path / "local", **SMALL)
    summary = compare(methods, problems, out=tmp_path / "cluster", cluster=machines.address, **SMALL)
    assert (summary.ran, summary.failed, summary.resources) == (local.ran, [], "2 nodes, 2 cores")
    assert len(rows(tmp_path / "local")) == 54
    assert rows(tmp_path / "cluster") == rows(tmp_path / "local")
    again = compare(methods, problems, out=tmp_path / "local", cluster=machines.address, **SMALL)
    assert (again.ran, again.skipped) == (0, 54), "the keys and files are the same"


@pytest.mark.slow
def test_functions_of_a_script_travel_with_their_values(machines, tmp_path):
    """What is defined here is in a module; the same in ``__main__`` is what a script has."""
    script = """
import sys
import numpy as np
from numba import njit
from deddqn.experiments import compare
from deddqn.problems import Problem

center = 2.0

@njit
def compiled(x):
    return np.sum((x - center) ** 2)

class Middle:
    name = "middle"
    def run(self, problem, budget, rng):
        from deddqn.baselines import BudgetedObjective
        objective = BudgetedObjective(problem, budget, rng)
        with objective.until_over():
            while True:
                objective((problem.lower + problem.upper) / 2)
        return objective.trajectory()

problems = [Problem.from_function(lambda x: float(np.abs(x - center).sum()), [(-5, 5)] * 2, name="plain", optimum=0.0),
            Problem.from_function(compiled, [(-5, 5)] * 2, name="compiled", optimum=0.0)]
for folder, cluster in ((sys.argv[1], None), (sys.argv[2], sys.argv[3])):
    assert not compare(["de3", Middle()], problems, runs=2, budget=300, out=folder, cluster=cluster).failed
"""
    command = [sys.executable, "-c", script, str(tmp_path / "local"), str(tmp_path / "cluster"), machines.address]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert len(rows(tmp_path / "cluster")) == 8
    assert rows(tmp_path / "cluster") == rows(tmp_path / "local")


def test_a_node_killed_half_way_through(machines, tmp_path, monkeypatch):
    """Nothing is missing and nothing is there twice."""
    monkeypatch.setattr("deddqn.experiments.runner.PYTHON_CHUNK", 1200)
    what = {"methods": [Slow(), "de1"], "problems": PROBLEMS, "runs": 20, "budget": 300}
    compare(**what, out=tmp_path / "local")
    with machines.extra(num_cpus=2) as kill:
        done = 0

        def on_start(summary, evaluations):
            def tell(runs):
                nonlocal done
                done += len(runs)
                if done >= 20:
                    kill()

            return tell

        made = plan_experiment(what["methods"], what["problems"], runs=20, budget=300)
        summary = run_experiment(made, tmp_path / "cluster", on_start=on_start, cluster=machines.address)
    assert (summary.ran, summary.failed) == (80, [])
    assert rows(tmp_path / "cluster") == rows(tmp_path / "local")
    parts = (tmp_path / "cluster" / "results").glob("part-*.parquet")
    stored = [key for path in parts for key in pq.read_table(path, columns=["key"])["key"].to_pylist()]
    assert len(stored) == len(set(stored)) == 80


@pytest.mark.slow
def test_a_run_that_kills_its_process_fails_alone(machines, tmp_path):
    summary = compare([Dying()], PROBLEMS[1:], runs=4, budget=50, out=tmp_path / "cluster", cluster=machines.address)
    local = compare([Dying()], PROBLEMS[1:], runs=4, budget=50, out=tmp_path / "local")
    assert summary.ran == 4
    assert len(summary.failed) == 1
    assert {run.repeat for run in summary.failed} == {run.repeat for run in local.failed}
    assert {run.note for run in summary.failed} == {"the process that ran it died"}


DRIVER = """
import sys
from deddqn.experiments import compare, runner
from tests.experiments.methods_for_tests import PROBLEMS, Slow

runner.PYTHON_CHUNK = 600
compare([Slow(), "de1"], PROBLEMS, runs=12, budget=300, out=sys.argv[1], cluster=sys.argv[2])
"""


def test_a_killed_driver_goes_on_where_it_stopped(machines, tmp_path):
    folder = tmp_path / "cluster"
    process = subprocess.Popen([sys.executable, "-c", DRIVER, str(folder), machines.address], cwd=ROOT)
    try:
        deadline = time.monotonic() + 120
        while len(list(folder.glob("results/part-*"))) < 3 and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.02)
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    stored = len(rows(folder))
    assert 0 < stored < 48
    what = {"methods": [Slow(), "de1"], "problems": PROBLEMS, "runs": 12, "budget": 300}
    summary = compare(**what, out=folder, cluster=machines.address)
    assert (summary.skipped, summary.ran) == (stored, 48 - stored)
    compare(**what, out=tmp_path / "local")
    assert rows(folder) == rows(tmp_path / "local")


class Unsendable:
    """Holds what cannot be pickled."""

    name = "unsendable"

    def __init__(self):
        self._lock = __import__("threading").Lock()

    def run(self, problem, budget, rng):
        return RandomSearch().run(problem, budget, rng)


def test_what_cannot_be_sent_is_refused_before_the_first_run(machines, tmp_path):
    with pytest.raises(ValueError, match=r"the method 'unsendable' cannot be sent.*lock"):
        compare(["de1", Unsendable()], PROBLEMS, out=tmp_path, cluster=machines.address, **SMALL)
    assert rows(tmp_path) == []


def test_payloads_hold_what_they_should():
    pytest.importorskip("ray")
    from deddqn.distributed.serialization import pack, unpack

    problem = get("cec2005:F10/d30")
    assert len(pack(problem, "a problem")) < 200, "by name"
    quiet = get("cec2005:F4/d10", noise=False)
    assert unpack(pack(quiet, "a problem")).noisy is False, "by value: the name alone says something else"
    policy = load_policy("ddqn-r2")
    again = unpack(pack(policy, "a policy"))
    assert again.kernels == policy.kernels, "the very kernels, not copies that compile anew"
    assert np.array_equal(again.setup, policy.setup)
    planned = plan_experiment([network_policy([np.zeros((4, 99), np.float32)], [np.zeros(4, np.float32)])], PROBLEMS)
    task = next(iter(tasks_of(planned, planned.plan.jobs)))
    assert unpack(pack(task.method, "a method")).memory_size(4, 100) == task.method.memory_size(4, 100)
