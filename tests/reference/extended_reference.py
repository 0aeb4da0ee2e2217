"""The search beyond the paper, as plainly as `de_reference`: archive, adapted F and CR, shrinking and new populations,
prescreening.

What is random comes from a source of raw numbers that is handed in (``integer_below``, ``uniform``, ``normal``,
``donors``, ``mask``, ``population``); the reference says what is drawn, and in which order. Everything else follows the
papers: JADE (Zhang and Sanderson 2009) for pbest and archive, SHADE (Tanabe and Fukunaga 2013) for F and CR, L-SHADE
(2014) for the size of the population. The Gaussian sample is formed from its mean and the deviations from it;
`cma_reference` has the distribution that learns; it begins anew after a new population.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .cma_reference import Distribution
from .de_reference import FloatArray, ReferenceRun, clipped, improvement, mutant, stored_value

MEMORY = 6
SPREAD = 0.1
REFIT_INTERVAL = 20
Entries = list[tuple[str, float, float] | tuple[str, float, float, str]]


def rounded(value: float) -> int:
    return math.floor(value + 0.5)


def lehmer_mean(values: Sequence[float], weights: Sequence[float]) -> float:
    above = math.fsum(w * v * v for v, w in zip(values, weights, strict=True))
    return above / math.fsum(w * v for v, w in zip(values, weights, strict=True))


def weighted_mean(values: Sequence[float], weights: Sequence[float]) -> float:
    return math.fsum(w * v for v, w in zip(values, weights, strict=True)) / math.fsum(weights)


class Candidate(NamedTuple):
    """One of several trials of a move, and the donors, F and CR that it was made with."""

    point: FloatArray
    donors: Sequence[int]
    used: tuple[float, float]


class ExtendedReference(ReferenceRun):
    """A reference run with the settings beyond the paper. ``commit`` is called as in `ReferenceRun`; before it comes
    ``drawn_trial``, or with prescreening ``foresee`` and ``take_foreseen``.
    """

    def __init__(
        self,
        *,
        portfolio: Entries,
        source: Any,
        initial_source: Any,
        final_population: int | None = None,
        pbest: float = 0.11,
        archive: float = 1.0,
        restart_tolerance: float = 0.0,
        restart_final_fraction: float = 0.0,
        n_candidates: int = 1,
        rate_share: float = 0.0,
        **settings: Any,
    ) -> None:
        super().__init__(portfolio=[entry[:3] for entry in portfolio], **settings)
        self.source, self.initial_source = source, initial_source
        self.adapts = [set(entry[3].split("+")) - {""} if len(entry) == 4 else set() for entry in portfolio]
        self.first_population = self.population_size
        self.final_population = final_population or self.population_size
        self.pbest, self.archive_rate, self.restart_tolerance = pbest, archive, restart_tolerance
        self.restart_final_fraction = restart_final_fraction if restart_tolerance > 0.0 else 0.0
        self.n_candidates, self.rate_share = n_candidates, rate_share
        self.uses_archive = any("pbest" in entry[0] for entry in portfolio)
        self.distribution = Distribution(self.upper - self.lower)
        self.restarts = self.returns = 0
        self.born = 0  # evaluations before those of the present population
        self.best_population: tuple[FloatArray, FloatArray] | None = None  # points and values, from best to worst
        self.waiting = False  # for the values of a new population
        self.origin: list[int] | None = None  # old numbers, where the last generation changed them
        self.recent_points: list[
            tuple[FloatArray, float]
        ] = []  # evaluated points that are no parents, with their values
        self.model: tuple[FloatArray, list[float], float] | None = None  # of scores: points, weights, range
        self.looked, self.renewed = -1, 0
        self._forget()

    def _forget(self) -> None:
        self.archive: list[FloatArray] = []
        self.means = [([scale] * MEMORY, [rate] * MEMORY) for _, scale, rate in self.portfolio]
        self.oldest = [0 for _ in self.portfolio]
        self.used: dict[int, tuple[float, float]] = {}
        self.success_rate = 0.5

    # -- F and CR

    def _parameters(self, i: int, op: int) -> tuple[float, float]:
        _, scale, rate = self.portfolio[op]
        if self.adapts[op]:
            slot = self.source.integer_below(MEMORY)
            memory_f, rate_means = self.means[op]
            if "CR" in self.adapts[op]:
                rate = clipped(rate_means[slot] + SPREAD * self.source.normal(), 0.0, 1.0)
            if "F" in self.adapts[op]:
                if self.rate_share > 0.0 and self.source.uniform() < self.rate_share:
                    mean = 0.4 + math.tanh(5.0 * self.success_rate) / 4.0
                    scale = clipped(mean + 0.02 * self.source.normal(), 0.02, 1.0)
                else:
                    scale = self._cauchy(memory_f[slot])
        self.used[i] = (scale, rate)
        return scale, rate

    def _cauchy(self, centre: float) -> float:
        value = 0.0
        while value <= 0.0:
            value = centre + SPREAD * math.tan(math.pi * (self.source.uniform() - 0.5))
        return min(value, 1.0)

    def _learn(self) -> None:
        """The newest means of every operator that improved on some parent, weighted by how much."""
        successes: dict[int, list[tuple[float, float, float]]] = {}
        for i, op, value in self.follow_budget:
            gain = improvement(float(self.fitness[i]), value, self.f_wsf)
            if gain > 0.0:
                successes.setdefault(op, []).append((gain, *self.used[i]))
        self.success_rate = sum(map(len, successes.values())) / max(len(self.follow_budget), 1)
        for op, found in successes.items():
            if not self.adapts[op]:
                continue
            largest = max(gain for gain, _, _ in found)
            weights = [gain / largest for gain, _, _ in found]
            place = self.oldest[op] % MEMORY
            if "F" in self.adapts[op]:
                self.means[op][0][place] = lehmer_mean([scale for _, scale, _ in found], weights)
            if "CR" in self.adapts[op]:
                self.means[op][1][place] = weighted_mean([rate for _, _, rate in found], weights)
            self.oldest[op] += 1

    # -- trials

    def _ranking(self) -> list[int]:
        return sorted(range(self.population_size), key=lambda k: (float(self.fitness[k]), k))

    def drawn_trial(self, i: int, donors: Sequence[int], op: int) -> FloatArray:
        """The trial of parent i: F and CR, mutant and crossover mask are drawn here, in this order."""
        scale, rate = self._parameters(i, op)
        mutated = self._mutant(i, donors, self.portfolio[op][0], scale)
        mask = self.source.mask(rate, self.dimension)
        return self._crossed_and_repaired(self.population[i], mutated, mask)

    def _mutant(self, i: int, donors: Sequence[int], strategy: str, scale: float) -> FloatArray:
        points = [self.population[k] for k in donors]
        parent, best = self.population[i], self.population[self.best_index]
        with np.errstate(over="ignore", invalid="ignore"):
            if strategy == "best/1":
                return best + scale * (points[0] - points[1])
            if strategy == "curr-to-best/1":
                return parent + scale * (best - parent + points[0] - points[1])
            if strategy == "curr-to-pbest/1":
                pbest = self._guide()
                other = self._parent_or_archived(points[1], others_used=1)
                return parent + scale * (pbest - parent + points[0] - other)
            if strategy == "rand-to-pbest/1":
                pbest = self._guide()
                other = self._parent_or_archived(points[2], others_used=2)
                return points[0] + scale * (pbest - points[0] + points[1] - other)
            if strategy == "rand-to-best/1":
                return points[0] + scale * (best - points[0] + points[1] - points[2])
            if strategy == "best/2":
                return best + scale * (points[0] - points[1] + points[2] - points[3])
            if strategy == "gauss":
                return self._gaussian_sample(scale)
            if strategy == "cma":
                return self._sample(scale)
        return mutant(strategy, scale, parent, best, points)

    def _guide(self) -> FloatArray:
        count = min(max(2, rounded(self.pbest * self.population_size)), self.population_size)
        return self.population[self._ranking()[self.source.integer_below(count)]]

    def _parent_or_archived(self, parent: FloatArray, others_used: int) -> FloatArray:
        """One of the parents that are not used yet (`parent` was drawn from them) and of the archive, all alike."""
        left = self.population_size - 1 - others_used
        place = self.source.integer_below(left + len(self.archive))
        return parent if place < left else self.archive[place - left]

    def _better_half(self) -> FloatArray:
        return self.population[self._ranking()[: self.population_size // 2]]

    def _gaussian_sample(self, scale: float) -> FloatArray:
        better = self._better_half()
        deviations = better - better.mean(axis=0)
        numbers = np.array([self.source.normal() for _ in better])
        return better.mean(axis=0) + scale * (numbers @ deviations) / math.sqrt(len(better))

    def _sample(self, scale: float) -> FloatArray:
        if not self.distribution.alive:
            self.distribution.begin(self._better_half())
        return self.distribution.sample(scale, np.array([self.source.normal() for _ in range(self.dimension)]))

    # -- prescreening

    def make_candidates(self, i: int, donors: Sequence[int], op: int) -> list[Candidate]:
        """The trials of parent i by one operator: the first with these donors, the others with new ones."""
        self.candidates: list[Candidate] = []
        for k in range(self.n_candidates):
            own = donors if k == 0 else self.source.donors(i, self.population_size)
            point = self.drawn_trial(i, own, op)
            self.candidates.append(Candidate(point, own, self.used[i]))
        return self.candidates

    def take_candidate(self, i: int, k: int) -> FloatArray:
        """The trial that was picked."""
        self.used[i] = self.candidates[k].used
        return self.candidates[k].point

    def candidate_scores(self, point: FloatArray) -> float:
        """From 1, what is as good as the best known point, to 0, as bad as the worst, by the model of their ranks; more
        for points that are far from all of them."""
        if self.looked != self.generation and (self.model is None or self.evaluations - self.renewed >= REFIT_INTERVAL):
            self.model, self.renewed = self._fitted(), self.evaluations
        self.looked = self.generation
        assert self.model is not None
        known, weights, squared_length_scale = self.model
        distances = [math.dist(x, self._scaled(point)) for x in known]
        near = [squared_length_scale / (squared_length_scale + distance**2) for distance in distances]
        expected = 0.5 + 0.5 * math.fsum(w * s for w, s in zip(weights, near, strict=True))
        return expected + min(distances) ** 2 / squared_length_scale

    def _scaled(self, point: FloatArray) -> FloatArray:
        """In widths of the box; coordinates without a width are left out."""
        widths = self.upper - self.lower
        return point[widths > 0.0] / widths[widths > 0.0]

    def _fitted(self) -> tuple[FloatArray, list[float], float]:
        """The points, their weights and the range of the model."""
        room = min(120, max(80, 2400 // self.dimension))
        best = self._ranking()[:room]
        newest = self.recent_points[::-1][: room - len(best)]
        known = np.array([self._scaled(x) for x in [*self.population[best], *(x for x, _ in newest)]])
        values = [*self.fitness[best].tolist(), *(value for _, value in newest)]
        better = [sum(other < value for other in values) for value in values]
        as_good = [sum(other <= value for other in values) for value in values]
        ranks = 1.0 - (np.array(better) + np.array(as_good) - 1) / (len(values) - 1)
        squared_length_scale = max(20.0 * float(((known - known.mean(axis=0)) ** 2).sum(axis=1).mean()), 1e-300)
        similar = np.array(
            [[squared_length_scale / (squared_length_scale + math.dist(x, y) ** 2) for y in known] for x in known]
        )
        weights: list[float] = np.linalg.solve(similar + 1e-3 * np.eye(len(values)), ranks).tolist()
        return known, weights, squared_length_scale

    # -- the end of a generation

    @property
    def archive_room(self) -> int:
        return rounded(self.archive_rate * self.population_size) if self.uses_archive else 0

    @property
    def follow_budget(self) -> list[tuple[int, int, float]]:
        """(i, operator, value) of the trials of this generation."""
        return [
            (i, op, value) for i, ((op, _), value) in enumerate(zip(self.current_generation, self.told, strict=True))
        ]

    def commit(self, i: int, op: int, trial_point: Any, value: float) -> dict[str, float | None]:
        if i == 0:
            self.told: list[float] = []
            self.tried: list[FloatArray] = []
        self.told.append(stored_value(value))
        self.tried.append(np.array(trial_point))
        if self.portfolio[op][0] == "cma":
            self.distribution.take(stored_value(value), np.array(trial_point))
        return super().commit(i, op, trial_point, value)

    def _finish_generation(self) -> None:
        self.origin = None
        self.drifting = np.mean([value == self.fitness[i] for i, _, value in self.follow_budget]) > 0.02
        self._learn()
        for (i, _, value), trial in zip(self.follow_budget, self.tried, strict=True):
            parent = (self.population[i].copy(), float(self.fitness[i]))
            self.recent_points.append(parent if value <= parent[1] else (trial, value))
        for index, _, value in self.accepted:
            if value < self.fitness[index]:
                self._archive(self.population[index].copy())
        super()._finish_generation()
        self._shrink()
        self._return_to_the_best()
        if not self.ended and self._has_converged() and self._is_worth_a_restart():
            self._restart()

    def _archive(self, point: FloatArray) -> None:
        if self.archive_room == 0:
            return
        if len(self.archive) < self.archive_room:
            self.archive.append(point)
        else:
            self.archive[self.source.integer_below(self.archive_room)] = point

    def _shrink(self) -> None:
        """Only the best stay, in the order that they have."""
        span = self.final_population - self.first_population
        size = rounded(self.first_population + span * (self.evaluations / self.budget))
        if size >= self.population_size:
            return
        self.origin = sorted(self._ranking()[:size])
        self.population, self.fitness = self.population[self.origin], self.fitness[self.origin]
        self.population_size = size
        while len(self.archive) > self.archive_room:
            gone = self.source.integer_below(len(self.archive))
            last = self.archive.pop()
            if gone < len(self.archive):
                self.archive[gone] = last

    # -- restarts

    def _has_converged(self) -> bool:
        if self.restart_tolerance == 0.0 or self.budget - self.evaluations <= self.population_size:
            return False
        worst, best = float(self.fitness.max()), float(self.fitness.min())
        if worst == math.inf or worst - best > self.restart_tolerance * (self.f_wsf - self.f_bsf):
            return False
        extent = self.population.max(axis=0) - self.population.min(axis=0)
        allowed = self.restart_tolerance * (8.0 if self.drifting else 1.0)
        return bool(np.all(extent <= allowed * (self.upper - self.lower)))

    @property
    def _before_the_reserve(self) -> float:
        """Evaluations; negative inside of the reserve."""
        return self.budget - self.evaluations - rounded(self.restart_final_fraction * self.budget)

    def _is_worth_a_restart(self) -> bool:
        return self.restart_final_fraction == 0.0 or self._before_the_reserve >= self.evaluations - self.born

    def _return_to_the_best(self) -> None:
        """The best of the populations that were left, cut to the present size, instead of a worse one; only once."""
        if self.best_population is None or self._before_the_reserve > 0:
            return
        points, values = self.best_population
        self.best_population = None
        if values[0] < self.fitness.min():
            self.population, self.fitness = points[: self.population_size], values[: self.population_size]
            self.origin = [-1] * self.population_size
            self.archive = []
            self.returns += 1

    def _restart(self) -> None:
        ranking = self._ranking()
        if self.restart_final_fraction > 0.0 and (
            self.best_population is None or self.fitness[ranking[0]] < self.best_population[1][0]
        ):
            self.best_population = self.population[ranking], self.fitness[ranking]
        self.born = self.evaluations
        self.population = self.initial_source.population(self.population_size, self.lower, self.upper)
        self.fitness = np.full(self.population_size, math.inf)
        self.origin = [-1] * self.population_size
        self._forget()
        self.distribution.alive = False
        self.restarts += 1
        self.waiting = True

    def take_value(self, i: int, value: float) -> None:
        """The value of individual i of a new population; they come in order."""
        self.fitness[i] = stored_value(value)
        self.stagnation = 0 if stored_value(value) < self.f_bsf else self.stagnation + 1
        self._count_evaluation(self.population[i], value)
        complete = i == self.population_size - 1
        self.ended = self._budget_is_spent() or (self._target_is_reached() and (complete or not self.deferred))
        if complete or self.ended:
            self.waiting = False
            self.origin = None
