"""What type checkers say about calls: `make check` runs mypy on this file, and nothing runs the file.

An ignored error that does not occur is an error itself (``warn_unused_ignores``).
"""

from __future__ import annotations

from typing import assert_type

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds

import deddqn
from deddqn import Result


def cost(x: NDArray[np.float64]) -> float:
    """Any function."""
    return float((x**2).sum())


def good() -> None:
    """Calls that are right, and what they give."""
    result = deddqn.minimize(cost, [(-5, 5)] * 3)
    assert_type(result, Result)
    assert_type(result.fun, float)
    assert_type(result.x, NDArray[np.float64])
    assert_type(result.nfev, int)
    assert_type(result.success, bool)
    assert_type(result.history.fun, NDArray[np.float64])
    deddqn.minimize(cost, np.array([[-5.0, 5.0]]), repair="reflect", updating="deferred", init="sobol", workers=-1)
    deddqn.minimize(cost, Bounds([0, 0], [1, 1]), init=np.zeros((6, 2)), workers=map, rng=np.random.default_rng(1))
    deddqn.minimize(cost, [[0.0, 1.0]], portfolio=["rand/1", ("best/1", 0.5, 0.9)], x0=[0.5])
    optimizer = deddqn.Optimizer([(-5, 5)] * 3, maxfun=300)
    assert_type(optimizer.result, Result)
    assert_type(optimizer.optimize(cost), Result)
    scipys = deddqn.differential_evolution(cost, [(-5, 5)] * 3, strategy="best1exp", init="halton", updating="deferred")
    assert_type(scipys.fun, float)
    assert_type(scipys.jac, NDArray[np.float64])


def bad() -> None:
    """Calls that are wrong."""
    deddqn.minimize(cost, 3)  # type: ignore[arg-type]
    deddqn.minimize(cost, [1, 2])  # type: ignore[arg-type]
    deddqn.minimize(3, [(0, 1)])  # type: ignore[arg-type]
    deddqn.minimize(cost, [(0, 1)], repair="wrap")  # type: ignore[arg-type]
    deddqn.minimize(cost, [(0, 1)], updating="now")  # type: ignore[arg-type]
    deddqn.minimize(cost, [(0, 1)], init="random")  # type: ignore[arg-type]
    deddqn.minimize(cost, [(0, 1)], workers="all")  # type: ignore[arg-type]
    deddqn.minimize(cost, [(0, 1)], rng="seed")  # type: ignore[arg-type]
    deddqn.minimize(cost, [(0, 1)], maxiters=3)  # type: ignore[call-arg]
    deddqn.minimize(cost, [(0, 1)]).value  # type: ignore[attr-defined]
    deddqn.Optimizer(3)  # type: ignore[arg-type]
    deddqn.differential_evolution(cost, [(0, 1)], strategy="best3bin")  # type: ignore[arg-type]
    deddqn.differential_evolution(cost, [(0, 1)], updating="sequential")  # type: ignore[arg-type]
