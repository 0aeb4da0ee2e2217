"""Scores on the world of made problems: ``python -m benchmarks.world METHOD ... [--among PEER ...] [--family NAME]``.

A method is a policy (``softmax-x``), a policy with settings (``softmax-x:population_size=200``,
``softmax-budget:cma_share=0.0,n_candidates=1``: those of `minimize`, those that belong to a policy, and
``population_factor=`` of the policy's own NP) or a baseline (``rcmaes``). Every problem has a dimension (2 to 100),
and a budget (50 to 10,000 evaluations per coordinate), both log-uniform. Printed are, for all problems, by dimension,
by budget and by how functions are mixed, the mean rank of the median error among the methods, and the rank score (the
probability that a run ends better than a run of another method), with a 95% interval from a bootstrap over *base
functions*: what counts is whether a difference holds on functions left out. With ``--among`` every method is judged
alone among these peers, as if the others were not there: among versions of one method, which differ little, small
differences would count as much as large ones. Peers are then judged among each other and the method of ``--against``.
``--against METHOD`` prints how much the rank scores of the others lie above that of this one, problem by problem,
with an interval of the same kind: a part of a method has paid where it is left out and the interval is below 0.
``--family`` is ``made``, ``made-held-out`` (base functions that nothing is chosen on), or ``cec2005``: variants of its
training functions with 10 or 30 coordinates and budgets from the same range, a second judge of what was chosen on made
problems. ``--dimensions`` and ``--per-coordinate`` keep problems whose dimension, and evaluations per coordinate, lie
between two numbers. ``--twice`` also runs every method with twice the budget and counts the problems on which that is
significantly worse.

Runs are appended to ``--out``; what is there already is not run again.
"""

from __future__ import annotations

import argparse
import ast
import csv
import inspect
import multiprocessing
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import mannwhitneyu, rankdata

import deddqn
from deddqn.analysis.statistics import SOLVED
from deddqn.baselines import baseline_names, load_baseline
from deddqn.de.budget_rules import follow_budget
from deddqn.de.config import OWN_SETTINGS, config_for
from deddqn.policies import load_policy
from deddqn.problems import Problem, cec2005, get
from deddqn.problems.made.recipes import BUDGETS, DIMENSIONS, FAMILIES, recipe
from deddqn.problems.registry import PAPER_DIMENSIONS, VARIANTS

COLUMNS = ("method", "problem", "base", "dimension", "budget", "repeat", "error")
DIMENSION_CUTS, BUDGET_CUTS = (7, 30), (500, 2000)
RESAMPLES = 1000
FIRST_VARIANT = max(VARIANTS) + 1  # those before it are for policy searches
FIRST_COMPOSITION = 15  # of the functions of CEC2005
_SEED = 2005
ARGUMENTS = set(inspect.signature(deddqn.minimize).parameters)


@dataclass(frozen=True)
class Case:
    """A problem with a budget of its own."""

    problem: str
    number: int
    base: str
    mix: str
    dimension: int
    budget: int


@dataclass(frozen=True)
class Task:
    """All runs of a method on a problem with a budget."""

    method: str
    case: Case
    budget: int
    runs: int

    @property
    def key(self) -> tuple[str, str, int]:
        """What tells it from others."""
        return self.method, self.case.problem, self.budget


def case(family: str, number: int) -> Case:
    """Case `number` of a family."""
    if family != "cec2005":
        made = recipe(family, number)
        return Case(f"{family}:{number}", number, made.components[0].base.name, made.mix, made.dimension, made.budget)
    rest, place = divmod(number, len(cec2005.TRAIN))
    variant, which = divmod(rest, len(PAPER_DIMENSIONS))
    function, dimension = cec2005.TRAIN[place], PAPER_DIMENSIONS[which]
    per_coordinate = np.exp(np.random.default_rng([_SEED, number]).uniform(*np.log(BUDGETS)))
    name = f"cec2005:F{function}/v{FIRST_VARIANT + variant}/d{dimension}"
    mix = "single" if function < FIRST_COMPOSITION else "composition"
    return Case(name, number, f"F{function}", mix, dimension, round(per_coordinate * dimension))


def settings_of(method: str) -> tuple[str, dict[str, Any]]:
    """A policy and the settings behind its name."""
    name, _, text = method.partition(":")
    pairs = (entry.split("=", 1) for entry in text.split(",") if entry)
    return name, {key: ast.literal_eval(value) for key, value in pairs}


def best_found(method: str, problem: Problem, budget: int, *, repeat: int, number: int) -> float:
    """The best value of one run of a baseline, or of a policy with its settings; `number` seeds the problem's runs."""
    if method in baseline_names():
        return load_baseline(method).run(problem, budget, np.random.default_rng([repeat, number])).best_value
    name, settings = settings_of(method)
    policy = load_policy(name)
    own = {key: settings.pop(key) for key in set(settings) & set(OWN_SETTINGS) - ARGUMENTS}
    if own:
        policy.de = config_for(policy.de, **own).own_settings()
    if "population_factor" in settings:  # of the policy's own size
        own = follow_budget(config_for(policy.de, budget=budget), problem.dimension).population_size
        settings["population_size"] = round(settings.pop("population_factor") * own)
    if "population_size" in settings:  # a short budget still has a few generations
        settings["population_size"] = max(min(settings["population_size"], budget // 4), 7)
    seed = 1_000_000 * repeat + number
    return float(deddqn.minimize(problem, policy=policy, maxfun=budget, rng=seed, **settings).fun)


def run(task: Task) -> list[dict[str, Any]]:
    """The runs of a task, as rows."""
    case, problem = task.case, get(task.case.problem)
    errors = [
        best_found(task.method, problem, task.budget, repeat=repeat, number=case.number) - problem.optimum
        for repeat in range(task.runs)
    ]
    fixed = {"method": task.method, "problem": case.problem, "base": case.base, "dimension": problem.dimension}
    return [{**fixed, "budget": task.budget, "repeat": k, "error": repr(float(e))} for k, e in enumerate(errors)]


def tasks(options: argparse.Namespace) -> Iterator[Task]:
    """What is to be run; problems with a larger budget than allowed are left out."""
    for number in range(options.first, options.first + options.problems):
        found = case(options.family, number)
        (fewest, most), (low, high) = options.dimensions, options.per_coordinate
        inside = fewest <= found.dimension <= most and low <= found.budget / found.dimension <= high
        if not inside or found.budget > options.most_evaluations:
            continue
        for method in options.methods:
            for budget in (found.budget, 2 * found.budget) if options.twice else (found.budget,):
                yield Task(method, found, budget, options.runs)


def collect(options: argparse.Namespace) -> list[dict[str, str]]:
    """Run what is not there yet; return all rows of the file."""
    done = read(options.out)
    known = {(row["method"], row["problem"], int(row["budget"])) for row in done}
    waiting = [t for t in tasks(options) if t.key not in known]
    waiting.sort(key=lambda task: -task.budget)  # the longest first: all workers end at about the same time
    options.out.parent.mkdir(parents=True, exist_ok=True)
    with open(options.out, "a", newline="", encoding="utf-8") as file, multiprocessing.Pool(options.workers) as pool:
        writer = csv.DictWriter(file, COLUMNS)
        if not done:
            writer.writeheader()
        for count, rows in enumerate(pool.imap_unordered(run, waiting), start=1):
            writer.writerows(rows)
            file.flush()
            print(f"\r{count} of {len(waiting)}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return read(options.out)


def read(path: Path) -> list[dict[str, str]]:
    """The rows of a file; none if there is none."""
    if not path.exists():
        return []
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def errors_of(rows: Sequence[dict[str, str]], wanted: Sequence[Task]) -> dict[tuple[str, str, int], np.ndarray]:
    """Final errors by method, problem and budget; solved ones are 0."""
    found: dict[tuple[str, str, int], list[float]] = {t.key: [] for t in wanted}
    for row in rows:
        key = (row["method"], row["problem"], int(row["budget"]))
        if key in found:
            error = float(row["error"])
            found[key].append(0.0 if error < SOLVED else error)
    return {key: np.array(values) for key, values in found.items()}


def scores(errors: Sequence[np.ndarray], rivals: Sequence[Sequence[int]]) -> tuple[np.ndarray, np.ndarray]:
    """Of every method on one problem, among its `rivals`: the rank score, and the rank of the median."""
    rank_scores, ranks, medians = [], [], [np.median(e) for e in errors]
    for k, own in enumerate(errors):
        others = np.concatenate([errors[j] for j in rivals[k]])
        rank_scores.append(float((own[:, None] < others).mean() + 0.5 * (own[:, None] == others).mean()))
        ranks.append(rankdata([medians[k], *(medians[j] for j in rivals[k])])[0])
    return np.array(rank_scores), np.array(ranks)


def rivals_of(options: argparse.Namespace) -> list[list[int]]:
    """The numbers of the methods that each is judged among: the peers where there are some, else all others.

    A peer has one peer less beside it; the method of ``--against`` takes that place, so that all have as many rivals.
    """
    pool = [k for k, method in enumerate(options.methods) if not options.among or method in options.among]
    rivals = [[j for j in pool if j != k] for k in range(len(options.methods))]
    if options.among and options.against not in (None, *options.among):
        for k in pool:
            rivals[k].append(options.methods.index(options.against))
    return rivals


def report(options: argparse.Namespace, rows: Sequence[dict[str, str]]) -> None:
    """Print the tables."""
    wanted = list(tasks(options))
    errors = errors_of(rows, wanted)
    cases = list(dict.fromkeys(t.case for t in wanted))
    cells = [[errors[method, c.problem, c.budget] for method in options.methods] for c in cases]
    judged = [scores(row, rivals_of(options)) for row in cells]
    rank_scores, ranks = (np.array(values) for values in zip(*judged, strict=True))
    bases = np.array([c.base for c in cases])
    strata = {"all": np.ones(len(cases), dtype=bool), **_strata(cases)}
    print(f"{len(cases)} problems, {options.runs} runs; base functions: {len(set(bases))}")
    print(f"{'method':<44}{'rank score':>12}{'95% interval':>18}" + "".join(f"{name:>12}" for name in strata))
    intervals = bootstrap(rank_scores, bases)
    for k in np.argsort(-rank_scores.mean(axis=0)):
        low, high = intervals[:, k]
        shown = "".join(
            f"{ranks[chosen, k].mean():>12.2f}" if chosen.any() else f"{'':>12}" for chosen in strata.values()
        )
        print(f"{options.methods[k]:<44}{rank_scores[:, k].mean():>12.3f}{f'{low:.3f} to {high:.3f}':>18}{shown}")
    if options.against:
        print_differences(options, rank_scores, bases)
    if options.twice:
        for method in options.methods:
            print(f"{method}: {_worse_with_more(method, cases, errors)}")


def print_differences(options: argparse.Namespace, rank_scores: np.ndarray, bases: np.ndarray) -> None:
    """The rank scores beside that of one method, on the same problems; peers have other rivals and are left out."""
    first = options.methods.index(options.against)
    differences = rank_scores - rank_scores[:, [first]]
    intervals = bootstrap(differences, bases)
    print(f"\n{f'beside {options.against}':<44}{'difference':>12}{'95% interval':>20}{'higher on':>12}{'lower on':>12}")
    for k, method in enumerate(options.methods):
        if k != first and method not in options.among:
            (low, high), own = intervals[:, k], differences[:, k]
            shown = f"{own.mean():>+12.3f}{f'{low:+.3f} to {high:+.3f}':>20}{(own > 0).sum():>12}{(own < 0).sum():>12}"
            print(f"{method:<44}{shown}")


def _strata(cases: Sequence[Case]) -> dict[str, np.ndarray]:
    dimension = np.digitize([c.dimension for c in cases], DIMENSION_CUTS, right=True)
    budget = np.digitize([c.budget / c.dimension for c in cases], BUDGET_CUTS, right=True)
    low, high = DIMENSION_CUTS
    few, many = BUDGET_CUTS
    titles = (f"D <= {low}", f"D <= {high}", f"D > {high}"), (f"B <= {few}D", f"B <= {many}D", f"B > {many}D")
    by_dimension = {title: dimension == k for k, title in enumerate(titles[0])}
    by_mix = {mix: np.array([c.mix == mix for c in cases]) for mix in ("single", "hybrid", "composition")}
    return by_dimension | {title: budget == k for k, title in enumerate(titles[1])} | by_mix


def bootstrap(values: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """(2, methods): percentile interval of the mean over problems, with whole base functions drawn."""
    rng = np.random.default_rng(0)
    members = [np.flatnonzero(groups == name) for name in sorted(set(groups))]
    means = []
    for _ in range(RESAMPLES):
        drawn = np.concatenate([members[k] for k in rng.integers(len(members), size=len(members))])
        means.append(values[drawn].mean(axis=0))
    return np.percentile(means, [2.5, 97.5], axis=0)


def _worse_with_more(method: str, cases: Sequence[Case], errors: dict[tuple[str, str, int], np.ndarray]) -> str:
    """On how many problems twice the evaluations end significantly worse (Mann-Whitney, 5%, one-sided)."""
    worse = []
    for c in cases:
        once, twice = errors[method, c.problem, c.budget], errors[method, c.problem, 2 * c.budget]
        differ = np.ptp(np.concatenate([once, twice])) > 0.0
        if differ and mannwhitneyu(twice, once, alternative="greater").pvalue < 0.05:
            worse.append(c.problem)
    shown = f" ({', '.join(worse)})" if worse else ""
    return f"twice the budget is significantly worse on {len(worse)} of {len(cases)} problems{shown}"


def main(arguments: Sequence[str]) -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.world", description=__doc__.split("\n")[0])
    parser.add_argument("methods", nargs="+")
    parser.add_argument("--among", nargs="+", default=[], metavar="PEER", help="judge every method among these alone")
    parser.add_argument("--against", metavar="METHOD", help="also print differences to this one, problem by problem")
    parser.add_argument("--family", choices=[*FAMILIES, "cec2005"], default="made", help="of the problems")
    parser.add_argument("--first", type=int, default=0, help="number of the first problem")
    parser.add_argument("--problems", type=int, default=100)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--most-evaluations", type=int, default=100_000, help="leave problems with larger budgets out")
    parser.add_argument("--dimensions", type=int, nargs=2, default=DIMENSIONS, metavar=("FEWEST", "MOST"))
    parser.add_argument("--per-coordinate", type=float, nargs=2, default=BUDGETS, metavar=("FEWEST", "MOST"))
    parser.add_argument("--twice", action="store_true", help="is more ever worse?")
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--out", type=Path, default=Path("out/world.csv"))
    options = parser.parse_args(arguments)
    options.methods = list(dict.fromkeys([*options.methods, *options.among]))
    if options.against and options.against not in options.methods:
        parser.error(f"--against must be one of the methods, got {options.against!r}")
    if options.first < 0:
        parser.error(f"--first must be 0 or more, got {options.first}")
    if next(tasks(options), None) is None:
        parser.error("no problem has such a dimension and budget; --problems looks at more")
    if not all(rivals_of(options)):
        parser.error("at least two methods are needed, or --among with another one")
    report(options, collect(options))


if __name__ == "__main__":
    main(sys.argv[1:])
