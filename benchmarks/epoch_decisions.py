"""Can a search learn to change its settings while it runs? ``python -m benchmarks.epoch_decisions [--out FOLDER]``.

Double DQN on the decisions of `benchmarks.epoch_searches`: population, candidates and CMA-ES, at four moments. The
state is what `benchmarks.late_decisions` knows of a run, with the moment, the size of the population and the
candidates. The reward comes at the end: 1/2 if the search ends better than its twin, -1/2 if worse. The twin has the
same random numbers and keeps the settings, so that both are the same search up to the first other action. Episodes
begin with the rules: ``keep`` is taken in half of the cases that are explored, and another action is taken greedily
only where its Q-value exceeds that of ``keep`` by a margin.

Searches for training are on ``made:`` and ``made-mixture:``, every problem once, so that none can be learned by
heart; those for judging on ``made-held-out:`` and ``made-mixture-held-out:``, where ``keep``, what was learned, and
every action taken once, at the first moment, are run afresh. A gain is the probability of ending better than with
``keep``, above 1/2; its interval is a bootstrap over base functions. "better on" and "worse on" are problems with a
significant difference (Mann-Whitney, 5%, two-sided).

In the folder: ``learning.csv`` (the course of the training), ``network.npz`` and ``judged.csv``; what is there already
is not made again.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import multiprocessing
import multiprocessing.pool
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import torch
from scipy.stats import mannwhitneyu

from benchmarks.epoch_searches import ACTIONS, FEATURES, KEEP, Chooser, Episode, Network, Search, make
from benchmarks.world import bootstrap, read
from deddqn.problems.made.recipes import recipe
from deddqn.training.dqn.adam import Adam
from deddqn.training.dqn.learner import double_dqn_target
from deddqn.training.dqn.network import QNetwork
from deddqn.training.dqn.replay_buffer import Batch
from deddqn.training.dqn.weights import padded_width

TRAINING, LEFT_OUT = ("made", "made-mixture"), ("made-held-out", "made-mixture-held-out")
HIDDEN, LEARNING_RATE, BATCH, TARGET_EVERY, UPDATES = (64, 64), 3e-4, 512, 200, 400
FIRST_EPSILON, LAST_EPSILON = 1.0, 0.2
EXPLORATION = 0.7  # of the rounds, over which epsilon falls
FIRST_JUDGED = 10_000_000  # of the seeds
WAYS = {"keep": (), **{ACTIONS[k]: (k, KEEP, KEEP, KEEP) for k in range(1, len(ACTIONS))}}

Key = tuple[str, str, int]  # who chooses, family and number of a problem


def problems(family: str, most_evaluations: int) -> Iterator[tuple[str, int]]:
    """All problems of a family whose budget is small enough."""
    return ((family, n) for n in itertools.count() if recipe(family, n).budget <= most_evaluations)


def searches(problem: tuple[str, int], first: int, count: int, chooser: Chooser) -> list[Search]:
    """Searches of one problem, with seeds from `first` on."""
    family, number = problem
    return [Search(family=family, number=number, seed=first + k, chooser=chooser) for k in range(count)]


class Folder:
    """What was made before, and what is added to it."""

    def __init__(self, path: Path, pool: multiprocessing.pool.Pool) -> None:
        path.mkdir(parents=True, exist_ok=True)
        self.path, self.pool = path, pool

    def errors(self, file: str, wanted: dict[Key, list[Search]]) -> dict[Key, list[float]]:
        """The errors of the wanted searches, by who chooses and problem; those that are not known are made."""
        path, columns = self.path / file, ["way", "family", "number", "errors"]
        rows = read(path)
        known = {(row["way"], row["family"], int(row["number"])): row["errors"] for row in rows}
        for key in known.keys() & wanted.keys():
            if (count := len(known[key].split())) != len(wanted[key]):
                sys.exit(f"--runs must be {count} as in {path}, got {len(wanted[key])}")
        waiting = [(key, search) for key, asked in wanted.items() if key not in known for search in asked]
        found: dict[Key, list[float]] = {}
        with open(path, "a", newline="", encoding="utf-8") as opened:
            writer = csv.writer(opened)
            if not rows:
                writer.writerow(columns)
            episodes = self.pool.imap(make, [search for _, search in waiting], chunksize=4)
            for count, ((key, _), episode) in enumerate(zip(waiting, episodes, strict=True), start=1):
                found.setdefault(key, []).append(episode.error)
                if len(found[key]) == len(wanted[key]):
                    writer.writerow([*key, " ".join(repr(error) for error in found[key])])
                    opened.flush()
                if count % 100 == 0:
                    print(f"\r{file}: {count} of {len(waiting)} searches", end="", file=sys.stderr, flush=True)
        print(file=sys.stderr)
        return {key: found[key] if key in found else [float(e) for e in known[key].split()] for key in wanted}


def better(own: Sequence[float], others: Sequence[float]) -> float:
    """The probability that one of `own` is better than one of the others."""
    a, b = np.array(own)[:, None], np.array(others)
    return float((a < b).mean() + 0.5 * (a == b).mean())


@dataclass
class Memory:
    """All transitions so far. The reward of an episode comes with its last action."""

    states: list[np.ndarray] = field(default_factory=list)
    following: list[np.ndarray] = field(default_factory=list)
    actions: list[int] = field(default_factory=list)
    rewards: list[float] = field(default_factory=list)
    ended: list[bool] = field(default_factory=list)

    def add(self, episode: Episode, reward: float) -> None:
        """Add an episode."""
        steps = len(episode.actions)
        for k in range(steps):
            last = k == steps - 1
            self.states.append(episode.features[k])
            self.following.append(episode.features[k if last else k + 1])
            self.actions.append(episode.actions[k])
            self.rewards.append(reward if last else 0.0)
            self.ended.append(last)

    def batches(self, like: Network, count: int, rng: np.random.Generator) -> Iterator[Batch]:
        """Batches of transitions, standardised as for this network."""
        room = ((0, 0), (0, padded_width(FEATURES) - FEATURES))
        both = [
            torch.from_numpy(np.pad(like.standardised(np.array(part)), room).astype(np.float32))
            for part in (self.states, self.following)
        ]
        actions, rewards = torch.tensor(self.actions), torch.tensor(self.rewards, dtype=torch.float32)
        ended = torch.tensor(self.ended)
        for _ in range(count):
            rows = torch.from_numpy(rng.integers(len(self.actions), size=BATCH))
            pair = torch.cat([part[rows] for part in both])
            yield Batch(both=pair, actions=actions[rows, None], returns=rewards[rows], ended=ended[rows])


class Learner:
    """Double DQN; nothing is discounted."""

    def __init__(self) -> None:
        torch.set_num_threads(1)
        self.primary, self.target = (QNetwork(FEATURES, HIDDEN, len(ACTIONS)) for _ in range(2))
        self.adam, self.updates = Adam(self.primary.flat, LEARNING_RATE), 0

    @torch.no_grad()
    def update(self, batch: Batch) -> None:
        """One update; the target network is copied after so many."""
        activations = self.primary.activations(batch.both)
        q, q_next = activations[-1][:BATCH], activations[-1][BATCH:]
        wanted = double_dqn_target(batch, q_next, self.target(batch.next_states), 1.0)
        error = q.gather(1, batch.actions).squeeze(1) - wanted
        slopes = torch.zeros_like(q).scatter_(1, batch.actions, error[:, None] * (2.0 / BATCH))
        self.adam.step(self.primary.differentiate([values[:BATCH] for values in activations], slopes))
        self.updates += 1
        if self.updates % TARGET_EVERY == 0:
            self.target.flat.data.copy_(self.primary.flat.data)


def make_pair(search: Search) -> tuple[Episode, float]:
    """A search, and its reward beside the twin that keeps the settings."""
    episode = make(search)
    if not any(episode.actions):
        return episode, 0.0
    return episode, better([episode.error], [make(replace(search, chooser=Chooser())).error]) - 0.5


def learn(folder: Folder, options: argparse.Namespace) -> Network:
    """Double DQN on the training problems."""
    path = folder.path / "network.npz"
    if path.exists():
        return load_network(path)
    rng, memory, learner, network = np.random.default_rng(0), Memory(), Learner(), None
    drawn = zip(*(problems(family, options.most_evaluations) for family in TRAINING), strict=True)
    fresh = itertools.chain.from_iterable(drawn)
    with open(folder.path / "learning.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["round", "episodes", "epsilon", "gain", *ACTIONS])
        for k in range(options.rounds):
            share = min(k / (EXPLORATION * options.rounds), 1.0)
            chooser = Chooser(network=network, epsilon=FIRST_EPSILON + (LAST_EPSILON - FIRST_EPSILON) * share)
            asked = [searches(p, 0, 1, chooser)[0] for p in itertools.islice(fresh, options.episodes)]
            rewards, taken = [], np.zeros(len(ACTIONS))
            for episode, reward in folder.pool.imap(make_pair, asked, chunksize=8):
                rewards.append(reward)
                memory.add(episode, reward)
                taken += np.bincount(episode.actions, minlength=len(ACTIONS))
            if network is None:
                known = np.array(memory.states)
                shift, scale = known.mean(axis=0), np.maximum(known.std(axis=0), 1e-9)
                network = Network(learner.primary.export(), shift, scale)
            for batch in memory.batches(network, UPDATES, rng):
                learner.update(batch)
            network = Network(learner.primary.export(), network.shift, network.scale)
            row = [k, len(asked), round(chooser.epsilon, 3), round(float(np.mean(rewards)), 4)]
            writer.writerow([*row, *(round(float(share), 3) for share in taken / taken.sum())])
            file.flush()
            print(f"\rround {k + 1} of {options.rounds}: gain {row[-1]:+.3f}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    if network is None:
        sys.exit(f"--rounds must be at least 1, got {options.rounds}")
    save_network(path, network)
    return network


def save_network(path: Path, network: Network) -> None:
    """Write what was learned."""
    arrays = {"shift": network.shift, "scale": network.scale}
    for k, (weight, bias) in enumerate(network.layers):
        arrays |= {f"weight{k}": weight, f"bias{k}": bias}
    np.savez(path, **arrays)


def load_network(path: Path) -> Network:
    """Read what was learned."""
    with np.load(path) as found:
        layers = [(found[f"weight{k}"], found[f"bias{k}"]) for k in range(len(HIDDEN) + 1)]
        return Network(layers, found["shift"], found["scale"])


def judge(folder: Folder, network: Network, options: argparse.Namespace) -> None:
    """Print what is gained on functions left out."""
    ways = {name: Chooser(planned=planned) for name, planned in WAYS.items()} | {"learned": Chooser(network=network)}
    found = [itertools.islice(problems(family, options.most_evaluations), options.problems) for family in LEFT_OUT]
    judged = list(itertools.chain.from_iterable(found))
    wanted = {
        (name, *p): searches(p, FIRST_JUDGED + 1000 * place, options.runs, chooser)
        for p in judged
        for place, (name, chooser) in enumerate(ways.items())
    }
    errors = folder.errors("judged.csv", wanted)
    for families in (LEFT_OUT, *((family,) for family in LEFT_OUT)):
        print_gains([p for p in judged if p[0] in families], " and ".join(families), errors)


def print_gains(judged: Sequence[tuple[str, int]], title: str, errors: dict[Key, list[float]]) -> None:
    """The table of some problems."""
    others = list(dict.fromkeys(way for way, *_ in errors if way != "keep"))
    gains = np.array([[better(errors[name, *p], errors["keep", *p]) - 0.5 for name in others] for p in judged])
    bases = np.array([recipe(*p).components[0].base.name for p in judged])
    print(f"\n{title}: {len(judged)} problems, {len(errors['keep', *judged[0]])} searches of each")
    print(f"{'':<20}{'gain':>8}{'95% interval':>20}{'better on':>12}{'worse on':>12}")
    for k, (name, (low, high)) in enumerate(zip(others, bootstrap(gains, bases).T, strict=True)):
        signs = np.array([significant(errors[name, *p], errors["keep", *p]) for p in judged])
        shown = f"{gains[:, k].mean():>+8.3f}{f'{low:+.3f} to {high:+.3f}':>20}"
        print(f"{name:<20}{shown}{(signs < 0).mean():>12.1%}{(signs > 0).mean():>12.1%}")


def significant(own: Sequence[float], others: Sequence[float]) -> int:
    """-1 where `own` ends significantly better, 1 worse, else 0."""
    if np.ptp([*own, *others]) == 0.0 or mannwhitneyu(own, others).pvalue >= 0.05:
        return 0
    return -1 if better(own, others) > 0.5 else 1


def main(arguments: Sequence[str]) -> None:
    """Learn, judge, and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.epoch_decisions", description=__doc__.split("\n")[0])
    parser.add_argument("--problems", type=int, default=300, help="to judge by, of each of the two families")
    parser.add_argument("--most-evaluations", type=int, default=50_000, help="leave problems with larger budgets out")
    parser.add_argument("--runs", type=int, default=6, help="searches of a problem to judge by")
    parser.add_argument("--rounds", type=int, default=20, help="of episodes and updates")
    parser.add_argument("--episodes", type=int, default=1500, help="in a round")
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--out", type=Path, default=Path("out/epoch_decisions"))
    options = parser.parse_args(arguments)
    with multiprocessing.get_context("spawn").Pool(options.workers) as pool:
        folder = Folder(options.out, pool)
        judge(folder, learn(folder, options), options)


if __name__ == "__main__":
    main(sys.argv[1:])
