"""The numbers of "The road" in docs/beyond.md, on the training functions.

Call ``python -m benchmarks.beyond_road PEERS.csv``, where the file has the runs of peers that docs/beyond.md makes; all
scores are places among them. Prints `ddqn-x` with its own settings and with one of them changed, every move alone, and
the best move of each problem, known afterwards.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

from deddqn.de.config import config_for
from deddqn.de.portfolio import BEYOND
from deddqn.policies import fixed, load_policy, uniform_policy
from deddqn.problems import suite
from deddqn.training.evaluate import errors_of, evaluate, evaluate_all, rank_scores

RUNS = 6
CHANGES: tuple[dict[str, Any], ...] = (
    {},
    {"population_size": 70},
    {"population_size": 140},
    {"final_population": 6},
    {"final_population": 20},
    {"pbest": 0.05},
    {"pbest": 0.2},
    {"archive": 0.0},
    {"archive": 2.6},
    {"restart_tolerance": 1e-6},
    {"repair": "reflect"},
    {"repair": "midpoint"},
)


def told(name: str, scores: np.ndarray) -> None:
    """One line; the first half of the problems has D = 10, the second D = 30."""
    half = len(scores) // 2
    print(
        f"{name:<44}{scores.mean():6.3f}  D=10 {scores[:half].mean():.3f}  D=30 {scores[half:].mean():.3f}", flush=True
    )


def main(peers: Path) -> None:
    """Print everything."""
    problems, policy = suite("cec2005-train"), load_policy("ddqn-x")
    pool = errors_of(peers, problems)
    own: dict[str, Any] = getattr(policy, "de", {})
    for change in CHANGES:
        settings = {"portfolio": BEYOND, "config": config_for(own, **change), "repeats": RUNS}
        found = evaluate(policy, problems, **settings)  # type: ignore[arg-type]
        told(f"ddqn-x {change or ''}", rank_scores(found.errors, pool))
    moves = [uniform_policy(), *(fixed(k) for k in range(len(BEYOND)))]
    runs = evaluate_all(moves, problems, portfolio=BEYOND, config=config_for(own), repeats=RUNS)
    scores = np.array([rank_scores(found.errors, pool) for found in runs])
    for name, row in zip(["uniform choice", *BEYOND.names], scores, strict=True):
        told(name, row)
    told("the best move of each problem, afterwards", scores[1:].max(axis=0))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
