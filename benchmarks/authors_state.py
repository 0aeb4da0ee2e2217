"""How much of the authors' state matters to their networks: the numbers of docs/research/interpretations.md.

``python -m benchmarks.authors_state R2.h5f R3.h5f``, two minutes. One run per training problem on the authors' state;
the same run again, decision by decision, on the paper's. Then some rows of the former are replaced by those of the
latter: in how many decisions does the network select another operator? Only training functions are used.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from deddqn.de import DEConfig
from deddqn.engine import RunSpec
from deddqn.engine.run import Run
from deddqn.policies.keras_import import KerasNetwork, read_keras_network
from deddqn.problems import Problem, suite

GROUPS = {
    "dim / 50": [5],
    "stagnation of accepted trials": [6],
    "f_wsf of parents": [1, 2, 3, *range(13, 19)],
    "no sign": list(range(13, 18)),
    "x_bsf, the parent": [19],
    "success rates": list(range(20, 36)),
    "mean improvements": list(range(36, 52)),
    "changes of the best": list(range(52, 68)),
    "sums of the bests": list(range(68, 84)),
    "window": list(range(84, 100)),
    "all": list(range(1, 100)),
}
"""What differs -> rows of Table 1."""


class Recorder:
    """A policy that selects by a network, or repeats what was selected before, and keeps the states that it saw."""

    name, needs_features = "recorder", True

    def __init__(self, network: KerasNetwork, max_dimension: int, repeated: list[int] | None = None) -> None:
        self.network, self.max_dimension, self.repeated = network, max_dimension, repeated
        self.states: list[np.ndarray] = []
        self.selected: list[int] = []

    def reset(self, n_ops: int, n_pop: int, rng: np.random.Generator) -> None:
        """See `Policy`."""

    def choose(self, features: np.ndarray, i: int) -> int:
        """See `Policy`."""
        repeated = self.repeated
        op = int(selections(self.network, features[None])[0]) if repeated is None else repeated[len(self.states)]
        self.states.append(features)
        self.selected.append(op)
        return op

    def learn(
        self, i: int, op: int, f_parent: float, f_trial: float, f_bsf: float, f_wsf: float, reward: float
    ) -> None:
        """See `Policy`."""

    def end_generation(self) -> None:
        """See `Policy`."""


def selections(network: KerasNetwork, states: np.ndarray) -> np.ndarray:
    """(n,): the operators of highest Q-value in `states` (n, 99)."""
    values = states.astype(np.float32)
    last = len(network.weights) - 1
    for layer, (weights, biases) in enumerate(zip(network.weights, network.biases, strict=True)):
        values = values @ weights.T + biases
        values = values if layer == last else np.maximum(values, 0.0)
    return values.argmax(axis=1)


def record(problem: Problem, state: str, recorder: Recorder) -> np.ndarray:
    """(decisions, 99): the states of a run."""
    config = DEConfig(target_error=0.0)
    run = Run(RunSpec(problem=problem, policy=recorder, state=state, config=config))
    run.advance(config.budget)
    return np.array(recorder.states)


def mixed(authors: np.ndarray, paper: np.ndarray, what: str) -> np.ndarray:
    """The authors' states with the paper's rows of a group; f_wsf and sign meet in rows 13-17 and are told apart."""
    states, columns = authors.copy(), np.array(GROUPS[what]) - 1
    if what == "no sign":
        states[:, columns] *= np.where(paper[:, columns] < 0.0, -1.0, 1.0)
    elif what == "f_wsf of parents":
        states[:, columns] = np.abs(paper[:, columns])
    else:
        states[:, columns] = paper[:, columns]
    return states


def changed_shares(network: KerasNetwork, problem: Problem) -> list[float]:
    """Per group: the share of decisions that change on one problem."""
    first = Recorder(network, 50)
    authors = record(problem, "authors", first)
    paper = record(problem, "paper", Recorder(network, 30, first.selected))
    assert np.allclose(authors[1:, 3], paper[1:, 3])  # the same run
    before = selections(network, authors)
    return [float(np.mean(selections(network, mixed(authors, paper, what)) != before)) for what in GROUPS]


def main() -> None:
    """Print a row per group and a column per network."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("weights", type=Path, nargs="+", help="weight files of Keras")
    parser.add_argument("--suite", default="cec2005-train")
    options = parser.parse_args()
    found = []
    for path in options.weights:
        network = read_keras_network(path)
        found.append(np.mean([changed_shares(network, problem) for problem in suite(options.suite)], axis=0))
    print(f"| what | rows |{''.join(f' {path.stem} |' for path in options.weights)}")
    for k, (what, rows) in enumerate(GROUPS.items()):
        print(f"| {what} | {rows[0]}-{rows[-1]} |{''.join(f' {shares[k]:.2%} |' for shares in found)}")


if __name__ == "__main__":
    main()
