"""Evaluations in other processes: they change nothing, and whatever happens there comes back."""

import multiprocessing
import os
import subprocess
import sys
import threading
import time
from concurrent.futures.process import BrokenProcessPool

import numpy as np
import pytest

from deddqn import Optimizer, minimize
from deddqn.optimize import worker_pool
from tests.optimize.objectives import BOX, SMALL, Learner, assert_same, bowl, jitted_bowl, random_network

DEFERRED = {**SMALL, "updating": "deferred"}


@pytest.mark.parametrize("forks", [True, False])
def test_lambdas_and_closures(forks, monkeypatch):
    monkeypatch.setattr(worker_pool, "FORKS", forks)
    shift = 0.25
    result = minimize(lambda x: bowl(x - shift), BOX, workers=2, **SMALL)
    assert_same(result, minimize(lambda x: bowl(x - shift), BOX, **DEFERRED))


def test_without_fork_exceptions_come_back(monkeypatch):
    monkeypatch.setattr(worker_pool, "FORKS", False)
    with pytest.raises(Trouble, match="far away") as caught:
        minimize(raises(Trouble("far away")), BOX, workers=2, **SMALL)
    assert "in fails" in str(caught.value.__cause__)
    lock = threading.Lock()
    with pytest.raises(ValueError, match="fun must be something that cloudpickle can send to workers, got .*lock"):
        minimize(lambda x: lock, BOX, workers=2, **SMALL)


SCRIPT = """
import deddqn
from deddqn.optimize import worker_pool
worker_pool.FORKS = False
result = deddqn.minimize(lambda x: (x**2).sum(), [(-5, 5)] * 3, maxfun=200, rng=1, workers=2)
print("begun", result.nfev)
"""


def test_without_fork_the_script_is_not_run_again(tmp_path):
    """Neither a guard (``if __name__ == "__main__"``) nor a module is needed."""
    (tmp_path / "script.py").write_text(SCRIPT)
    done = subprocess.run([sys.executable, tmp_path / "script.py"], capture_output=True, text=True, timeout=120)
    assert done.stdout.split() == ["begun", "200"] and done.stderr == ""


def test_processes_really_work(tmp_path):
    def noted(x):
        (tmp_path / str(os.getpid())).touch()
        time.sleep(0.001)
        return bowl(x)

    minimize(noted, BOX, workers=2, **SMALL)
    assert len(list(tmp_path.iterdir())) == 2 and not (tmp_path / str(os.getpid())).exists()


@pytest.mark.parametrize("policy", [random_network, Learner])
def test_unequal_times_change_nothing(policy):
    def uneven(x):
        time.sleep(0.003 * (x[0] > 0))
        return bowl(x)

    result = minimize(uneven, BOX, workers=3, policy=policy(), **SMALL)
    assert_same(result, minimize(bowl, BOX, policy=policy(), **DEFERRED))


def shifted(x, by):
    return bowl(x - by)


def test_pool_map_with_args():
    with multiprocessing.get_context("fork").Pool(2) as pool:
        result = minimize(shifted, BOX, args=(0.5,), workers=pool.map, **SMALL)
    assert_same(result, minimize(shifted, BOX, args=(0.5,), workers=2, **SMALL))


def test_jitted_functions():
    assert_same(minimize(jitted_bowl, BOX, workers=2, **SMALL), minimize(bowl, BOX, **DEFERRED))


def test_no_process_is_left_behind():
    before = multiprocessing.active_children()
    minimize(bowl, BOX, workers=2, **SMALL)
    with pytest.raises(ZeroDivisionError):
        minimize(lambda x: 1 / 0, BOX, workers=2, **SMALL)
    assert multiprocessing.active_children() == before


class Trouble(Exception):
    pass


class Awkward(Exception):
    """Cannot be unpickled: its arguments are not those of its constructor."""

    def __init__(self, one, two):
        super().__init__(f"{one} and {two}")


def raises(error):
    def fails(x):
        if x[0] > 3.0:
            raise error
        return bowl(x)

    return fails


@pytest.mark.parametrize("error", [Trouble("a", 2), SystemExit(3), KeyboardInterrupt("k"), StopIteration("s")])
def test_exceptions_come_back_and_the_search_goes_on(error):
    optimizer = Optimizer(BOX, **DEFERRED)
    with pytest.raises(type(error)) as caught:
        optimizer.optimize(raises(error), workers=2)
    assert type(caught.value) is type(error) and caught.value.args == error.args
    assert "in fails" in str(caught.value.__cause__)
    assert_same(optimizer.optimize(bowl, workers=2), minimize(bowl, BOX, **DEFERRED))


def test_an_exception_that_cannot_travel():
    with pytest.raises(RuntimeError, match="Awkward: this and that"):
        minimize(raises(Awkward("this", "that")), BOX, workers=2, **SMALL)


def test_a_worker_that_dies_is_noticed():
    optimizer = Optimizer(BOX, **DEFERRED)
    with pytest.raises(BrokenProcessPool):
        optimizer.optimize(lambda x: os._exit(1) if x[0] > 3 else bowl(x), workers=2)
    assert_same(optimizer.optimize(bowl), minimize(bowl, BOX, **DEFERRED))


def test_a_map_must_give_a_value_per_point():
    for answer, found in (([1.0] * 19, "19"), ([1.0] * 21, "more"), ([], "0")):
        with pytest.raises(ValueError, match=f"workers must give 20 values for as many points, got {found}"):
            minimize(bowl, BOX, workers=lambda f, points, a=answer: a, **SMALL)

    def endless(function, points):
        while True:
            yield 1.0

    optimizer = Optimizer(BOX, **DEFERRED)
    with pytest.raises(ValueError, match="got more"):
        optimizer.optimize(bowl, workers=endless)
    assert_same(optimizer.optimize(bowl), minimize(bowl, BOX, **DEFERRED))  # no value was taken


def test_vectorized_points_have_scipys_shape():
    shapes = []

    def columns(x):
        shapes.append(x.shape)
        return (x**2).sum(axis=0)

    result = minimize(columns, BOX, policy="softmax", vectorized=True, **SMALL)
    assert shapes == [(4, 20)] * 6 + [(4, 10)] and result.nfev == 130
    with_args = minimize(lambda x, by: ((x - by) ** 2).sum(axis=0), BOX, args=(1.0,), vectorized=True, **SMALL)
    assert with_args.fun == pytest.approx(((with_args.x - 1.0) ** 2).sum())
    assert np.array_equal(minimize(columns, BOX, policy="softmax", vectorized=True, workers=2, **SMALL).x, result.x)
