"""Learned optimisers of other packages on BBOB: ``python -m benchmarks.rivals --methods deddqn les-v2 metabox:LDE``.

Their weights are those that their packages ship: evosax (``les-v1``, ``les-v2``, ``lga-v4``, ``lga-v7``, ``evotf``,
``cma-anchored-les``, ``des``) and metaevobox (``metabox:LDE`` ...). Neither is a requirement of ours; each wants an
environment of its own, so run this once in each: rows of other methods in ``--out`` stay. ``deddqn`` is `minimize`
without options; every other name is a policy or a baseline, as in `benchmarks.world`. ``--again`` forgets the saved
rows of the named methods first: for ``deddqn`` after its default has changed.

24 functions, D = 10, 10,000 evaluations, one run on each of the first ``--instances`` instances; errors are those of
the best point in the box, below 1e-8 they count as equal. Methods are ranked on every function by the median over the
instances; a method without a run on every one is left out of that table.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import rankdata

import deddqn
from benchmarks.world import best_found
from deddqn.analysis.statistics import SOLVED
from deddqn.baselines import BudgetedObjective
from deddqn.problems import Problem, get
from deddqn.problems.bbob import FUNCTIONS

BUDGET, DIMENSION = 10_000, 10
POPULATION = 16  # of evosax's strategies, which have no default
COLUMNS = ("method", "made_with", "problem", "error", "seconds")
SAVED = Path("docs/results/rivals.csv")
STD = 1.0  # of their first sample, a tenth of the box: their default but for one, which is also run with its own 0.05
EVOSAX: dict[str, tuple[str, dict[str, str]]] = {
    "les-v1": ("LearnedES", {"params_path": "les/2023_03_les_v1.pkl"}),
    "les-v2": ("LearnedES", {"params_path": "les/2023_10_les_v2.pkl"}),
    "lga-v4": ("LearnedGA", {"params_path": "lga/2023_04_lga_v4.pkl"}),
    "lga-v7": ("LearnedGA", {"params_path": "lga/2023_04_lga_v7.pkl"}),
    "cma-anchored-les": ("CMAAnchoredLES", {}),
    "cma-anchored-les-0.05": ("CMAAnchoredLES", {}),
    "evotf": ("EvoTF_ES", {}),
    "des": ("DiscoveredES", {}),
}
Search = Callable[[BudgetedObjective, int], None]


def evosax_search(name: str) -> Search:
    """A strategy of evosax, made and compiled once; it sees errors, whose digits single precision can hold."""
    import evosax.algorithms as algorithms
    import jax
    import jax.numpy as jnp

    kind, weights = EVOSAX[name]
    folder = Path(algorithms.__file__).parent / "ckpt"
    paths = {key: str(folder / path) for key, path in weights.items()}
    strategy = getattr(algorithms, kind)(population_size=POPULATION, solution=jnp.zeros(DIMENSION), **paths)
    std = 0.05 if name.endswith("-0.05") else STD
    params, by_population = strategy.default_params.replace(std_init=std), kind == "LearnedGA"

    def search(objective: BudgetedObjective, seed: int) -> None:
        problem, rng = objective.problem, np.random.default_rng(seed)
        points = rng.uniform(problem.lower, problem.upper, (POPULATION if by_population else 1, DIMENSION))
        key = jax.random.key(seed)
        if by_population:
            state = strategy.init(key, jnp.asarray(points), _errors(objective, points), params)
        else:
            state = strategy.init(key, jnp.asarray(points[0]), params)
        while True:
            key, asked, told = jax.random.split(key, 3)
            population, state = strategy.ask(asked, state, params)
            errors = _errors(objective, np.asarray(population, dtype=np.float64))
            state, _ = strategy.tell(told, population, errors, state, params)

    def _errors(objective: BudgetedObjective, points: np.ndarray) -> Any:
        return jnp.asarray(objective.batch(points) - objective.problem.optimum)

    return search


class MetaBoxProblem:
    """A problem as the learned optimisers of MetaBox want it."""

    def __init__(self, objective: BudgetedObjective) -> None:
        problem = objective.problem
        self.objective, self.optimum, self.dim, self.T1 = objective, problem.optimum, problem.dimension, 0.0
        self.lb, self.ub = float(problem.lower[0]), float(problem.upper[0])

    def __deepcopy__(self, memo: Any) -> MetaBoxProblem:
        return self  # evaluations of a copy count, too

    def __str__(self) -> str:
        return self.objective.problem.name

    def reset(self) -> None:
        """Nothing is kept between runs."""

    def eval(self, x: Any) -> Any:
        """The value of a point, or the values of many."""
        points = np.asarray(x, dtype=np.float64)
        values = self.objective.batch(points.reshape(-1, self.dim))
        return values[0] if points.ndim == 1 else values

    func = eval


def metabox_search(name: str) -> Search:
    """A learned optimiser of MetaBox with the weights of its package, for a budget of ours."""
    sys.argv = sys.argv[:1]  # its Config reads the command line
    import metaevobox.environment.optimizer as optimizers
    import torch
    from metaevobox import Config, get_baseline
    from metaevobox.environment.basic_environment import PBO_Env

    suite = {"train_problem": "bbob-10D", "test_problem": "bbob-10D", "test_difficulty": "difficult"}
    torch.set_num_threads(1)

    def search(objective: BudgetedObjective, seed: int) -> None:
        config = Config(suite)
        config.maxFEs, config.log_interval, config.dim = BUDGET, BUDGET // config.n_logpoint, DIMENSION
        config.baselines = {name: {"agent": name, "optimizer": getattr(optimizers, f"{name}_Optimizer")}}
        (agents, own, _, _), _ = get_baseline(config)
        np.random.seed(seed)  # noqa: NPY002  (theirs)
        torch.manual_seed(seed)
        torch.set_default_dtype(torch.float64)
        agents[0].rollout_episode(PBO_Env(MetaBoxProblem(objective), own[0]), seed, {})

    return search


def maker(method: str) -> tuple[Callable[[Problem, int], float], str]:
    """What gives the best value of a run from problem and seed, and with what it was made."""
    if method in EVOSAX:
        return _searched(evosax_search(method)), f"evosax {version('evosax')}"
    if method.startswith("metabox:"):
        return _searched(metabox_search(method.removeprefix("metabox:"))), f"metaevobox {version('metaevobox')}"
    made_with = f"deddqn {deddqn.__version__}"
    if method == "deddqn":
        return lambda problem, seed: float(deddqn.minimize(problem, maxfun=BUDGET, rng=seed).fun), made_with
    return lambda problem, seed: best_found(method, problem, BUDGET, repeat=0, number=seed), made_with


def _searched(search: Search) -> Callable[[Problem, int], float]:
    def best(problem: Problem, seed: int) -> float:
        objective = BudgetedObjective(problem, BUDGET, np.random.default_rng(seed))
        with objective.until_over():
            search(objective, seed)
        return objective.best_value

    return best


def problems(instances: int) -> list[tuple[str, int]]:
    """Names and seeds."""
    numbers = [(f, i) for i in range(1, instances + 1) for f in FUNCTIONS]
    return [(f"bbob:f{f}/i{i}/d{DIMENSION}", 1000 * i + f) for f, i in numbers]


def read(path: Path) -> list[dict[str, str]]:
    """Saved rows; none where there is no file."""
    if not path.exists():
        return []
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def write(path: Path, rows: Sequence[dict[str, str]]) -> None:
    """All rows, by method."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(sorted(rows, key=lambda row: row["method"]))


def collect(options: argparse.Namespace) -> None:
    """Run what is not saved, and save it function by function."""
    rows = [row for row in read(options.out) if not (options.again and row["method"] in options.methods)]
    for method in options.methods:
        done = {row["problem"] for row in rows if row["method"] == method}
        waiting = [(name, seed) for name, seed in problems(options.instances) if name not in done]
        if not waiting:
            continue
        best, made_with = maker(method)
        for name, seed in waiting:
            problem, started = get(name), time.process_time()
            error = best(problem, seed) - problem.optimum
            spent = time.process_time() - started
            row = {"method": method, "made_with": made_with, "problem": name}
            rows.append({**row, "error": f"{max(error, 0.0):.4g}", "seconds": f"{spent:.2g}"})
            write(options.out, rows)
            print(f"\r{method} {name}: {error:.3g}\033[K", end="", file=sys.stderr)
    print(file=sys.stderr)


def table(rows: Sequence[dict[str, str]], instances: int) -> list[tuple[str, float, int, int, float]]:
    """Per method: mean rank over the functions, how often it is (also) first, functions solved, median seconds."""
    wanted = [name for name, _ in problems(instances)]
    found: dict[str, dict[str, float]] = {}
    seconds: dict[str, list[float]] = {}
    for row in rows:
        error = float(row["error"])
        found.setdefault(row["method"], {})[row["problem"]] = 0.0 if error < SOLVED else error
        seconds.setdefault(row["method"], []).append(float(row["seconds"]))
    complete = {method: by for method, by in found.items() if by.keys() >= set(wanted)}
    if not complete:
        return []
    medians = np.array(
        [np.median(np.reshape([by[name] for name in wanted], (instances, -1)), axis=0) for by in complete.values()]
    )
    ranks = np.array([rankdata(column) for column in medians.T]).T
    firsts = (medians == medians.min(axis=0)).sum(axis=1)
    solved = (medians == 0.0).sum(axis=1)
    lines = [
        (name, float(ranks[k].mean()), int(firsts[k]), int(solved[k]), float(np.median(seconds[name])))
        for k, name in enumerate(complete)
    ]
    return sorted(lines, key=lambda line: line[1])


def page_tables(rows: Sequence[dict[str, str]], instances: int) -> list[str]:
    """The tables as Markdown: of those that ran on all instances, and on the first one of everybody."""
    shown = []
    for count in dict.fromkeys((instances, 1)):
        lines = table(rows, count) if rows else []
        shown += ["", f"{len(lines)} methods, {count} instance{'s' * (count > 1)}:", ""]
        shown += ["| method | mean rank | first on | solved | CPU s per run |", "|---|---|---|---|---|"]
        shown += [f"| {name} | {rank:.2f} | {first} | {solved} | {s:.2g} |" for name, rank, first, solved, s in lines]
    return shown


def main(arguments: Sequence[str] | None = None) -> None:
    """Run, then print the tables as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--methods", nargs="*", default=[])
    parser.add_argument("--instances", type=int, default=5)
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--out", type=Path, default=SAVED)
    options = parser.parse_args(arguments)
    collect(options)
    print("\n".join(page_tables(read(options.out), options.instances)))


if __name__ == "__main__":
    main()
