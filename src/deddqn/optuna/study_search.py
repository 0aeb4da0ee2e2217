"""The search behind a sampler: an asynchronous `Optimizer` that is told what a study knows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from deddqn.de.config import SMALLEST_POPULATION
from deddqn.optimize.optimizer import Optimizer
from deddqn.optimize.option_types import InitName
from deddqn.optuna.encoding import Encoding

FIRST_DESIGN: InitName = "latinhypercube"
FINAL_POPULATION = 8
SHARE_OF_DESIGN = 6  # a sixth of the planned trials ..
DESIGN_SIZES = (10, 40)  # .. but no fewer and no more


class Settings(NamedTuple):
    """How to search: planned trials, trials of the first design (None: by their number), candidates per trial."""

    n_trials: int
    n_startup_trials: int | None
    n_candidates: int


class FinishedTrial(NamedTuple):
    """What a study says about a trial; the lower the value the better, infinite where there is none."""

    number: int
    params: dict[str, Any]
    distributions: dict[str, Any]
    value: float


class StudySearch:
    """The search of one space in one study.

    Trials that were asked for here are told as such. All others, from other processes, of an earlier session or
    enqueued, are points from elsewhere; those that are there when the search begins make up its first population,
    as far as they reach.
    """

    def __init__(self, encoding: Encoding, settings: Settings, seed: int) -> None:
        self.encoding, self.settings, self.seed = encoding, settings, seed
        self.optimizer: Optimizer | None = None
        self._asked: dict[int, np.ndarray] = {}  # by trial number
        self._seen: set[int] = set()

    def ask(self, number: int, finished: Sequence[FinishedTrial]) -> dict[str, Any]:
        """Parameters for trial `number`; none when there is no point left that was not evaluated."""
        if self.optimizer is None:
            self._begin(number, finished)
        assert self.optimizer is not None
        self._tell(finished)
        points = self.optimizer.ask(1)
        if not len(points) and "exhausted" not in self.optimizer.stop():
            self._begin(number, finished)
            points = self.optimizer.ask(1)
        if not len(points):
            return {}
        self._asked[number] = points[0].copy()
        return self.encoding.decode(points[0])

    def _tell(self, finished: Sequence[FinishedTrial]) -> None:
        """Tell the optimizer about trials that have finished since the last time."""
        assert self.optimizer is not None
        for trial in finished:
            if trial.number in self._seen:
                continue
            self._seen.add(trial.number)
            asked = self._asked.pop(trial.number, None)
            if asked is not None:
                self.optimizer.tell(asked, trial.value)
            elif trial.value < math.inf and self.encoding.fits(trial.distributions):
                self.optimizer.tell(self.encoding.encode(trial.params), trial.value)

    def _begin(self, number: int, finished: Sequence[FinishedTrial]) -> None:
        """Plan a search that has the best finished trials in its first population, and the others told."""
        known = self._distinct(finished)
        planned = self.settings.n_trials
        while planned <= number:
            planned *= 2
        size = max(SMALLEST_POPULATION, self.settings.n_startup_trials or first_design(planned))
        options: dict[str, Any] = {
            "integrality": self.encoding.integrality,
            "updating": "asynchronous",
            "population_size": size,
            "final_population": min(size, FINAL_POPULATION),
            "n_candidates": self.settings.n_candidates,
            "maxfun": max(planned - number, 0) + size,
            "rng": np.random.SeedSequence([self.seed, number]),  # processes begin at trials of their own
        }
        population = Optimizer(self.encoding.bounds, init=FIRST_DESIGN, **options).result.population
        members = known[:size]
        for row, (point, _) in enumerate(members):
            population[row] = point
        self.optimizer = Optimizer(self.encoding.bounds, init=population, **options)
        if members:
            self.optimizer.tell(self.optimizer.ask(len(members)), [value for _, value in members])
        for point, value in known[size:]:
            self.optimizer.tell(point, value)
        self._asked.clear()
        self._seen = {trial.number for trial in finished}

    def _distinct(self, finished: Sequence[FinishedTrial]) -> list[tuple[np.ndarray, float]]:
        """Points and values of finished trials in this space, best first, each point once."""
        known: dict[bytes, tuple[np.ndarray, float]] = {}
        for trial in sorted(finished, key=lambda trial: trial.value):
            if trial.value < math.inf and self.encoding.fits(trial.distributions):
                point = self.encoding.encode(trial.params)
                known.setdefault(point.tobytes(), (point, trial.value))
        return list(known.values())


def first_design(n_trials: int) -> int:
    """Trials of the first design where nobody says how many."""
    least, most = DESIGN_SIZES
    return min(most, max(least, n_trials // SHARE_OF_DESIGN))
