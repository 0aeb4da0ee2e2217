"""CMA-ES (Hansen 2016, arXiv:1604.00772) with its default constants, for the direct search of policies.

Written by hand because a policy search must resume to the bit: the whole state is a few arrays.
"""

from __future__ import annotations

import math

import numpy as np

from deddqn._utils.reading import check_arrays, forms_of


class CMAES:
    """Minimises a function; only the ranks of the values of a generation are used.

    Parameters
    ----------
    mean, sigma : initial mean and step size.
    offspring : points per generation (lambda).
    seed : generation g draws from ``default_rng([seed, g])``, so a resumed search draws the same points.
    """

    def __init__(self, mean: np.ndarray, sigma: float, offspring: int, seed: int) -> None:
        n = mean.size
        self.mean, self.sigma, self.offspring, self.seed = mean.astype(float), float(sigma), offspring, seed
        self.generation = 0
        half = offspring // 2
        raw = math.log((offspring + 1) / 2) - np.log(np.arange(1, half + 1))
        self.weights = raw / raw.sum()
        self.mu_eff = 1.0 / np.sum(self.weights**2)
        self.c_sigma = (self.mu_eff + 2) / (n + self.mu_eff + 5)
        self.damping = 1 + 2 * max(0.0, math.sqrt((self.mu_eff - 1) / (n + 1)) - 1) + self.c_sigma
        self.c_c = (4 + self.mu_eff / n) / (n + 4 + 2 * self.mu_eff / n)
        self.c_1 = 2 / ((n + 1.3) ** 2 + self.mu_eff)
        self.c_mu = min(1 - self.c_1, 2 * (self.mu_eff - 2 + 1 / self.mu_eff) / ((n + 2) ** 2 + self.mu_eff))
        self.expected = math.sqrt(n) * (1 - 1 / (4 * n) + 1 / (21 * n**2))  # length of a normal vector
        self.path_sigma, self.path_c, self.covariance = np.zeros(n), np.zeros(n), np.eye(n)

    def ask(self) -> np.ndarray:
        """(offspring, n): the points of this generation; the same ones until `tell`."""
        rng = np.random.default_rng([self.seed, self.generation])
        scales, axes = self._axes()
        return self.mean + self.sigma * (rng.standard_normal((self.offspring, self.mean.size)) * scales) @ axes.T

    def tell(self, points: np.ndarray, values: np.ndarray) -> None:
        """Update mean, evolution paths, covariance and step size from the better half of the points."""
        n = self.mean.size
        best = points[np.argsort(values, kind="stable")[: self.weights.size]]
        steps = (best - self.mean) / self.sigma
        step = self.weights @ steps
        scales, axes = self._axes()
        whitened = axes @ ((axes.T @ step) / scales)
        self.mean = self.mean + self.sigma * step
        kept = 1 - self.c_sigma
        self.path_sigma = kept * self.path_sigma + math.sqrt(self.c_sigma * (2 - self.c_sigma) * self.mu_eff) * whitened
        self.generation += 1
        length = float(np.linalg.norm(self.path_sigma))
        unbiased = length / math.sqrt(1 - kept ** (2 * self.generation))
        moving = unbiased < (1.4 + 2 / (n + 1)) * self.expected
        self.path_c = (1 - self.c_c) * self.path_c
        if moving:
            self.path_c += math.sqrt(self.c_c * (2 - self.c_c) * self.mu_eff) * step
        lost = 0.0 if moving else self.c_1 * self.c_c * (2 - self.c_c)
        self.covariance = (
            (1 - self.c_1 - self.c_mu + lost) * self.covariance
            + self.c_1 * np.outer(self.path_c, self.path_c)
            + self.c_mu * (steps.T * self.weights) @ steps
        )
        self.sigma *= math.exp(self.c_sigma / self.damping * (length / self.expected - 1))

    def _axes(self) -> tuple[np.ndarray, np.ndarray]:
        """Lengths and directions of the axes of the covariance."""
        values, vectors = np.linalg.eigh((self.covariance + self.covariance.T) / 2)
        return np.sqrt(np.maximum(values, 1e-20)), vectors

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Everything that `tell` changes."""
        numbers = np.array([self.sigma, self.generation])
        paths = {"path_sigma": self.path_sigma, "path_c": self.path_c}
        return {"mean": self.mean, "covariance": self.covariance, "numbers": numbers, **paths}

    def load_arrays(self, arrays: dict[str, np.ndarray]) -> None:
        """Take back what `to_arrays` gave."""
        check_arrays(arrays, forms_of(self.to_arrays()))
        sigma, generation = arrays["numbers"].tolist()
        if not (0.0 < sigma < math.inf and 0 <= generation == int(generation)):
            raise ValueError(f"sigma must be positive and the generation a whole number, got {sigma} and {generation}")
        self.mean, self.covariance = arrays["mean"].copy(), arrays["covariance"].copy()
        self.path_sigma, self.path_c = arrays["path_sigma"].copy(), arrays["path_c"].copy()
        self.sigma, self.generation = float(arrays["numbers"][0]), int(arrays["numbers"][1])
