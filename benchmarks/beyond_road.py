"""The numbers of "The road" in docs/beyond.md.

Call ``python -m benchmarks.beyond_road POOL.csv [SUITE]``, where the file has the runs of other methods that
docs/beyond.md makes. Prints `ddqn-x` with its own settings, with one of them changed, with the move cma added, without
some of its inputs or its gate, every operator alone, and the best operator of each problem, known afterwards. The score
is the place of a run among those of the file; the rank that of the mean error among the means of the methods; A12 the
chance that a run ends lower than one of `softmax-x` as it is. All of them are means over the problems. On other suites than the
training functions, the default, only those changes are printed that were chosen last.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from typing import Any

import numpy as np

from deddqn.analysis.statistics import a12
from deddqn.de.config import config_for
from deddqn.de.portfolio import EXTENDED, Operator, Portfolio
from deddqn.policies import CompiledPolicy, fixed, load_policy, softmax_policy, uniform_policy
from deddqn.policies.softmax import INPUTS, prescreening_gate_of, weights_of
from deddqn.problems import Problem, suite
from deddqn.training.evaluate import SOLVED, errors_of, evaluate, rank_scores

TRAINING = "cec2005-train"
RUNS = 12
CHANGES: tuple[dict[str, Any], ...] = (
    {},
    {"n_candidates": 1},
    {"n_candidates": 3},
    {"restart_tolerance": 0.0},
    {"restart_final_fraction": 0.0},
    {"restart_tolerance": 0.003},
    {"restart_tolerance": 0.1},
    {"restart_final_fraction": 0.2},
    {"restart_final_fraction": 0.4},
    {"population_size": 80},
    {"population_size": 130},
    {"final_population": 10},
    {"pbest": 0.11},
    {"pbest": 0.3},
    {"archive": 0.0},
    {"archive": 2.6},
    {"repair": "reflect"},
    {"repair": "clip"},
)
LAST: tuple[dict[str, Any], ...] = ({}, {"n_candidates": 1}, {"restart_tolerance": 0.0}, {"population_size": 80})
CMA_WEIGHTS = (-4.0, -3.0, -2.0, -1.0)
"""How much less than rand-to-pbest/1 the move cma counts where it is added."""
TRUST = (0.0, 0.3, 0.5)
"""Shares of the budget from which on the highest outlook is picked; `ddqn-x` picks it from 0.15 on."""
WITHOUT = (("rank",), ("success", "stagnation", "diversity"), ("progress", "progress squared"))
USUAL = {"rank": 0.5, "success": 0.2, "stagnation": 0.2, "diversity": -0.2, "progress": 0.5, "progress squared": 1 / 3}
"""What a fact counts where a policy must do without it: about its mean."""


class Road:
    """The suite, the peers' runs on it, and those of `ddqn-x` as it is."""

    def __init__(self, peers: Path, suite_name: str) -> None:
        self.problems = suite(suite_name)
        self.pool = errors_of(peers, self.problems)
        self.means = mean_errors(peers, self.problems)
        loaded = load_policy("softmax-x")
        assert isinstance(loaded, CompiledPolicy)
        self.policy = loaded
        self.as_it_is = self.errors(loaded, seed=1)

    def errors(self, policy: CompiledPolicy, *, seed: int = 0, **change: Any) -> np.ndarray:
        """The final errors (problems, runs) of a policy with the settings of `ddqn-x`, some of them changed."""
        portfolio = policy.portfolio or EXTENDED
        config = config_for(self.policy.de, **change)
        return evaluate(policy, self.problems, portfolio=portfolio, config=config, repeats=RUNS, seed=seed).errors

    def tell(self, name: str, errors: np.ndarray) -> np.ndarray:
        """Print one line; return the score of every problem."""
        scores = rank_scores(errors, self.pool)
        lower = [a12(these, others) for these, others in zip(errors, self.as_it_is, strict=True)]
        ranks = 1.0 + (self.means < errors.mean(axis=1, keepdims=True)).sum(axis=1)
        self.tell_scores(name, scores, f"  rank {ranks.mean():5.2f}  A12 {np.mean(lower):.3f}")
        return scores

    def tell_scores(self, name: str, scores: np.ndarray, more: str = "") -> None:
        """Print one line."""
        halves = [
            f"D={d} {np.mean([s for s, p in zip(scores, self.problems, strict=True) if p.dimension == d]):.3f}"
            for d in (10, 30)
        ]
        print(f"{name:<60}{scores.mean():6.3f}  {'  '.join(halves)}{more}", flush=True)


def mean_errors(path: Path, problems: list[Problem]) -> np.ndarray:
    """(problems, methods): the mean errors of the methods of a CSV file of `deddqn export`; solved runs count 0."""
    found: dict[tuple[str, str], list[float]] = {}
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            error = float(row["error"])
            found.setdefault((row["problem"], row["method"]), []).append(error if error >= SOLVED else 0.0)
    methods = sorted({method for _, method in found})
    return np.array([[np.mean(found[problem.name, method]) for method in methods] for problem in problems])


def with_cma(policy: CompiledPolicy, constant: float) -> CompiledPolicy:
    """The policy with the move cma added, which counts as rand-to-pbest/1 does, and a constant less."""
    weights, portfolio = weights_of(policy), Portfolio((*EXTENDED, Operator("cma", 1.0, 1.0)))
    row = weights[[entry.strategy for entry in EXTENDED].index("rand-to-pbest/1")].copy()
    row[0] += constant
    return softmax_policy(
        np.vstack([weights, row]), prescreening_gate=prescreening_gate_of(policy), portfolio=portfolio, de=policy.de
    )


def trusting_from(policy: CompiledPolicy, progress: float) -> CompiledPolicy:
    """The policy that picks the highest outlook when this share of the budget is used."""
    prescreening_gate = np.zeros(len(INPUTS))
    prescreening_gate[0], prescreening_gate[INPUTS.index("progress")] = -40.0 * progress, 40.0
    return softmax_policy(
        weights_of(policy), prescreening_gate=prescreening_gate if progress else None, portfolio=EXTENDED, de=policy.de
    )


def without(policy: CompiledPolicy, facts: tuple[str, ...]) -> CompiledPolicy:
    """The policy with constants in place of some facts."""
    weights = weights_of(policy)
    for fact in facts:
        column = INPUTS.index(fact)
        weights[:, 0] += USUAL.get(fact, 0.0) * weights[:, column]
        weights[:, column] = 0.0
    return softmax_policy(weights, prescreening_gate=prescreening_gate_of(policy), portfolio=EXTENDED, de=policy.de)


def tell_settings(road: Road, changes: tuple[dict[str, Any], ...]) -> None:
    """`ddqn-x` with some settings changed, and with other prescreening_gate."""
    for change in changes:
        road.tell(f"ddqn-x {change or ''}", road.errors(road.policy, **change))
    for progress in TRUST:
        road.tell(
            f"ddqn-x, prescreening_gate from {progress:g} of the budget",
            road.errors(trusting_from(road.policy, progress)),
        )


def tell_moves(road: Road) -> None:
    """Further and fewer moves and facts."""
    policy = road.policy
    for constant in CMA_WEIGHTS:
        road.tell(f"ddqn-x with cma, {constant:g}", road.errors(with_cma(policy, constant)))
    for facts in WITHOUT:
        road.tell(f"ddqn-x without {', '.join(facts)}", road.errors(without(policy, facts)))
    road.tell("uniform choice", road.errors(uniform_policy()))
    moves = [road.tell(name, road.errors(fixed(k))) for k, name in enumerate(EXTENDED.names)]
    road.tell_scores("the best move of each problem, afterwards", np.max(moves, axis=0))
    cma = Portfolio([Operator("cma", 1.0, 1.0)])
    config = config_for(policy.de)
    road.tell("cma alone", evaluate(fixed(0), road.problems, portfolio=cma, config=config, repeats=RUNS).errors)


def main(peers: Path, suite_name: str = TRAINING) -> None:
    """Print everything, or on another suite than the training functions what was chosen last."""
    road = Road(peers, suite_name)
    tell_settings(road, CHANGES if suite_name == TRAINING else LAST)
    if suite_name == TRAINING:
        tell_moves(road)


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:3])
