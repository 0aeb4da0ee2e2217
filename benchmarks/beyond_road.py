"""The numbers of "The road" in docs/beyond.md, on the training functions.

Call ``python -m benchmarks.beyond_road PEERS.csv``, where the file has the runs of peers that docs/beyond.md makes; all
scores are places among them. Prints `ddqn-x` with its own settings, with one of them changed and without some of its
facts, every move alone, and the best move of each problem, known afterwards.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

from deddqn.de.config import config_for
from deddqn.de.portfolio import BEYOND
from deddqn.policies import CompiledPolicy, fixed, load_policy, softmax_policy, uniform_policy
from deddqn.policies.softmax import FACTS, weights_of
from deddqn.problems import suite
from deddqn.training.evaluate import errors_of, evaluate, evaluate_all, rank_scores

RUNS = 12
CHANGES: tuple[dict[str, Any], ...] = (
    {},
    {"population_size": 60},
    {"population_size": 100},
    {"population_size": 130},
    {"final_population": 10},
    {"final_population": 14},
    {"pbest": 0.05},
    {"pbest": 0.2},
    {"archive": 0.0},
    {"archive": 2.6},
    {"restart_tolerance": 1e-6},
    {"repair": "reflect"},
    {"repair": "clip"},
)
WITHOUT = (("lean", "base"), ("rank",), ("success", "stagnation", "diversity"), ("progress", "progress squared"))
USUAL = {"rank": 0.5, "success": 0.2, "stagnation": 0.2, "diversity": -0.2, "progress": 0.5, "progress squared": 1 / 3}
"""What a fact counts where a policy must do without it: about its mean."""


def told(name: str, scores: np.ndarray) -> None:
    """One line; the first half of the problems has D = 10, the second D = 30."""
    half = len(scores) // 2
    print(
        f"{name:<50}{scores.mean():6.3f}  D=10 {scores[:half].mean():.3f}  D=30 {scores[half:].mean():.3f}", flush=True
    )


def without(policy: CompiledPolicy, facts: tuple[str, ...]) -> CompiledPolicy:
    """The policy with constants in place of some facts."""
    weights = weights_of(policy)
    for fact in facts:
        column = FACTS.index(fact)
        weights[:, 0] += USUAL.get(fact, 0.0) * weights[:, column]
        weights[:, column] = 0.0
    return softmax_policy(weights, portfolio=BEYOND, de=policy.de)


def main(peers: Path) -> None:
    """Print everything."""
    problems, policy = suite("cec2005-train"), load_policy("ddqn-x")
    assert isinstance(policy, CompiledPolicy)
    pool = errors_of(peers, problems)
    own = policy.de
    for change in CHANGES:
        settings = {"portfolio": BEYOND, "config": config_for(own, **change), "repeats": RUNS}
        found = evaluate(policy, problems, **settings)  # type: ignore[arg-type]
        told(f"ddqn-x {change or ''}", rank_scores(found.errors, pool))
    for facts in WITHOUT:
        found = evaluate(without(policy, facts), problems, portfolio=BEYOND, config=config_for(own), repeats=RUNS)
        told(f"ddqn-x without {', '.join(facts)}", rank_scores(found.errors, pool))
    moves = [uniform_policy(), *(fixed(k) for k in range(len(BEYOND)))]
    runs = evaluate_all(moves, problems, portfolio=BEYOND, config=config_for(own), repeats=RUNS)
    scores = np.array([rank_scores(found.errors, pool) for found in runs])
    for name, row in zip(["uniform choice", *BEYOND.names], scores, strict=True):
        told(name, row)
    told("the best move of each problem, afterwards", scores[1:].max(axis=0))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
