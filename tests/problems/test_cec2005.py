"""CEC2005 on its own: definitions, optima, extreme points, noise, threads, and the jit switched off."""

import json
import math
import os
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numba
import numpy as np
import pytest

from deddqn.problems import SUITES, cec2005, get, suite
from deddqn.problems.cec2005 import TRAIN, source
from deddqn.problems.cec2005.variants import generator, other_matrices

FUNCTIONS = tuple(range(1, 26))
UNBOUNDED = (7, 25)
NOISY = (4, 17, 24, 25)


def value(function, x, gauss=0.0):
    """The function at x, with its data as the engine hands them over."""
    definition = cec2005.load(function, len(x))
    work = np.full(definition.work_size, np.nan)
    point = np.ascontiguousarray(x, dtype=np.float64)
    with np.errstate(all="ignore"):
        return definition.kernel(point, definition.data.copy(), work, gauss)


def test_sets_of_functions():
    assert cec2005.TEST == (3, 9, 16, 18, 23)
    assert cec2005.TRAIN == (1, 2, 5, 6, 8, 10, 11, 12, 13, 14, 15, 19, 20, 21, 22, 24)
    assert not set(cec2005.TRAIN) & set(cec2005.TEST)
    assert set(FUNCTIONS) - set(cec2005.TRAIN) - set(cec2005.TEST) == {4, 7, 17, 25}


@pytest.mark.parametrize("dimension", cec2005.DIMENSIONS)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_definition(function, dimension):
    definition = cec2005.load(function, dimension)
    assert definition is cec2005.load(function, dimension)
    assert definition.bounded == (function not in UNBOUNDED)
    assert definition.noisy == (function in NOISY)
    assert definition.title
    for array in (definition.lower, definition.upper, definition.optimum_point):
        assert array.shape == (dimension,) and not array.flags.writeable
    assert definition.data.flags.c_contiguous and not definition.data.flags.writeable
    if definition.bounded:
        assert np.all(definition.lower <= definition.optimum_point)
        assert np.all(definition.optimum_point <= definition.upper)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_optimum(function):
    for dimension in cec2005.DIMENSIONS:
        definition = cec2005.load(function, dimension)
        at_optimum = value(function, definition.optimum_point)
        assert math.isclose(at_optimum, definition.optimum, rel_tol=1e-12, abs_tol=1e-12)
        step = 1e-4 * np.random.default_rng(dimension).standard_normal(dimension)
        assert value(function, definition.optimum_point + step) > definition.optimum


@pytest.mark.parametrize(("function", "dimension"), [(0, 10), (26, 10), (-1, 2), ("F1", 10)])
def test_unknown_function(function, dimension):
    with pytest.raises(ValueError, match=f"function must be a number from 1 to 25, got {function!r}"):
        cec2005.load(function, dimension)


@pytest.mark.parametrize("dimension", [0, 1, 3, 100])
def test_unknown_dimension(dimension):
    with pytest.raises(ValueError, match=f"dimension must be one of 2, 10, 30, 50, got {dimension}"):
        cec2005.load(1, dimension)


def test_schwefel_2_6_in_two_dimensions_follows_c_and_matlab():
    # o(1:ceil(D/4)) = -100, then o(max(floor(3D/4), 1):D) = 100: at D = 2 the second rule covers both.
    assert cec2005.load(5, 2).optimum_point.tolist() == [100.0, 100.0]
    first_rows = source.read("F5/matrix")[:2, :2]
    x = np.array([3.0, -41.0])
    assert value(5, x) == pytest.approx(np.abs(first_rows @ (x - 100.0)).max() - 310.0, rel=1e-14)
    ten = cec2005.load(5, 10).optimum_point
    assert ten[:3].tolist() == [-100.0] * 3 and ten[6:].tolist() == [100.0] * 4
    assert np.all(np.abs(ten[3:6]) < 100.0)


def test_optima_on_the_bounds():
    assert np.all(cec2005.load(8, 30).optimum_point[::2] == -32.0)
    assert np.all(cec2005.load(20, 30).optimum_point[1::2] == 5.0)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_points_that_are_not_numbers(function):
    for dimension in (2, 10, 30):
        middle = np.array(cec2005.load(function, dimension).optimum_point) + 0.3
        for place in (0, dimension - 1):
            for bad in (np.nan, np.inf, -np.inf):
                x = middle.copy()
                x[place] = bad
                result = value(function, x)
                assert not np.isfinite(result)
                assert np.isnan(result) or (result > 0.0 and not np.isnan(bad))


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("far", [1e10, -1e10, 1e154, 1e300, -1e300, 1.7e308])
def test_far_points_have_a_defined_value(function, far):
    result = value(function, np.full(10, far))
    assert np.isnan(result) or result >= cec2005.load(function, 10).optimum
    if abs(far) < 1e11:
        assert np.isfinite(result)


@pytest.mark.parametrize(("function", "strength"), [(4, 0.4), (17, 0.2)])
@pytest.mark.parametrize("gauss", [0.5, -1.25])
def test_noise_of_the_value(function, strength, gauss):
    definition = cec2005.load(function, 10)
    x = np.linspace(definition.lower[0], definition.upper[0], 10)
    above = value(function, x) - definition.optimum
    expected = definition.optimum + above * (1.0 + strength * abs(gauss))
    assert value(function, x, gauss) == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize("function", (24, 25))
def test_noise_of_the_sphere_component(function):
    definition = cec2005.load(function, 10)
    x = np.linspace(-4.0, 4.5, 10)
    quiet = value(function, x)
    small, large = value(function, x, -1.0) - quiet, value(function, x, 3.0) - quiet
    assert small > 0.0
    assert large == pytest.approx(3.0 * small, rel=1e-8)
    assert value(function, definition.optimum_point, 2.0) == definition.optimum


def test_functions_without_noise_ignore_the_draw():
    for function in set(FUNCTIONS) - set(NOISY):
        x = np.linspace(-0.4, 0.9, 10)
        assert value(function, x, 1.7) == value(function, x)


def test_kernels_are_thread_safe():
    definition = cec2005.load(21, 30)
    points = np.random.default_rng(5).uniform(-5.0, 5.0, (200, 30))
    expected = [value(21, x) for x in points]

    def evaluate_all(_):
        return [value(21, x) for x in points]

    with ThreadPoolExecutor(4) as pool:
        assert all(found == expected for found in pool.map(evaluate_all, range(4)))
    assert definition.data[0] == definition.optimum


def test_checksums_cover_every_array_and_hold():
    for name in source.checksums():
        assert np.all(np.isfinite(source.read(name)))


def test_a_changed_array_is_refused(monkeypatch):
    wrong = {**source.checksums(), "F1/shift": "0" * 64}
    monkeypatch.setattr(source, "checksums", lambda: wrong)
    with pytest.raises(ValueError, match="F1/shift"):
        source.read("F1/shift")


PLAIN = """
import json, numpy as np
from deddqn.problems import cec2005
values = []
with np.errstate(all="ignore"):
    for function in range(1, 26):
        for dimension, start in ((2, -0.4), (10, -0.3), (10, np.nan), (2, 1e300)):
            definition = cec2005.load(function, dimension)
            x = np.linspace(start, 0.45, dimension)
            values.append(float(definition.kernel(x, definition.data, np.empty(definition.work_size), 0.5)))
print(json.dumps(values))
"""


def test_agrees_with_the_jit_switched_off():
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    run = subprocess.run([sys.executable, "-c", PLAIN], capture_output=True, text=True, check=True, env=environment)
    plain = json.loads(run.stdout)
    cases = [(f, d, s) for f in FUNCTIONS for d, s in ((2, -0.4), (10, -0.3), (10, np.nan), (2, 1e300))]
    compiled = [value(function, np.linspace(start, 0.45, size), 0.5) for function, size, start in cases]
    np.testing.assert_allclose(plain, compiled, rtol=1e-10)


@pytest.mark.skipif("DEDDQN_CEC2005_VECTORS" not in os.environ, reason="the organisers' vectors are not at hand")
@pytest.mark.parametrize("function", FUNCTIONS)
def test_official_vectors(function):
    folder = Path(os.environ["DEDDQN_CEC2005_VECTORS"])
    lines = (folder / f"test_data_func{function}.txt").read_text().splitlines()
    points = np.array([line.split() for line in lines[:10]], dtype=np.float64)
    expected = np.array(lines[10:20], dtype=np.float64)
    found = [value(function, x) for x in points]
    np.testing.assert_allclose(found, expected, rtol=1e-9 if function == 22 else 1e-11)


@pytest.mark.parametrize("name", [f"cec2005:F{n}/v{v}/d{d}" for n in TRAIN for v, d in ((1, 10), (2, 30))])
def test_a_variant_has_its_optimum_elsewhere(name):
    """At the new shift, with the same value; on the bounds where the original has it there."""
    number, _, dimension = name.split(":")[1].split("/")
    variant, original = get(name, noise=False), get(f"cec2005:{number}/{dimension}")
    assert variant.name == name and variant.optimum == original.optimum
    assert variant(variant.optimum_point) == pytest.approx(variant.optimum, abs=1e-7)
    inside = (variant.optimum_point >= variant.lower) & (variant.optimum_point <= variant.upper)
    assert inside.all() and not np.array_equal(variant.optimum_point, original.optimum_point)
    for bound in (variant.lower, variant.upper):
        assert np.array_equal(variant.optimum_point == bound, original.optimum_point == bound)
    rng = np.random.default_rng(1)
    for point in rng.uniform(variant.lower, variant.upper, (20, variant.dimension)):
        assert variant(point) > variant.optimum


def test_variants_differ_and_are_drawn_from_their_numbers():
    first, again, second = (get(f"cec2005:F10/v{v}/d10") for v in (1, 1, 2))
    point = np.linspace(-4, 4, 10)
    assert first(point) == again(point) and len({first(point), second(point), get("cec2005:F10/d10")(point)}) == 3
    assert first.seed_name == "cec2005:F10/v1" and len(suite("cec2005-varied")) == 128
    assert get("cec2005:F10/v0/d10").name == "cec2005:F10/d10"
    corner, original = get("cec2005:F5/v1/d2"), get("cec2005:F5/d2")  # its optimum is in a corner
    assert np.array_equal(corner.optimum_point, original.optimum_point) and corner(np.ones(2)) != original(np.ones(2))


@pytest.mark.parametrize("dimension", cec2005.DIMENSIONS)
def test_every_function_has_variants(dimension):
    for number in FUNCTIONS:
        variant = get(f"cec2005:F{number}/v3/d{dimension}", noise=False)
        assert variant(variant.optimum_point) == pytest.approx(variant.optimum, abs=1e-6), variant.name


@pytest.mark.parametrize("name", SUITES["cec2005-stretched"])
def test_a_stretched_problem_is_the_variant_seen_through_a_stretch(name):
    """Its values are those of the variant at o + T (x - o), and T is in its data."""
    stretched, variant = get(name, noise=False), get(name.replace("/s", "/v"), noise=False)
    size, origin = stretched.dimension, variant.optimum_point
    np.testing.assert_array_equal(stretched.optimum_point, origin)
    assert (stretched.name, stretched.optimum) == (name, variant.optimum)
    matrix = stretched.objective.data[1 + size : 1 + size + size * size].reshape(size, size)
    points = np.random.default_rng(0).uniform(stretched.lower, stretched.upper, (10, size))
    np.testing.assert_allclose(stretched(points), variant(origin + (points - origin) @ matrix.T), rtol=1e-9)
    assert stretched(origin) == variant(origin) and (stretched(points) > stretched.optimum).all()
    stretches = np.linalg.eigvalsh(matrix)
    assert stretches.min() >= 10**-0.75 and stretches.max() <= 10**0.75
    assert stretches.max() > 2.0 * stretches.min()


@pytest.mark.parametrize("name", SUITES["cec2005-quantised"])
def test_a_quantised_problem_is_the_variant_at_rounded_coordinates(name):
    """All but those within a step of the optimum's, where it is the variant itself."""
    quantised, variant = get(name, noise=False), get(name.replace("/q", "/v"), noise=False)
    origin, lower, step = variant.optimum_point, variant.lower, (variant.upper - variant.lower) / 20
    assert (quantised.name, quantised.optimum) == (name, variant.optimum)
    np.testing.assert_array_equal(quantised.optimum_point, origin)
    rng = np.random.default_rng(0)
    points = rng.uniform(lower, variant.upper, (10, quantised.dimension))
    rounded = np.where(np.abs(points - origin) < step, points, lower + step * np.round((points - lower) / step))
    np.testing.assert_allclose(quantised(points), variant(rounded), rtol=1e-12)
    assert np.any(quantised(points) != variant(points)) and (quantised(points) > quantised.optimum).all()
    near = np.clip(origin + 0.99 * step * rng.uniform(-1.0, 1.0, (10, quantised.dimension)), lower, variant.upper)
    np.testing.assert_array_equal(quantised(near), variant(near))


@pytest.mark.parametrize("kind", ["s", "q"])
def test_a_changed_problem_goes_to_another_process(tmp_path, kind):
    """Where the function's code is in another place."""
    problem = get(f"cec2005:F10/{kind}1/d10")
    point = np.full(10, 0.3)
    (tmp_path / "problem").write_bytes(pickle.dumps(problem))
    path = str(tmp_path / "problem")
    code = f"import pickle, numpy; p = pickle.load(open({path!r}, 'rb')); print(p(numpy.full(10, 0.3)))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert float(found.stdout) == problem(point)


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="is about compiled code")
def test_values_are_the_same_from_the_cache(tmp_path):
    """To the last bit: what is compiled now, and what an earlier process compiled. Schaffer's sum once was not."""
    code = (
        "import numpy as np; from deddqn.problems import get; p = get('cec2005:F14/d30');"
        "print(p(np.random.default_rng(0).uniform(-100, 100, (50, 30))).tobytes().hex())"
    )
    call = {"env": {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}, "capture_output": True, "check": True}
    first, second = (subprocess.run([sys.executable, "-c", code], **call).stdout for _ in range(2))
    assert first == second and len(first) > 800


def test_rotations_of_variants_keep_the_condition():
    matrices = np.stack([np.diag([1.0, 5.0, 30.0]), np.eye(3)])
    turned = other_matrices(matrices, generator(3, 1))
    assert np.linalg.cond(turned) == pytest.approx(np.linalg.cond(matrices))
    assert not np.allclose(turned, matrices)
