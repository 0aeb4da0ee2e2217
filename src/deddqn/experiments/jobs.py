"""Running of jobs: compiled policies vectorized over the repeats; everything else one run after the other."""

from __future__ import annotations

import math
import time
import traceback
import zlib
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np

from deddqn.baselines.method import Trajectory, checkpoints
from deddqn.de.config import config_for
from deddqn.de.portfolio import PAPER
from deddqn.de.state import Counter, Scalar
from deddqn.engine import RunSpec, VectorizedRuns
from deddqn.engine.run import Run as SteppedRun
from deddqn.experiments.evaluation_logs import Recorder
from deddqn.experiments.methods import MethodSpec, method_spec, named_problem
from deddqn.experiments.monitor import MonitoredProblem
from deddqn.experiments.plan import Job
from deddqn.experiments.results import FLAGGED, OK, Run, failed, job_columns
from deddqn.policies import CompiledPolicy, Policy
from deddqn.policies.policy import is_policy
from deddqn.problems import Problem
from deddqn.rng import Stream

WARM_UP = 8  # evaluations that load the compiled code before the clock starts
NOT_DE = ("fingerprint", "seed")


Stopped = Callable[[], bool]


def never() -> bool:
    """Runs go to their end."""
    return False


def run_jobs(
    method: Any, problem: Problem, jobs: list[Job], recorder: Recorder | None = None, stopped: Stopped = never
) -> list[Run]:
    """The rows of jobs of one method on one problem; a job that raises becomes a row with its traceback.

    Once `stopped` says so, the jobs end with KeyboardInterrupt, at the next evaluation or generation.
    """
    if is_policy(method):
        with suppress(Exception):  # what is wrong shows in the jobs
            _begin(specs_of(method, problem, jobs[:1])).advance(WARM_UP)
    if recorder is not None:
        return [_logged(method, problem, job, recorder, stopped) for job in jobs]
    return _run_jobs(method, problem, jobs, stopped)


def _run_jobs(method: Any, problem: Problem, jobs: list[Job], stopped: Stopped) -> list[Run]:
    if isinstance(method, CompiledPolicy):
        return _run_isolated(method, problem, jobs, stopped)
    if is_policy(method):
        return [row for job in jobs for row in _run_isolated(method, problem, [job], stopped)]
    return [_guarded(method, problem, job, stopped) for job in jobs]


def _logged(method: Any, problem: Problem, job: Job, recorder: Recorder, stopped: Stopped) -> Run:
    """One job, logged; a log that cannot be written fails it."""
    try:
        with recorder.recorded(problem, job) as recorded:
            return _run_jobs(method, recorded, [job], stopped)[0]
    except Exception as error:
        return failed(job, _reason(error), traceback.format_exc())


def run_named_jobs(method: Any, problem_name: str, jobs: list[Job], recorder: Recorder | None = None) -> list[Run]:
    """The same in a worker process: names are looked up there, other methods were sent."""
    problem = named_problem(problem_name)
    if not isinstance(method, str):
        return run_jobs(method, problem, jobs, recorder)
    try:
        implementation = _as_planned(method_spec(method), jobs[0])
    except Exception as error:
        return [failed(job, _reason(error), traceback.format_exc()) for job in jobs]
    if not is_policy(implementation) and method not in _WARM:
        _WARM.add(method)
        with suppress(Exception):  # what is wrong shows in the jobs
            implementation.run(problem, WARM_UP, run_generator(0, problem, 0))
    return run_jobs(implementation, problem, jobs, recorder)


def _as_planned(spec: MethodSpec, job: Job) -> Any:
    """The implementation of a method that was looked up again; an error if it is not the one that was planned."""
    if spec.fingerprint != dict(job.settings).get("fingerprint", spec.fingerprint):
        raise ValueError(f"method {spec.name!r} has changed since the comparison began (source, weights or settings)")
    return spec.implementation


_WARM: set[str] = set()
"""Methods whose libraries are imported in this process: that time belongs to no run."""


def _run_isolated(policy: Policy, problem: Problem, jobs: list[Job], stopped: Stopped) -> list[Run]:
    """All jobs together; if that raises, one by one, so that only those fail that have to."""
    try:
        return run_vectorized(policy, problem, jobs, stopped)
    except Exception as error:
        if len(jobs) == 1:
            return [failed(jobs[0], _reason(error), traceback.format_exc())]
        return [row for job in jobs for row in _run_isolated(policy, problem, [job], stopped)]


def specs_of(policy: Policy, problem: Problem, jobs: list[Job]) -> list[RunSpec]:
    """The jobs as runs of the shared DE."""
    specs = []
    for job in jobs:
        settings = dict(job.settings)
        de: dict[str, Any] = {key: value for key, value in settings.items() if key not in NOT_DE}
        config = config_for(getattr(policy, "de", {}), **{**de, "budget": job.budget})
        seed = int(settings.get("seed", 0))
        portfolio = getattr(policy, "portfolio", None) or PAPER
        spec = RunSpec(problem=problem, policy=policy, portfolio=portfolio, config=config, seed=seed, repeat=job.repeat)
        specs.append(spec)
    return specs


def run_vectorized(policy: Policy, problem: Problem, jobs: list[Job], stopped: Stopped = never) -> list[Run]:
    """Jobs of one policy on one problem, vectorized in one thread; only one job where the policy is in Python.

    The runs pause at the checkpoints of the trajectory and at the ends of generations. CPU time is that of all
    runs, shared out by evaluations.
    """
    specs = specs_of(policy, problem, jobs)
    started = time.thread_time()
    runs = _begin(specs)
    trajectories = _Trajectories(runs, jobs[0].budget, specs[0].config.population_size)
    trajectories.record(stopped)
    per_evaluation = (time.thread_time() - started) / max(int(runs.evaluations.sum()), 1)
    return [trajectories.row(k, job, problem, per_evaluation) for k, job in enumerate(jobs)]


def _begin(specs: list[RunSpec]) -> VectorizedRuns | _SteppedRun:
    return VectorizedRuns(specs, threads=1) if isinstance(specs[0].policy, CompiledPolicy) else _SteppedRun(specs)


class _SteppedRun:
    """The one run of a policy in Python, with the part of `VectorizedRuns` that a trajectory is made from."""

    def __init__(self, specs: list[RunSpec]) -> None:
        self.specs = specs
        self.episodes = [SteppedRun(spec) for spec in specs]

    def __len__(self) -> int:
        return len(self.episodes)

    def advance(self, until: int) -> None:
        self.episodes[0].advance(until)

    @property
    def best_values(self) -> np.ndarray:
        return np.array([run.best_value for run in self.episodes])

    @property
    def evaluations(self) -> np.ndarray:
        return np.array([run.evaluations for run in self.episodes])


class _Trajectories:
    """Best values at checkpoints and operator applications by generation, of runs that advance together."""

    def __init__(self, runs: VectorizedRuns | _SteppedRun, budget: int, population: int) -> None:
        self.runs = runs
        self.checkpoints = checkpoints(budget, runs.specs[0].problem.name)
        self.ends = np.unique(np.append(np.arange(population, budget, population), budget))
        self.best = np.empty((len(runs), self.checkpoints.size))
        self.applied = np.zeros((len(runs), self.ends.size, len(runs.specs[0].portfolio)), dtype=np.int64)

    def record(self, stopped: Stopped) -> None:
        """Advance to the end; pauses are the union of checkpoints and generation ends."""
        column, generation = 0, 0
        for stop in np.union1d(self.checkpoints, self.ends):
            if stopped():
                raise KeyboardInterrupt
            self.runs.advance(int(stop))
            if column < self.checkpoints.size and self.checkpoints[column] == stop:
                self.best[:, column] = self.runs.best_values
                column += 1
            if generation < self.ends.size and self.ends[generation] == stop:
                for k in range(len(self.runs)):
                    self.applied[k, generation] = self.runs.episodes[k].de_state.applications
                generation += 1

    def row(self, k: int, job: Job, problem: Problem, per_evaluation: float) -> Run:
        """The row of one run."""
        de_state = self.runs.episodes[k].de_state
        made = int(de_state.counters[Counter.EVALUATIONS])
        best_value = float(de_state.scalars[Scalar.F_BSF])
        before = self.checkpoints < made
        counts = np.diff(self.applied[k], axis=0)
        counts = counts[counts.sum(axis=1) > 0]
        return Run(
            **job_columns(job),
            **_outcome(best_value, problem),
            evaluations=made,
            cpu_seconds=per_evaluation * made,
            non_finite=int(de_state.counters[Counter.NON_FINITE]),
            checkpoints=[*self.checkpoints[before].tolist(), made],
            best=[*self.best[k, before].tolist(), best_value],
            operators=list(self.runs.specs[k].portfolio.names),
            strategy_counts=counts.ravel().tolist(),
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


def run_generator(seed: int, problem: Problem, repeat: int, use: Stream = Stream.SEARCH) -> np.random.Generator:
    """The generator of a run that is not DE: keyed by problem, dimension and repeat, as the streams of `deddqn.rng`."""
    key = (zlib.crc32(problem.seed_name.encode()), problem.dimension, repeat, int(use))
    return np.random.Generator(np.random.SFC64(np.random.SeedSequence(seed, spawn_key=key)))


def _guarded(method: Any, problem: Problem, job: Job, stopped: Stopped) -> Run:
    try:
        return run_method(method, problem, job, stopped)
    except Exception as error:
        return failed(job, _reason(error), traceback.format_exc())


def run_method(method: Any, problem: Problem, job: Job, stopped: Stopped = never) -> Run:
    """One run of a method; what it reports is checked against what it evaluated."""
    seed = int(dict(job.settings).get("seed", 0))
    monitored = MonitoredProblem(problem, job.budget, stopped)
    if problem.noisy:
        monitored.seed_noise(int(run_generator(seed, problem, job.repeat, Stream.NOISE).integers(2**63)))
    started = time.thread_time()
    trajectory = method.run(monitored, job.budget, run_generator(seed, problem, job.repeat))
    spent = time.thread_time() - started
    if not isinstance(trajectory, Trajectory):
        raise TypeError(f"run() must return a Trajectory, got {type(trajectory).__name__}")
    best_value, notes = _checked(trajectory, monitored)
    within = trajectory.evaluations <= job.budget
    return Run(
        **job_columns(job),
        **_outcome(best_value, problem, notes),
        evaluations=monitored.evaluations,
        cpu_seconds=spent,
        non_finite=monitored.non_finite,
        checkpoints=trajectory.evaluations[within].tolist(),
        best=trajectory.best[within].astype(float).tolist(),
    )


def _checked(trajectory: Trajectory, monitored: MonitoredProblem) -> tuple[float, tuple[str, ...]]:
    """The value that counts, and what is wrong with the method's report."""
    best_value = float(trajectory.best_value)
    notes: tuple[str, ...] = ()
    if monitored.evaluations > monitored.budget:
        notes += (f"it overran its budget: {monitored.evaluations} evaluations of {monitored.budget}",)
        best_value = monitored.best_seen
    elif best_value < monitored.best_seen:
        notes += (f"it claims {best_value:g}, but the best value seen in the box is {monitored.best_seen:g}",)
        best_value = monitored.best_seen
    return best_value, notes


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".splitlines()[0]
