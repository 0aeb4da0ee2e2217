"""Lanes: many runs at once are the single runs; recording, acting, restarting, and what goes wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numba import njit

from deddqn.de import PAPER, DEConfig, Portfolio
from deddqn.de.state import Counter, End, Outcome, Scalar
from deddqn.engine import RunSpec, VectorizedRuns
from deddqn.engine.vectorized_kernels import next_run
from deddqn.features import n_features
from deddqn.policies import Policy, load_policy, network_policy, softmax_policy
from deddqn.problems import Problem, get
from tests.engine.stepped_runs import states_of, step
from tests.parity.parity_runs import digest
from tests.policies.learning_policy import Slot, learning_policy

SMALL = DEConfig(population_size=7, budget=100)
PAIR = Portfolio([("rand/1", 0.5, 0.3), ("curr-to-rand/1", 0.8, 1.0)])


@njit
def paraboloid(x):
    total = 0.0
    for value in x:
        total += (value - 1.0) * (value - 1.0)
    return total


def python_paraboloid(x: np.ndarray) -> float:
    total = 0.0
    for value in x.tolist():
        total += (value - 1.0) * (value - 1.0)
    return total


def problem(dimension: int = 2, function: Any = paraboloid, **settings: Any) -> Problem:
    return Problem.from_function(function, [(-5.0, 5.0)] * dimension, **settings)


def network(n_ops: int = 4, seed: int = 0) -> Policy:
    rng = np.random.default_rng(seed)
    sizes = [n_features(n_ops), 12, 9, n_ops]
    weights = [rng.standard_normal((b, a)) / np.sqrt(a) for a, b in zip(sizes, sizes[1:], strict=False)]
    return network_policy(weights, [rng.standard_normal(w.shape[0]) for w in weights], epsilon=0.2)


def spec(**changes: Any) -> RunSpec:
    settings: dict[str, Any] = {"problem": problem(), "policy": load_policy("random"), "config": SMALL, "observe": True}
    return RunSpec(**{**settings, **changes})


def mixed_specs() -> list[RunSpec]:
    """Runs that differ in everything that a lane may differ in."""
    return [
        spec(),
        spec(repeat=1),
        spec(seed=1),
        spec(problem=problem(5), policy=load_policy("de3"), observe=False),
        spec(problem=problem(3, python_paraboloid), policy=load_policy("mixture:0.5,0.5"), portfolio=PAIR),
        spec(problem=get("cec2005:F9/d10"), policy=network(), observe=False, reward="R3"),
        spec(problem=get("cec2005:F24/d2"), policy=learning_policy(), config=DEConfig(population_size=20, budget=90)),
        spec(problem=get("cec2005:F4/d2"), config=DEConfig(population_size=6, budget=77, updating="deferred")),
        spec(problem=get("cec2005:F7/d2"), config=DEConfig(budget=130)),
        spec(problem=get("cec2005:F1/d10"), policy=load_policy("de2"), config=DEConfig(budget=40)),
    ]


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_lanes_are_single_runs(threads: int) -> None:
    specs = mixed_specs()
    together = VectorizedRuns(specs, threads=threads)
    for until in (3, 50, 61):
        together.advance(until)
        assert (together.evaluations <= until).all()
    together.advance()
    assert together.ended.all()
    for lane, run in enumerate(specs):
        alone = VectorizedRuns([run], threads=1)
        alone.advance()
        assert digest(alone.arenas[0], run) == digest(together.arenas[lane], run)
        assert together.evaluations[lane] == run.config.budget
        assert together.best_values[lane] == alone.best_values[0]


def test_what_lanes_hand_out() -> None:
    lanes = VectorizedRuns([spec(problem=problem(optimum=-1.0)), spec(portfolio=PAIR)], threads=1)
    assert not lanes.ended.any() and lanes.evaluations.tolist() == [0, 0]
    lanes.advance(60)
    assert lanes.evaluations.tolist() == [60, 60]
    assert [counters.sum() for counters in lanes.strategy_counts] == [53, 53]
    assert [counters.size for counters in lanes.strategy_counts] == [4, 2]
    assert lanes.errors[0] == lanes.best_values[0] + 1.0
    assert np.isnan(lanes.errors[1])
    de_state = lanes.episodes[0].de_state
    assert lanes.best_values[0] == de_state.scalars[Scalar.F_BSF] == paraboloid(de_state.best_point)
    assert lanes.total_rewards[0] == lanes.episodes[0].core.total_reward[0] > 0
    lanes.advance(60)
    assert lanes.evaluations.tolist() == [60, 60]


def test_the_target_ends_a_run() -> None:
    lanes = VectorizedRuns(
        [spec(problem=problem(optimum=0.0), config=DEConfig(population_size=10, budget=10_000))], threads=1
    )
    lanes.advance()
    assert lanes.episodes[0].de_state.counters[Counter.ENDED] == End.TARGET
    assert 0.0 <= lanes.errors[0] < 1e-8
    assert lanes.evaluations[0] < 10_000


# -- recording


def recordable() -> list[RunSpec]:
    return [
        spec(),
        spec(policy=network(), problem=get("cec2005:F9/d10"), reward="R1"),
        spec(policy=learning_policy(), repeat=3, config=DEConfig(population_size=12, budget=70)),
        spec(problem=problem(optimum=0.0), config=DEConfig(population_size=10, budget=100, target_error=0.5)),
    ]


def test_a_record_is_the_run_that_advance_makes() -> None:
    recorded, advanced = VectorizedRuns(recordable(), threads=2), VectorizedRuns(recordable(), threads=1)
    record = recorded.record(200)
    advanced.advance()
    for lane, run in enumerate(recordable()):
        assert digest(recorded.arenas[lane], run) == digest(advanced.arenas[lane], run)
        made = record.made[lane]
        assert made == recorded.evaluations[lane] - run.config.population_size
        assert record.ends[lane, : made - 1].sum() == 0 and record.ends[lane, made - 1]
        assert record.rewards[lane].sum() == pytest.approx(recorded.total_rewards[lane], rel=1e-12)
        used = np.bincount(record.actions[lane, :made], minlength=4)
        assert used.tolist() == recorded.strategy_counts[lane].tolist()
        assert not record.states[lane, made:].any()
        assert not record.rewards[lane, made:].any()
    assert recorded.record(5).made.tolist() == [0, 0, 0, 0]


def test_records_follow_each_other() -> None:
    whole, parts = VectorizedRuns(recordable(), threads=1), VectorizedRuns(recordable(), threads=1)
    record = whole.record(41)
    first, second = parts.record(17), parts.record(24)
    for name in ("states", "actions", "rewards", "ends"):
        joined = np.concatenate([getattr(first, name), getattr(second, name)], axis=1)
        assert np.array_equal(getattr(record, name), joined), name


def test_acting_as_recorded_is_the_same_run() -> None:
    record_runs, act_lanes = VectorizedRuns(recordable()[:2], threads=1), VectorizedRuns(recordable()[:2], threads=2)
    record = record_runs.record(200)
    states = states_of(act_lanes)
    assert np.array_equal(states_of(act_lanes), states)  # looking twice changes nothing
    for k in range(93):
        assert np.array_equal(states.astype(np.float32), record.states[:, k])
        states, rewards, ends = step(act_lanes, record.actions[:, k])
        assert np.array_equal(rewards, record.rewards[:, k])
        assert np.array_equal(ends, record.ends[:, k])
    assert ends.all() and not states.any()
    for acted, recorded in zip(act_lanes.episodes, record_runs.episodes, strict=True):
        assert np.array_equal(acted.de_state.parents, recorded.de_state.parents)
        assert np.array_equal(acted.de_state.fitness, recorded.de_state.fitness)
        assert np.array_equal(acted.de_state.streams[:2], recorded.de_state.streams[:2])
        assert np.array_equal(acted.observer.features, recorded.observer.features)
    before = act_lanes.arenas.tobytes()
    states, rewards, ends = step(act_lanes, [0, 0])
    assert ends.all() and not rewards.any() and not states.any()
    assert act_lanes.arenas.tobytes() == before


def test_acting_without_looking_is_the_same_run() -> None:
    looking, blind = VectorizedRuns([spec()], threads=1), VectorizedRuns([spec()], threads=1)
    states_of(looking)
    for op in (0, 1, 2, 3, 2, 1, 0, 3, 3):
        seen, acted = step(looking, [op]), step(blind, [op])
        assert all(np.array_equal(a, b) for a, b in zip(seen, acted, strict=True))
    assert digest(looking.arenas[0], spec()) == digest(blind.arenas[0], spec())
    looking.advance(40)
    blind.advance(40)
    states_of(blind)
    assert all(np.array_equal(a, b) for a, b in zip(step(looking, [2]), step(blind, [2]), strict=True))


def test_a_policy_hears_of_every_decision() -> None:
    """The memory of a policy with all four kernels, step by step."""
    lanes = VectorizedRuns([spec(policy=learning_policy(), reward="R1")], threads=1)
    core, de_state, observer = lanes.episodes[0]
    memory = core.memory
    assert memory[Slot.RESETS] == 1 and memory[Slot.N_OPS] == 4 and memory[Slot.N_POP] == 7
    lanes.advance(7)
    assert memory[Slot.CHOICES] == memory[Slot.LESSONS] == memory[Slot.GENERATIONS] == 0
    for k in range(93):
        lanes.advance(8 + k)
        assert memory[Slot.CHOICES] == memory[Slot.LESSONS] == k + 1
        assert memory[Slot.LAST_I] == memory[Slot.LAST_CHOSEN_FOR] == k % 7
        assert memory[Slot.LAST_OP] == de_state.choices[k % 7]
        assert memory[Slot.PARENT] == de_state.outcome[Outcome.PARENT]
        assert memory[Slot.TRIAL] == de_state.outcome[Outcome.TRIAL] == paraboloid(de_state.trials[k % 7])
        assert memory[Slot.BSF] == de_state.scalars[Scalar.F_BSF] and memory[Slot.WSF] == de_state.scalars[Scalar.F_WSF]
        assert memory[Slot.REWARD] == max(memory[Slot.PARENT] - memory[Slot.TRIAL], 0.0)
        assert memory[Slot.GENERATIONS] == (k + 1) // 7 + (k == 92)
        assert memory[Slot.FIRST_FEATURE] == observer.features[0]
    assert memory[Slot.TOTAL_REWARD] == lanes.total_rewards[0]


# -- restarting


def test_restart_begins_the_run_anew() -> None:
    lanes = VectorizedRuns(recordable(), threads=1)
    lanes.advance()
    before = lanes.arenas.copy()
    for lane, run in enumerate(recordable()):
        lanes.restart(lane, run)
    assert not lanes.ended.any() and not lanes.evaluations.any()
    lanes.advance()
    for lane, run in enumerate(recordable()):
        assert digest(lanes.arenas[lane], run) == digest(before[lane], run)


def test_restart_with_another_run_leaves_the_neighbours_alone() -> None:
    other = spec(repeat=9, policy=load_policy("de4"), problem=problem(1))
    lanes = VectorizedRuns([spec(), spec(repeat=1)], threads=1)
    lanes.advance(30)
    neighbour = lanes.arenas[1].tobytes()
    lanes.restart(0, other)
    assert lanes.arenas[1].tobytes() == neighbour
    lanes.advance()
    alone = VectorizedRuns([other], threads=1)
    alone.advance()
    assert digest(lanes.arenas[0], other) == digest(alone.arenas[0], other)
    with pytest.raises(ValueError, match=r"the run needs \d+ numbers, a run has room for \d+"):
        lanes.restart(0, spec(problem=problem(9)))
    with pytest.raises(ValueError, match="policy must be a compiled one"):
        lanes.restart(0, spec(policy=PythonPolicy()))


# -- wrong input


class PythonPolicy:
    name, needs_features = "python", False

    def reset(self, n_ops: int, n_pop: int, rng: np.random.Generator) -> None: ...
    def choose(self, features: np.ndarray, i: int) -> int:
        return 0

    def learn(self, *sums: float) -> None: ...
    def end_generation(self) -> None: ...


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: VectorizedRuns([]), "specs must hold at least one run, got none"),
        (lambda: VectorizedRuns([spec()], threads=0), "threads must be at least 1, got 0"),
        (
            lambda: VectorizedRuns([spec(policy=PythonPolicy())]),
            "policy must be a compiled one to be vectorised, got .*Python",
        ),
        (lambda: VectorizedRuns([spec()]).record(-1), "decisions must be at least 0, got -1"),
        (lambda: VectorizedRuns([spec(), spec(portfolio=PAIR)]).record(5), "portfolios of one size .* got widths"),
        (lambda: VectorizedRuns([spec(observe=False)]).record(1), "must be observed .* observe=True"),
        (
            lambda: VectorizedRuns([spec(observe=False, policy=softmax_policy(np.zeros((4, 1))))]).record(1),
            "must be observed",
        ),
        (
            lambda: VectorizedRuns([spec(config=DEConfig(budget=200, updating="deferred"))]).record(3),
            "updating must be 'sequential' .* got 'deferred'",
        ),
    ],
)
def test_wrong_input(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def test_a_policy_that_chooses_outside_of_the_portfolio() -> None:
    wrong = load_policy("de4")
    wrong.setup[0] = 7.0
    lanes = VectorizedRuns([spec(policy=wrong)], threads=1)
    with pytest.raises(ValueError, match="chose an operator that is not in the portfolio"):
        lanes.advance()


# -- exceptions of objectives


class OwnError(Exception):
    """An exception that the engine cannot know."""


class Fragile:
    """A Python objective that raises at some of its calls."""

    def __init__(self, error: BaseException, at: set[int]) -> None:
        self.error, self.at, self.calls = error, at, 0

    def __call__(self, x: np.ndarray) -> float:
        self.calls += 1
        if self.calls in self.at:
            raise self.error
        return python_paraboloid(x)


@pytest.mark.parametrize("updating", ["sequential", "deferred"])
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(
    "error", [OwnError("the simulator stopped", 42), KeyboardInterrupt("ctrl-c"), RuntimeError("mine"), SystemExit(3)]
)
def test_a_python_exception_passes_unchanged_and_the_run_goes_on(
    error: BaseException, threads: int, updating: str
) -> None:
    config = DEConfig(population_size=7, budget=60, updating=updating)
    fragile = Fragile(error, at={3, 20, 21, 60})
    run, steady = spec(problem=problem(2, fragile), config=config), spec(config=config)
    lanes = VectorizedRuns([run, steady], threads=threads)
    for failures in range(1, 5):
        with pytest.raises(type(error)) as raised:
            lanes.advance()
        assert raised.value is error
        assert fragile.calls == (3, 20, 21, 60)[failures - 1]
    lanes.advance()
    assert fragile.calls == 64
    undisturbed = VectorizedRuns([steady], threads=1)
    undisturbed.advance()
    for lane in (0, 1):
        assert digest(lanes.arenas[lane], steady) == digest(undisturbed.arenas[0], steady)


def test_only_the_first_of_two_errors_is_raised() -> None:
    breakable = [Fragile(OwnError("a"), {5}), Fragile(OSError("b"), {5})]
    lanes = VectorizedRuns([spec(problem=problem(2, one)) for one in breakable], threads=2)
    with pytest.raises((OwnError, OSError)):
        lanes.advance()
    lanes.advance()
    assert lanes.evaluations.tolist() == [100, 100]


@pytest.mark.parametrize("threads", [1, 3])
def test_the_other_lanes_run_when_some_fail(threads: int) -> None:
    errors = [OwnError("a"), OwnError("b")]
    failing = dict(zip((0, 4), errors, strict=True))
    specs = [
        spec(problem=problem(2, Fragile(failing[k], {20})), repeat=k) if k in failing else spec(repeat=k)
        for k in range(7)
    ]
    lanes = VectorizedRuns(specs, threads=threads)
    with pytest.raises(OwnError) as raised:
        lanes.advance()
    assert any(raised.value is error for error in errors)
    assert lanes.evaluations.tolist() == [19 if k in failing else 100 for k in range(7)]
    lanes.advance()
    assert lanes.evaluations.tolist() == [100] * 7


@njit(nogil=True)
def count_lanes(arenas, turn, counters):
    for _ in range(len(arenas)):
        lane = next_run(turn)
        if lane >= len(arenas):
            break
        counters[lane] += 1


@pytest.mark.parametrize("threads", [1, 2, 8])
def test_threads_do_every_lane_exactly_once(threads: int) -> None:
    lanes, counters = VectorizedRuns([spec(repeat=k) for k in range(37)], threads=threads), np.zeros(37, dtype=np.int64)
    for _ in range(300):
        lanes.each(count_lanes, counters)
    assert counters.tolist() == [300] * 37


def test_a_kernel_that_fails_without_a_turn_is_not_called_forever() -> None:
    calls = []

    def broken(arenas: np.ndarray, turn: np.ndarray) -> None:
        calls.append(turn[0])
        raise OwnError("before any lane")

    for threads in (1, 4):
        calls.clear()
        with pytest.raises(OwnError, match="before any lane"):
            VectorizedRuns([spec(repeat=k) for k in range(9)], threads=threads).each(broken)
        assert calls == [0] * threads


def test_an_exception_of_a_direct_call() -> None:
    fragile = problem(2, Fragile(OwnError("now"), {1, 3}))
    with pytest.raises(OwnError, match="now"):
        fragile(np.zeros(2))
    assert fragile(np.zeros(2)) == 2.0
    with pytest.raises(OwnError, match="now"):
        fragile(np.zeros((4, 2)))
    assert fragile(np.zeros((2, 2))).tolist() == [2.0, 2.0]


def test_a_wrong_return_value_names_itself() -> None:
    lanes = VectorizedRuns([spec(problem=problem(2, lambda x: "much"))], threads=1)
    with pytest.raises(ValueError, match="fun must return one number, got 'much'"):
        lanes.advance()


@njit
def raising(x):
    if x[0] > 4.0:
        raise ArithmeticError("x is too far right", 17)
    return paraboloid(x)


@pytest.mark.parametrize("threads", [1, 2])
def test_a_compiled_exception_passes_unchanged(threads: int) -> None:
    runs = [spec(problem=problem(2, raising), seed=11), spec(seed=11)]
    lanes = VectorizedRuns(runs, threads=threads)
    with pytest.raises(ArithmeticError) as raised:
        lanes.advance()
    assert raised.value.args == ("x is too far right", 17)
    stopped_at = lanes.evaluations[0]
    assert stopped_at < 100
    de_state = lanes.episodes[0].de_state
    points = de_state.trials if de_state.counters[Counter.INITIALISED] else de_state.parents
    points[de_state.counters[Counter.TOLD], 0] = 3.0  # out of the way: the run can go on
    lanes.advance(int(stopped_at) + 1)
    assert lanes.evaluations[0] == stopped_at + 1


def test_the_paper_portfolio_is_the_default() -> None:
    assert spec().portfolio is PAPER
