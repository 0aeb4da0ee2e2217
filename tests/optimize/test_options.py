"""A run of every option, and what each is for."""

import numpy as np
import pytest
from numba import njit
from scipy.optimize import Bounds, OptimizeResult

import deddqn
from deddqn import Operator, Optimizer, minimize
from deddqn.policies import save_policy
from tests.optimize.objectives import BOX, SMALL, Learner, assert_same, bowl, jitted_bowl, random_network

LOWER, UPPER = np.array(BOX).T


def inside(result, lower=LOWER, upper=UPPER):
    for points in (result.x, result.population):
        assert np.all(points >= lower) and np.all(points <= upper)


def test_four_lines_and_a_good_answer():
    result = minimize(lambda x: ((x - 1) ** 2).sum(), [(-5, 5)] * 4, maxfun=5000, rng=1)
    assert isinstance(result, OptimizeResult)
    assert result.fun < 1e-3 and np.allclose(result.x, 1, atol=0.05)
    assert result.success and result.message == "All 5000 evaluations are used."


def test_fields_of_the_result():
    result = minimize(bowl, BOX, policy="softmax", history=True, **SMALL)
    assert result.nfev == 130 and result.nit == 6 and result.seed == 7
    assert result.population.shape == (20, 4) and result.population_energies.shape == (20,)
    assert [bowl(x) for x in result.population] == result.population_energies.tolist()
    assert result.fun == bowl(result.x) == result.population_energies.min()
    assert result.strategy_counts.sum() == 110 and len(result.strategies) == 4
    assert result.non_finite == 0 and result.policy == "softmax"
    history = result.history
    assert history.nfev.tolist() == [20, 40, 60, 80, 100, 120, 130]
    assert history.fun[-1] == result.fun and np.all(np.diff(history.fun) <= 0)
    assert history.strategy_counts.shape == (6, 4)
    assert history.strategy_counts.sum(axis=0).tolist() == result.strategy_counts.tolist()
    default = minimize(bowl, BOX, **SMALL)
    assert "history" not in default and default.policy == deddqn.policies.best_policy()


def test_args():
    def shifted(x, by, times):
        return times * bowl(x - by)

    one = minimize(shifted, BOX, args=(0.5, 2.0), **SMALL)
    assert_same(one, minimize(lambda x: 2.0 * bowl(x - 0.5), BOX, **SMALL))


@pytest.mark.parametrize("repair", ["clip", "reflect", "midpoint"])
def test_repair_keeps_every_point_inside(repair):
    seen = []
    # The optima are the corners.
    minimize(lambda x: seen.append(x) or -abs(x).sum(), BOX, repair=repair, local_share=0, **SMALL)
    assert np.all(np.array(seen) >= LOWER) and np.all(np.array(seen) <= UPPER)
    assert np.any(np.abs(seen) == 5) == (repair == "clip")


def test_points_may_be_kept_and_changed():
    """Every call gets an array of its own, also from the compiled loop."""
    seen = []

    def rude(x):
        seen.append(x)
        return bowl(x)

    def ruder(x):
        value = bowl(x)
        x[:] = np.nan
        return value

    expected = minimize(rude, BOX, **SMALL)
    assert len({id(x) for x in seen}) == 130 and bowl(seen[3]) != bowl(seen[4])
    assert_same(expected, minimize(ruder, BOX, **SMALL))
    assert_same(expected, minimize(jitted_ruder, BOX, **SMALL))


@njit
def jitted_ruder(x):
    value = jitted_bowl(x)
    x[:] = np.nan
    return value


@pytest.mark.parametrize("init", ["uniform", "latinhypercube", "sobol"])
def test_designs(init):
    seen = []
    result = minimize(lambda x: seen.append(x) or bowl(x), BOX, init=init, **SMALL)
    inside(result)
    first = np.array(seen[:20])
    again = minimize(bowl, BOX, init=init, **SMALL)
    assert_same(result, again)
    assert not np.array_equal(minimize(bowl, BOX, init=init, **{**SMALL, "rng": 8}).population, result.population)
    if init == "latinhypercube":  # one point per slice and coordinate
        slices = np.sort(((first - LOWER) / (UPPER - LOWER) * 20).astype(int), axis=0)
        assert np.array_equal(slices, np.tile(np.arange(20)[:, None], 4))


def test_init_as_an_array_sets_the_population():
    population = np.random.default_rng(0).uniform(LOWER, UPPER, (9, 4))
    seen = []
    result = minimize(lambda x: seen.append(x) or bowl(x), BOX, init=population, maxfun=30, rng=1)
    assert np.array_equal(seen[:9], population) and len(result.population) <= 9 and result.nfev == 30
    assert_same(result, minimize(bowl, BOX, init=population.tolist(), maxfun=30, rng=1))
    # polishing keeps evaluations back for this population, not for the default one
    assert minimize(bowl, BOX, init=np.tile(population, (17, 1))[:150], maxfun=160, polish=True, rng=1).nfev <= 160


def test_x0_is_evaluated_first_and_never_lost():
    x0, seen = [0.1, 0.5, 1.0, 1.5], []
    for init in ("uniform", "sobol", np.zeros((20, 4))):
        seen.clear()
        result = minimize(lambda x: seen.append(x) or bowl(x), BOX, x0=x0, init=init, **SMALL)
        assert seen[0].tolist() == x0 and result.fun <= bowl(x0)


def test_bounds_as_scipy_accepts_them():
    expected = minimize(bowl, BOX, **SMALL)
    for bounds in (np.array(BOX), Bounds([-5] * 4, [5] * 4), Bounds([-5] * 4, 5), tuple(BOX), [[-5, 5]] * 4):
        assert_same(expected, minimize(bowl, bounds, **SMALL))


def test_fixed_variables():
    bounds = [(-5, 5), (2, 2), (-5, 5)]
    for policy in ("random", random_network()):
        for options in ({}, {"polish": True}, {"init": "sobol"}, {"repair": "reflect"}):
            result = minimize(bowl, bounds, policy=policy, **SMALL, **options)
            assert result.x[1] == 2 and np.all(result.population[:, 1] == 2)
    everything = minimize(bowl, [(1, 1)] * 3, policy=random_network(), polish=True, **SMALL)
    assert everything.x.tolist() == [1, 1, 1] and everything.nfev <= 130


@pytest.mark.parametrize("updating", ["sequential", "deferred"])
def test_smallest_problem(updating):
    for policy in ("random", random_network()):
        result = minimize(
            lambda x: float(x[0]) ** 2,
            [(-1, 2)],
            population_size=6,
            maxfun=200,
            rng=0,
            updating=updating,
            policy=policy,
        )
        assert result.nfev == 200 and result.fun < 0.1 and result.x.shape == (1,)
    assert minimize(lambda x: x[0], [(-1, 2)], population_size=6, maxfun=6, rng=0).nit == 0


@pytest.mark.filterwarnings("ignore:overflow encountered in dot")  # the diagonal of the largest boxes
def test_huge_values_and_boxes():
    policy = random_network()
    for scale in (1e300, 1e-300, 1.7e308):
        result = minimize(lambda x, s=scale: s * float(np.tanh(bowl(x))), BOX, policy=policy, **SMALL)
        assert np.isfinite(result.fun) and result.non_finite == 0
    for width in (1e-300, 1e100, 1e154, 8e307):
        result = minimize(lambda x, w=width: float(abs(x / w).sum()), [(-width, width)] * 3, policy=policy, **SMALL)
        inside(result, -width, width)
        assert np.isfinite(result.fun)


def test_portfolio_scale_and_crossover():
    names = ["rand/1", "curr-to-rand/1"]
    expected = minimize(bowl, BOX, policy="random", portfolio=[(name, 0.8, 0.6) for name in names], **SMALL)
    assert expected.strategies == names and expected.strategy_counts.shape == (2,)
    assert_same(expected, minimize(bowl, BOX, policy="random", portfolio=names, scale=0.8, crossover=0.6, **SMALL))
    entries = [Operator(name, np.float32(0.8), 0.6) for name in names]
    near = minimize(bowl, BOX, policy="random", portfolio=entries, **SMALL)
    assert not np.array_equal(near.x, expected.x)  # single precision is another F
    twice = minimize(bowl, BOX, portfolio=[("rand/1", 0.5, 1), ("rand/1", 0.9, 0.1)], **SMALL)
    assert len(set(twice.strategies)) == 2
    default = minimize(bowl, BOX, **SMALL)
    assert not np.array_equal(default.x, minimize(bowl, BOX, scale=0.9, **SMALL).x)
    assert not np.array_equal(default.x, minimize(bowl, BOX, crossover=0.3, **SMALL).x)


def test_policies_by_name_file_and_object(tmp_path):
    always = minimize(bowl, BOX, policy="de3", **SMALL)
    assert always.strategy_counts.tolist() == [0, 0, 110, 0] and always.policy == "de3"
    drawn = minimize(bowl, BOX, policy="mixture:0,0.5,0,0.5", **SMALL)
    assert drawn.strategy_counts[0] == 0 and drawn.strategy_counts[1] > 0
    rng = np.random.default_rng(0)
    weights, biases = [rng.standard_normal((4, 99)).astype(np.float32)], [np.zeros(4, dtype=np.float32)]
    save_policy(tmp_path / "own.safetensors", weights, biases, name="own")
    learned = minimize(bowl, BOX, policy=tmp_path / "own.safetensors", **SMALL)
    assert learned.policy == "own"
    assert_same(learned, minimize(bowl, BOX, policy=str(tmp_path / "own.safetensors"), **SMALL))
    own = Learner()
    assert minimize(bowl, BOX, policy=own, **SMALL).policy == "learner" and own.generations == 6


def test_a_policy_in_python_must_stay_in_the_portfolio():
    class Lost(Learner):
        def choose(self, features, i):
            return 4

    with pytest.raises(ValueError, match=r"policy must choose an operator in 0\.\.3, got 4"):
        minimize(bowl, BOX, policy=Lost(), **SMALL)


def test_seeds():
    expected = minimize(bowl, BOX, **SMALL)
    rest = {key: value for key, value in SMALL.items() if key != "rng"}
    assert_same(expected, minimize(bowl, BOX, seed=7, **rest))
    assert_same(expected, minimize(bowl, BOX, rng=np.int64(7), **rest))
    one, other = minimize(bowl, BOX, **rest), minimize(bowl, BOX, **rest)
    assert one.seed != other.seed and not np.array_equal(one.x, other.x)
    assert_same(one, minimize(bowl, BOX, rng=one.seed, **rest))
    for make in (lambda: np.random.default_rng(3), lambda: np.random.SeedSequence(3)):
        assert_same(minimize(bowl, BOX, rng=make(), **rest), minimize(bowl, BOX, rng=make(), **rest))
    assert minimize(bowl, BOX, rng=2**100, **rest).seed == 2**100
    generator = np.random.default_rng(3)
    assert minimize(bowl, BOX, rng=generator, **rest).seed != minimize(bowl, BOX, rng=generator, **rest).seed


def test_disp_prints_a_line_per_generation(capsys):
    minimize(bowl, BOX, policy="softmax", disp=True, **SMALL)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 8 and lines[-1] == "All 130 evaluations are used."
    assert lines[3].startswith("generation 3: 80 evaluations, f = ") and "rand/1 " in lines[3]
    minimize(bowl, BOX, portfolio="extended", disp=True, **SMALL)
    assert max(line.count("%") for line in capsys.readouterr().out.splitlines()) == 3
    minimize(bowl, BOX, **SMALL)
    assert capsys.readouterr().out == ""


def test_numbers_may_be_numpy_numbers_or_floats():
    options = {"maxfun": 1.3e2, "population_size": np.int32(20), "rng": np.uint8(7), "scale": np.float32(0.5)}
    expected = minimize(bowl, BOX, scale=0.5, maxiter=99, **SMALL)
    assert_same(expected, minimize(bowl, BOX, **options, maxiter=np.int64(99)))


def test_optimizer_takes_a_problem():
    problem = deddqn.Problem.from_function(bowl, BOX, name="mine")
    result = Optimizer(problem, **SMALL).optimize()
    assert result.fun == bowl(result.x)
    assert not np.array_equal(result.x, minimize(bowl, BOX, **SMALL).x)  # other names have other seeds
