"""Problems as a user meets them: by name, in suites, from functions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numba import njit

from deddqn._utils.validation import UnknownNameError
from deddqn.problems import SUITES, Objective, Problem, get, problem_names, suite

NOISY = (4, 17, 24, 25)


def test_names() -> None:
    names = problem_names()
    assert len(names) == len(set(names)) == 25 * 4
    assert names[0] == "cec2005:F1/d2" and names[-1] == "cec2005:F25/d50"
    for name in names[::9]:
        problem = get(name)
        assert problem.name == name
        assert name.endswith(f"/d{problem.dimension}")
        assert problem.seed_name == name.split("/")[0]


def test_dimension_in_the_name_or_beside_it() -> None:
    in_name, beside, both = (
        get("cec2005:F18/d30"),
        get("cec2005:F18", dimension=30),
        get("cec2005:F18/d30", dimension=30),
    )
    point = np.linspace(-4.0, 4.0, 30)
    assert in_name.name == beside.name == both.name == "cec2005:F18/d30"
    assert in_name(point) == beside(point) == both(point)
    with pytest.raises(ValueError, match="dimension must agree with the name 'cec2005:F18/d30', got 10"):
        get("cec2005:F18/d30", dimension=10)
    with pytest.raises(ValueError, match="dimension must be given"):
        get("cec2005:F18")
    with pytest.raises(ValueError, match="dimension must be one of 2, 10, 30, 50, got 7"):
        get("cec2005:F18/d7")
    with pytest.raises(ValueError, match="dimension must be one of 2, 10, 30, 50, got 3"):
        get("cec2005:F18", dimension=3)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("cec2005:F26/d10", "unknown problem 'cec2005:F26/d10'; did you mean 'cec2005:F"),
        ("cec2005:f3/d10", "did you mean 'cec2005:F3/d10'.*Known: cec2005:F1 to cec2005:F25, each with /d2,"),
        ("cec2004:F3/d10", "unknown problem 'cec2004:F3/d10'; did you mean 'cec2005:F3/d10'.*families: cec2005"),
        ("sphere", "unknown problem 'sphere'.*Names look like 'cec2005:F18/d30'"),
        ("cec2005:F3/d10/x", "unknown problem"),
        ("", "unknown problem ''"),
    ],
)
def test_unknown_names(name: str, message: str) -> None:
    with pytest.raises(UnknownNameError, match=message) as raised:
        get(name, dimension=None)
    assert isinstance(raised.value, KeyError)


@pytest.mark.parametrize(("name", "size"), [("cec2005-train", 32), ("cec2005-test", 10), ("cec2005", 50)])
def test_suites(name: str, size: int) -> None:
    problems = suite(name)
    assert len(problems) == len(SUITES[name]) == size
    assert [problem.name for problem in problems] == list(SUITES[name])
    assert {problem.dimension for problem in problems} == {10, 30}


def test_suites_are_apart() -> None:
    """Sect. 5.1: 32 problems to train on, ten to test on."""
    assert not set(SUITES["cec2005-train"]) & set(SUITES["cec2005-test"])
    assert set(SUITES["cec2005-train"]) | set(SUITES["cec2005-test"]) < set(SUITES["cec2005"])
    assert [p.name for p in suite("cec2005-train") if p.noisy] == ["cec2005:F24/d10", "cec2005:F24/d30"]
    assert not any(p.noisy for p in suite("cec2005", noise=False))
    with pytest.raises(UnknownNameError, match="unknown suite 'cec2005-tain'; did you mean 'cec2005-train'"):
        suite("cec2005-tain")


def test_facts_of_every_function() -> None:
    for number in range(1, 26):
        problem = get(f"cec2005:F{number}/d10", noise=False)
        assert problem.bounded == (number not in (7, 25))
        assert get(f"cec2005:F{number}/d10").noisy == (number in NOISY)
        assert not problem.noisy
        assert problem.bounds.shape == (10, 2) and problem.title
        assert problem.optimum is not None and problem.optimum_point is not None
        assert problem(problem.optimum_point) == pytest.approx(problem.optimum, rel=1e-12, abs=1e-12)
        assert problem.name in repr(problem)


def test_point_and_batch() -> None:
    problem = get("cec2005:F9/d10")
    points = np.random.default_rng(0).uniform(-5.0, 5.0, (6, 10))
    values = problem(points)
    assert values.shape == (6,) and isinstance(problem(points[0]), float)
    assert values.tolist() == [problem(point) for point in points]
    assert problem(points[0].tolist()) == values[0]
    assert problem(np.asfortranarray(points)).tolist() == values.tolist()
    assert problem(np.empty((0, 10))).shape == (0,)


@pytest.mark.parametrize("shape", [(3,), (2, 3), (1, 1, 10), (), (11,)])
def test_wrong_shapes(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"x must have shape \(10,\) or \(n, 10\) for cec2005:F9/d10, got"):
        get("cec2005:F9/d10")(np.zeros(shape))


@pytest.mark.parametrize("number", NOISY)
def test_noise(number: int) -> None:
    noisy, quiet = get(f"cec2005:F{number}/d2"), get(f"cec2005:F{number}/d2", noise=False)
    point = np.array([1.0, 2.0])
    first = [noisy(point) for _ in range(4)]
    assert len(set(first)) == 4
    assert quiet(point) == quiet(point)
    assert all(value >= quiet(point) for value in first)  # noise is |N(0, 1)|: it only adds
    noisy.seed_noise(5)
    seeded = [noisy(point) for _ in range(4)]
    batch = noisy(np.tile(point, (4, 1)))
    noisy.seed_noise(5)
    assert [noisy(point) for _ in range(4)] == seeded
    assert noisy(np.tile(point, (4, 1))).tolist() == batch.tolist()
    noisy.seed_noise(6)
    assert [noisy(point) for _ in range(4)] != seeded


def plain(x: np.ndarray) -> float:
    return float(np.sum(x) - 3.0 * x[0])


@njit
def compiled(x):
    return np.sum(x) - 3.0 * x[0]


@njit
def whole_number(x):
    return 3


@pytest.mark.parametrize("function", [plain, compiled])
def test_from_function(function: Any) -> None:
    problem = Problem.from_function(
        function, [(0.0, 1.0), (-2.0, 2.0)], optimum=-4.0, optimum_point=np.array([1.0, -2.0])
    )
    assert problem.dimension == 2 and problem.name == "objective" == problem.seed_name
    assert problem.lower.tolist() == [0.0, -2.0] and problem.upper.tolist() == [1.0, 2.0]
    assert problem.bounded and not problem.noisy and problem.optimum == -4.0
    assert problem([1.0, -2.0]) == -4.0
    assert problem(np.array([[1.0, -2.0], [0.5, 1.0]])).tolist() == [-4.0, 0.0]
    assert Problem.from_function(function, [(0, 1)], name="mine").name == "mine"


def test_a_python_function_gets_a_point_of_its_own() -> None:
    kept: list[np.ndarray] = []

    def keeping(x: np.ndarray) -> float:
        kept.append(x)
        x += 1.0
        return 0.0

    problem = Problem.from_function(keeping, [(0.0, 1.0)] * 3)
    points = np.arange(6.0).reshape(2, 3)
    problem(points)
    assert points.tolist() == np.arange(6.0).reshape(2, 3).tolist()
    assert [point.tolist() for point in kept] == [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]


def test_values_are_floats() -> None:
    assert Problem.from_function(whole_number, [(0.0, 1.0)])([0.5]) == 3.0
    assert Problem.from_function(lambda x: np.float32(0.5), [(0.0, 1.0)])([0.5]) == 0.5
    assert math.isnan(Problem.from_function(lambda x: math.nan, [(0.0, 1.0)])([0.5]))


@pytest.mark.parametrize(
    ("bounds", "message"),
    [
        ([(1.0, 0.0)], "bounds must have lower <= upper, got 1.0 > 0.0 at coordinate 0"),
        ([(0.0, 1.0), (3.0, 2.0)], "got 3.0 > 2.0 at coordinate 1"),
        ([(0.0, math.inf)], "bounds must be finite"),
        ([(math.nan, 1.0)], "bounds must be finite"),
        ([0.0, 1.0], r"bounds must be \(lower, upper\) pairs, one per coordinate, got shape \(2,\)"),
        ([(0.0, 1.0, 2.0)], r"bounds must be .* got shape \(1, 3\)"),
        (np.empty((0, 2)), "bounds must be two vectors of equal length"),
    ],
)
def test_wrong_bounds(bounds: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Problem.from_function(plain, bounds)


def test_not_a_function() -> None:
    with pytest.raises(ValueError, match="function must be callable, got 3"):
        Problem.from_function(3, [(0.0, 1.0)])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="bounds must be two vectors of equal length"):
        Problem("x", np.zeros(2), np.ones(3), Objective(compiled))
