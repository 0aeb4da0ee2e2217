"""Policies in Python that a comparison finds by name: well behaved ones, and others."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from deddqn.policies import CompiledPolicy, FunctionPolicy, SearchView, mixture

SHOWN = [name for name in dir(SearchView) if not name.startswith("_")]


class KeepWhatPays:
    """Keeps an operator whose trial was better than its parent, else takes the next one."""

    name = "keep-what-pays"
    needs_features = False

    def reset(self, n_ops, n_pop, rng):
        self.n_ops, self.current = n_ops, 0

    def choose(self, features, i):
        return self.current

    def learn(self, i, op, f_parent, f_trial, f_bsf, f_wsf, reward):
        if not f_trial < f_parent:
            self.current = (op + 1) % self.n_ops

    def end_generation(self):
        pass


class Looking(KeepWhatPays):
    """Notes what it is shown, as copies."""

    name = "looking"
    needs_features = True

    def __init__(self):
        self.seen = []

    def look(self, search):
        self.search = search

    def choose(self, features, i):
        shown = {name: getattr(self.search, name) for name in SHOWN}
        arrays = {name: value for name, value in shown.items() if isinstance(value, np.ndarray)}
        assert not any(array.flags.writeable for array in arrays.values())
        copies = {name: array.copy() for name, array in arrays.items()}
        self.seen.append(SimpleNamespace(**{**shown, **copies}, i=i, features=features))
        return int(self.search.donors[0]) % self.n_ops


class Seeded(KeepWhatPays):
    """Any operator, from the generator of the run."""

    name = "seeded"

    def reset(self, n_ops, n_pop, rng):
        self.n_ops, self.rng = n_ops, rng

    def choose(self, features, i):
        return self.rng.integers(self.n_ops)


class Fragile(KeepWhatPays):
    """Raises near the end of runs that are not better than `bound`."""

    name = "fragile"
    bound = np.inf

    def look(self, search):
        if search.evaluations == 329 and search.best_value > self.bound:
            raise ArithmeticError("too high for me")


class Confused(KeepWhatPays):
    name = "confused"

    def choose(self, features, i):
        return "rand/1"


class Vandal(KeepWhatPays):
    name = "vandal"

    def look(self, search):
        search.population[:] = 0.0


class NoArguments(KeepWhatPays):
    def __init__(self, weight):
        self.weight = weight


def by_distance(features, search):
    """The fourth operator far from the best parent, the first one near to it."""
    distance = np.linalg.norm(search.population[search.individual] - search.population[search.best])
    return 3 * int(distance > 0.3 * np.linalg.norm(search.upper - search.lower))


distance_policy = FunctionPolicy(by_distance, needs_features=False)
keeper = KeepWhatPays()
not_a_policy = {"name": "nothing"}


def compiled() -> CompiledPolicy:
    return mixture([0.1, 0.2, 0.3, 0.4])
