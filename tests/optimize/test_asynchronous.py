"""Asynchronous ask and tell: any number of points at any time, values in any order, points from elsewhere."""

import copy
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deddqn import Categorical, Float, Int, Optimizer, Space, minimize
from deddqn.de.state import Counter
from deddqn.engine.memory_check import check_arena
from tests.optimize.objectives import (
    BOX,
    POLICIES,
    SMALL,
    Learner,
    assert_same,
    bowl,
    by_ask_and_tell,
    jitted_bowl,
    random_network,
)

ASYNCHRONOUS = {**SMALL, "updating": "asynchronous"}
LEARNING = ("rec-pm", "pm-adapss", "f-auc", "ddqn", "softmax", "softmax-x", None)
SHRINKING = {"final_population": 6, "restart_tolerance": 1e-3, "restart_final_fraction": 0.2}


class Workplace:
    """Asks and tells in an order that `rng` draws; keeps what was told."""

    def __init__(self, optimizer, rng, function=bowl):
        self.optimizer, self.rng, self.function = optimizer, rng, function
        self.pending, self.handed, self.values = [], 0, []

    def ask(self, n):
        points = self.optimizer.ask(n)
        assert points.shape[1] == len(BOX) and len(points) <= n
        self.handed += len(points)
        self.pending.extend(points)
        return points

    def tell(self):
        point = self.pending.pop(int(self.rng.integers(len(self.pending))))
        self.values.append(self.function(point))
        self.optimizer.tell(point, self.values[-1])

    def step(self, most=6):
        n = int(self.rng.integers(0, most + 1))
        if n:
            self.ask(n)
        for _ in range(min(int(self.rng.integers(0, most + 1)), len(self.pending))):
            self.tell()

    def run(self, steps=10**6):
        for _ in range(steps):
            if self.optimizer.stop():
                break
            self.step()
        return self.optimizer.result


def counters_of(optimizer):
    return optimizer._run.de_state.counters


@given(
    seed=st.integers(0, 10**6),
    policy=st.sampled_from(LEARNING),
    population=st.integers(6, 30),
    budget=st.integers(60, 300),
)
@settings(max_examples=40, deadline=None)
def test_any_order(seed, policy, population, budget):
    """The budget is exact, every point counts once, the best never gets worse, and all that is observed is finite."""
    optimizer = Optimizer(
        BOX, policy=policy, population_size=population, maxfun=budget, rng=seed, updating="asynchronous", **SHRINKING
    )
    work, best = Workplace(optimizer, np.random.default_rng(seed)), np.inf
    while not optimizer.stop():
        work.step()
        if not work.values:
            continue
        assert optimizer.result.fun == min(work.values) <= best
        best = optimizer.result.fun
        run = optimizer._run
        assert np.isfinite(run.observer.features).all() and np.isfinite(run.de_state.trials).all()
        assert len(run.pending) == len(work.pending) and work.handed <= budget
        known = run.fitness < np.inf
        assert all(bowl(x) == value for x, value in zip(run.population[known], run.fitness[known], strict=True))
    assert work.handed == len(work.values) == optimizer.result.nfev == budget and not work.pending
    assert optimizer.ask(3).shape == (0, 4) and set(optimizer.stop()) == {"maxfun"}


@pytest.mark.parametrize("kind", [*POLICIES, *filter(None, LEARNING)])
def test_replayed_in_the_same_order(kind):
    def made():
        policy = POLICIES[kind]() if kind in POLICIES else kind
        return Optimizer(BOX, policy=policy, history=True, **SHRINKING, **ASYNCHRONOUS)

    one, other = (Workplace(made(), np.random.default_rng(5)).run() for _ in range(2))
    assert_same(one, other)
    assert one.nfev == 130 and one.history.nfev[-1] == 130
    assert one.strategy_counts.sum() + 20 <= 130


@pytest.mark.parametrize("kind", POLICIES)
@pytest.mark.parametrize("way", ["pickle", "file"])
def test_saved_with_pending_points(kind, way, tmp_path):
    expected = Workplace(
        Optimizer(BOX, policy=POLICIES[kind](), history=True, **SHRINKING, **ASYNCHRONOUS), np.random.default_rng(2)
    ).run()
    work = Workplace(
        Optimizer(BOX, policy=POLICIES[kind](), history=True, **SHRINKING, **ASYNCHRONOUS), np.random.default_rng(2)
    )
    while not work.optimizer.stop():
        work.step()
        check_arena(work.optimizer._run.spec, work.optimizer._run.arena)
        if way == "pickle":
            moved = pickle.loads(pickle.dumps(work.optimizer))
        else:
            work.optimizer.save(tmp_path / "search")
            own = work.optimizer._run.spec.policy if kind == "python" else None
            moved = Optimizer.load(tmp_path / "search", policy=copy.deepcopy(own))
        moved._handed = set(work.optimizer._handed)  # the same caller goes on, who still has them
        work.optimizer = moved
    assert_same(work.optimizer.result, expected)


def test_pending_points_are_handed_out_again_after_loading():
    optimizer = Optimizer(BOX, **ASYNCHRONOUS)
    points = optimizer.ask(7)
    optimizer.tell(points[2], bowl(points[2]))
    again = pickle.loads(pickle.dumps(optimizer))
    np.testing.assert_array_equal(again.ask(6), points[[0, 1, 3, 4, 5, 6]])
    assert not (again.ask(1) == points).all(axis=1).any()
    assert by_ask_and_tell(pickle.loads(pickle.dumps(optimizer))).nfev == 130


def test_any_number_at_any_time():
    """More than the population, more than there is room for at first, before any value is known."""
    optimizer = Optimizer(BOX, **{**ASYNCHRONOUS, "maxfun": 700})
    points = optimizer.ask(500)
    assert points.shape == (500, 4) and len(np.unique(points, axis=0)) == 500
    assert (np.abs(points) <= 5).all()
    optimizer.tell(points[:260], [bowl(x) for x in points[:260]])
    assert len(optimizer.ask(10**6)) == 200 and len(optimizer.ask()) == 0
    assert optimizer.result.nfev == 260 and not optimizer.stop()


def test_trials_begin_before_the_slowest_value_comes():
    optimizer = Optimizer(BOX, **ASYNCHRONOUS)
    slow = optimizer.ask()[0]
    while optimizer.result.nfev < 129:
        point = optimizer.ask()
        optimizer.tell(point, bowl(point[0]))
    assert optimizer.result.nit >= 5 and optimizer.result.fun < 1.0 and not optimizer.stop()
    optimizer.tell(slow, -100.0)
    assert optimizer.result.fun == -100.0 and optimizer.result.nfev == 130 and "maxfun" in optimizer.stop()


def test_a_value_is_compared_with_what_the_parent_is_by_then():
    optimizer = Optimizer(BOX, policy="random", **ASYNCHRONOUS)
    start = optimizer.ask(20)
    optimizer.tell(start, [bowl(x) for x in start])
    trials = optimizer.ask(25)  # five individuals have two trials each
    optimizer.tell(trials[20], -5.0)  # the second one of the first individual
    assert optimizer._run.fitness[0] == -5.0
    optimizer.tell(trials[0], -4.0)
    assert optimizer._run.fitness[0] == -5.0 and optimizer.result.fun == -5.0
    np.testing.assert_array_equal(optimizer._run.population[0], trials[20])
    assert counters_of(optimizer)[Counter.BEST] == 0


def test_one_at_a_time_is_deterministic():
    """Functions in the loop, by ask and tell, jitted and of one worker are the same run."""
    for policy in (None, "random", random_network(), Learner()):
        options = {**ASYNCHRONOUS, "policy": policy, "history": True}
        one = minimize(bowl, BOX, **options)
        assert_same(one, by_ask_and_tell(Optimizer(BOX, **options)))
        assert_same(one, minimize(jitted_bowl, BOX, **options))
        assert one.nfev == 130


def test_continued_on_a_function():
    optimizer = Optimizer(BOX, **ASYNCHRONOUS)
    points = optimizer.ask(30)
    optimizer.tell(points[5:9], [bowl(x) for x in points[5:9]])
    result = optimizer.optimize(bowl)
    assert result.nfev == 130 and len(optimizer._run.pending) == 0
    with pytest.raises(ZeroDivisionError):
        optimizer = Optimizer(BOX, **ASYNCHRONOUS)
        optimizer.optimize(lambda x: 1 / 0 if x[0] > 2 else bowl(x))
    assert_same(optimizer.optimize(bowl), minimize(bowl, BOX, **ASYNCHRONOUS))


# Populations that shrink, or begin again, while points are pending


def test_parents_that_are_gone():
    optimizer = Optimizer(BOX, final_population=6, policy="softmax-x", **{**ASYNCHRONOUS, "maxfun": 400})
    start = optimizer.ask(20)
    optimizer.tell(start, [bowl(x) for x in start])
    late = optimizer.ask(20)  # one trial of every individual
    while counters_of(optimizer)[Counter.POPULATION] > 8:
        point = optimizer.ask()
        optimizer.tell(point, bowl(point[0]))
    run = optimizer._run
    parents = run.de_state.trial_parents[run.pending]
    assert (parents == -1).sum() >= 12 and (parents < 8).all()
    before = counters_of(optimizer)[Counter.GENERATION_SIZE], run.fitness.max()
    orphan = late[int(np.flatnonzero(parents == -1)[0])]
    optimizer.tell(orphan, -1.0)
    assert (
        optimizer.result.fun == -1.0
        and -1.0 in run.fitness
        and counters_of(optimizer)[Counter.GENERATION_SIZE] == before[0]
    )


def test_a_restart_does_not_take_points_of_the_old_population():
    optimizer = Optimizer(BOX, policy="softmax-x", **{**ASYNCHRONOUS, "maxfun": 3000, "restart_tolerance": 1e-2})
    start = optimizer.ask(20)
    optimizer.tell(start, [bowl(x) for x in start])
    late = optimizer.ask(5)
    while counters_of(optimizer)[Counter.RESTARTS] == 0:
        point = optimizer.ask()
        optimizer.tell(point, bowl(point[0]))
    run = optimizer._run
    assert (run.de_state.trial_parents[run.pending] == -2).all() and len(run.pending) == 5
    optimizer.tell(late[1], -7.0)
    assert optimizer.result.fun == -7.0 and (run.fitness == np.inf).all()
    while len(point := optimizer.ask()):
        optimizer.tell(point, bowl(point[0]))
    assert optimizer.result.nfev == 2996 and not optimizer.stop()  # four points are still out there
    optimizer.tell(late[[0, 2, 3, 4]], [bowl(x) for x in late[[0, 2, 3, 4]]])
    assert optimizer.result.nfev == 3000 and set(optimizer.stop()) == {"maxfun"}


# Points from elsewhere


def test_points_from_elsewhere_before_the_search():
    known = np.random.default_rng(1).uniform(-5, 5, (8, 4))
    optimizer = Optimizer(BOX, x0=[1, 1, 1, 1], **ASYNCHRONOUS)
    optimizer.tell(known, [bowl(x) for x in known])
    assert optimizer.result.nfev == 0 and optimizer.result.foreign == 8
    assert optimizer.result.fun == min(bowl(x) for x in known) == bowl(optimizer.result.x)
    asked = optimizer.ask(12)
    np.testing.assert_array_equal(asked[0], [1, 1, 1, 1])
    optimizer.tell(asked, [bowl(x) for x in asked])
    run = optimizer._run
    assert run.initialised and run.generation == 0  # they are members, and needed no evaluation
    assert all((run.population == x).all(axis=1).any() for x in known)
    assert by_ask_and_tell(optimizer).nfev == 130


def test_points_from_elsewhere_during_the_search():
    optimizer = Optimizer(BOX, **ASYNCHRONOUS)
    work = Workplace(optimizer, np.random.default_rng(3))
    while optimizer.result.nit < 2:
        work.step()
    run = optimizer._run
    worst, good = run.fitness.max(), np.array([0.0, 0.5, 1.0, 1.5])
    nfev, size = optimizer.result.nfev, run.fitness.size
    optimizer.tell(good, bowl(good))
    assert optimizer.result.nfev == nfev and optimizer.result.foreign == 1
    assert bowl(good) in run.fitness and run.fitness.size == size and (run.fitness == worst).sum() == 0
    optimizer.tell([good, good], [bowl(good)] * 2)
    assert (run.fitness == bowl(good)).sum() == 1  # no copies
    bad = np.array([5.0, -5.0, 5.0, -5.0])
    optimizer.tell([bad, bad - 1e-9 * bad], [bowl(bad), np.nan])
    assert bowl(bad) not in run.fitness and optimizer.result.non_finite == 0
    assert work.run().nfev == 130


def test_a_target_from_elsewhere_ends_the_search():
    optimizer = Optimizer(BOX, ftarget=0.5, **ASYNCHRONOUS)
    pending = optimizer.ask(25)
    optimizer.tell([0.0, 0.5, 1.0, 1.5], 0.3)
    assert set(optimizer.stop()) == {"ftarget"} and optimizer.ask(2).shape == (0, 4)
    optimizer.tell(pending[3], 0.1)  # too late to matter, but known
    assert optimizer.result.fun == 0.1 and optimizer.result.nfev == 1


def test_values_that_are_not_finite():
    optimizer = Optimizer(BOX, **ASYNCHRONOUS)
    points = optimizer.ask(30)
    optimizer.tell(points[:25], [np.nan, np.inf, -np.inf] * 8 + [np.nan])
    assert not np.isfinite(optimizer.result.fun) and optimizer.result.non_finite == 25
    optimizer.tell(points[25:], [np.nan] * 5)
    assert np.isfinite(by_ask_and_tell(optimizer).fun)


# Errors


@pytest.mark.parametrize(
    ("points", "values", "message"),
    [
        ([0.0, 0.0, 0.0], 1.0, r"points must have 4 coordinates, got shape \(1, 3\)"),
        ([[0.0] * 4] * 2, [1.0], r"values must be one per point \(2\), got shape \(1,\)"),
        ([0.0, 0.0, 0.0, 6.0], 1.0, "points must come from ask or lie inside of the bounds, got"),
        ([0.0, 0.0, 0.0, np.nan], 1.0, "points must come from ask or lie inside of the bounds, got"),
        ("x", 1.0, "points must be points that ask gave"),
        ([0.0] * 4, "y", "values must be one number per point"),
    ],
)
def test_wrong_tells_change_nothing(points, values, message):
    optimizer = Optimizer(BOX, **ASYNCHRONOUS)
    optimizer.ask(3)
    before = optimizer._run.arena.copy()
    with pytest.raises(ValueError, match=message):
        optimizer.tell(points, values)
    with pytest.raises(ValueError, match="inside of the bounds"):
        optimizer.tell([[0.0] * 4, [9.0] * 4], [1.0, 1.0])  # the first one would have been fine
    np.testing.assert_array_equal(optimizer._run.arena, before)


def test_wrong_asks():
    for n in (0, -1, 1.5, "3"):
        with pytest.raises(ValueError, match="n must be a whole number of at least 1"):
            Optimizer(BOX, **ASYNCHRONOUS).ask(n)


def test_who_needs_whole_generations():
    for options in ({"vectorized": True}, {"workers": map}):
        with pytest.raises(ValueError, match="updating must be 'deferred' with vectorized or a map-like, got 'async"):
            minimize(bowl, BOX, **options, **ASYNCHRONOUS)


def test_memory_that_breaks_the_rules(tmp_path):
    optimizer = Optimizer(BOX, **ASYNCHRONOUS)
    start = optimizer.ask(20)
    optimizer.tell(start, [bowl(x) for x in start])
    optimizer.ask(3)
    for break_it in (
        lambda state: state.counters.__setitem__(Counter.PENDING, 200),
        lambda state: state.trial_parents.__setitem__(1, 19 + 1),
        lambda state: state.counters.__setitem__(Counter.CURSOR, 21),
    ):
        broken = copy.deepcopy(optimizer)
        break_it(broken._run.de_state)
        broken.save(tmp_path / "broken")
        with pytest.raises(ValueError, match="must hold whole numbers|breaks the rule"):
            Optimizer.load(tmp_path / "broken")


# The same bits without the compiler


PLAIN = """
import numpy as np
from deddqn import Optimizer
from tests.optimize.test_asynchronous import ASYNCHRONOUS, BOX, SHRINKING, Workplace
for policy in (None, "f-auc", "softmax-x"):
    optimizer = Optimizer(BOX, policy=policy, **SHRINKING, **ASYNCHRONOUS)
    optimizer.tell([1.0] * 4, 9.0)
    result = Workplace(optimizer, np.random.default_rng(4)).run()
    print(result.fun.hex(), result.x.tobytes().hex(), result.population_energies.tobytes().hex())
"""


def test_the_same_without_the_compiler():
    outputs = [
        subprocess.run(
            [sys.executable, "-W", "ignore", "-c", PLAIN],
            env={**os.environ, **extra},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for extra in ({}, {"NUMBA_DISABLE_JIT": "1"})
    ]
    assert outputs[0] == outputs[1] and len(outputs[0].splitlines()) == 3


# Integers, categories and spaces


def test_no_point_of_a_lattice_is_handed_out_twice():
    def count(x):
        return float(abs(x - [3, 1, 2]).sum())

    options = {"integrality": [1, 1, 2], "maxfun": 500, "population_size": 10, "rng": 2, "updating": "asynchronous"}
    optimizer = Optimizer([(0, 9), (-2, 2), (0, 3)], **options)  # 200 points
    rng, waiting, seen = np.random.default_rng(0), [], set()
    optimizer.tell([0, 0, 0], 6.0)
    while not optimizer.stop():
        waiting.extend(optimizer.ask(int(rng.integers(1, 9))))
        rng.shuffle(waiting)
        for point in [waiting.pop() for _ in range(min(5, len(waiting)))]:
            assert tuple(point) not in seen and (point == np.round(point)).all()
            seen.add(tuple(point))
            optimizer.tell(point, count(point))
    assert set(optimizer.stop()) == {"exhausted"} and optimizer.result.fun == 0.0 and not waiting
    assert len(seen) == optimizer.result.nfev and len(seen | {(0, 0, 0)}) == 200
    with pytest.raises(ValueError, match="points must have whole numbers in the coordinates with integrality"):
        optimizer.tell([0.5, 0, 0], 1.0)


def test_a_space_of_parameters():
    space = Space(rate=Float(1e-4, 1.0, log=True), layers=Int(1, 5), kind=Categorical(["a", "b"]))

    def loss(rate, layers, kind):
        return abs(np.log10(rate) + 2) + layers + (kind == "a")

    optimizer = Optimizer(space=space, maxfun=150, population_size=10, rng=1, updating="asynchronous")
    optimizer.tell({"rate": 0.5, "layers": 4, "kind": "b"}, loss(0.5, 4, "b"))
    waiting = optimizer.ask(25)
    while not optimizer.stop():
        params = waiting.pop(3 % len(waiting))
        optimizer.tell(params, loss(**params))
        waiting.extend(optimizer.ask())
    assert optimizer.result.nfev == 150 and optimizer.result.foreign == 1
    assert optimizer.result.params["layers"] == 1 and optimizer.result.params["kind"] == "b"


def test_constraints_are_refused():
    from scipy.optimize import LinearConstraint

    with pytest.raises(ValueError, match="updating must not be 'asynchronous' with constraints"):
        minimize(bowl, BOX, constraints=LinearConstraint(np.ones((1, 4)), 0, 1), **ASYNCHRONOUS)
