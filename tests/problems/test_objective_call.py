"""Objectives called from Python keep what their addresses point to alive."""

from __future__ import annotations

import copy
import gc
import pickle

import numpy as np

from deddqn.problems import get
from deddqn.problems.problem import ObjectiveCall
from deddqn.problems.wrappers import with_callback


def test_scratch_and_data_live_as_long_as_the_call() -> None:
    problem = get("cec2005:F18/d30")
    point = np.full(30, 0.5)
    expected = problem(point)
    calls = [ObjectiveCall(problem.objective) for _ in range(50)]
    gc.collect()
    noise = [np.full(1000, np.nan) for _ in range(200)]  # takes freed memory, if there is any
    assert {call.at(point, 0.0) for call in calls} == {expected}
    assert len(noise) == 200


def test_copies_have_scratch_of_their_own() -> None:
    call = ObjectiveCall(get("cec2005:F11/d10").objective)
    point = np.full(10, 0.1)
    again = copy.deepcopy(call)
    assert again._links[0] == call._links[0] and again._links[3] != call._links[3]
    assert again.at(point, 0.0) == call.at(point, 0.0)


def test_a_problem_that_was_called_can_be_pickled() -> None:
    problem = get("cec2005:F10/d10")
    value = problem(np.zeros(10))
    assert pickle.loads(pickle.dumps(problem))(np.zeros(10)) == value


def test_a_callback_receives_every_evaluation() -> None:
    received = []
    problem = with_callback(get("cec2005:F3/d10"), lambda point, value: received.append((point.tolist(), value)))
    gc.collect()
    values = problem(np.arange(40.0).reshape(4, 10))
    assert [value for _, value in received] == values.tolist()
    assert [point for point, _ in received] == np.arange(40.0).reshape(4, 10).tolist()
