"""Long runs do not grow."""

import psutil
import pytest
from numba import njit

from deddqn import minimize
from tests.optimize.objectives import random_network


@pytest.mark.slow
@pytest.mark.parametrize("updating", ["sequential", "deferred"])
def test_a_million_evaluations_hold_memory_constant(updating):
    process, seen = psutil.Process(), []

    def note(xk, convergence):
        seen.append(process.memory_info().rss)

    options = {"policy": random_network(), "updating": updating, "rng": 1, "callback": note}
    minimize(lambda x: x[0] * x[1], [(-5, 5)] * 30, maxfun=1_000_000, **options)
    assert len(seen) == 10_000
    assert max(seen) - seen[500] < 2**20


def test_a_jitted_objective_is_compiled_once():
    """A call that compiled anew would leave more than a megabyte behind."""
    objective, process = njit(_bowl), psutil.Process()
    seen = []
    for seed in range(40):
        minimize(objective, [(-5, 5)] * 3, maxfun=300, rng=seed)
        seen.append(process.memory_info().rss)
    assert seen[-1] - seen[9] < 5 * 2**20


def _bowl(x):
    return (x * x).sum()
