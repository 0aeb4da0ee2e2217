"""Made problems: a name is a problem, the optimum is where it is said to be, held-out functions are apart."""

from __future__ import annotations

import numpy as np
import pytest

from deddqn._utils.validation import UnknownNameError
from deddqn.problems import SUITES, get
from deddqn.problems.made import made_objective as layout
from deddqn.problems.made.base_functions import Base
from deddqn.problems.made.recipes import BUDGETS, DIMENSIONS, FAMILIES, Component, Recipe, problem_of, recipe

PLAIN = {"condition": 1.0, "rotation": "none", "block": 2, "oscillates": False, "asymmetry": 0.0}
PLAIN |= {"step": 0.0, "fine": False, "share": 1.0}


def single(base: Base, **changes: object) -> Recipe:
    component = Component(base=base, **{**PLAIN, **changes})
    return Recipe("made", 5, "single", (component,), "inside", False, 0.0, 4, 1000)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("number", range(25))
def test_the_optimum_is_where_it_is_said_to_be(family, number):
    problem = get(f"{family}:{number}")
    made = recipe(family, number)
    rough = any(c.base in (Base.HAPPYCAT, Base.HGBAT) for c in made.components)  # their roots magnify last bits
    assert problem(problem.optimum_point) == pytest.approx(problem.optimum, abs=0.1 if rough else 1e-6, rel=1e-9)
    inside = (problem.optimum_point >= problem.lower - 1e-9) & (problem.optimum_point <= problem.upper + 1e-9)
    assert inside.all()
    points = np.random.default_rng(number).uniform(problem.lower, problem.upper, (50, problem.dimension))
    values = problem(points)
    assert np.isfinite(values).all() and values.min() >= problem.optimum - 1e-9
    assert np.ptp(values) > 0.0


def test_a_name_is_a_problem():
    again = [get("made:17/d23"), get("made:17", dimension=23)]
    point = np.linspace(-4.0, 4.0, 23)
    assert again[0].name == again[1].name == "made:17/d23" and again[0](point) == again[1](point)
    assert get("made:17").dimension == recipe("made", 17).dimension
    assert get("made:18/d23")(point) != again[0](point) != get("made-held-out:17/d23")(point)
    assert len(SUITES["made-train"]) == len(SUITES["made-validation"]) == 200


def test_recipes_cover_the_world():
    made = [recipe("made", number) for number in range(400)]
    assert {r.mix for r in made} == {"single", "hybrid", "composition"}
    assert {r.optimum for r in made} == {"inside", "near bounds", "on bounds"}
    components = [c for r in made for c in r.components]
    assert {c.rotation for c in components} == {"none", "blocks", "full"}
    assert max(c.condition for c in components) > 1e6 and min(c.condition for c in components) == 1.0
    assert min(r.dimension for r in made) == DIMENSIONS[0] and max(r.dimension for r in made) > 90
    shares = [r.budget / r.dimension for r in made]
    assert min(shares) >= 0.99 * BUDGETS[0] and max(shares) <= 1.01 * BUDGETS[1] and np.median(shares) < 1500


def test_held_out_base_functions_are_apart():
    used = {f: {c.base for n in range(300) for c in recipe(f, n).components} for f in FAMILIES}
    assert used["made"] == set(FAMILIES["made"]) and used["made-held-out"] == set(FAMILIES["made-held-out"])
    assert not used["made"] & used["made-held-out"] and used["made"] | used["made-held-out"] == set(Base)
    assert used["made-mixture"] == used["made"] and used["made-mixture-held-out"] == used["made-held-out"]


@pytest.mark.parametrize(
    ("base", "z", "value"),
    [
        (Base.SPHERE, [1.0, -2.0], 5.0),
        (Base.BENT_CIGAR, [1.0, -2.0], 1.0 + 4e6),
        (Base.DISCUS, [1.0, -2.0], 1e6 + 4.0),
        (Base.LARGEST, [1.0, -2.0], 2.0),
        (Base.DOUBLE_SUM, [1.0, -2.0], 1.0 + 1.0),
        (Base.SHARP_RIDGE, [1.0, -2.0], 1.0 + 200.0),
        (Base.ROSENBROCK, [1.0, -2.0], 100.0 * (4.0 + 1.0) ** 2 + 1.0),
        (Base.DIFFERENT_POWERS, [1.0, -2.0], np.sqrt(1.0 + 2.0**6)),
        (Base.ZAKHAROV, [1.0, -2.0], 5.0 + 1.5**2 + 1.5**4),
        (Base.SALOMON, [3.0, 4.0], 0.5),
        (Base.HAPPYCAT, [1.0, -2.0], abs(9.0 - 2.0) ** 0.25 + (4.5 - 3.0) / 2.0 + 0.5),
        (Base.HGBAT, [1.0, -2.0], abs(81.0 - 9.0) ** 0.5 + (4.5 - 3.0) / 2.0 + 0.5),
        (Base.LUNACEK, [1.0, -2.0], 5.0),
        (Base.STYBLINSKI_TANG, [2.903534027771177 + 1.0, 0.0], 0.5 * (1.0 - 16.0 + 5.0) + 39.16616570377142),
        (Base.LEVY, [4.0, 0.0], 1.0 * (1.0 + 10.0 * np.sin(2.0 * np.pi + 1.0) ** 2)),
        (Base.RASTRIGIN, [1.0, -2.0], 5.0),
    ],
)
def test_base_functions_by_hand(base, z, value):
    problem = problem_of(single(base), 2)
    scale = {Base.RASTRIGIN: 5.12, Base.ROSENBROCK: 2.048, Base.SALOMON: 20.0, Base.LEVY: 10.0, Base.ZAKHAROV: 7.5}
    x = problem.optimum_point + np.array(z) / (scale.get(base, 5.0) / 5.0)
    assert problem(x) == pytest.approx(value, rel=1e-9)


def test_conditioning_rotation_and_plateaus():
    plain, ill = (problem_of(single(Base.SPHERE, condition=c), 6) for c in (1.0, 1e6))
    steps = np.eye(6)
    curvatures = sorted(ill(ill.optimum_point + e) for e in steps)
    assert curvatures[-1] / curvatures[0] == pytest.approx(1e6)
    assert [plain(plain.optimum_point + e) for e in steps] == pytest.approx([1.0] * 6)
    turned = problem_of(single(Base.SPHERE, condition=1e6, rotation="full"), 6)
    assert max(turned(turned.optimum_point + e) for e in steps) < curvatures[-1]
    flat = problem_of(single(Base.SPHERE, step=0.5), 3)
    assert (
        flat(flat.optimum_point + 0.2) == 0.0 and flat(flat.optimum_point + 0.3) == flat(flat.optimum_point + 0.6) > 0
    )
    fine = problem_of(single(Base.SPHERE, step=0.5, fine=True), 3)
    assert 0.0 < fine(fine.optimum_point + 0.2) < fine(fine.optimum_point + 0.4)


@pytest.mark.parametrize("name", ["made:", "made:x", "made:17/x", "made:-1", "made:1234567890"])
def test_names_that_are_none(name):
    with pytest.raises(UnknownNameError, match="unknown problem"):
        get(name)


def test_wrong_dimensions():
    with pytest.raises(ValueError, match="dimension must be at least 2 for made problems, got 1"):
        get("made:3/d1")
    with pytest.raises(ValueError, match="dimension must agree with the name"):
        get("made:3/d10", dimension=11)


def spheres(mix: str, firsts: tuple[bool, ...], gains: tuple[float, ...]) -> Recipe:
    parts = [
        Component(base=Base.SPHERE, **{**PLAIN, "first": first, "gain": gain})
        for first, gain in zip(firsts, gains, strict=True)
    ]
    return Recipe("made-mixture", 5, mix, tuple(parts), "inside", False, 0.0, 5, 1000, turned=True)


def test_mixtures_have_hybrids_of_turned_coordinates_and_pointed_compositions():
    made = [recipe("made-mixture", number) for number in range(200)]
    assert {r.mix for r in made} == {"hybrid", "composition"} and all(r.turned and r.dimension >= 5 for r in made)
    parts = [sum(c.first for c in r.components) for r in made]
    assert {n for r, n in zip(made, parts, strict=True) if r.mix == "hybrid"} == {1}
    assert {n for r, n in zip(made, parts, strict=True) if r.mix == "composition"} == set(range(3, 9))
    assert any(r.mix == "composition" and n < len(r.components) for r, n in zip(made, parts, strict=True))


def test_parts_of_a_turned_hybrid_share_the_rows_of_one_rotation():
    problem = problem_of(spheres("hybrid", (True, False), (1.0, 4.0)), 6)
    steps = np.random.default_rng(3).normal(size=(4, 6)) / 10.0
    curvature = np.array(
        [
            [problem(problem.optimum_point + a + b) - problem(problem.optimum_point + a - b) for b in steps]
            for a in steps
        ]
    )
    assert np.allclose(curvature, curvature.T) and np.abs(curvature).min() > 0.0  # a quadratic form, no two apart
    hessian = np.array(
        [
            [problem(problem.optimum_point + a + b) - problem(problem.optimum_point + a - b) for b in np.eye(6)]
            for a in np.eye(6)
        ]
    )
    eigenvalues = np.linalg.eigvalsh(hessian)
    sizes = np.unique(np.round(eigenvalues / eigenvalues[0], 6))
    assert sizes.size == 2 and np.count_nonzero(np.abs(hessian) > 1e-6) > 18  # two parts, and coordinates interact


def test_a_pointed_composition_by_hand():
    problem = problem_of(spheres("composition", (True, True), (1.0, 0.25)), 5)
    rng = np.random.default_rng(8)
    points = problem.optimum_point + rng.normal(size=(400, 5))
    data = np.asarray(problem.objective.data)
    fields = data[layout.HEADS : layout.HEADS + 2 * layout.FIELDS].reshape(2, -1)
    origins = [data[int(row[layout.PART_ORIGIN]) :][:5] for row in fields]
    squares = [((points - origin) ** 2).sum(axis=1) for origin in origins]  # the box is -5 to 5
    raw = [np.exp(row[layout.PART_DECAY] * s) / np.sqrt(s) for row, s in zip(fields, squares, strict=True)]
    values = [row[layout.PART_GAIN] * s + 100.0 * k for k, (row, s) in enumerate(zip(fields, squares, strict=True))]
    assert problem(points) == pytest.approx((raw[0] * values[0] + raw[1] * values[1]) / (raw[0] + raw[1]))
    assert problem(origins[1]) == pytest.approx(100.0) and problem(origins[0]) == pytest.approx(0.0, abs=1e-9)
    assert 0.1 < fields[1][layout.PART_GAIN] / fields[0][layout.PART_GAIN] < 0.6
