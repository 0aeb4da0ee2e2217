"""The authors' state a second time, plainly: the thirteen departures from Table 1, without kernels and tallies.

Everything is kept as it happened (every trial of every generation, the window as a list) and summed up again from the
start: the window whenever a state is asked for, generations whenever one ends. It knows nothing of ``deddqn.features``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

N_METRICS = 4


class Trial(NamedTuple):
    """One application: the operator, and OM_1..OM_4, None where it is no success."""

    op: int
    gains: tuple[float | None, ...]


class AuthorsReference:
    """The observer of a run of the paper's DE whose population, donors, trials and values are handed in."""

    def __init__(
        self,
        population: np.ndarray,
        values: np.ndarray,
        *,
        lower: np.ndarray,
        upper: np.ndarray,
        budget: int,
        n_ops: int = 4,
        largest_dimension: int = 50,
        generations: int = 10,
        window_size: int = 50,
    ) -> None:
        self.parents, self.values = population.copy(), values.copy()
        self.next_parents, self.next_values = population.copy(), values.copy()
        self.diagonal = float(np.linalg.norm(upper - lower))
        self.budget, self.n_ops, self.largest_dimension = budget, n_ops, largest_dimension
        self.remembered, self.window_size = generations, window_size
        self.evaluations = len(values)
        self.best, self.worst = float(values.min()), float(values.max())
        self.best_parent = population[values.argmin()].copy()
        self.unimproved = 0
        self.finished: list[list[Trial]] = []
        self.current: list[Trial] = []
        self.of_generations = [np.zeros(N_METRICS * n_ops)] * 4
        self.window: list[Trial] = []  # the element that entered first, first
        self.observed_before = False

    # What happens

    def commit(self, i: int, op: int, point: np.ndarray, value: float) -> None:
        """Enter the trial of individual `i`."""
        self.evaluations += 1
        gains: tuple[float | None, ...] = (None,) * N_METRICS
        if value <= self.values[i]:
            marks = (self.values.min(), self.best, np.median(self.values))
            gains = (self.values[i] - value, *(mark - value if value < mark else None for mark in marks))
            self.next_parents[i], self.next_values[i] = point, value
            self.unimproved += 1
            if value < self.best:
                self.best, self.best_parent, self.unimproved = value, self.parents[i].copy(), 0
            self._enter(Trial(op, gains))
        self.current.append(Trial(op, gains))
        if len(self.current) == len(self.values):
            self.finished.append(self.current)
            self.current = []
            self.of_generations = self._of_generations()
            self.parents, self.values = self.next_parents.copy(), self.next_values.copy()

    def _enter(self, trial: Trial) -> None:
        window = self.window
        if len(window) < self.window_size:
            window.append(trial)
            return
        of_the_same = [k for k, element in enumerate(window) if element.op == trial.op]
        if of_the_same == [len(window) - 1]:
            return
        for k in of_the_same:
            if k < len(window) - 1:
                window[k] = window[k + 1]
                window[-1] = trial
        if not of_the_same:
            first = [element.gains[0] for element in reversed(window)]
            if trial.gains[0] < max(first):  # type: ignore[operator, type-var]
                window[len(window) - 1 - int(np.argmax(first))] = trial  # type: ignore[arg-type]

    # What is seen

    def observe(self, i: int, donors: Any) -> np.ndarray:
        """The features of individual `i`."""
        if not self.observed_before:
            self.observed_before = True
            return np.zeros(19 + 20 * self.n_ops)
        windowed = [_mean(_gains(self.window, m, op)) for m, op in self._pairs()]
        return np.concatenate([self._landscape(i, donors), *self.of_generations, self._shares(windowed)])

    def _landscape(self, i: int, donors: Any) -> np.ndarray:
        others = [*donors, int(self.values.argmin())]
        span = self.worst - self.best
        if span == 0.0:
            span = np.inf
        return np.array(
            [
                (self.values[i] - self.best) / span,
                (self.values.mean() - self.best) / span,
                self.values.std() / (span / 2),
                (self.budget - self.evaluations) / self.budget,
                self.parents.shape[1] / self.largest_dimension,
                self.unimproved / self.budget,
                *np.linalg.norm(self.parents[others] - self.parents[i], axis=1) / self.diagonal,
                *np.abs(self.values[others] - self.values[i]) / span,
                np.linalg.norm(self.parents[i] - self.best_parent) / self.diagonal,
            ]
        )

    def _pairs(self) -> list[tuple[int, int]]:
        return [(m, op) for m in range(N_METRICS) for op in range(self.n_ops)]

    def _of_generations(self) -> list[np.ndarray]:
        recent = self.finished[: -self.remembered - 1 : -1]  # the newest first
        rates = [self._rate(recent, m, op) for m, op in self._pairs()]
        others = (self._mean_gain, self._change_of_best, self._weighted_bests)
        blocks = [self._shares([measure(recent, m, op) for m, op in self._pairs()]) for measure in others]
        return [np.array(rates), *blocks]

    def _shares(self, values: list[float]) -> np.ndarray:
        table = np.array(values).reshape(N_METRICS, self.n_ops)
        totals = table.sum(axis=1, keepdims=True)
        return np.divide(table, totals, out=np.zeros_like(table), where=totals != 0.0).ravel()

    @staticmethod
    def _rate(recent: list[list[Trial]], m: int, op: int) -> float:
        applications = [trial for generation in recent for trial in generation if trial.op == op]
        return len(_gains(applications, m, op)) / len(applications) if applications else 0.0

    @staticmethod
    def _mean_gain(recent: list[list[Trial]], m: int, op: int) -> float:
        applications = [trial for generation in recent for trial in generation if trial.op == op]
        return sum(_gains(applications, m, op)) / len(applications) if applications else 0.0

    @staticmethod
    def _change_of_best(recent: list[list[Trial]], m: int, op: int) -> float:
        bests, counts = [0.0, 0.0], [0, 0]
        for k, generation in enumerate(recent[:2]):
            if gains := _gains(generation, m, op):
                bests[k], counts[k] = max(gains), sum(trial.op == op for trial in generation)
        change = abs(bests[0] - bests[1])
        return change / (bests[1] or 1.0) / (abs(counts[0] - counts[1]) or 1)

    @staticmethod
    def _weighted_bests(recent: list[list[Trial]], m: int, op: int) -> float:
        bests = [max(gains) for generation in recent if (gains := _gains(generation, m, op))]
        return float(sum(sum(bests[: k + 1]) for k in range(len(bests))))


def _gains(trials: list[Trial], m: int, op: int) -> list[float]:
    return [gain for trial in trials if trial.op == op and (gain := trial.gains[m]) is not None]


def _mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else 0.0
