"""A pool that is never idle: processes get single points, and nobody waits for the slowest."""

import multiprocessing
import os
import time
from concurrent.futures.process import BrokenProcessPool

import numpy as np
import pytest

from deddqn import Optimizer, Problem, minimize
from deddqn.optimize import worker_pool
from tests.optimize.objectives import BOX, SMALL, Learner, bowl, random_network

ASYNCHRONOUS = {**SMALL, "updating": "asynchronous"}


@pytest.mark.parametrize("forks", [True, False])
def test_the_budget_is_exact(forks, monkeypatch):
    monkeypatch.setattr(worker_pool, "FORKS", forks)
    shift = 0.25
    result = minimize(lambda x: bowl(x - shift), BOX, workers=3, history=True, **ASYNCHRONOUS)
    assert result.nfev == 130 and result.success and result.message == "All 130 evaluations are used."
    assert result.fun == bowl(result.x - shift) and result.history.nfev[-1] == 130


@pytest.mark.parametrize("policy", [random_network, Learner])
def test_policies(policy):
    result = minimize(bowl, BOX, workers=2, policy=policy(), **ASYNCHRONOUS)
    assert result.nfev == 130 and result.strategy_counts.sum() > 80


def test_one_slow_evaluation_holds_up_nobody(tmp_path):
    """It ends only when nearly all others have: in a generation that would never happen."""

    def uneven(x):
        try:
            os.close(os.open(tmp_path / "slow", os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            (tmp_path / x.tobytes().hex()[:60]).touch()
            return bowl(x)
        limit = time.monotonic() + 60.0
        while len(os.listdir(tmp_path)) < 125 and time.monotonic() < limit:
            time.sleep(0.002)
        assert time.monotonic() < limit
        return bowl(x)

    assert minimize(uneven, BOX, workers=2, **ASYNCHRONOUS).nfev == 130


def failing(x):
    if x[0] > 3.0:
        raise LookupError("far out")
    return bowl(x)


def test_exceptions_come_out_and_the_search_goes_on():
    optimizer = Optimizer(BOX, **ASYNCHRONOUS)
    with pytest.raises(LookupError, match="far out") as caught:
        optimizer.optimize(failing, workers=2)
    assert "in failing" in str(caught.value.__cause__)
    known = optimizer.result.nfev
    assert known < 130 and len(optimizer._run.pending) >= 1  # the point that failed is still to be evaluated
    assert optimizer.optimize(bowl, workers=2).nfev == 130
    assert optimizer.result.fun == bowl(optimizer.result.x)


def test_a_worker_that_dies_is_noticed():
    optimizer = Optimizer(BOX, **ASYNCHRONOUS)
    with pytest.raises(BrokenProcessPool, match="a worker process ended"):
        optimizer.optimize(lambda x: os._exit(1) if x[0] > 3 else bowl(x), workers=2)
    assert optimizer.optimize(bowl).nfev == 130


def test_no_process_is_left_behind():
    before = multiprocessing.active_children()
    slow = minimize(lambda x: time.sleep(0.01) or bowl(x), BOX, ftarget=20.0, workers=3, **ASYNCHRONOUS)
    assert slow.message.startswith("The target value") and slow.nfev < 130
    with pytest.raises(LookupError):
        minimize(failing, BOX, workers=2, **ASYNCHRONOUS)
    assert multiprocessing.active_children() == before


def test_the_clock_stops_it_and_what_had_begun_is_told():
    def slow(x):
        time.sleep(0.02)
        return bowl(x)

    optimizer = Optimizer(BOX, updating="asynchronous", maxfun=10**5, population_size=6, rng=1)
    result = optimizer.optimize(slow, workers=2, maxtime=0.3)
    assert result.message == "The time is up." and 2 <= result.nfev < 10**4
    assert len(optimizer._run.pending) <= 2  # handed to workers too late to begin
    again = optimizer.optimize(slow, workers=2, maxtime=0.2)
    assert again.nfev > result.nfev


def test_a_callback_stops_it():
    seen = []

    def note(intermediate_result):
        seen.append(intermediate_result.nfev)
        return len(seen) == 3

    result = minimize(bowl, BOX, workers=2, callback=note, **ASYNCHRONOUS)
    assert result.message == "The callback asked to stop." and result.nfev == seen[-1] < 130
    assert seen == sorted(seen) and len(seen) == 3


def test_points_that_were_asked_for_are_evaluated_first():
    optimizer = Optimizer(BOX, **ASYNCHRONOUS)
    points = optimizer.ask(40)
    optimizer.tell(points[:3], [bowl(x) for x in points[:3]])
    assert optimizer.optimize(bowl, workers=2).nfev == 130 and len(optimizer._run.pending) == 0


def test_problems():
    problem = Problem.from_function(bowl, np.array(BOX), name="bowl")
    assert minimize(problem, workers=2, **ASYNCHRONOUS).nfev == 130
