"""Put the hand-worked cases to any run object that has the methods and attributes of ``ReferenceRun``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any

import numpy as np

from .hand_cases import RunCase, Step, TrialCase, block_slice

RELATIVE_TOLERANCE = 1e-12
ABSOLUTE_TOLERANCE = 1e-13
Builder = Callable[..., Any]


def assert_near(actual: Any, expected: Any, what: str) -> None:
    np.testing.assert_allclose(
        np.asarray(actual, dtype=np.float64),
        np.asarray(expected, dtype=np.float64),
        rtol=RELATIVE_TOLERANCE,
        atol=ABSOLUTE_TOLERANCE,
        err_msg=what,
    )


def assert_state(run: Any, expected: dict[str, Any], where: str) -> None:
    for attribute, value in expected.items():
        actual = getattr(run, attribute)
        what = f"{where}: {attribute}"
        assert np.shape(actual) == np.shape(value), what
        assert_near(actual, value, what)


def check_trial_case(build: Builder, case: TrialCase) -> None:
    """Build a run around one trial and compare the repaired trial."""
    dimension = len(case.mask)
    run = build(
        lower=(0.0,) * dimension,
        upper=(10.0,) * dimension,
        search_lower=case.search_lower,
        search_upper=case.search_upper,
        portfolio=[(case.strategy, case.scaling, 1.0)],
        population_size=len(case.population),
        budget=1000,
        repair=case.repair,
    )
    run.initialise(np.array(case.population), np.array(case.values))
    actual = run.trial(case.parent, case.donors, 0, np.array(case.mask))
    assert_near(actual, case.expected_trial, case.name)


def check_run_case(build: Builder, case: RunCase) -> Any:
    """Replay a run case and compare everything it states; returns the run."""
    run = build(**case.settings())
    run.initialise(np.array(case.population), np.array(case.values))
    assert_state(run, case.expected_initial, f"{case.name}, initial")
    for _, members in groupby(case.steps, key=lambda step: step.generation):
        batches = [list(members)]
        if not case.deferred:
            batches = [[step] for step in batches[0]]
        for batch in batches:
            points = [_propose(run, case, step) for step in batch]
            _commit_all(run, case, batch, points)
    return run


def _place(case: RunCase, step: Step) -> str:
    return f"{case.name}, generation {step.generation}, parent {step.parent}"


def _propose(run: Any, case: RunCase, step: Step) -> Any:
    where = _place(case, step)
    features = run.features(step.parent, step.donors)
    assert len(features) == 19 + 20 * len(case.portfolio), where
    for block, expected in step.expected_features.items():
        actual = features[block_slice(block, len(case.portfolio))]
        assert len(actual) == len(expected), f"{where}: {block}"
        assert_near(actual, expected, f"{where}: {block}")
    mask = step.mask if step.mask is not None else (True,) * len(case.lower)
    point = run.trial(step.parent, step.donors, step.op, np.array(mask))
    if step.expected_trial is not None:
        assert_near(point, step.expected_trial, f"{where}: trial")
    return point


def _commit_all(run: Any, case: RunCase, steps: Sequence[Step], points: Sequence[Any]) -> None:
    for step, point in zip(steps, points, strict=True):
        where = _place(case, step)
        rewards = run.commit(step.parent, step.op, point, step.value)
        if step.expected_rewards is not None:
            for name, expected in zip(("R1", "R2", "R3"), step.expected_rewards, strict=True):
                if expected is None:
                    assert rewards[name] is None, f"{where}: {name}"
                else:
                    assert_near(rewards[name], expected, f"{where}: {name}")
        assert_state(run, step.expected_after, where)
