"""Can it be learned who should search next? ``python -m benchmarks.late_decisions [--problems N] [--out FILE]``.

Half-way through a search of the default that is long enough for CMA-ES its memory is copied, and the search is
finished in four ways, several times each with other random numbers (paired rollouts):

=========  ============================================================================================
``trial``  CMA-ES for a quarter of the budget, the last quarter for whichever is ahead
``DE``     DE goes on to the end
``CMA``    CMA-ES has the second half
``again``  the default begins anew with the evaluations that are left; the better of the two halves counts
=========  ============================================================================================

One decision per search is a Q-function of one step: for every other way a ridge regression predicts from the state
how often it ends better than the trial (``learned``). The way with the highest prediction is taken if that exceeds a
margin. Beside it stand each way alone; the rule of the default (``narrow``: the trial where the population of DE has
contracted, DE elsewhere); the best two ways below and above a threshold of one input (``best split``); and what was
best in half of the rollouts, judged on the other half (``best half``: what few rollouts know, no upper bound). Judged
are base functions that were not learned from: each of the training functions in turn (by the first function of a
mixture), and those of ``made-held-out:``. The threshold of ``narrow`` was chosen on training functions, all of them.
Searches that have found the optimum by then are left out. A gain is the probability of ending better than with the
trial, above 1/2; searches with a gain beyond +-0.25 are counted, where four rollouts of one way against four others
of the same way are in one case of ten.
"""

from __future__ import annotations

import argparse
import csv
import math
import multiprocessing
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from benchmarks.world import bootstrap, read
from deddqn.analysis.statistics import SOLVED
from deddqn.de.budget_rules import CMA_EXTENT, CMA_FROM, CMA_SHARE
from deddqn.de.config import config_for
from deddqn.de.state import Counter, Scalar
from deddqn.engine.run import Run
from deddqn.engine.run_spec import RunSpec
from deddqn.policies import load_policy
from deddqn.problems import get
from deddqn.problems.made.recipes import Recipe, recipe
from deddqn.rng import streams_at

WAYS = ("trial", "DE", "CMA", "again")
POLICY = "softmax-budget"
INPUTS = (
    *("log10 B/D", "log10 D", "spread of values", "extent", "longest axis", "correlation"),
    *("F", "CR", "stagnation", "gain since 0.25", "gain since 0.4"),
)
RIDGE, MARGIN = 10.0, 0.05
TINY = 1e-16


def half_way(made: Recipe, repeat: int) -> tuple[Run, list[float]]:
    """A run of the default, one generation before CMA-ES would be tried, and its inputs."""
    policy, problem = load_policy(POLICY), get(f"{made.family}:{made.number}")
    config = config_for(policy.de, budget=made.budget, cma_share=CMA_SHARE, cma_extent=math.inf)
    spec = RunSpec(problem=problem, policy=policy, portfolio=policy.portfolio, config=config, repeat=repeat)
    run, best = Run(spec), []
    for share in (0.25, 0.4):
        run.advance(round(share * made.budget))
        best.append(run.best_value)
    run.advance(spec.config.hand_over - 2 * len(run.population))
    while not run.between_generations and not run.ended:
        run.advance(run.evaluations + 1)
    return run, inputs_of(run, best)


def inputs_of(run: Run, earlier: Sequence[float]) -> list[float]:
    """What is known of the run, in the order of `INPUTS`."""
    state, population, fitness = run.de_state, run.population, run.fitness
    counters, dimension = state.counters, population.shape[1]
    whole = max(state.scalars[Scalar.F_WSF] - run.best_value, TINY)
    widths = state.upper - state.lower
    scaled = (population - population.mean(axis=0)) / widths + 1e-12 * np.eye(len(population), dimension)
    matrix = np.nan_to_num(np.corrcoef(scaled.T))
    weights = state.applications / max(state.applications.sum(), 1)
    return [
        math.log10(counters[Counter.WHOLE_BUDGET] / dimension),
        math.log10(dimension),
        math.log10((np.median(fitness) - run.best_value) / whole + TINY),
        math.log10(float(np.abs(scaled).mean()) + TINY),
        math.log10(np.linalg.eigvalsh(matrix)[-1]),
        float(np.abs(matrix - np.eye(dimension)).sum() / (dimension * (dimension - 1))),
        float(weights @ state.memory_f.mean(axis=1)),
        float(weights @ state.memory_cr.mean(axis=1)),
        counters[Counter.STAGNATION] / counters[Counter.WHOLE_BUDGET],
        *(math.log10((before - run.best_value) / whole + TINY) for before in earlier),
    ]


def finish(run: Run, way: str, rollout: int) -> float:
    """The best value of the search, finished in one of the `WAYS`."""
    spec, left = run.spec, run.spec.config.budget - run.evaluations
    if way == "again":
        config = config_for(spec.policy.de, budget=left)
        fresh = Run(
            RunSpec(problem=spec.problem, policy=spec.policy, portfolio=spec.portfolio, config=config, seed=2 + rollout)
        )
        fresh.advance(left)
        return min(run.best_value, fresh.best_value)
    copy = Run.resume(spec, run.arena)
    counters = copy.de_state.counters
    copy.de_state.streams[:] = streams_at(
        1, spec.problem.seed_name, spec.problem.dimension, 100 * spec.repeat + rollout
    )
    if way == "DE":
        counters[Counter.TRIED] = 1
        counters[Counter.BUDGET] = counters[Counter.HORIZON] = counters[Counter.WHOLE_BUDGET]
    elif way == "CMA":
        counters[Counter.DECISION] = counters[Counter.WHOLE_BUDGET]
    copy.advance(spec.config.budget)
    return copy.best_value


def roll(task: tuple[str, int, int, int]) -> dict[str, object] | None:
    """A row: the state of one search, and how it ended in every way; None if it has found the optimum already."""
    family, number, repeat, rollouts = task
    made = recipe(family, number)
    run, inputs = half_way(made, repeat)
    optimum = run.spec.problem.optimum
    if run.ended:
        return None
    row: dict[str, object] = {"family": family, "number": number, "repeat": repeat}
    row["base"] = made.components[0].base.name
    row |= {name: repr(float(value)) for name, value in zip(INPUTS, inputs, strict=True)}
    for way in WAYS:
        row |= {f"{way} {k}": repr(float(finish(run, way, k) - optimum)) for k in range(rollouts)}
    return row


def tasks(options: argparse.Namespace) -> Iterator[tuple[str, int, int, int]]:
    """Searches of both families."""
    for family in ("made", "made-held-out"):
        for number in range(options.first, options.first + options.problems):
            made = recipe(family, number)
            long = made.budget > CMA_FROM * made.dimension and made.budget <= options.most_evaluations
            if long and options.dimensions[0] <= made.dimension <= options.dimensions[1]:
                for repeat in range(options.repeats):
                    yield family, number, repeat, options.rollouts


def collect(options: argparse.Namespace) -> list[dict[str, str]]:
    """Roll out what is not there yet; return the rows of all that was asked for."""
    columns, wanted = ["family", "number", "repeat", "base", *INPUTS], list(tasks(options))
    columns += [f"{way} {k}" for way in WAYS for k in range(options.rollouts)]
    rows = read(options.out)
    if rows and list(rows[0]) != columns:
        sys.exit(f"--out must be a file of runs with {options.rollouts} rollouts, got {options.out} with other columns")
    known = {key_of(row) for row in rows}
    waiting = [task for task in wanted if task[:3] not in known]
    options.out.parent.mkdir(parents=True, exist_ok=True)
    with open(options.out, "a", newline="", encoding="utf-8") as file, multiprocessing.Pool(options.workers) as pool:
        writer = csv.DictWriter(file, columns)
        if not rows:
            writer.writeheader()
        for count, row in enumerate(pool.imap_unordered(roll, waiting), start=1):
            if row is not None:
                writer.writerow(row)
                file.flush()
            print(f"\r{count} of {len(waiting)}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    asked = {task[:3] for task in wanted}
    return [row for row in read(options.out) if key_of(row) in asked]


def key_of(row: dict[str, str]) -> tuple[str, int, int]:
    """Which search a row is."""
    return row["family"], int(row["number"]), int(row["repeat"])


def wins(rows: Sequence[dict[str, str]], rollouts: Sequence[int]) -> np.ndarray:
    """(rows, ways): how often a way ends better than the trial, above 1/2, over all pairs of these rollouts."""
    table = np.array([[[float(row[f"{way} {k}"]) for k in rollouts] for way in WAYS] for row in rows])
    table[table < SOLVED] = 0.0
    trial, every = table[:, :1, None, :], table[:, :, :, None]
    return ((every < trial) + 0.5 * (every == trial)).mean(axis=(2, 3)) - 0.5


def expand(inputs: np.ndarray, like: np.ndarray) -> np.ndarray:
    """Standardised inputs as in `like`, their squares, and a constant."""
    scaled = (inputs - like.mean(axis=0)) / np.maximum(like.std(axis=0), 1e-9)
    scaled = np.clip(scaled, -3.0, 3.0)
    return np.hstack([scaled, scaled**2, np.ones((len(inputs), 1))])


def learned(inputs: np.ndarray, gains: np.ndarray, asked: np.ndarray) -> np.ndarray:
    """The way for each of the `asked` inputs: that with the highest predicted gain, the trial below the margin."""
    known = expand(inputs, inputs)
    weights = np.linalg.solve(known.T @ known + RIDGE * np.eye(known.shape[1]), known.T @ gains)
    predicted = expand(asked, inputs) @ weights
    predicted[:, 0] = MARGIN
    return predicted.argmax(axis=1)


def best_split(inputs: np.ndarray, gains: np.ndarray, asked: np.ndarray) -> np.ndarray:
    """The best two ways below and above a threshold of one input."""
    found = (-math.inf, 0, 0.0, 0, 0)
    for column in range(len(INPUTS)):
        for threshold in np.quantile(inputs[:, column], np.linspace(0.1, 0.9, 17)):
            below = inputs[:, column] < threshold
            low, high = gains[below].sum(axis=0), gains[~below].sum(axis=0)
            found = max(found, (low.max() + high.max(), column, threshold, int(low.argmax()), int(high.argmax())))
    _, column, threshold, low, high = found
    return np.where(asked[:, column] < threshold, low, high)


def report(rows: Sequence[dict[str, str]], rollouts: int) -> None:
    """Print what each selector gains over the trial, on functions left out."""
    inputs = np.array([[float(row[name]) for name in INPUTS] for row in rows])
    bases = np.array([row["base"] for row in rows])
    training = np.array([row["family"] == "made" for row in rows])
    gains = wins(rows, range(rollouts))
    halves = [wins(rows, range(half, rollouts, 2)) for half in (0, 1)]
    for title, judged in (("training functions, each left out in turn", training), ("made-held-out", ~training)):
        chosen = {way: np.full(len(rows), k) for k, way in enumerate(WAYS) if k}
        narrow = inputs[:, INPUTS.index("extent")] <= math.log10(CMA_EXTENT)
        chosen["narrow"] = np.where(narrow, WAYS.index("trial"), WAYS.index("DE"))
        for name, fit in (("best split", best_split), ("learned", learned)):
            chosen[name] = np.zeros(len(rows), dtype=int)
            for base in sorted(set(bases[judged])):
                asked, known = judged & (bases == base), training & (bases != base)
                chosen[name][asked] = fit(inputs[known], gains[known], inputs[asked])
        columns = {name: gains[np.arange(len(rows)), ways][judged] for name, ways in chosen.items()}
        pairs = ((halves[0], halves[1]), (halves[1], halves[0]))
        known_half = [other[np.arange(len(rows)), one.argmax(axis=1)][judged] for one, other in pairs]
        columns["best half"] = np.mean(known_half, axis=0)
        table = np.column_stack(list(columns.values()))
        print(f"\n{title}: {judged.sum()} searches, {len(set(bases[judged]))} base functions")
        print(f"{'':<12}{'gain':>8}{'95% interval':>20}{'better on':>12}{'worse on':>12}")
        for k, (name, (low, high)) in enumerate(zip(columns, bootstrap(table, bases[judged]).T, strict=True)):
            shown = f"{table[:, k].mean():>+8.3f}{f'{low:+.3f} to {high:+.3f}':>20}"
            print(f"{name:<12}{shown}{(table[:, k] > 0.25).mean():>12.0%}{(table[:, k] < -0.25).mean():>12.0%}")


def main(arguments: Sequence[str]) -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.late_decisions", description=__doc__.split("\n")[0])
    parser.add_argument("--first", type=int, default=0, help="number of the first problem")
    parser.add_argument(
        "--problems", type=int, default=5000, help="of each family; those that are not long are left out"
    )
    parser.add_argument("--repeats", type=int, default=1, help="searches per problem")
    parser.add_argument("--rollouts", type=int, default=4)
    parser.add_argument("--dimensions", type=int, nargs=2, default=(5, 40), metavar=("FEWEST", "MOST"))
    parser.add_argument("--most-evaluations", type=int, default=100_000)
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--out", type=Path, default=Path("out/late_decisions.csv"))
    options = parser.parse_args(arguments)
    if options.rollouts < 2:
        parser.error(f"--rollouts must be at least 2, got {options.rollouts}")
    report(collect(options), options.rollouts)


if __name__ == "__main__":
    main(sys.argv[1:])
