"""The result: scipy's `OptimizeResult` to whoever asks, although scipy.optimize need not be imported to make one."""

from __future__ import annotations

import copy
import json
import pickle
import subprocess
import sys
from collections.abc import Mapping

import numpy as np
import pytest
from scipy.optimize import OptimizeResult

import deddqn
from deddqn.optimize.result import Result


def found() -> OptimizeResult:
    return deddqn.minimize(
        lambda x: float((x**2).sum()), [(-1, 1)] * 2, policy="random", maxfun=300, rng=1, history=True
    )


def test_counts_as_scipys():
    result = found()
    assert isinstance(result, OptimizeResult) and isinstance(result.history, OptimizeResult)
    assert isinstance(result, dict) and isinstance(result, Mapping) and not isinstance(result, list)


def test_is_shown_as_scipys():
    result = found()
    assert repr(result) == repr(OptimizeResult({**result, "history": OptimizeResult(result.history)}))
    assert repr(result).lstrip().startswith("message: All 300 evaluations are used.")
    assert sorted(dir(result)) == sorted(result)
    assert repr(Result()) == "OptimizeResult()"


def test_attributes_are_keys():
    result = Result(x=1)
    result.fun = 2.0
    assert result == {"x": 1, "fun": 2.0} and result["fun"] == result.fun
    del result.x
    assert not hasattr(result, "x") and "x" not in result
    with pytest.raises(AttributeError, match="^x$"):
        result.x


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickles_are_scipys(protocol: int):
    """They can be read where this package is not installed."""
    result = found()
    written = pickle.dumps(result, protocol)
    assert b"deddqn.engine" not in written
    again = pickle.loads(written)
    assert type(again) is OptimizeResult and type(again.history) is OptimizeResult
    np.testing.assert_array_equal(again.x, result.x)


def test_copies():
    result = Result(x=[1, 2])
    assert copy.copy(result).x is result.x
    assert copy.deepcopy(result).x == result.x and copy.deepcopy(result).x is not result.x
    assert isinstance(copy.copy(result), OptimizeResult) and json.dumps(result) == '{"x": [1, 2]}'


def test_scipy_may_come_later():
    """A search does not import scipy.optimize; a result that was made before it was imported is one of its own then."""
    code = (
        "import sys, deddqn\n"
        "result = deddqn.minimize(lambda x: float(x @ x), [(-1, 1)] * 2, policy='random', maxfun=300, history=True)\n"
        "assert 'scipy.optimize' not in sys.modules and isinstance(result, dict) and not isinstance(result, list)\n"
        "from scipy.optimize import OptimizeResult\n"
        "assert isinstance(result, OptimizeResult)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=300)
