"""Run jobs: policies in lanes, many repeats side by side; other methods one run after the other."""

from __future__ import annotations

import math
import time
import traceback
import zlib
from contextlib import suppress
from typing import Any

import numpy as np

from deddqn.baselines.method import Trajectory, checkpoints
from deddqn.de.config import config_for
from deddqn.de.portfolio import PAPER
from deddqn.de.state import Counter, Scalar
from deddqn.engine import RunSpec, VectorizedRuns
from deddqn.experiments.evaluation_logs import Recorder
from deddqn.experiments.methods import enter, named_problem
from deddqn.experiments.monitor import WatchedProblem
from deddqn.experiments.plan import Job
from deddqn.experiments.results import FLAGGED, OK, Run, failed, place_of
from deddqn.policies import CompiledPolicy
from deddqn.problems import Problem
from deddqn.rng import Stream

WARM_UP = 8  # evaluations that load the compiled code before the clock starts
NOT_DE = ("fingerprint", "seed")


def run_jobs(played: Any, problem: Problem, jobs: list[Job], recorder: Recorder | None = None) -> list[Run]:
    """The rows of jobs of one method on one problem; a job that raises becomes a row with its traceback."""
    if isinstance(played, CompiledPolicy):
        with suppress(Exception):  # what is wrong shows in the jobs
            VectorizedRuns(specs_of(played, problem, jobs[:1]), threads=1).advance(WARM_UP)
    if recorder is not None:
        return [_recorded(played, problem, job, recorder) for job in jobs]
    return _run_jobs(played, problem, jobs)


def _run_jobs(played: Any, problem: Problem, jobs: list[Job]) -> list[Run]:
    if isinstance(played, CompiledPolicy):
        return _run_lanes_apart(played, problem, jobs)
    return [_guarded(played, problem, job) for job in jobs]


def _recorded(played: Any, problem: Problem, job: Job, recorder: Recorder) -> Run:
    """One job, logged; a log that cannot be written fails it."""
    try:
        with recorder.shown(problem, job) as shown:
            return _run_jobs(played, shown, [job])[0]
    except Exception as error:
        return failed(job, _reason(error), traceback.format_exc())


def run_named_jobs(method: Any, problem: str, jobs: list[Job], recorder: Recorder | None = None) -> list[Run]:
    """The same in a worker process: names are looked up there, other methods have travelled."""
    place = named_problem(problem)
    if not isinstance(method, str):
        return run_jobs(method, place, jobs, recorder)
    played = enter(method).played
    if not isinstance(played, CompiledPolicy) and method not in _WARM:
        _WARM.add(method)
        with suppress(Exception):  # what is wrong shows in the jobs
            played.run(place, WARM_UP, generator_at(0, place, 0))
    return run_jobs(played, place, jobs, recorder)


_WARM: set[str] = set()
"""Methods whose libraries are imported in this process: that time belongs to no run."""


def _run_lanes_apart(policy: CompiledPolicy, problem: Problem, jobs: list[Job]) -> list[Run]:
    """All jobs together; if that raises, one by one, so that only those fail that have to."""
    try:
        return run_lanes(policy, problem, jobs)
    except Exception as error:
        if len(jobs) == 1:
            return [failed(jobs[0], _reason(error), traceback.format_exc())]
        return [row for job in jobs for row in _run_lanes_apart(policy, problem, [job])]


def specs_of(policy: CompiledPolicy, problem: Problem, jobs: list[Job]) -> list[RunSpec]:
    """The jobs as runs of the shared DE."""
    specs = []
    for job in jobs:
        settings = dict(job.settings)
        de: dict[str, Any] = {key: value for key, value in settings.items() if key not in NOT_DE}
        config = config_for(policy.de, **{**de, "budget": job.budget})
        seed = int(settings.get("seed", 0))
        portfolio = policy.portfolio or PAPER
        spec = RunSpec(problem=problem, policy=policy, portfolio=portfolio, config=config, seed=seed, repeat=job.repeat)
        specs.append(spec)
    return specs


def run_lanes(policy: CompiledPolicy, problem: Problem, jobs: list[Job]) -> list[Run]:
    """Jobs of one policy on one problem side by side in one thread.

    The lanes stop at the checkpoints of the trajectory and at the ends of generations. CPU time is that of all
    lanes, shared out by evaluations.
    """
    specs = specs_of(policy, problem, jobs)
    started = time.thread_time()
    lanes = VectorizedRuns(specs, threads=1)
    log = _LaneLog(lanes, jobs[0].budget, specs[0].config.population_size)
    log.run()
    per_evaluation = (time.thread_time() - started) / max(int(lanes.evaluations.sum()), 1)
    return [log.row(lane, job, problem, per_evaluation) for lane, job in enumerate(jobs)]


class _LaneLog:
    """Stops lanes at checkpoints and ends of generations, and writes down what they did until then."""

    def __init__(self, lanes: VectorizedRuns, budget: int, population: int) -> None:
        self.lanes = lanes
        self.scalars = checkpoints(budget)
        self.ends = np.unique(np.append(np.arange(population, budget, population), budget))
        self.best = np.empty((len(lanes), self.scalars.size))
        self.applied = np.zeros((len(lanes), self.ends.size, len(lanes.specs[0].portfolio)), dtype=np.int64)

    def run(self) -> None:
        """Advance to the end; stops are the union of checkpoints and generation ends."""
        column, generation = 0, 0
        for stop in np.union1d(self.scalars, self.ends):
            self.lanes.advance(int(stop))
            if column < self.scalars.size and self.scalars[column] == stop:
                self.best[:, column] = self.lanes.best_values
                column += 1
            if generation < self.ends.size and self.ends[generation] == stop:
                for lane, episode in enumerate(self.lanes.episodes):
                    self.applied[lane, generation] = episode.de_state.applications
                generation += 1

    def row(self, lane: int, job: Job, problem: Problem, per_evaluation: float) -> Run:
        """The row of one lane."""
        de_state = self.lanes.episodes[lane].de_state
        made = int(de_state.counters[Counter.EVALUATIONS])
        best_value = float(de_state.scalars[Scalar.F_BSF])
        before = self.scalars < made
        counters = np.diff(self.applied[lane], axis=0)
        counters = counters[counters.sum(axis=1) > 0]
        return Run(
            **place_of(job),
            **_outcome(best_value, problem),
            evaluations=made,
            cpu_seconds=per_evaluation * made,
            non_finite=int(de_state.counters[Counter.NON_FINITE]),
            checkpoints=[*self.scalars[before].tolist(), made],
            best=[*self.best[lane, before].tolist(), best_value],
            operators=list(self.lanes.specs[lane].portfolio.names),
            strategy_counts=counters.ravel().tolist(),
        )


def _outcome(best_value: float, problem: Problem, notes: tuple[str, ...] = ()) -> dict[str, Any]:
    """Best value, error and status; a value that is not finite is flagged."""
    optimum = math.nan if problem.optimum is None else problem.optimum
    if not math.isfinite(best_value):
        notes = (*notes, f"its best value is {best_value}")
    return {
        "best_value": best_value,
        "optimum": optimum,
        "error": best_value - optimum,
        "status": FLAGGED if notes else OK,
        "note": "; ".join(notes),
    }


def generator_at(seed: int, problem: Problem, repeat: int, use: Stream = Stream.SEARCH) -> np.random.Generator:
    """The generator of a run that is not DE: by place, as the streams of `deddqn.rng`."""
    key = (zlib.crc32(problem.seed_name.encode()), problem.dimension, repeat, int(use))
    return np.random.Generator(np.random.SFC64(np.random.SeedSequence(seed, spawn_key=key)))


def _guarded(method: Any, problem: Problem, job: Job) -> Run:
    try:
        return run_method(method, problem, job)
    except Exception as error:
        return failed(job, _reason(error), traceback.format_exc())


def run_method(method: Any, problem: Problem, job: Job) -> Run:
    """One run of a method; what it says about itself is checked against what was seen."""
    seed = int(dict(job.settings).get("seed", 0))
    watched = WatchedProblem(problem, job.budget)
    if problem.noisy:
        watched.seed_noise(int(generator_at(seed, problem, job.repeat, Stream.NOISE).integers(2**63)))
    started = time.thread_time()
    trajectory = method.run(watched, job.budget, generator_at(seed, problem, job.repeat))
    spent = time.thread_time() - started
    if not isinstance(trajectory, Trajectory):
        raise TypeError(f"run() must return a Trajectory, got {type(trajectory).__name__}")
    best_value, notes = _checked(trajectory, watched)
    within = trajectory.evaluations <= job.budget
    return Run(
        **place_of(job),
        **_outcome(best_value, problem, notes),
        evaluations=watched.made,
        cpu_seconds=spent,
        non_finite=watched.non_finite,
        checkpoints=trajectory.evaluations[within].tolist(),
        best=trajectory.best[within].astype(float).tolist(),
    )


def _checked(trajectory: Trajectory, watched: WatchedProblem) -> tuple[float, tuple[str, ...]]:
    """The value that counts, and what is wrong with the method's account."""
    best_value = float(trajectory.best_value)
    notes: tuple[str, ...] = ()
    if watched.made > watched.budget:
        notes += (f"it overran its budget: {watched.made} evaluations of {watched.budget}",)
        best_value = watched.best_seen
    elif best_value < watched.best_seen:
        notes += (f"it claims {best_value:g}, but the best value seen in the box is {watched.best_seen:g}",)
        best_value = watched.best_seen
    return best_value, notes


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".splitlines()[0]
