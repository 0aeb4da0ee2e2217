"""The work of the soak: each piece takes an empty folder and returns what it found, the same every time."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import numba
import numpy as np

from deddqn import Optimizer, minimize
from deddqn.experiments import StoreError, compare
from deddqn.experiments.csv_export import write_csv
from deddqn.experiments.tuning import Tuning, TuningProtocol, decide, open_study, search
from deddqn.policies import load_policy_file
from deddqn.problems import get
from deddqn.report import write_report
from deddqn.training.policy_search.config import PolicySearchConfig
from deddqn.training.policy_search.search import PolicySearch
from tests.experiments.methods_for_tests import Dying, RandomSearch, rows

BOX = [(-5.0, 5.0)] * 6
PROBLEMS = ("cec2005:F1/d10", "cec2005:F6/d10")
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path)}


@numba.njit
def jitted_bowl(x: np.ndarray) -> float:
    """Stays compiled: what is compiled for it is made once."""
    total = 0.0
    for value in x:
        total += (value - 1.0) * (value - 1.0)
    return total


def bowl(x: np.ndarray) -> float:
    """The same in Python."""
    return float(((x - 1.0) ** 2).sum())


def dying_bowl(x: np.ndarray) -> float:
    """Kills the worker process that evaluates it, sooner or later."""
    if x[0] > 4.0:
        os.kill(os.getpid(), signal.SIGKILL)
    return bowl(x)


def _found(result: Any) -> tuple[Any, ...]:
    return result.x.tobytes(), result.fun, result.nfev, result.strategy_counts.tolist()


def jitted(folder: Path) -> Any:
    """A jitted objective, in one run after the other."""
    return [_found(minimize(jitted_bowl, BOX, maxfun=3000, rng=seed)) for seed in range(5)]


def threads(folder: Path) -> Any:
    """Runs in threads at the same time: compiled, jitted and Python objectives."""

    def run(seed: int) -> Any:
        target = (get(PROBLEMS[0]), jitted_bowl, bowl)[seed % 3]
        return _found(minimize(target, None if seed % 3 == 0 else BOX, maxfun=1500, rng=seed))

    with ThreadPoolExecutor(4) as pool:
        return list(pool.map(run, range(9)))


def forks(folder: Path) -> Any:
    """Worker processes that are forked, for a function in Python."""
    return _found(minimize(bowl, BOX, maxfun=600, workers=2, rng=3))


def dying_workers(folder: Path) -> Any:
    """A worker process that dies in a search, and some that die in a comparison."""
    try:
        minimize(dying_bowl, BOX, maxfun=600, workers=2, rng=4)
        raise AssertionError("no worker died")
    except BrokenProcessPool:
        pass
    outcome = compare([Dying()], PROBLEMS[:1], runs=4, budget=200, out=folder, workers=2)
    return [outcome.ran, len(outcome.failed), [row["best_value"] for row in rows(folder)]]


def saves(folder: Path) -> Any:
    """A search that is saved and loaded again after every few points; now and then there is no room to save."""
    optimizer = Optimizer(BOX, maxfun=1000, rng=5, history=True)
    path = folder / "search.npz"
    for k in range(20):
        for _ in range(50):
            points = optimizer.ask()
            optimizer.tell(points, [bowl(x) for x in points])
        optimizer.save(path)
        if k % 5 == 0:
            _expect_full(partial(optimizer.save, path))
        optimizer = Optimizer.load(path)
    return _found(optimizer.result)


def comparison(folder: Path) -> Any:
    """A comparison that runs out of room, goes on, and is reported and exported; worker processes and threads."""

    def run() -> None:
        compare(["random", "rec-pm", RandomSearch()], PROBLEMS, runs=3, budget=500, out=folder, workers=2)

    _expect_full(run)
    run()
    write_report(folder, figures=False)
    write_csv(folder, folder / "runs.csv")
    return rows(folder), (folder / "report" / "index.html").stat().st_size > 0


def policy_search(folder: Path) -> Any:
    """A policy search that stops and goes on."""
    settings = {"problems": PROBLEMS, "population_size": 10, "budget": 100, "offspring": 4, "reference_repeats": 2}
    for generations in (2, 4):
        config = PolicySearchConfig(**settings, generations=generations, evaluate_every=2, evaluate_repeats=1)
        score = PolicySearch(config, folder, resume=True, quiet=True).run()
    return score, load_policy_file(folder / "softmax.safetensors").setup.tobytes()


class SmallTuning(Tuning):
    """On two problems, for a second."""

    @property
    def protocol(self) -> TuningProtocol:
        """The runs of a trial."""
        return TuningProtocol(problems=PROBLEMS, runs=self.runs, budget=self.budget, seed=self.seed, threads=1)


def tuned_twice(folder: Path) -> str:
    """A tuning that is opened twice."""
    tuned = SmallTuning(method="rec-pm", trials=3, runs=2, budget=200, out=folder)
    with tuned.locked():
        next(search(tuned, open_study(tuned)))
        study = open_study(tuned)
        list(search(tuned, study))
        record = decide(tuned, study)
    return json.dumps([[trial.params for trial in study.trials], record["parameters"], record["score"]])


def tuning(folder: Path) -> Any:
    """The same in a process of its own, as the command is: SQLAlchemy keeps some 75 kB for every database it opened."""
    code = "import sys; from tests.faults.soak_work import *; print(tuned_twice(Path(sys.argv[1])))"
    command = [sys.executable, "-c", code, str(folder)]
    return subprocess.run(command, check=True, capture_output=True, text=True, env=ENVIRONMENT).stdout


def training(folder: Path) -> Any:
    """A network that is trained, stopped and trained on."""
    from deddqn.training.config import TrainingConfig
    from deddqn.training.dqn.trainer import train

    settings = {
        "problems": PROBLEMS,
        "population_size": 10,
        "budget": 100,
        "hidden": (8,),
        "batch_size": 8,
        "buffer_size": 500,
        "learning_starts": 50,
        "threads": 1,
        "tensorboard": False,
    }
    for cycles in (1, 2):
        train(TrainingConfig(**settings, cycles=cycles), folder, resume=True)
    return (folder / "final.safetensors").read_bytes()


def _expect_full(work: Callable[[], Any]) -> None:
    """Do something while the disk is full; that has to be said."""

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with mock.patch.object(os, "fsync", full):
        try:
            work()
        except (StoreError, OSError):
            return
    raise AssertionError("a full disk went unnoticed")


PIECES = (jitted, threads, forks, dying_workers, saves, comparison, policy_search, tuning, training)
