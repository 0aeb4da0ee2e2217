"""`Space`: parameters with names, as coordinates and back; in files, and in a search."""

from __future__ import annotations

import json
import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import LinearConstraint, NonlinearConstraint

from deddqn import Bool, Categorical, Float, Int, Optimizer, Problem, ReturnedConstraint, Space, minimize
from deddqn.problems.integrality import Integrality, lattice_bounds, lattice_points, on_lattice, spread_on_lattice
from tests.optimize.objectives import assert_same

SPACE = Space(
    rate=Float(1e-4, 1.0, log=True),
    momentum=Float(0.0, 1.0, step=0.1),
    layers=Int(1, 5),
    width=Int(1, 1000, log=True),
    kind=Categorical(["relu", "tanh", "none"]),
    normalise=Bool(),
    degree=Int(2, 10, step=2, when={"kind": ["tanh", "none"]}),
    shift=Float(-1.0, 1.0, when={"normalise": True, "kind": "tanh"}),
)
DISCRETE = Space(a=Int(1, 8), b=Categorical(["red", "green", "blue"]), c=Bool(), d=Int(1, 20, log=True))


def loss(params, offset=0.0):
    """Written for one dictionary of Python values; complains about anything else."""
    assert type(params["rate"]) is float and type(params["momentum"]) is float
    assert type(params["layers"]) is int and type(params["width"]) is int
    assert type(params["kind"]) is str and type(params["normalise"]) is bool
    assert ("degree" in params) == (params["kind"] != "relu")
    assert ("shift" in params) == (params["kind"] == "tanh" and params["normalise"])
    value = abs(math.log10(params["rate"]) + 2.0) + abs(params["layers"] - 3) + abs(math.log(params["width"] / 64.0))
    value += 2.0 * (params["kind"] != "tanh") + (not params["normalise"]) + abs(params["momentum"] - 0.3)
    return offset + value + abs(params.get("degree", 6) - 6) + abs(params.get("shift", 0.5) - 0.5)


# Parameters


def test_coordinates_by_hand():
    assert SPACE.names == ("rate", "momentum", "layers", "width", "kind", "normalise", "degree", "shift")
    expected = [
        (math.log(1e-4), 0.0),
        (0.0, 10.0),
        (1.0, 5.0),
        (0.0, math.log(1000)),
        (0.0, 2.0),
        (0.0, 1.0),
        (0.0, 4.0),
        (-1.0, 1.0),
    ]
    assert SPACE.bounds.tolist() == [list(pair) for pair in expected]
    assert SPACE.integrality.tolist() == [0, 1, 1, 3, 2, 2, 1, 0]
    params = {"rate": 0.01, "momentum": 0.3, "layers": 2, "width": 64, "kind": "none", "normalise": True, "degree": 8}
    point = SPACE.encode(params)
    assert point.tolist() == [math.log(0.01), 3.0, 2.0, math.log(64), 2.0, 1.0, 3.0, -1.0]
    assert SPACE.decode(point) == {**params, "rate": pytest.approx(0.01, rel=1e-15)}


def test_values_are_pythons_own():
    values = SPACE.decode(SPACE.encode(SPACE.decode(SPACE.bounds.mean(axis=1))))
    assert {type(value) for value in values.values()} <= {float, int, str, bool}


def test_a_category_may_be_none_and_numbers_are_told_from_truth():
    parameter = Categorical([None, 1, True, "1", 0.5])
    assert [parameter.decode(parameter.encode(v)) for v in (None, 1, True, "1", 0.5)] == [None, 1, True, "1", 0.5]
    assert parameter.encode(np.float64(0.5)) == 4.0
    assert parameter.encode(1.0) == 1.0
    assert Categorical([1, 2, 3], ordered=True).integrality == Integrality.INTEGER


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Float(1, 0), "low must be at most high"),
        (lambda: Float(0, 1, log=True), "low must be above 0 with log"),
        (lambda: Float(0, math.inf), "high must be a finite number"),
        (lambda: Float("0", 1), "low must be a finite number"),
        (lambda: Float(-1e308, 1e308), "finite distance"),
        (lambda: Float(1, 2, log=True, step=0.1), "step must be above 0, and left out with log"),
        (lambda: Float(1, 2, step=0), "step must be above 0"),
        (lambda: Float(1, 2, log="yes"), "log must be True or False"),
        (lambda: Int(0.5, 2), "low must be a whole number"),
        (lambda: Int(0, True), "high must be a whole number"),
        (lambda: Int(0, 2**60), "within"),
        (lambda: Int(1, 2**50, log=True), "within"),
        (lambda: Int(0, 5, log=True), "low must be above 0"),
        (lambda: Categorical("abc"), "choices must be a list"),
        (lambda: Categorical([]), "at least one"),
        (lambda: Categorical([1, 1.0]), "different"),
        (lambda: Categorical([math.nan]), "choices must be strings, finite numbers"),
        (lambda: Categorical([[1, 2]]), "choices must be strings, finite numbers"),
        (lambda: Categorical([1], ordered=1), "ordered must be"),
        (lambda: Bool(when="kind"), "when must map names"),
        (lambda: Space(), "at least one parameter"),
        (lambda: Space({"a": (0, 1)}), "parameter 'a' must be a Float"),
        (lambda: Space({1: Bool()}), "names of parameters must be strings"),
        (
            lambda: Space(a=Bool(when={"b": True}), b=Bool()),
            "parameter 'a': when must name parameters that come before",
        ),
        (lambda: Space(a=Float(0, 1), b=Bool(when={"a": 1})), "no Float"),
        (lambda: Space(a=Bool(), b=Bool(when={"a": "yes"})), "parameter 'b': value must be True or False"),
    ],
)
def test_bad_parameters(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rate": 2.0}, r"parameter 'rate': value must lie in \[0.0001, 1.0\], got 2.0"),
        ({"rate": "a"}, "parameter 'rate': value must be a finite number"),
        ({"momentum": 0.35}, r"0.0 \+ k \* 0.1"),
        ({"layers": 2.5}, "parameter 'layers': value must be a whole number"),
        ({"kind": "rely"}, "parameter 'kind': value must be one of 'relu'"),
        ({"normalise": 1}, "parameter 'normalise': value must be True or False"),
        ({"degree": 4}, "'degree' must be left out where its condition is not met"),
        ({"widht": 3}, "did you mean 'width'"),
    ],
)
def test_bad_values(change, message):
    params = {"rate": 0.1, "momentum": 0.0, "layers": 1, "width": 1, "kind": "relu", "normalise": False}
    assert SPACE.decode(SPACE.encode(params)) == pytest.approx(params)
    with pytest.raises(ValueError, match=message):
        SPACE.encode({**params, **change})
    with pytest.raises(ValueError, match="'layers' must be given"):
        SPACE.encode({name: value for name, value in params.items() if name != "layers"})
    with pytest.raises(ValueError, match="params must be a dictionary"):
        SPACE.encode([1.0])


NUMBERS = st.floats(-1e6, 1e6, allow_nan=False)
CHOICES = st.lists(st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=5), min_size=1, max_size=6)


@st.composite
def parameters(draw):
    kind = draw(st.sampled_from(["float", "log", "step", "int", "logint", "intstep", "categorical", "bool"]))
    if kind == "categorical":
        choices = {(isinstance(c, bool), c): c for c in draw(CHOICES)}
        return Categorical(list(choices.values()), ordered=draw(st.booleans()))
    if kind == "bool":
        return Bool()
    if kind in ("log", "logint"):
        low, high = sorted(draw(st.lists(st.integers(1, 10**9), min_size=2, max_size=2)))
        return Int(low, high, log=True) if kind == "logint" else Float(low / 1000.0, high / 1000.0, log=True)
    low, high = sorted(draw(st.lists(NUMBERS, min_size=2, max_size=2)))
    if kind.startswith("int"):
        return Int(math.floor(low), math.ceil(high), step=draw(st.integers(1, 10**6)) if kind == "intstep" else None)
    return Float(low, high, step=draw(st.floats(0.5, 1e5)) if kind == "step" else None)


SPACES = st.dictionaries(st.text(min_size=1, max_size=8), parameters(), min_size=1, max_size=5).map(Space)


@settings(max_examples=150, deadline=None)
@given(space=SPACES, data=st.data())
def test_encode_and_decode_are_inverse(space, data):
    lower, upper = space.bounds.T
    shares = data.draw(st.lists(st.floats(0, 1), min_size=len(space), max_size=len(space)))
    lattice = lattice_bounds(lower, upper, space.integrality)
    point = on_lattice(lower + np.array(shares) * (upper - lower), *lattice, space.integrality)
    values = space.decode(point)
    again = space.encode(values)
    discrete = space.integrality != 0
    assert again[discrete].tolist() == point[discrete].tolist()
    np.testing.assert_allclose(again, point, rtol=1e-12, atol=1e-9)
    exact = [name for name in space if not (isinstance(space[name], Float) and space[name].log)]
    assert {name: space.decode(again)[name] for name in exact} == {name: values[name] for name in exact}
    assert {name: type(value) for name, value in values.items()} == {
        name: type(value) for name, value in space.decode(again).items()
    }


@settings(max_examples=100, deadline=None)
@given(space=SPACES)
def test_files_give_the_space_back(space, tmp_path_factory):
    folder = tmp_path_factory.mktemp("space")
    assert Space.from_dict(json.loads(json.dumps(space.to_dict()))) == space
    space.save(folder / "space.json")
    assert Space.load(folder / "space.json") == space
    has_none = any(isinstance(p, Categorical) and None in p.choices for p in space.values())
    if has_none:
        with pytest.raises(ValueError, match="TOML has no word for None"):
            space.save(folder / "space.toml")
    else:
        space.save(folder / "space.toml")
        assert Space.load(folder / "space.toml") == space
        assert list(Space.load(folder / "space.toml")) == list(space)


def test_conditions_are_written_too(tmp_path):
    SPACE.save(tmp_path / "space.toml")
    assert Space.load(tmp_path / "space.toml") == SPACE
    assert pickle.loads(pickle.dumps(SPACE)) == SPACE


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[a]\ntype = "float"\nlow = 0\nhihg = 1\n', "parameter 'a': unknown key 'hihg'; did you mean 'high'"),
        ('[a]\ntype = "float"\nlow = 0\n', "parameter 'a': high must be given"),
        ('[a]\ntype = "flaot"\n', "did you mean 'float'"),
        ("[a]\nlow = 0\n", "it must have a type"),
        ("a = 3\n", "it must have a type"),
        ("[a\n", "it is not TOML"),
        ('[a]\ntype = "bool"\n[a]\ntype = "bool"\n', "it is not TOML"),
        ("", "at least one parameter"),
    ],
)
def test_files_are_read_strictly(tmp_path, text, message):
    (tmp_path / "space.toml").write_text(text)
    with pytest.raises(ValueError, match=rf"space.toml must hold a space: .*{message}"):
        Space.load(tmp_path / "space.toml")


def test_other_files(tmp_path):
    (tmp_path / "space.json").write_text('{"a": {"type": "bool"}, "a": {"type": "bool"}}')
    with pytest.raises(ValueError, match="'a' is there twice"):
        Space.load(tmp_path / "space.json")
    (tmp_path / "space.json").write_text("[1]")
    with pytest.raises(ValueError, match="must map names"):
        Space.load(tmp_path / "space.json")
    with pytest.raises(ValueError, match=r"must end in .toml or .json"):
        Space.load(tmp_path / "space.yaml")
    with pytest.raises(FileNotFoundError):
        Space.load(tmp_path / "none.toml")


# Logarithms of integers


def test_logarithms_of_integers_by_hand():
    kinds = np.array([3])
    lower, upper = lattice_bounds(np.log([0.7]), np.log([10.5]), kinds)
    assert (lower.tolist(), upper.tolist()) == ([0.0], [math.log(10)])
    assert lattice_bounds(lower, upper, kinds)[1].tolist() == [math.log(10)]
    assert lattice_points(lower, upper, kinds) == 10
    given = np.log([[0.6], [1.49], [1.51], [9.6], [10.4]])
    assert on_lattice(given, lower, upper, kinds)[:, 0].tolist() == [math.log(n) for n in (1, 1, 2, 10, 10)]
    counts = np.round(np.exp(spread_on_lattice(np.linspace(0, 1, 2001)[:, None], lower, upper, kinds)[:, 0]))
    shares = np.bincount(counts.astype(int))[1:] / 2001
    expected = np.diff(np.log(np.arange(11) + 0.5)) / np.log(21)
    np.testing.assert_allclose(shares, expected, atol=0.002)


def test_no_logarithm_of_an_integer_is_evaluated_twice():
    seen = []
    result = minimize(lambda p: seen.append(tuple(p.values())) or p["d"] ** 0.5 + p["a"], space=DISCRETE, rng=1)
    assert len(seen) == len(set(seen)) == 8 * 3 * 2 * 20 == result.nfev
    assert result.message == "All 960 points of the space are evaluated."
    assert (result.params["a"], result.params["d"]) == (1, 1)


# In a search


def test_minimize_gives_parameters():
    result = minimize(loss, space=SPACE, maxfun=2000, rng=1)
    assert result.fun < 1e-3
    expected = {"layers": 3, "width": 64, "kind": "tanh", "normalise": True, "momentum": 0.3, "degree": 6}
    assert {name: result.params[name] for name in expected} == expected
    assert SPACE.decode(result.x) == result.params
    assert result.population.shape[1] == len(SPACE)


def by_ask_and_tell(optimizer):
    while not optimizer.stop():
        points = optimizer.ask()
        assert isinstance(points, list) and isinstance(points[0], dict)
        copies = json.loads(json.dumps(points))[::-1]
        optimizer.tell(copies, [loss(p) for p in copies])
    return optimizer.result


@pytest.mark.parametrize("updating", ["sequential", "deferred"])
def test_interfaces_agree(updating):
    options = {"space": SPACE, "maxfun": 300, "rng": 3, "updating": updating, "history": True}
    expected = minimize(loss, **options)
    assert_same(expected, by_ask_and_tell(Optimizer(**options)))
    assert_same(expected, Optimizer(**options).optimize(loss, args=(0.0,)))
    by_hand = minimize(
        lambda x: loss(SPACE.decode(x)), SPACE.bounds, integrality=SPACE.integrality, **{**options, "space": None}
    )
    assert_same(expected, by_hand)
    if updating == "deferred":
        assert_same(expected, minimize(loss, workers=map, **options))
        assert_same(expected, minimize(loss, workers=2, **options))


def test_saved_searches_hold_their_space(tmp_path):
    optimizer = Optimizer(space=SPACE, maxfun=300, rng=3, updating="deferred")
    points = optimizer.ask(7)
    optimizer.tell(points[2:5], [loss(p) for p in points[2:5]])
    optimizer.save(tmp_path / "search.npz")
    loaded = Optimizer.load(tmp_path / "search.npz")
    assert loaded.space == SPACE
    rest = [points[k] for k in (0, 1, 5, 6)]
    loaded.tell(rest, [loss(p) for p in rest])
    assert_same(loaded.optimize(loss), minimize(loss, space=SPACE, maxfun=300, rng=3, updating="deferred"))
    again = pickle.loads(pickle.dumps(optimizer))
    assert again.space == SPACE and again.optimize(loss).params == optimizer.optimize(loss).params


def test_x0_and_init_are_parameters():
    start = {"a": 3, "b": "blue", "c": True, "d": 17}
    optimizer = Optimizer(space=DISCRETE, x0=start, rng=1)
    assert optimizer.ask() == [start]
    population = [{"a": 1 + k, "b": "red", "c": False, "d": 2 * k + 1} for k in range(7)]
    optimizer = Optimizer(space=DISCRETE, init=population, updating="deferred", rng=1)
    assert optimizer.ask() == population
    with pytest.raises(ValueError, match="parameter 'b': value must be one of"):
        Optimizer(space=DISCRETE, x0={**start, "b": "pink"})


def test_told_one_by_one_and_unknown_ones():
    optimizer = Optimizer(space=DISCRETE, maxfun=200, updating="deferred", rng=1)
    points = optimizer.ask(3)
    optimizer.tell(points[1], 3.0)
    with pytest.raises(ValueError, match="points must come from ask and be told once"):
        optimizer.tell(points[1], 3.0)
    with pytest.raises(ValueError, match="params must be a dictionary"):
        optimizer.tell([[1.0, 2.0, 0.0, 1.0]], [3.0])


def test_constraints_get_parameters():
    few = NonlinearConstraint(lambda p: p["layers"] * p["width"], -np.inf, 64)
    result = minimize(loss, space=SPACE, constraints=few, maxfun=1500, rng=1)
    assert result.params["layers"] * result.params["width"] <= 64 and result.maxcv == 0.0
    returned = minimize(
        lambda p: (loss(p), p["layers"] * p["width"]),
        space=SPACE,
        constraints=ReturnedConstraint(-np.inf, 64),
        maxfun=1500,
        rng=1,
    )
    assert_same(result, returned)
    with pytest.raises(ValueError, match="constraints must be NonlinearConstraint"):
        minimize(loss, space=SPACE, constraints=LinearConstraint(np.ones(8), 0, 1))


def test_polish_works_on_coordinates():
    result = minimize(loss, space=SPACE, polish=True, maxfun=600, rng=1)
    assert "Polishing took" in result.message
    assert result.params == SPACE.decode(result.x) and loss(result.params) == result.fun


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"space": SPACE, "bounds": [(0, 1)]}, "bounds must be left out with a space"),
        ({"space": SPACE, "integrality": 1}, "integrality must be left out with a space"),
        ({"space": {"a": (0, 1)}}, "space must be a Space"),
        ({"space": SPACE, "vectorized": True}, "vectorized must be False with a space"),
        ({}, "bounds must be given as .* or a space in their place"),
    ],
)
def test_errors(options, message):
    with pytest.raises(ValueError, match=message):
        minimize(loss, **options)


def test_a_problem_has_its_bounds():
    problem = Problem.from_function(lambda x: 0.0, [(0, 1)])
    with pytest.raises(ValueError, match="bounds must be left out with a space"):
        minimize(problem, space=SPACE)
    with pytest.raises(ValueError, match="fun must be a function of a dictionary"):
        Optimizer(space=Space(a=Float(0, 1)), maxfun=100).optimize(problem)
