"""Functions that a user compiled with numba, inside of code that was built elsewhere."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from numba import njit

import deddqn
from deddqn._jit import PLAIN
from deddqn.problems import Problem

BOX = [(-5.0, 5.0)] * 3


def test_a_jitted_objective_is_compiled_once() -> None:
    @njit
    def bowl(x):
        return (x * x).sum()

    first = deddqn.minimize(bowl, BOX, maxfun=200, rng=1)
    assert PLAIN or len(bowl.signatures) == 1
    adapter = Problem.from_function(bowl, BOX).objective.kernel
    again = deddqn.minimize(bowl, BOX, maxfun=200, rng=1)
    if not PLAIN:
        assert Problem.from_function(bowl, BOX).objective.kernel is adapter
        assert len(adapter.signatures) == 1
    assert first.fun == again.fun and np.array_equal(first.x, again.x)


def test_errors_of_a_jitted_objective_come_out_whole() -> None:
    @njit
    def fixed(x):
        if x[0] > 0:
            raise ZeroDivisionError("a constant text")
        return 1.0

    @njit
    def told(x):
        if x[0] > 0:
            raise ValueError("the value was", x[0])
        return 1.0

    with pytest.raises(ZeroDivisionError, match="a constant text"):
        deddqn.minimize(fixed, BOX, maxfun=200, rng=1)
    with pytest.raises(ValueError, match="the value was") as caught:
        deddqn.minimize(told, BOX, maxfun=200, rng=1)
    assert caught.value.args[1] > 0


@pytest.mark.skipif(PLAIN, reason="nothing is compiled")
@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x: "abc", r"fun must return one number, a jitted one that returns .*str"),
        (lambda x, y: x[0], r"fun cannot be compiled for a point x of shape \(D,\): .*takes 2 arguments"),
        (lambda x: x.no_such_thing, r"fun cannot be compiled .*no_such_thing"),
        (lambda x: x, r"fun must return one number, a jitted one that returns array"),
    ],
    ids=["a string", "two arguments", "an unknown attribute", "an array"],
)
def test_a_jitted_function_that_is_no_objective(function, message) -> None:
    with pytest.raises(ValueError, match=message):
        deddqn.minimize(njit(function), BOX, maxfun=200, rng=1)


def test_errors_of_a_python_objective_come_out_whole() -> None:
    class Mine(Exception):
        pass

    def objective(x: np.ndarray) -> float:
        raise Mine("from inside")

    with pytest.raises(Mine, match="from inside") as caught:
        deddqn.minimize(objective, BOX, maxfun=200, rng=1)
    assert caught.traceback[-1].name == "objective"


def test_an_objective_may_minimise_something_itself() -> None:
    def outer(x: np.ndarray) -> float:
        return float(x @ x + deddqn.minimize(lambda y: float(y @ y), BOX[:1], maxfun=60, rng=1).fun)

    assert deddqn.minimize(outer, BOX, maxfun=120, rng=1).nfev == 120


INTERRUPT = """
import os, signal, threading, deddqn
from deddqn.problems import get
threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    deddqn.minimize(lambda x: float(x @ x), [(-5, 5)] * 3, maxfun=10**8, rng=1)
except KeyboardInterrupt:
    print("interrupted")
"""


def test_ctrl_c_ends_a_search() -> None:
    done = subprocess.run([sys.executable, "-c", INTERRUPT], capture_output=True, text=True, timeout=120)
    assert done.stdout.strip().endswith("interrupted"), done.stderr
