"""Functions and comparisons that the tests of `minimize` and `Optimizer` share."""

import numpy as np
from numba import njit

import deddqn
from deddqn.features.layout import n_features
from deddqn.policies import network_policy

BOX = [(-5.0, 5.0)] * 4
SMALL = {"maxfun": 130, "population_size": 20, "rng": 7}
"""With a constant population: six generations, of which the last is truncated."""


def bowl(x):
    """Written with plain float arithmetic, so that jitted and plain calls agree to the bit."""
    total = 0.0
    for k in range(len(x)):
        total += (x[k] - 0.5 * k) * (x[k] - 0.5 * k) + 0.1 * abs(x[k])
    return total


jitted_bowl = njit(bowl)


def many_bowls(x):
    """`bowl` for scipy's (D, S) points."""
    assert x.shape[0] == len(BOX)
    return np.array([bowl(column) for column in x.T])


class Learner:
    """A Python policy that draws, reads the state and learns: all of that must survive saving."""

    name = "learner"
    needs_features = True

    def reset(self, n_ops, n_pop, rng):
        self.rng, self.credit, self.generations, self.seen = rng, np.ones(n_ops), 0, 0.0

    def choose(self, features, i):
        self.seen += float(features.sum())
        return int(self.rng.choice(len(self.credit), p=self.credit / self.credit.sum()))

    def learn(self, i, op, f_parent, f_trial, f_bsf, f_wsf, reward):
        self.credit[op] += 0.1 * reward + 1e-3 * (self.seen % 1.0)

    def end_generation(self):
        self.generations += 1
        self.credit *= 0.9


def random_network(seed=0, portfolio=deddqn.PAPER):
    """A Q-network with random weights, so that its choices depend on every feature."""
    rng = np.random.default_rng(seed)
    widths = [n_features(len(portfolio)), 16, 16, len(portfolio)]
    weights = [rng.standard_normal((o, i)).astype(np.float32) for i, o in zip(widths, widths[1:], strict=False)]
    biases = [rng.standard_normal(o).astype(np.float32) for o in widths[1:]]
    return network_policy(weights, biases, portfolio=portfolio)


POLICIES = {
    "random": lambda: "random",
    "fixed": lambda: "de3",
    "mixture": lambda: deddqn.policies.mixture([1 / 3, 1 / 3, 1 / 6, 1 / 6]),
    "network": random_network,
    "python": Learner,
}
"""One maker for every kind of policy."""


def assert_same(one, other):
    """Two results of the same run, bit for bit."""
    assert one.nfev == other.nfev and one.nit == other.nit
    assert one.fun == other.fun
    for name in ("x", "population", "population_energies", "strategy_counts"):
        np.testing.assert_array_equal(one[name], other[name], err_msg=name)
    assert one.message == other.message and one.success == other.success
    assert one.strategies == other.strategies and one.non_finite == other.non_finite
    assert ("history" in one) == ("history" in other)
    if "history" in one:
        for name in one.history:
            np.testing.assert_array_equal(one.history[name], other.history[name], err_msg=name)


def by_ask_and_tell(optimizer, function=bowl):
    """Run an optimizer to its end from outside."""
    while not optimizer.stop():
        points = optimizer.ask()
        optimizer.tell(points, [function(x) for x in points])
    return optimizer.result
