"""`deddqn.differential_evolution` in the place of scipy's on ordinary problems, in three ways.

- as it comes: both are called with function, bounds and seed alone, and stop when they like
- equal evaluations: the same maxiter and popsize, no tolerance, no polishing
- by name: the same with a named strategy, where both should be the same method

A problem is won or lost when final values differ significantly (Mann-Whitney, Holm over all problems, 5%); what is
below 1e-8 is solved. ``--planned N`` and ``--made N`` try another plan, on so many made problems instead: what
`PLANNED_ITERATIONS` was chosen with.
"""

import argparse
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.optimize

import deddqn
from benchmarks.bars import Bar, print_bars
from benchmarks.bench_ordinary import FUNCTIONS
from deddqn.analysis.statistics import SOLVED, holm, mann_whitney
from deddqn.optimize import scipy_search
from deddqn.problems import get

RUNS = 7
DIMENSIONS = (2, 5, 10)
ITERATIONS = {2: 33, 5: 66, 10: 66}  # of equal evaluations: 1000, 5000 and 10,000
Task = tuple[str, Callable[[np.ndarray], float], Any]


def ordinary_tasks() -> Iterator[Task]:
    """Name, function and bounds of the problems of `bench_ordinary`; called from Python, as users' functions are."""
    for function in FUNCTIONS:
        for dimension in DIMENSIONS:
            yield f"{function.__name__}, D = {dimension}", function.py_func, [(-5.0, 5.0)] * dimension


def made_tasks(count: int) -> Iterator[Task]:
    """The same for made problems, whose values are above those of their optima by what is left."""
    for number in range(count):
        problem = get(f"made:{number}", dimension=DIMENSIONS[number % len(DIMENSIONS)])
        optimum = problem.optimum or 0.0
        yield problem.name, lambda x, problem=problem, optimum=optimum: problem(x) - optimum + 1.0, problem.bounds


def runs(search: Callable[..., Any], task: Task, options: dict[str, Any]) -> tuple[np.ndarray, float, float]:
    """Final values (what is solved is 0), mean evaluations, and CPU seconds per run."""
    started = time.process_time()
    results = [search(task[1], task[2], rng=k, **options) for k in range(RUNS)]
    seconds = (time.process_time() - started) / RUNS
    values = np.array([result.fun for result in results])
    return np.where(values < SOLVED, 0.0, values), float(np.mean([result.nfev for result in results])), seconds


def compare(title: str, tasks: list[Task], options: Callable[[Task], dict[str, Any]]) -> tuple[int, int, float, float]:
    """Print a table; return wins, losses, and the geometric means of the ratios of evaluations and CPU time."""
    print(f"\n-- {title}")
    p_values, better, ratios = [], [], []
    for task in tasks:
        ours, our_calls, our_seconds = runs(deddqn.differential_evolution, task, options(task))
        theirs, their_calls, their_seconds = runs(scipy.optimize.differential_evolution, task, options(task))
        p_values.append(mann_whitney(ours, theirs))
        better.append(np.median(ours) < np.median(theirs) or (np.mean(ours) < np.mean(theirs)))
        ratios.append((our_calls / their_calls, our_seconds / their_seconds))
        print(
            f"{task[0]:<22} ours {np.median(ours):9.3g} in {our_calls:7.0f}   scipy {np.median(theirs):9.3g} "
            f"in {their_calls:7.0f}   CPU {ratios[-1][1]:5.2f}   p {p_values[-1]:.3f}",
            flush=True,
        )
    sure = holm(p_values) < 0.05
    won, lost = int(sum(sure & np.array(better))), int(sum(sure & ~np.array(better)))
    calls, seconds = np.exp(np.log(ratios).mean(axis=0))
    level = len(tasks) - won - lost
    print(f"{won} wins, {lost} losses, {level} level; evaluations x {calls:.2f}, CPU time x {seconds:.2f}")
    return won, lost, float(calls), float(seconds)


def at_equal_evaluations(task: Task) -> dict[str, Any]:
    """Options with which both make the same number of evaluations."""
    return {"maxiter": ITERATIONS[len(task[2])] - 1, "tol": 0.0, "polish": False}


def main(made: int = 0, planned: int = scipy_search.PLANNED_ITERATIONS) -> list[Bar]:
    """Run everything, return the bars."""
    scipy_search.PLANNED_ITERATIONS = planned
    tasks = list(made_tasks(made)) if made else list(ordinary_tasks())
    if made:
        compare("as it comes", tasks, lambda task: {})
        return []
    equal = compare("equal evaluations", tasks, at_equal_evaluations)
    named = compare("by name: rand1bin", tasks, lambda task: {**at_equal_evaluations(task), "strategy": "rand1bin"})
    small = [task for task in tasks if len(task[2]) < 10]  # scipy may take 150,150 evaluations for ten coordinates
    as_it_comes = compare("as it comes", small, lambda task: {})
    bars = [
        Bar("drop-in as it comes: losses against scipy", as_it_comes[1], 0, "problems"),
        Bar("drop-in as it comes: evaluations", as_it_comes[2], 1.0, "of scipy's"),
        Bar("drop-in at equal evaluations: losses against scipy", equal[1], 0, "problems"),
        Bar("drop-in with a named strategy: CPU time", named[3], 1.0, "of scipy's"),
    ]
    print_bars(bars)
    return bars


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--made", type=int, default=0, help="so many made problems, as it comes")
    parser.add_argument("--planned", type=int, default=scipy_search.PLANNED_ITERATIONS, help="iterations of the plan")
    main(**vars(parser.parse_args()))
