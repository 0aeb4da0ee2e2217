"""The distribution of the strategy ``cma``, in matrices.

N(m, sigma^2 C) after N. Hansen, "The CMA evolution strategy: a tutorial" (arXiv:1604.00772): the symbols are those of
its summary, the weights are the positive ones, and a triangular A with A A' = C takes the place of the symmetric root.
Steps are shortened as those of injected solutions are (N. Hansen, arXiv:1110.4181).
"""

from __future__ import annotations

import math

import numpy as np

from .de_reference import FloatArray

MOST_DOUBLINGS = 3
SMALLEST_EXTENT = 1e-12  # in widths of the box
SMALLEST_DEVIATION = 1e-150
SMALLEST_PIVOT = 1e-14  # the share of its variance that a coordinate must have for itself


class Distribution:
    """What the samples of a run are drawn from, and what learns from them."""

    def __init__(self, widths: FloatArray) -> None:
        self.n, self.widths = len(widths), widths
        self.begun = 0
        self.alive = False  # otherwise it begins (anew) with the next sample

    def begin(self, points: FloatArray) -> None:
        """Mean and covariance of the points; the covariances count by how many of them there are."""
        count, n = len(points), self.n
        self.mean = points.mean(axis=0)
        scatter = (points - self.mean).T @ (points - self.mean) / count
        smallest = np.maximum(SMALLEST_EXTENT * self.widths, SMALLEST_DEVIATION)
        self.covariance: FloatArray = count / (count + n) * scatter
        np.fill_diagonal(self.covariance, np.maximum(np.diag(scatter), smallest**2))
        self.factor: FloatArray = np.linalg.cholesky(self.covariance)
        self.sigma = 1.0
        self.path_sigma, self.path_covariance = np.zeros(n), np.zeros(n)
        self.sample_size = (4 + math.floor(3.0 * math.log(n))) * 2 ** min(self.begun, MOST_DOUBLINGS)
        self.waiting: list[tuple[float, FloatArray]] = []
        self.updates = 0
        self.best = math.inf
        self.stale = 0.0  # updates since the best value was found
        self.begun += 1
        self.alive = True

    def sample(self, scale: float, numbers: FloatArray) -> FloatArray:
        return self.mean + scale * self.sigma * (self.factor @ numbers)

    def take(self, value: float, point: FloatArray) -> None:
        """The value of a sample: it waits for others, unless the distribution came to its end in between."""
        if not self.alive:
            return
        self.waiting.append((value, point.copy()))
        if len(self.waiting) == self.sample_size:
            self._update()

    def _whitened(self, step: FloatArray) -> FloatArray:
        return np.linalg.solve(self.factor, step).astype(np.float64)

    def _shortened(self, step: FloatArray) -> FloatArray:
        longest = math.sqrt(self.n) + 2.0 * self.n / (self.n + 2.0)
        return step * min(1.0, longest / max(float(np.linalg.norm(self._whitened(step))), longest))

    def _update(self) -> None:
        n, mu = self.n, self.sample_size // 2
        ranked = sorted(self.waiting, key=lambda entry: entry[0])  # the earlier one first where values are equal
        self.waiting = []
        self.updates += 1

        weights = np.log((self.sample_size + 1) / 2) - np.log(np.arange(1, mu + 1))
        weights /= weights.sum()
        mass = 1.0 / float(np.sum(weights**2))  # mu_eff
        c_sigma = (mass + 2.0) / (n + mass + 5.0)
        d_sigma = 1.0 + 2.0 * max(0.0, math.sqrt((mass - 1.0) / (n + 1.0)) - 1.0) + c_sigma
        c_c = (4.0 + mass / n) / (n + 4.0 + 2.0 * mass / n)
        c_1 = 2.0 / ((n + 1.3) ** 2 + mass)
        c_mu = min(1.0 - c_1, 2.0 * (mass - 2.0 + 1.0 / mass) / ((n + 2.0) ** 2 + mass))
        expected = math.sqrt(n) * (1.0 - 1.0 / (4.0 * n) + 1.0 / (21.0 * n**2))

        steps = np.array([self._shortened((point - self.mean) / self.sigma) for _, point in ranked[:mu]])
        step = weights @ steps
        self.mean = self.mean + self.sigma * step

        turned = math.sqrt(c_sigma * (2.0 - c_sigma) * mass) * self._whitened(step)
        self.path_sigma = (1.0 - c_sigma) * self.path_sigma + turned
        length = float(np.linalg.norm(self.path_sigma))
        unbiased = length / math.sqrt(1.0 - (1.0 - c_sigma) ** (2 * self.updates))
        h_sigma = 1.0 if unbiased < (1.4 + 2.0 / (n + 1.0)) * expected else 0.0
        self.path_covariance = (1.0 - c_c) * self.path_covariance + h_sigma * math.sqrt(c_c * (2.0 - c_c) * mass) * step
        rank_one = np.outer(self.path_covariance, self.path_covariance)
        rank_mu = steps.T @ np.diag(weights) @ steps
        best_population = 1.0 - c_1 - c_mu + c_1 * (1.0 - h_sigma) * c_c * (2.0 - c_c)
        self.covariance = best_population * self.covariance + c_1 * rank_one + c_mu * rank_mu
        self.sigma *= math.exp(min(1.0, c_sigma / d_sigma * (length / expected - 1.0)))

        self._note_values([value for value, _ in ranked])
        self.alive = self._factorise() and not self._is_spent()

    def _note_values(self, values: list[float]) -> None:
        self.stale = 0.0 if values[0] < self.best else self.stale + 1.0
        self.best = min(self.best, values[0])
        if values[0] == values[-1]:
            self.stale = math.inf

    def _factorise(self) -> bool:
        """False where C is not positive definite, or so nearly that digits tell nothing."""
        try:
            self.factor = np.linalg.cholesky(self.covariance).astype(np.float64)
        except np.linalg.LinAlgError:
            return False
        return bool(np.all(np.diag(self.factor) ** 2 > SMALLEST_PIVOT * np.diag(self.covariance)))

    def _is_spent(self) -> bool:
        """Nothing better for long, or narrower than digits are worth in every direction."""
        extents = self.sigma * np.sqrt(np.diag(self.covariance))
        patience = 10.0 + 30.0 * self.n / self.sample_size
        return self.stale > patience or bool(np.all(extents <= SMALLEST_EXTENT * self.widths))
