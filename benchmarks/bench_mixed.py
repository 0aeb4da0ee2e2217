"""`minimize()` on problems with integers and categories, beside scipy's DE with `integrality` and Optuna's TPE.

``python -m benchmarks.bench_mixed --table`` writes the table of docs/guide/mixed-spaces.md; with ``--tpe`` Optuna takes
part, which takes an hour.

The problems are generated (`benchmarks/mixed_problems.py`); settings were chosen on other instances of them. All get
the same number of evaluations. scipy gets categories as integers, as it has nothing else for them, and a population
for which the budget lasts at least 20 generations. A family is lost when scipy's final values are significantly lower
(Mann-Whitney on values minus the best known of their instance, Holm over all families and budgets, 5%).
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np
from scipy.optimize import differential_evolution

import deddqn
from benchmarks.bars import Bar, print_bars
from benchmarks.mixed_problems import FAMILIES, MixedProblem
from deddqn.analysis.statistics import holm, mann_whitney

INSTANCES, RUNS, BUDGETS = 5, 5, (100, 300, 1000)
GENERATIONS = 20  # at least, of scipy's population
Method = Callable[[MixedProblem, int, int], float]


def ours(problem: MixedProblem, budget: int, seed: int) -> float:
    """Our best value."""
    return float(
        deddqn.minimize(problem.function, problem.bounds, integrality=problem.integrality, maxfun=budget, rng=seed).fun
    )


def rounded(problem: MixedProblem, budget: int, seed: int) -> float:
    """Ours when the function rounds, as one did without `integrality`."""
    lower, upper = np.array(problem.bounds, dtype=float).T
    discrete = np.array(problem.integrality) > 0

    def function(x: np.ndarray) -> float:
        return problem.function(np.where(discrete, np.clip(np.round(x), lower, upper), x))

    wider = np.column_stack([lower - 0.5 * discrete, upper + 0.5 * discrete])
    return float(deddqn.minimize(function, wider, maxfun=budget, rng=seed).fun)


def scipys(problem: MixedProblem, budget: int, seed: int) -> float:
    """The best value of scipy's DE."""
    dimension = len(problem.bounds)
    members = max(5, min(15 * dimension, budget // GENERATIONS))
    population = np.random.default_rng(seed).uniform(
        *np.array(problem.bounds, dtype=float).T, size=(members, dimension)
    )
    return float(
        differential_evolution(
            problem.function,
            problem.bounds,
            integrality=[kind > 0 for kind in problem.integrality],
            init=population,
            maxiter=budget // members - 1,
            tol=0.0,
            polish=False,
            rng=seed,
        ).fun
    )


def tpe(problem: MixedProblem, budget: int, seed: int) -> float:
    """The best value of Optuna's TPE, multivariate as its documentation advises."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed, multivariate=True))

    def function(trial: optuna.Trial) -> float:
        x = []
        for k, ((low, high), kind) in enumerate(zip(problem.bounds, problem.integrality, strict=True)):
            if kind == 0:
                x.append(trial.suggest_float(str(k), low, high))
            elif kind == 1:
                x.append(trial.suggest_int(str(k), int(low), int(high)))
            else:
                x.append(trial.suggest_categorical(str(k), list(range(int(low), int(high) + 1))))
        return problem.function(np.array(x, dtype=float))

    study.optimize(function, n_trials=budget)
    return float(study.best_value)


def measure(methods: dict[str, Method], budget: int) -> dict[str, dict[str, np.ndarray]]:
    """Family -> method -> final values (instances, runs)."""
    found: dict[str, dict[str, np.ndarray]] = {}
    for family, make in FAMILIES.items():
        found[family] = {
            name: np.array([[method(make(k), budget, seed) for seed in range(RUNS)] for k in range(INSTANCES)])
            for name, method in methods.items()
        }
    return found


def above_best(values: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Values minus the best of their instance that any method found."""
    best = np.min([rows.min(axis=1) for rows in values.values()], axis=0)
    return {name: (rows - best[:, None]).ravel() for name, rows in values.items()}


def main(table: bool = False, with_tpe: bool = False) -> list[Bar]:
    """Run everything, print medians above the best known, return the bar."""
    methods: dict[str, Method] = {"deddqn": ours, "scipy": scipys}
    if table:
        methods["rounding"] = rounded
    names, p_values, better = [], [], []
    for budget in BUDGETS:
        if with_tpe and budget <= 300:
            methods["TPE"] = tpe
        else:
            methods.pop("TPE", None)
        for family, values in measure(methods, budget).items():
            gaps = above_best(values)
            names.append(f"{family}, {budget}")
            p_values.append(mann_whitney(gaps["deddqn"], gaps["scipy"]))
            better.append(np.median(gaps["deddqn"]) < np.median(gaps["scipy"]))
            medians = "  ".join(f"{name} {np.median(gap):9.3g}" for name, gap in gaps.items())
            print(f"{names[-1]:<28} {medians}", flush=True)
    significant = holm(p_values) < 0.05
    lost = [name for name, sure, won in zip(names, significant, better, strict=True) if sure and not won]
    won = int(sum(significant & np.array(better)))
    print(f"{won} significant wins, {len(lost)} losses of {len(names)}: {'; '.join(lost) or 'none'}")
    bars = [Bar("mixed problems on which scipy's DE is significantly better", len(lost) / len(names), 0.1, "of all")]
    print_bars(bars)
    return bars


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--table", action="store_true", help="with rounding in the function, for the documentation")
    parser.add_argument("--tpe", action="store_true", dest="with_tpe", help="with Optuna's TPE, up to 300 evaluations")
    main(**vars(parser.parse_args()))
