"""Runs side by side whose decisions come from outside: what all environments are made of."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from deddqn.engine import RunSpec, VectorizedRuns
from deddqn.envs.env_kernels import NO_ACTION, report_runs, step_runs
from deddqn.envs.episodes import Episodes, Order
from deddqn.features.layout import n_features
from deddqn.problems import Problem

RUNS_PER_THREAD = 64
"""A step takes about 2 us per run, handing work to a thread about 50: fewer runs than this are not worth it."""


class Batch:
    """Compiled runs, with the seeds and the order of problems of an environment.

    Parameters
    ----------
    episodes : what the runs have in common.
    size : number of runs.
    threads : threads that step them; by default as many as pay off.
    """

    def __init__(self, episodes: Episodes, size: int, threads: int | None = None) -> None:
        self.episodes = episodes
        self.size = size
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)
        self._threads = threads if threads is not None else max(1, min(cores, size // RUNS_PER_THREAD))
        self._runs: VectorizedRuns | None = None
        self.seeds = [0] * size
        self.repeats = [0] * size
        self._order = Order(episodes.problems, 0)
        self._widest = max(problem.dimension for problem in episodes.problems)
        self.names = np.full(size, None, dtype=object)
        self.states = np.zeros((size, n_features(len(episodes.portfolio))), dtype=np.float32)
        self.rewards = np.zeros(size)
        self.ends = np.zeros(size, dtype=np.bool_)
        self._nothing = np.full(size, NO_ACTION, dtype=np.int64)

    def seed(self, seeds: Sequence[int | None]) -> None:
        """Start runs at the first repeat of new seeds (None: go on); the first new seed starts the order, too."""
        given = [seed for seed in seeds if seed is not None]
        for index, seed in enumerate(seeds):
            if seed is not None:
                self.seeds[index], self.repeats[index] = seed, 0
        if given:
            self._order = Order(self.episodes.problems, given[0])

    def begin(
        self,
        runs: Sequence[int],
        problems: Sequence[Problem | None] | None = None,
        repeats: Sequence[int | None] | None = None,
    ) -> None:
        """Begin episodes in some runs, of the next problem and repeat or of given ones; they wait for `observe`."""
        specs = {
            index: self._next(index, problems[index] if problems else None, repeats[index] if repeats else None)
            for index in runs
        }
        self._make_room(list(specs.values()))
        assert self._runs is not None
        for index, spec in specs.items():
            self._runs.restart(index, spec)
            self.names[index] = spec.problem.name
            self.repeats[index] = spec.repeat + 1

    def _next(self, index: int, problem: Problem | None, repeat: int | None) -> RunSpec:
        chosen = problem if problem is not None else self._order.next()
        return self.episodes.spec(chosen, self.seeds[index], self.repeats[index] if repeat is None else repeat)

    def _make_room(self, specs: list[RunSpec]) -> None:
        """Make the runs, wide enough for every problem; again where one from outside is wider still."""
        self._widest = max([self._widest, *(spec.problem.dimension for spec in specs)])
        largest = max([self.episodes.largest(), *specs], key=lambda spec: spec.size)
        if self._runs is not None and largest.size <= self._runs.arenas.shape[1]:
            return
        if self._runs is not None and len(specs) < self.size:
            raise ValueError(
                f"options['problem'] must not be larger than the environment's own problems unless all runs are "
                f"reset, got {largest.problem.name!r}"
            )
        self._runs = VectorizedRuns([largest] * self.size, threads=self._threads)

    def observe(self) -> None:
        """Write `states` of the decisions that are due."""
        self._step(self._nothing)

    def step(self, actions: np.ndarray) -> None:
        """Apply one operator per run (`NO_ACTION`: none); write `states`, `rewards` and `ends`."""
        self._step(actions)

    def _step(self, actions: np.ndarray) -> None:
        assert self._runs is not None
        self._runs.each(step_runs, actions, self.rewards, self.ends, self.states)

    def report(self) -> dict[str, Any]:
        """What is known about the runs, as new arrays with one row per run."""
        assert self._runs is not None
        figures = np.empty((3, self.size))
        points = np.empty((self.size, self._widest))
        applications = np.empty((self.size, len(self.episodes.portfolio)), dtype=np.int64)
        self._runs.each(report_runs, figures, points, applications)
        return {
            "problem": self.names.copy(),
            "evaluations": figures[0].astype(np.int64),
            "best_value": figures[1],
            "error": figures[2],
            "best_point": points,
            "strategy_counts": applications,
        }

    def report_one(self, index: int) -> dict[str, Any]:
        """What is known about one run, as plain numbers and vectors."""
        assert self._runs is not None
        report = self.report()
        dimension = self._runs.specs[index].problem.dimension
        return {
            "problem": str(report["problem"][index]),
            "evaluations": int(report["evaluations"][index]),
            "best_value": float(report["best_value"][index]),
            "error": float(report["error"][index]),
            "best_point": report["best_point"][index, :dimension].copy(),
            "strategy_counts": report["strategy_counts"][index].copy(),
        }
