"""CEC2005 against optproblems, an independent implementation, with its noise switched off."""

import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from deddqn.problems import cec2005

optproblems = pytest.importorskip("optproblems.cec2005")

CASES = [
    (function, dimension)
    for function in range(1, 26)
    for dimension in cec2005.DIMENSIONS
    if (function, dimension) != (5, 2)  # there optproblems follows the Java code
]
WEIERSTRASS = (11, 15, 16, 17, 18, 19, 20, 21, 23, 24, 25)


def tolerance(function):
    """Weierstrass multiplies rounding errors by 3^20; the matrices of F22 amplify that again."""
    if function == 22:
        return 1e-9
    return 1e-10 if function in WEIERSTRASS else 1e-12


@pytest.fixture
def peer(monkeypatch):
    """Maker of optproblems' functions; their noise is off."""
    monkeypatch.setattr(random, "gauss", lambda mean, deviation: 0.0)

    def make(function, dimension):
        return getattr(optproblems, f"F{function}")(dimension).objective_function

    return make


def evaluate(definition, x, gauss=0.0):
    return definition.kernel(x, definition.data.copy(), np.full(definition.work_size, np.nan), gauss)


@pytest.mark.parametrize(("function", "dimension"), CASES)
def test_random_points_corners_and_optimum(peer, function, dimension):
    definition = cec2005.load(function, dimension)
    rng = np.random.default_rng(100 * function + dimension)
    inside = rng.uniform(definition.lower, definition.upper, (4, dimension))
    near = definition.optimum_point + 0.01 * rng.standard_normal(dimension)
    corner = np.where(rng.random(dimension) < 0.5, definition.lower, definition.upper)
    points = [*inside, near, corner, definition.lower.copy(), definition.upper.copy()]
    reference = peer(function, dimension)
    found = [evaluate(definition, x) for x in points]
    expected = [reference(list(x)) for x in points]
    np.testing.assert_allclose(found, expected, rtol=tolerance(function))


@pytest.mark.parametrize("function", [1, 2, 3, 4, 5, 6, 7, 9, 10, 13, 14])
def test_far_points(peer, function):
    definition = cec2005.load(function, 10)
    x = 1e10 * np.linspace(-1.0, 0.7, 10)
    assert evaluate(definition, x) == pytest.approx(peer(function, 10)(list(x)), rel=1e-11)


@pytest.mark.parametrize("function", [15, 18, 21, 23, 24])
def test_compositions_outside_of_the_box(peer, function):
    definition = cec2005.load(function, 10)
    x = np.linspace(-30.0, 40.0, 10)
    assert evaluate(definition, x) == pytest.approx(peer(function, 10)(list(x)), rel=1e-9)


@pytest.mark.parametrize("function", [4, 17, 24, 25])
@pytest.mark.parametrize("gauss", [0.7, -1.9])
def test_noise(peer, monkeypatch, function, gauss):
    definition = cec2005.load(function, 10)
    reference = peer(function, 10)
    x = np.linspace(definition.lower[0], definition.upper[0], 10)
    monkeypatch.setattr(random, "gauss", lambda mean, deviation: gauss)
    assert evaluate(definition, x, gauss) == pytest.approx(reference(list(x)), rel=1e-10)


def test_data_file_equals_optproblems():
    # In a process of its own: making an F8 overwrites the shifts in optproblems.
    script = Path(__file__).resolve().parents[2] / "tools" / "make_cec2005_data.py"
    run = subprocess.run([sys.executable, str(script), "--check"], capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
