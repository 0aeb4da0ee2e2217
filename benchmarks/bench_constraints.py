"""`minimize(constraints=)` beside scipy, pymoo and pycma on 18 constrained problems of the literature.

    python -m benchmarks.bench_constraints                      # 11 seeds, about a quarter of an hour on one core
    python -m benchmarks.bench_constraints --seeds 3 --only g06 spring

All get the same number of evaluations (5,000 for fewer than 8 variables, else 10,000). An evaluation is a point at
which value or constraints are asked for; it gives both. A recorder counts them, ends a run that asks for more, and
keeps the best feasible value; equalities may be missed by 1e-4. We are first or level on a problem unless another's
values are significantly lower (Mann-Whitney, 5%) and its median is lower by more than 1e-6 of the optimum. Results are
kept in ``--store``, so that an interrupted comparison goes on.
"""

from __future__ import annotations

import argparse
import json
import math
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import deddqn
from benchmarks.constrained_problems import EQUALITY, PROBLEMS, Constrained
from deddqn.analysis.statistics import mann_whitney

LEVEL = 1e-6  # relative difference of medians that nobody needs


class Enough(Exception):
    """All evaluations are used."""


class Recorder:
    """A problem that counts evaluations and remembers the best feasible value."""

    def __init__(self, problem: Constrained) -> None:
        self.problem, self.best, self.used = problem, math.inf, 0
        self._last: tuple[bytes, float, np.ndarray] = (b"", math.nan, np.empty(0))

    def at(self, x: np.ndarray) -> tuple[float, np.ndarray]:
        """(value, constraint values); asking again for the point of the last call is free."""
        point = np.clip(np.asarray(x, dtype=float), self.problem.low, self.problem.high)
        key = point.tobytes()
        if key != self._last[0]:
            if self.used >= self.problem.budget:
                raise Enough
            self.used += 1
            value, values = self.problem.fun(point)
            if value < self.best and not self.problem.excess(values).any():
                self.best = value
            self._last = (key, value, values)
        return self._last[1], self._last[2]

    def inequalities(self, x: np.ndarray) -> np.ndarray:
        """All constraints as values that must not be above 0."""
        values, problem = self.at(x)[1], self.problem
        slack = np.where(problem.equal, EQUALITY, 0.0)
        both = np.concatenate([problem.lower - slack - values, values - problem.upper - slack])
        return both[np.isfinite(both)]


def by_deddqn(recorder: Recorder, seed: int, **options: Any) -> None:
    """Ours, as it comes."""
    problem = recorder.problem
    deddqn.minimize(
        recorder.at,
        list(zip(problem.low, problem.high, strict=True)),
        constraints=deddqn.ReturnedConstraint(problem.lower, problem.upper),
        maxfun=problem.budget,
        rng=seed,
        **options,
    )


def by_scipy(recorder: Recorder, seed: int) -> None:
    """scipy's differential_evolution with its defaults; its polishing gets a tenth of the evaluations."""
    from scipy.optimize import NonlinearConstraint, differential_evolution

    problem = recorder.problem
    slack = np.where(problem.equal, EQUALITY, 0.0)
    limits = NonlinearConstraint(lambda x: recorder.at(x)[1], problem.lower - slack, problem.upper + slack)
    generations = int(0.9 * problem.budget / (15 * len(problem.low))) - 1
    box = list(zip(problem.low, problem.high, strict=True))
    differential_evolution(
        lambda x: recorder.at(x)[0], box, constraints=limits, maxiter=max(generations, 1), rng=seed, tol=0.0
    )


def by_pymoo(algorithm: str) -> Callable[[Recorder, int], None]:
    """pymoo's differential evolution with a shrinking epsilon, or its stochastic ranking (ISRES)."""

    def run(recorder: Recorder, seed: int) -> None:
        from pymoo.algorithms.soo.nonconvex.de import DE
        from pymoo.algorithms.soo.nonconvex.isres import ISRES
        from pymoo.constraints.eps import AdaptiveEpsilonConstraintHandling
        from pymoo.core.problem import ElementwiseProblem
        from pymoo.optimize import minimize

        problem = recorder.problem
        count = int(np.isfinite(np.concatenate([problem.lower, problem.upper])).sum())

        class Theirs(ElementwiseProblem):
            def __init__(self) -> None:
                super().__init__(n_var=len(problem.low), n_obj=1, n_ieq_constr=count, xl=problem.low, xu=problem.high)

            def _evaluate(self, x: np.ndarray, out: dict[str, Any], *args: Any, **kwargs: Any) -> None:
                out["F"], out["G"] = recorder.at(x)[0], recorder.inequalities(x)

        method = AdaptiveEpsilonConstraintHandling(DE(), perc_eps_until=0.5) if algorithm == "DE" else ISRES()
        minimize(Theirs(), method, ("n_eval", problem.budget), seed=seed, verbose=False)

    return run


def by_pycma(recorder: Recorder, seed: int) -> None:
    """CMA-ES with pycma's augmented Lagrangian on the unit box, restarted with twice the samples until all is used."""
    import cma

    problem = recorder.problem
    width, rng, factor = problem.high - problem.low, np.random.default_rng(seed), 1
    size = 4 + int(3 * math.log(len(width)))
    while True:
        options = {
            "bounds": [0, 1], "verbose": -9, "seed": 1 + int(rng.integers(2**31 - 2)), "popsize": size * factor,
            "maxfevals": problem.budget - recorder.used + 1,
        }  # fmt: skip
        cma.fmin_con2(
            lambda u: recorder.at(problem.low + u * width)[0], rng.uniform(0, 1, len(width)), 0.3,
            constraints=lambda u: recorder.inequalities(problem.low + u * width), options=options,
        )  # fmt: skip
        factor = min(2 * factor, 8)


METHODS: dict[str, Callable[[Recorder, int], None]] = {
    "deddqn": by_deddqn,
    "deddqn, no polish": lambda recorder, seed: by_deddqn(recorder, seed, polish=False),
    "scipy DE": by_scipy,
    "pymoo DE": by_pymoo("DE"),
    "pymoo ISRES": by_pymoo("ISRES"),
    "pycma AL": by_pycma,
}
OURS = ("deddqn", "deddqn, no polish")


def best_of(problem: Constrained, method: str, seed: int) -> float:
    """The best feasible value of one run; +inf if there was none."""
    recorder = Recorder(problem)
    try:
        METHODS[method](recorder, seed)
    except Enough:
        pass
    return recorder.best


def is_lost(ours: list[float], theirs: list[float], optimum: float) -> bool:
    """Whether theirs are significantly lower, by more than nobody needs."""
    mine, other = np.median(ours), np.median(theirs)
    if not other < mine - LEVEL * max(abs(optimum), 1e-3):
        return False
    largest = 1e300  # runs without a feasible point are worse than all others
    return bool(mann_whitney(np.minimum(ours, largest), np.minimum(theirs, largest)) < 0.05)


def compare(results: dict[str, float], names: list[str], seeds: int) -> None:
    """Print the medians of the errors, as Markdown, and how many problems are first or level."""
    print("| problem | " + " | ".join(METHODS) + " | |\n" + "|---" * (len(METHODS) + 2) + "|")
    for own in OURS:
        kept = 0
        for name in names:
            values = {m: [results[f"{name}/{m}/{s}"] for s in range(seeds)] for m in METHODS}
            lost = [m for m in METHODS if m not in OURS and is_lost(values[own], values[m], PROBLEMS[name].optimum)]
            kept += not lost
            if own == OURS[0]:
                errors = [_error(values[m], PROBLEMS[name].optimum) for m in METHODS]
                print(f"| {name} | " + " | ".join(errors) + f" | {'behind ' + ', '.join(lost) if lost else ''} |")
        print(f"\n{own}: first or level on {kept} of {len(names)}")


def _error(values: list[float], optimum: float) -> str:
    missed = int(np.isinf(values).sum())
    middle = float(np.median(values)) - optimum
    text = "none" if math.isinf(middle) else f"{max(middle, 0.0):.1e}"
    return text + (f" ({missed} without)" if missed and not math.isinf(middle) else "")


def main() -> None:
    """Run what is missing, then print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=11)
    parser.add_argument("--only", nargs="*", choices=list(PROBLEMS))
    parser.add_argument("--methods", nargs="*", choices=list(METHODS), default=list(METHODS), help="run only these")
    parser.add_argument("--store", type=Path, default=Path("out/constraints.json"))
    options = parser.parse_args()
    names = options.only or list(PROBLEMS)
    results = json.loads(options.store.read_text()) if options.store.exists() else {}
    options.store.parent.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    for seed in range(options.seeds):
        for name in names:
            for method in options.methods:
                if f"{name}/{method}/{seed}" not in results:
                    results[f"{name}/{method}/{seed}"] = best_of(PROBLEMS[name], method, seed)
        options.store.write_text(json.dumps(results))
    if set(options.methods) == set(METHODS):
        compare(results, names, options.seeds)


if __name__ == "__main__":
    main()
