"""The adapter for MetaBox, with a small stand-in for its base class, whose package is not among ours."""

from __future__ import annotations

import copy
import importlib
import sys
from functools import partial
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from deddqn import minimize
from deddqn._utils.optional_imports import MissingPackageError

BASE = "metaevobox.environment.optimizer.basic_optimizer"
CONFIG = {"maxFEs": 1000, "n_logpoint": 50, "log_interval": 20, "full_meta_data": False, "device": "cpu"}


class BasicOptimizer:
    """As far as its tester uses it."""

    def __init__(self, config):
        self.__config = config
        self.rng_seed = None

    def seed(self, seed=None):
        self.rng_seed = seed


class Bowl:
    """A problem of MetaBox: a bowl above its optimum, with bounds that are one number or many."""

    dim = 5

    def __init__(self, lb=-5.0, ub=5.0, optimum=-130.0):
        self.lb, self.ub, self.optimum, self.calls = lb, ub, optimum, 0

    def reset(self):
        self.T1 = 0

    def eval(self, x):
        self.calls += 1
        assert x.shape == (5,) and (x >= self.lb).all() and (x <= self.ub).all()
        return np.sum((x - 1.5) ** 2) + (self.optimum or 0.0)


@pytest.fixture
def adapter(monkeypatch):
    parts = BASE.split(".")
    for k in range(len(parts)):
        monkeypatch.setitem(sys.modules, ".".join(parts[: k + 1]), ModuleType(parts[k]))
    sys.modules[BASE].Basic_Optimizer = BasicOptimizer
    monkeypatch.delitem(sys.modules, "deddqn.envs.metabox", raising=False)
    yield importlib.import_module("deddqn.envs.metabox").MetaBoxOptimizer
    sys.modules.pop("deddqn.envs.metabox", None)


def episode(make, problem, seed=3, **config):
    """As the tester of MetaBox does it."""
    optimizer = copy.deepcopy(make(SimpleNamespace(**{**CONFIG, **config})))
    optimizer.seed(seed)
    problem.reset()
    return optimizer.run_episode(problem), str(optimizer)


def test_a_run_is_that_of_minimize(adapter):
    problem = Bowl()
    found, name = episode(adapter, problem)
    assert name == "deddqn" and set(found) == {"cost", "fes"}
    assert found["fes"] == problem.calls == 1000 and len(found["cost"]) == 51
    expected = minimize(lambda x: problem.eval(x) + 130.0, [(-5, 5)] * 5, maxfun=1000, rng=3, history=True)
    assert found["cost"][-1] == expected.fun and (np.diff(found["cost"]) <= 0).all()
    assert found["cost"][0] == expected.history["fun"][0] > found["cost"][10]
    assert episode(adapter, Bowl())[0] == found != episode(adapter, Bowl(), seed=4)[0]


def test_bounds_options_and_unknown_optima(adapter):
    problem = Bowl(lb=np.full(5, -2.0), ub=np.arange(2.0, 7.0), optimum=None)
    found, name = episode(partial(adapter, name="other", policy="de3", population_size=30), problem)
    box = [(-2, upper) for upper in range(2, 7)]
    expected = minimize(problem.eval, box, maxfun=1000, rng=3, policy="de3", population_size=30)
    assert name == "other" and found["cost"][-1] == expected.fun


def test_metadata_are_the_generations(adapter):
    found, _ = episode(partial(adapter, policy="de3", population_size=25), Bowl(), full_meta_data=True)
    populations, costs = found["metadata"]["X"], found["metadata"]["Cost"]
    assert len(populations) == len(costs) == 40
    assert all(x.shape == (25, 5) and c.shape == (25,) for x, c in zip(populations, costs, strict=True))
    assert np.sum((populations[3][0] - 1.5) ** 2) == pytest.approx(costs[3][0], rel=1e-9)
    assert min(costs[-1]) == found["cost"][-1]


def test_a_search_that_ends_early_has_all_log_points(adapter):
    found, _ = episode(partial(adapter, ftarget=1e-3, policy="de3", population_size=20), Bowl(), maxFEs=20_000)
    assert found["fes"] < 20_000 and len(found["cost"]) == 51 and found["cost"][-1] <= 1e-3


def test_it_says_what_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "metaevobox", None)
    monkeypatch.delitem(sys.modules, "deddqn.envs.metabox", raising=False)
    with pytest.raises(MissingPackageError, match="install the package 'metaevobox'"):
        importlib.import_module("deddqn.envs.metabox")
