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
import itertools
import json
import math
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import deddqn
from benchmarks.bars import Bar, print_bars
from benchmarks.constrained_problems import EQUALITY, PROBLEMS, Constrained
from deddqn.analysis.statistics import mann_whitney

SEEDS = 11
STORE = Path("out/constraints.json")
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
    """pymoo's differential evolution with a shrinking epsilon, its genetic algorithm, or stochastic ranking (ISRES)."""

    def run(recorder: Recorder, seed: int) -> None:
        from pymoo.algorithms.soo.nonconvex.de import DE
        from pymoo.algorithms.soo.nonconvex.ga import GA
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

        methods = {"DE": AdaptiveEpsilonConstraintHandling(DE(), perc_eps_until=0.5), "GA": GA(), "ISRES": ISRES()}
        minimize(Theirs(), methods[algorithm], ("n_eval", problem.budget), seed=seed, verbose=False)

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
    "pymoo GA": by_pymoo("GA"),
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


def compare(results: dict[str, float], names: list[str], seeds: int) -> list[Bar]:
    """Print the medians of the errors, as Markdown, and on how many problems we are first or level."""
    print("| problem | " + " | ".join(METHODS) + " | |\n" + "|---" * (len(METHODS) + 2) + "|")
    kept = dict.fromkeys(OURS, 0)
    for name in names:
        values = {m: [results[f"{name}/{m}/{s}"] for s in range(seeds)] for m in METHODS}
        optimum, others = PROBLEMS[name].optimum, [m for m in METHODS if m not in OURS]
        lost = {own: [m for m in others if is_lost(values[own], values[m], optimum)] for own in OURS}
        for own in OURS:
            kept[own] += not lost[own]
        errors = " | ".join(_error(values[m], optimum) for m in METHODS)
        behind = "; ".join(f"{own} behind {', '.join(ms)}" for own, ms in lost.items() if ms)
        print(f"| {name} | {errors} | {behind} |")
    what = "constrained problems on which we are first or level"
    print("\n" + "; ".join(f"{own}: {count} of {len(names)}" for own, count in kept.items()))
    return [Bar(what, kept[OURS[0]] / len(names), 0.9, " of all", smaller_is_better=False)]


def _error(values: list[float], optimum: float) -> str:
    missed = int(np.isinf(values).sum())
    middle = float(np.median(values)) - optimum
    text = "none" if math.isinf(middle) else f"{max(middle, 0.0):.1e}"
    return text + (f" ({missed} without)" if missed and not math.isinf(middle) else "")


def main(seeds: int = SEEDS, only: Sequence[str] = (), methods: Sequence[str] = (), store: Path = STORE) -> list[Bar]:
    """Run what is missing, print the table, return the bar; with `methods` these are run and nothing is compared."""
    names = list(only) or list(PROBLEMS)
    results = json.loads(store.read_text()) if store.exists() else {}
    store.parent.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    for seed in range(seeds):
        for name, method in itertools.product(names, methods or METHODS):
            if f"{name}/{method}/{seed}" not in results:
                results[f"{name}/{method}/{seed}"] = best_of(PROBLEMS[name], method, seed)
        store.write_text(json.dumps(results))
    bars = [] if methods else compare(results, names, seeds)
    print_bars(bars)
    return bars


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--only", nargs="*", choices=list(PROBLEMS), default=[])
    parser.add_argument("--methods", nargs="*", choices=list(METHODS), default=[], help="run only these")
    parser.add_argument("--store", type=Path, default=STORE)
    main(**vars(parser.parse_args()))
