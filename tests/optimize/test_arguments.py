"""Bad input: a ValueError that names the argument, the rule and the value, before anything is evaluated."""

import numpy as np
import pytest
from scipy.optimize import Bounds

import deddqn
from deddqn import Optimizer, Problem, minimize
from deddqn.problems import get
from tests.optimize.objectives import BOX, SMALL, Learner, bowl

inf, nan = np.inf, np.nan

BAD = [
    # bounds
    ({"bounds": None}, "bounds must be given as .* got None"),
    ({"bounds": []}, r"bounds must be .*pairs.* got shape \(0,\)"),
    ({"bounds": [(0, 1, 2)]}, r"bounds must be .*pairs.* got shape \(1, 3\)"),
    ({"bounds": [0, 1]}, r"bounds must be .*pairs.* got shape \(2,\)"),
    ({"bounds": [(0, 1), (0,)]}, r"bounds must be .*pairs.* got \[\(0, 1\), \(0,\)\]"),
    ({"bounds": [("a", "b")]}, r"bounds must be .*pairs of numbers, got \[\('a', 'b'\)\]"),
    ({"bounds": "0,1"}, "bounds must be .*pairs of numbers, got '0,1'"),
    ({"bounds": [(0, 1j)]}, "bounds must be .*pairs of numbers"),
    ({"bounds": [(0, None)]}, "bounds must be .*pairs of numbers"),
    ({"bounds": zip([0], [1], strict=True)}, "bounds must be .*pairs of numbers"),
    ({"bounds": [(1, 0)] * 4}, r"bounds must have lower <= upper, got 1.0 > 0.0 at coordinate 0"),
    ({"bounds": [(0, inf)]}, "bounds must be finite, got"),
    ({"bounds": [(nan, 1)]}, "bounds must be finite, got"),
    ({"bounds": Bounds([0, 0], [1, inf])}, "bounds must be finite, got"),
    ({"bounds": [(-1e308, 1e308)]}, "bounds must be a finite distance apart, got .* at coordinate 0"),
    # the function
    ({"fun": None}, "fun must be callable or a Problem, got None"),
    ({"fun": "bowl"}, r"fun must be callable or a Problem \(.*get\(name\)\), got 'bowl'"),
    ({"args": 3}, "args must be a tuple .* got 3"),
    ({"args": [3]}, r"args must be a tuple .* got \[3\]"),
    # numbers
    ({"maxfun": 19}, "maxfun must be at least the population size 20, got 19"),
    ({"maxfun": 0}, "maxfun must be a whole number of at least 1, got 0"),
    ({"maxfun": "100"}, "maxfun must be a whole number .* got '100'"),
    ({"maxfun": [9]}, "maxfun must be a whole number .* got \\[9\\]"),
    ({"maxfun": 50.5}, "maxfun must be a whole number .* got 50.5"),
    ({"maxfun": inf}, "maxfun must be a whole number .* got inf"),
    ({"maxfun": nan}, "maxfun must be a whole number .* got nan"),
    ({"maxfun": True}, "maxfun must be a whole number .* got True"),
    ({"maxfun": 2**70}, "maxfun must be a whole number of at most .* got"),
    ({"maxfun": [100]}, r"maxfun must be a whole number .* got \[100\]"),
    ({"maxiter": 0}, "maxiter must be a whole number of at least 1, got 0"),
    ({"maxiter": "a"}, "maxiter must be a whole number .* got 'a'"),
    ({"maxtime": -1}, "maxtime must be a number of at least 0, got -1"),
    ({"maxtime": "1"}, "maxtime must be a number .* got '1'"),
    ({"ftarget": nan}, "ftarget must be a number, got nan"),
    ({"ftarget": "low"}, "ftarget must be a number, got 'low'"),
    ({"tol": -1e-9}, "tol must be a number of at least 0, got"),
    ({"atol": nan}, "atol must be a number of at least 0, got nan"),
    ({"atol": (1, 2)}, r"atol must be a number of at least 0, got \(1, 2\)"),
    ({"population_size": 5}, "population_size must be a whole number of at least 6, got 5"),
    ({"population_size": 20.5}, "population_size must be a whole number .* got 20.5"),
    ({"population_size": "100"}, "population_size must be a whole number .* got '100'"),
    ({"final_population": 5}, "final_population must be a whole number of at least 6, got 5"),
    ({"final_population": 12.5}, "final_population must be a whole number .* got 12.5"),
    (
        {"population_size": 20, "final_population": 21},
        r"final_population must be at most population_size \(20\), got 21",
    ),
    ({"restart_tolerance": -1}, "restart_tolerance must be a number of at least 0, got -1"),
    ({"restart_final_fraction": -0.1}, "restart_final_fraction must be a number of at least 0, got -0.1"),
    ({"restart_final_fraction": 1}, r"restart_final_fraction must lie in \[0, 1\), got 1"),
    ({"restart_tolerance": 1}, r"restart_tolerance must lie in \[0, 1\), got 1"),
    ({"n_candidates": 0}, "n_candidates must be a whole number of at least 1, got 0"),
    ({"n_candidates": 17}, "n_candidates must be at most 16, got 17"),
    ({"n_candidates": 2.5}, "n_candidates must be a whole number of at least 1, got 2.5"),
    ({"n_candidates": "4"}, "n_candidates must be a whole number of at least 1, got '4'"),
    ({"n_candidates": True}, "n_candidates must be a whole number of at least 1, got True"),
    ({"n_candidates": [2]}, r"n_candidates must be a whole number of at least 1, got \[2\]"),
    ({"scale": -0.1}, "scale must be a number of at least 0, got -0.1"),
    ({"scale": "0.5"}, "scale must be a number .* got '0.5'"),
    ({"scale": inf}, "scale .*must be a finite number .* got inf"),
    ({"scale": (0.5, 1)}, r"scale must be a number .* got \(0.5, 1\)"),
    ({"crossover": 1.5}, r"crossover .*must lie in \[0, 1\], got 1.5"),
    ({"crossover": nan}, "crossover must be a number .* got nan"),
    # choices
    ({"repair": "Clip"}, "repair must be one of 'clip', .* did you mean 'clip'.* got 'Clip'"),
    ({"repair": 3}, "repair must be one of .* got 3"),
    ({"updating": "at once"}, "updating must be one of 'sequential', 'deferred'.* got 'at once'"),
    ({"updating": "immediate"}, "updating must not be 'immediate' where F or CR adapt"),
    ({"updating": "sequential", "vectorized": True}, "updating must be 'deferred' .* got 'sequential'"),
    ({"updating": "sequential", "workers": 2}, "updating must be 'deferred' .* got 'sequential'"),
    ({"updating": "sequential", "workers": map}, "updating must be 'deferred' .* got 'sequential'"),
    ({"init": "random"}, "init must be one of 'uniform', .* got 'random'"),
    ({"init": None}, "init must be one of .* got None"),
    ({"init": np.zeros((5, 4))}, r"init must be .* S of at least 6, got shape \(5, 4\)"),
    ({"init": np.zeros((20, 3))}, r"init must be .*\(S, 4\).* got shape \(20, 3\)"),
    ({"init": [[1, 2], [1]]}, r"init must be one of .* got \[\[1, 2\], \[1\]\]"),
    ({"init": np.full((20, 4), 5.5)}, "init must lie inside of the bounds, got 5.5 in row 0"),
    ({"init": np.full((20, 4), nan)}, "init must lie inside of the bounds, got nan in row 0"),
    ({"init": np.zeros((140, 4))}, "maxfun must be at least the population size 140, got 130"),
    ({"vectorized": "no"}, "vectorized must be True or False, got 'no'"),
    ({"history": "no"}, "history must be True or False, got 'no'"),
    ({"polish": 2}, "polish must be True or False, got 2"),
    ({"disp": 2}, "disp must be True or False, got 2"),
    ({"progress": 2}, "progress must be True, False or 'always', got 2"),
    ({"workers": 0}, "workers must be -1, a whole number of at least 1 or a map-like, got 0"),
    ({"workers": -2}, "workers must be -1, .* got -2"),
    ({"workers": "2"}, "workers must be -1, .* got '2'"),
    ({"workers": 1.5}, "workers must be -1, .* got 1.5"),
    ({"workers": None}, "workers must be -1, .* got None"),
    ({"workers": True}, "workers must be -1, .* got True"),
    ({"callback": 5}, "callback must be callable, got 5"),
    # points
    ({"x0": [0, 0, 0]}, r"x0 must have shape \(4,\) like the bounds, got \(3,\)"),
    ({"x0": 0.0}, r"x0 must have shape \(4,\) like the bounds, got \(\)"),
    ({"x0": [0, 0, 0, 5.1]}, "x0 must lie inside of the bounds, got 5.1 at coordinate 3"),
    ({"x0": [nan, 0, 0, 0]}, "x0 must lie inside of the bounds, got nan at coordinate 0"),
    ({"x0": ["a", 0, 0, 0]}, r"x0 must be a point of numbers, got \['a', 0, 0, 0\]"),
    ({"x0": [[0], [0, 0]]}, "x0 must be a point of numbers, got"),
    # seeds
    ({"rng": -1}, "rng must be .* got -1"),
    ({"rng": 1.0}, "rng must be .* got 1.0"),
    ({"rng": "seed"}, "rng must be .* got 'seed'"),
    ({"rng": True}, "rng must be .* got True"),
    ({"rng": np.random}, "rng must be .* got <module"),
    ({"rng": 1, "seed": 2}, "seed is an alias of rng: give one of them, got both"),
    # who chooses from what
    ({"policy": "randm"}, "policy must be a known name.* 'randm'; did you mean 'random'"),
    ({"policy": "nowhere.safetensors"}, "no policy file at nowhere.safetensors"),
    ({"policy": "mixture:a"}, "policy 'mixture:p1,p2,..' needs numbers .* got 'mixture:a'"),
    ({"policy": "mixture:0.5,0.6"}, "mixture probabilities must sum to 1, got"),
    ({"policy": "mixture:0.5,0.5"}, "policy 'mixture:0.5,0.5' gives 2 probabilities, the portfolio has 4"),
    ({"policy": "de7"}, "policy 'de7' needs at least 7 operators, got 4"),
    ({"policy": 3}, "policy must be a name, a path or an object .* got 3"),
    ({"policy": Learner}, r"policy must be an object, not a class: give Learner\(\), got"),
    ({"portfolio": "rand/1"}, "portfolio must be a list .* got 'rand/1'"),
    ({"portfolio": []}, "portfolio must be a list .* got .*at least one entry"),
    ({"portfolio": 4}, "portfolio must be a list .* got 4"),
    ({"portfolio": ["rand/7"]}, r"portfolio must be a list .* got \['rand/7'\]: unknown strategy .* did you mean"),
    ({"portfolio": [("rand/1", -1, 0)]}, "portfolio must be a list .* F.* got -1"),
    ({"portfolio": [("rand/1", "a", 0)]}, "portfolio must be a list .* got"),
    ({"portfolio": [("rand/1", 1, 0, 3)]}, "portfolio must be a list .* got"),
    ({"portfolio": [("rand/1", 1, 0, "f")]}, "portfolio must be a list .* adapts must be one of '', 'F', 'CR', 'F.CR'"),
    (
        {"portfolio": [("rand/1", 2, 0, "F")]},
        r"portfolio must be a list .* must lie in \(0, 1\] where it adapts, got 2",
    ),
    ({"portfolio": "beyound"}, "portfolio must be a list .* one of 'paper', 'extended', got 'beyound'"),
    ({"portfolio": [None]}, r"portfolio must be a list .* got \[None\]"),
]


def evaluated(x):
    raise AssertionError("bad arguments are noticed before the first evaluation")


@pytest.mark.parametrize(("bad", "message"), BAD, ids=[str(k) for k in range(len(BAD))])
def test_minimize_refuses(bad, message):
    options = {"fun": evaluated, "bounds": BOX, **SMALL, **bad}
    with pytest.raises(ValueError, match=message):
        minimize(**options)


ONLY_MINIMIZE = {"fun", "args", "maxtime", "vectorized", "polish", "disp", "progress", "workers", "callback"}


@pytest.mark.parametrize(("bad", "message"), BAD, ids=[str(k) for k in range(len(BAD))])
def test_optimizer_refuses(bad, message):
    if bad.get("bounds", ()) is None or ("bounds" in bad and isinstance(bad["bounds"], zip)):
        pytest.skip("says it in other words")
    rest = {key: value for key, value in bad.items() if key in ONLY_MINIMIZE and key not in ("fun", "polish")}
    settings = {key: value for key, value in {"bounds": BOX, **SMALL, **bad}.items() if key not in ONLY_MINIMIZE}
    if {"fun", "polish"} & set(bad):
        return
    with pytest.raises(ValueError, match=message):
        Optimizer(**settings).optimize(evaluated, **rest)


def test_unknown_options_are_named():
    with pytest.raises(TypeError, match="popsize"):
        minimize(bowl, BOX, popsize=15)
    with pytest.raises(ValueError, match="bounds must be"):
        Optimizer(None)


def test_after_a_refusal_the_search_goes_on():
    optimizer = Optimizer(BOX, **SMALL)
    points = optimizer.ask()
    for bad in ({"workers": 0}, {"callback": 1}, {"maxtime": nan}, {"args": 1}, {"vectorized": True}, {"disp": "no"}):
        with pytest.raises(ValueError):
            optimizer.optimize(bowl, **bad)
    optimizer.tell(points, [bowl(points[0])])
    assert np.array_equal(optimizer.optimize(bowl).x, minimize(bowl, BOX, **SMALL).x)


def test_problems():
    problem = Problem.from_function(bowl, BOX)
    with pytest.raises(ValueError, match="bounds must be left out when fun is a Problem, .* got"):
        minimize(problem, BOX)
    with pytest.raises(ValueError, match=r"args must be left out when fun is a Problem, got \(1,\)"):
        minimize(problem, args=(1,))
    with pytest.raises(ValueError, match="fun must have 4 dimensions like the bounds, got <Problem cec2005:F9/d10"):
        Optimizer(BOX, **SMALL).optimize(get("cec2005:F9/d10"))
    with pytest.raises(ValueError, match="fun must be given: the optimizer was made from bounds alone"):
        Optimizer(BOX, **SMALL).optimize()
    other = Optimizer([(-100, 100)] * 10, **SMALL).optimize(get("cec2005:F18/d10"))  # needs scratch memory
    assert other.fun == get("cec2005:F18/d10")(other.x)


def test_tell_refuses():
    optimizer = Optimizer(BOX, updating="deferred", **SMALL)
    with pytest.raises(ValueError, match="points must come from ask and be told once, got"):
        optimizer.tell([0, 0, 0, 0], 1.0)
    points = optimizer.ask(6)
    values = [bowl(x) for x in points]
    for bad_points, bad_values, message in [
        (points, values[:-1], r"values must be one per point \(6\), got shape \(5,\)"),
        (points, 3.0, r"values must be one per point \(6\), got shape \(1,\)"),
        (points, ["a"] * 6, "values must be one number per point, got"),
        (points, None, "values must be one number per point, got None"),
        (points, [1j] * 6, "values must be one number per point, got"),
        ("x", [1.0], "points must be points that ask gave, .* got 'x'"),
        (None, [1.0], "points must be points that ask gave, .* got None"),
        (points[:, :3], values, "points must come from ask and be told once, got"),
        (points + 1e-9, values, "points must come from ask and be told once, got"),
        (points[[0, 0]], values[:2], "points must come from ask and be told once, got"),
        (points * np.nan, values, "points must come from ask and be told once, got"),
        (np.concatenate([points, [[9, 9, 9, 9]]]), [*values, 0], r"points must come from ask .* got \[9. 9. 9. 9.\]"),
    ]:
        with pytest.raises(ValueError, match=message):
            optimizer.tell(bad_points, bad_values)
    optimizer.tell(points.tolist(), values)  # nothing was entered before
    with pytest.raises(ValueError, match="be told once"):
        optimizer.tell(points[0], values[0])
    optimizer.optimize(bowl)
    assert np.array_equal(optimizer.result.x, minimize(bowl, BOX, updating="deferred", **SMALL).x)


def test_ask_refuses():
    optimizer = Optimizer(BOX, **SMALL)
    for n in (0, -1, 1.5, "a", [1]):
        with pytest.raises(ValueError, match="n must be a whole number of at least 1, got"):
            optimizer.ask(n)
    assert optimizer.ask(3).shape == (1, 4)
    with pytest.raises(ValueError, match="ask: all points that can be evaluated now are handed out"):
        optimizer.ask()
    deferred = Optimizer(BOX, updating="deferred", **SMALL)
    assert len(deferred.ask(15)) == 15 and len(deferred.ask(15)) == 5
    with pytest.raises(ValueError, match="handed out"):
        deferred.ask(1)
    deferred.optimize(bowl)
    assert deferred.ask().shape == (0, 4)


def test_identical_points_are_told_one_by_one():
    optimizer = Optimizer([(0, 1), (3, 3)], init=np.tile([0.5, 3], (6, 1)), updating="deferred", maxfun=6)
    points = optimizer.ask()
    for k, point in enumerate(points):
        optimizer.tell(-0.0 + point, float(k))
    assert optimizer.result.population_energies.tolist() == [0, 1, 2, 3, 4, 5]


def test_plot_needs_a_history(tmp_path):
    with pytest.raises(ValueError, match=r"result must have a history: call minimize\(\.\.\., history=True\)"):
        deddqn.plot(minimize(bowl, BOX, **SMALL))
    for wrong in (None, 3, "result", {}):
        with pytest.raises(ValueError, match="result must"):
            deddqn.plot(wrong)
