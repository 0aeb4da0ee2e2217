"""Random constrained problems, on which the handling of constraints was chosen: none of them is a published one.

    python -m benchmarks.generated_constraints            # median gap to the best known value, and runs without a point

Objectives are linear, quadratic, curved valleys or multimodal; constraints are half-spaces, balls to be inside or
outside of, and linear or quadratic equalities, in units between 1e-3 and 1e3.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import LinearConstraint, NonlinearConstraint, minimize

import deddqn

OBJECTIVES = ("linear", "quadratic", "valley", "multimodal")
CONSTRAINTS = ("half-spaces", "balls", "outside", "linear equality", "curved equality", "mixed")
BOX = 5.0


@dataclass(frozen=True)
class Generated:
    """A problem: objective, constraints of scipy, dimension and budget."""

    name: str
    fun: Any
    constraints: list[Any]
    dimension: int
    budget: int

    @property
    def bounds(self) -> list[tuple[float, float]]:
        """The box."""
        return [(-BOX, BOX)] * self.dimension


def objective(kind: str, rng: np.random.Generator, n: int) -> Any:
    """A random objective."""
    basis = np.linalg.qr(rng.standard_normal((n, n)))[0]
    centre, slope = rng.uniform(-BOX, BOX, n), rng.standard_normal(n)
    stretch = basis * 10.0 ** np.linspace(0, 1.5, n)
    if kind == "linear":
        return lambda x: float(slope @ x)
    if kind == "quadratic":
        return lambda x: float((((x - centre) @ stretch) ** 2).sum())
    if kind == "valley":
        return lambda x: float((100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum())
    return lambda x: float((((x - centre) @ basis) ** 2 - 5 * np.cos(2 * np.pi * (x - centre) / 2)).sum())


def constraint(kind: str, rng: np.random.Generator, n: int) -> list[Any]:
    """Random constraints of a kind; the point `inside` satisfies all of them."""
    inside = rng.uniform(-0.6 * BOX, 0.6 * BOX, n)
    unit = 10.0 ** rng.uniform(-3, 3)
    if kind == "half-spaces":
        matrix = unit * rng.standard_normal((max(2, n // 2), n))
        return [LinearConstraint(matrix, -np.inf, matrix @ inside + unit * rng.uniform(0, 1, len(matrix)))]
    if kind == "balls":
        others = [inside + rng.standard_normal(n) for _ in range(2)]
        radii = [1.05 * float(((inside - c) ** 2).sum()) + 0.1 for c in others]
        return [_squares(c, unit, -np.inf, r) for c, r in zip(others, radii, strict=True)]
    if kind == "outside":
        others = [rng.uniform(-BOX, BOX, n) for _ in range(3)]
        return [_squares(c, unit, 0.8 * float(((inside - c) ** 2).sum()), np.inf) for c in others]
    if kind == "linear equality":
        matrix = unit * rng.standard_normal((max(1, n // 3), n))
        return [LinearConstraint(matrix, matrix @ inside, matrix @ inside)]
    if kind == "curved equality":
        centre = rng.uniform(-BOX, BOX, n)
        return [_squares(centre, 1.0, r := float(((inside - centre) ** 2).sum()), r)]
    row = rng.standard_normal(n)
    balls = constraint("balls", rng, n)
    middle = balls[0].centre
    return [*balls, LinearConstraint(row[None], row @ middle, row @ middle)]


class _squares(NonlinearConstraint):
    """lower <= unit |x - centre|^2 <= upper, with limits in units."""

    def __init__(self, centre: np.ndarray, unit: float, lower: float, upper: float) -> None:
        self.centre = centre
        super().__init__(lambda x: unit * float(((x - centre) ** 2).sum()), unit * lower, unit * upper)


def generated(count: int = 48) -> list[Generated]:
    """The problems: every objective with every kind of constraints, in several dimensions and budgets."""
    made = []
    for k in range(count):
        rng = np.random.default_rng(1000 + k)
        f, c = OBJECTIVES[k % 4], CONSTRAINTS[(k // 4) % 6]
        n, budget = int(rng.choice([2, 4, 7, 10, 15])), int(rng.choice([2000, 5000, 10_000]))
        fun, constraints = objective(f, rng, n), constraint(c, rng, n)
        made.append(Generated(f"{f}, {c}, {n}-D, {budget}", fun, constraints, n, budget))
    return made


def best_known(problem: Generated, starts: int = 30) -> float:
    """The best value that SLSQP finds from many starts, equalities within 1e-4."""
    rng, best = np.random.default_rng(5), np.inf
    for _ in range(starts):
        start = rng.uniform(-BOX, BOX, problem.dimension)
        found = minimize(
            problem.fun, start, method="SLSQP", bounds=problem.bounds, constraints=problem.constraints,
            options={"maxiter": 300, "ftol": 1e-12},
        )  # fmt: skip
        if found.success and found.fun < best:
            best = float(found.fun)
    return best


def run(problem: Generated, seed: int, **options: Any) -> float:
    """The best feasible value of a run; +inf if there is none."""
    result = deddqn.minimize(
        problem.fun, problem.bounds, constraints=problem.constraints, maxfun=problem.budget, rng=seed, **options
    )
    return float(result.fun) if result.success else np.inf


def main() -> None:
    """Print a line per problem."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--polish", action="store_true")
    options = parser.parse_args()
    for problem in generated():
        values = np.array([run(problem, seed, polish=options.polish) for seed in range(options.seeds)])
        known = best_known(problem)
        print(f"{problem.name:45} {np.median(values) - known:12.3e} {int(np.isinf(values).sum()):3}")


if __name__ == "__main__":
    main()
