"""scipy's own tests of `differential_evolution`, from the installed scipy, with ours in its place.

They are the tests that call the public function and do not look into scipy's solver, and they are listed by name, so
that a test which is renamed or cannot be found is a failure and not a gap.
"""

from __future__ import annotations

import importlib
import inspect
from types import ModuleType
from typing import Any

import pytest

import deddqn

MODULE = "scipy.optimize.tests.test__differential_evolution"
SUITE = "TestDifferentialEvolutionSolver"
PUBLIC = (
    *("test_invalid_functional", "test_intermediate_result", "test_callback_terminates", "test_args_tuple_is_passed"),
    *("test_bounds_checking", "test_quadratic_from_diff_ev", "test_rng_gives_repeatability", "test_random_generator"),
    *("test_gh_4511_regression", "test_x0", "test_infinite_objective_function"),
    *("test_L1", "test_L2", "test_L3", "test_L4", "test_L5", "test_L6", "test_L7", "test_L8", "test_L9"),
    *("test_integrality", "test_vectorized", "test_vectorized_constraints", "test_polish_function"),
    "test_constraint_violation_error_message",
)


@pytest.fixture(scope="module")
def scipys() -> ModuleType:
    """scipy's module of tests; some distributions of scipy leave it out."""
    try:
        return importlib.import_module(MODULE)
    except ModuleNotFoundError as error:
        pytest.skip(f"scipy was installed without its tests, or without what they need: {error}")


def public_tests(suite: type) -> list[str]:
    """The tests that call `differential_evolution` and nothing behind it."""
    sources = {name: inspect.getsource(test) for name, test in vars(suite).items() if name.startswith("test")}
    return [
        name
        for name, source in sources.items()
        if "differential_evolution(" in source and "DifferentialEvolutionSolver" not in source
    ]


def test_the_list_is_whole(scipys: ModuleType) -> None:
    assert len(PUBLIC) == 25
    assert sorted(public_tests(getattr(scipys, SUITE))) == sorted(PUBLIC)


@pytest.mark.parametrize("name", PUBLIC)
def test_passes(name: str, scipys: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = 0

    def ours(*args: Any, **options: Any) -> Any:
        nonlocal calls
        calls += 1
        return deddqn.differential_evolution(*args, **options)

    monkeypatch.setattr(scipys, "differential_evolution", ours)
    suite = getattr(scipys, SUITE)()
    suite.setup_method()  # with scipy's own solver: the tests called here do not use what it makes
    try:
        getattr(suite, name)()
    finally:
        suite.teardown_method()
    assert calls > 0
