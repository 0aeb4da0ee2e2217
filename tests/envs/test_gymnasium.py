"""The environment is the engine: the same seed and actions give the same run; and Gymnasium's own checks pass."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium")

from gymnasium.error import ResetNeeded  # noqa: E402
from gymnasium.utils.env_checker import check_env  # noqa: E402
from gymnasium.vector import AutoresetMode, SyncVectorEnv  # noqa: E402

from deddqn import EXTENDED, DEConfig, Portfolio, Problem, RunSpec, VectorizedRuns, load_policy, minimize  # noqa: E402
from deddqn.de.state import Counter  # noqa: E402
from deddqn.envs.gymnasium import ENV_ID, DEEnv, DEVectorEnv  # noqa: E402
from deddqn.features.layout import TABLE_1, feature_names, n_features  # noqa: E402
from deddqn.problems import get  # noqa: E402

SMALL = {"population_size": 20, "budget": 120}
DECISIONS = SMALL["budget"] - SMALL["population_size"]
TWO = ["rand/1", ("curr-to-rand/1", 0.7, 0.9)]


def recorded(problem: str, seed: int, reward: str = "R2", portfolio: Any = None, repeat: int = 0) -> Any:
    """A run of the random policy through vectorised runs: its states, actions and rewards."""
    more = {} if portfolio is None else {"portfolio": Portfolio(portfolio)}
    spec = RunSpec(
        problem=get(problem),
        policy=load_policy("random"),
        config=DEConfig(**SMALL),
        seed=seed,
        repeat=repeat,
        reward=reward,
        observe=True,
        **more,
    )
    lanes = VectorizedRuns([spec], threads=1)
    return lanes.record(DECISIONS), lanes


@pytest.mark.parametrize(
    ("problem", "reward", "portfolio"),
    [("cec2005:F9/d10", "R2", None), ("cec2005:F24/d10", "R1", None), ("cec2005:F6/d2", "R3", TWO)],
)
def test_replayed_actions_give_the_recorded_run(problem: str, reward: str, portfolio: Any) -> None:
    record, lanes = recorded(problem, 7, reward, portfolio)
    env = gymnasium.make(ENV_ID, problem=problem, reward=reward, portfolio=portfolio, **SMALL)
    state, info = env.reset(seed=7)
    assert info["evaluations"] == SMALL["population_size"]
    for k in range(DECISIONS):
        assert np.array_equal(state, record.states[0, k])
        state, paid, terminated, truncated, info = env.step(record.actions[0, k])
        assert paid == record.rewards[0, k]
        assert terminated == bool(record.ends[0, k])
        assert not truncated
    assert terminated
    assert not state.any()
    assert info["evaluations"] == lanes.evaluations[0] == SMALL["budget"]
    assert info["best_value"] == lanes.best_values[0]
    assert info["error"] == lanes.errors[0]
    assert np.array_equal(info["strategy_counts"], lanes.strategy_counts[0])
    assert np.array_equal(info["best_point"], lanes.episodes[0].de_state.best_point)
    assert info["problem"] == problem


@pytest.mark.parametrize("more", [{}, {"restart_tolerance": 0.4}], ids=["shrinking", "restarting"])
def test_beyond_the_paper(more: dict[str, Any]) -> None:
    """A population that shrinks or begins anew, twelve operators: the recorded run again."""
    settings = {"population_size": 20, "budget": 400, "final_population": 8, **more}
    spec = RunSpec(
        problem=get("cec2005:F1/d2"),
        policy=load_policy("random"),
        portfolio=EXTENDED,
        config=DEConfig(**settings, target_error=0.0),
        seed=3,
        observe=True,
    )
    lanes = VectorizedRuns([spec], threads=1)
    record = lanes.record(500)
    restarts, made = int(lanes.episodes[0].de_state.counters[Counter.RESTARTS]), int(record.made[0])
    assert (restarts > 0) == bool(more) and (made == 380) == (not more)
    env = gymnasium.make(ENV_ID, problem="cec2005:F1/d2", portfolio="extended", target_error=0.0, **settings)
    state, _ = env.reset(seed=3)
    assert state.size == n_features(12) and env.action_space.n == 12
    for k in range(made):
        assert np.array_equal(state, record.states[0, k])
        state, paid, terminated, _, info = env.step(record.actions[0, k])
        assert paid == record.rewards[0, k] and terminated == bool(record.ends[0, k])
    assert terminated and info["evaluations"] == 400 and info["best_value"] == lanes.best_values[0]


def test_a_fixed_strategy_is_the_run_of_minimize() -> None:
    result = minimize(get("cec2005:F9/d10"), policy="de3", rng=3, population_size=20, maxfun=120)
    env = DEEnv("cec2005:F9/d10", **SMALL)
    env.reset(seed=3)
    for _ in range(DECISIONS):
        *_, info = env.step(2)
    assert info["best_value"] == result.fun
    assert np.array_equal(info["best_point"], result.x)


@pytest.mark.parametrize("threads", [1, 2])
def test_the_lanes_of_a_vector_env_are_recorded_runs(threads: int) -> None:
    records = [recorded("cec2005:F9/d10", 10 + lane)[0] for lane in range(3)]
    envs = gymnasium.make_vec(
        ENV_ID, num_envs=3, vectorization_mode="vector_entry_point", problem="cec2005:F9/d10", threads=threads, **SMALL
    )
    assert isinstance(envs, DEVectorEnv)
    states, _ = envs.reset(seed=10)
    for k in range(DECISIONS):
        assert np.array_equal(states, [record.states[0, k] for record in records])
        states, rewards, ends, truncations, _ = envs.step([record.actions[0, k] for record in records])
        assert np.array_equal(rewards, [record.rewards[0, k] for record in records])
        assert np.array_equal(ends, [record.ends[0, k] for record in records])
        assert not truncations.any()


@pytest.mark.parametrize("mode", list(AutoresetMode)[:2])
def test_vector_env_equals_gymnasiums_own_vectorisation(mode: AutoresetMode) -> None:
    """Over several episodes, the compiled lanes are N environments side by side, infos included."""
    ours = DEVectorEnv(3, problem="cec2005:F6/d2", autoreset_mode=mode, **SMALL)
    theirs = SyncVectorEnv([lambda: DEEnv("cec2005:F6/d2", **SMALL)] * 3, autoreset_mode=mode)
    assert ours.single_observation_space == theirs.single_observation_space
    assert ours.observation_space == theirs.observation_space
    assert ours.action_space == theirs.action_space
    assert ours.metadata["autoreset_mode"] == theirs.metadata["autoreset_mode"]
    generator = np.random.default_rng(0)
    assert_same(ours.reset(seed=5), theirs.reset(seed=5))
    for _ in range(int(2.5 * DECISIONS)):
        actions = generator.integers(4, size=3)
        assert_same(ours.step(actions), theirs.step(actions))


def assert_same(ours: Any, theirs: Any) -> None:
    assert type(ours) is type(theirs)
    if isinstance(ours, dict):
        assert set(ours) == set(theirs)
        for key in ours:
            assert_same(ours[key], theirs[key])
    elif isinstance(ours, tuple):
        for a, b in zip(ours, theirs, strict=True):
            assert_same(a, b)
    elif ours.dtype == object and isinstance(ours[0], np.ndarray):
        assert all(np.array_equal(a, b) for a, b in zip(ours, theirs, strict=True))
    else:
        assert ours.shape == theirs.shape
        assert ours.dtype == theirs.dtype
        assert np.array_equal(ours, theirs)


def test_repeats_follow_each_other_and_can_be_asked_for() -> None:
    env = DEEnv("cec2005:F9/d10", **SMALL)
    first, _ = env.reset(seed=1)
    second, _ = env.reset()
    again, _ = env.reset(seed=1, options={"repeat": 1})
    third, _ = env.reset()
    assert np.array_equal(second, again)
    assert np.array_equal(second, recorded("cec2005:F9/d10", 1, repeat=1)[0].states[0, 0])
    assert np.array_equal(third, recorded("cec2005:F9/d10", 1, repeat=2)[0].states[0, 0])
    assert not np.array_equal(first, second)


def test_an_unseeded_env_is_random() -> None:
    assert not np.array_equal(DEEnv(**SMALL).reset()[0], DEEnv(**SMALL).reset()[0])
    assert not np.array_equal(DEVectorEnv(2, **SMALL).reset()[0], DEVectorEnv(2, **SMALL).reset()[0])


def test_an_episode_on_another_problem() -> None:
    env = DEEnv("cec2005:F9/d2", **SMALL)
    state, info = env.reset(seed=4, options={"problem": "cec2005:F1/d30"})
    assert info["problem"] == "cec2005:F1/d30"
    assert info["best_point"].shape == (30,)
    assert np.array_equal(state, recorded("cec2005:F1/d30", 4)[0].states[0, 0])
    assert env.reset()[1]["problem"] == "cec2005:F9/d2"


def test_vector_options() -> None:
    envs = DEVectorEnv(3, problem="cec2005:F9/d2", autoreset_mode="Disabled", **SMALL)
    problems = ["cec2005:F1/d10", "cec2005:F9/d2", "cec2005:F9/d10"]
    states, infos = envs.reset(seed=[4, 5, 6], options={"problem": problems, "repeat": [0, 2, 1]})
    for lane, (problem, repeat) in enumerate(zip(problems, [0, 2, 1], strict=True)):
        assert np.array_equal(states[lane], recorded(problem, 4 + lane, repeat=repeat)[0].states[0, 0])
    assert infos["problem"].tolist() == problems
    assert infos["best_point"].shape == (3, 10)
    assert np.isnan(infos["best_point"][1, 2:]).all()
    assert not np.isnan(infos["best_point"][1, :2]).any()
    with pytest.raises(ValueError, match="must not be larger"):
        envs.reset(options={"problem": "cec2005:F1/d30", "reset_mask": np.array([True, False, False])})
    with pytest.raises(ValueError, match="one, or 3 for the runs"):
        envs.reset(options={"problem": problems[:2]})


def test_disabled_mode_waits_for_a_reset() -> None:
    envs = DEVectorEnv(2, problem=["cec2005:F9/d2"], autoreset_mode="Disabled", **SMALL)
    envs.reset(seed=0)
    for _ in range(30):
        envs.step([0, 0])
    mask = np.array([False, True])
    before, _ = envs.reset(options={"reset_mask": mask})
    for _ in range(DECISIONS - 30):
        states, _, ends, _, infos = envs.step([0, 0])
    assert ends.tolist() == [True, False]
    assert infos["evaluations"].tolist() == [120, 90]
    with pytest.raises(ResetNeeded, match=r"runs \[0\] are over"):
        envs.step([0, 0])
    after, infos = envs.reset(options={"reset_mask": ~mask})
    assert np.array_equal(after[1], states[1])
    assert infos["_error"].tolist() == [True, False]
    assert not envs.step([0, 0])[2].any()


def test_several_problems_come_in_shuffled_cycles() -> None:
    problems = [f"cec2005:F{n}/d2" for n in (1, 2, 6, 9)]

    def played(seed: int) -> list[str]:
        envs = DEVectorEnv(2, problem=problems, autoreset_mode="SameStep", population_size=8, budget=10)
        names = list(envs.reset(seed=seed)[1]["problem"])
        for _ in range(14):
            _, _, ends, _, infos = envs.step([0, 0])
            names += infos["problem"][ends].tolist()
        return names

    names = played(3)
    assert names == played(3)
    assert len(names) == 16
    cycles = [names[k : k + 4] for k in range(0, 16, 4)]
    assert all(sorted(cycle) == sorted(problems) for cycle in cycles)
    assert len({tuple(cycle) for cycle in cycles}) > 1
    assert names != played(4)
    env = DEEnv(problems, population_size=8, budget=10)
    single = [env.reset(seed=3)[1]["problem"]] + [env.reset()[1]["problem"] for _ in range(7)]
    assert sorted(single[:4]) == sorted(problems)


def test_a_suite_by_name() -> None:
    envs = DEVectorEnv(32, problem="cec2005-train", **SMALL)
    _, infos = envs.reset(seed=0)
    assert len(set(infos["problem"])) == 32


def test_a_run_that_ends_with_its_initial_population_tells_so_once() -> None:
    env = DEEnv("cec2005:F9/d2", target_value=1e9, **SMALL)
    state, _ = env.reset(seed=0)
    assert not state.any()
    _, reward, terminated, _, _ = env.step(0)
    assert terminated
    assert reward == 0.0
    with pytest.raises(ResetNeeded):
        env.step(0)


def test_spaces() -> None:
    env = DEEnv(portfolio=TWO, **SMALL)
    assert env.observation_space.shape == (n_features(2),) == (59,)
    assert env.observation_space.dtype == np.float32
    assert env.action_space == gymnasium.spaces.Discrete(2)
    names = feature_names(2)
    for name, low in zip(names, env.observation_space.low, strict=True):
        assert low == (-1.0 if name.startswith(("donor_fitness", "best_change")) else 0.0)
    env.reset(seed=0)
    for k in range(DECISIONS):
        assert env.observation_space.contains(env.step(k % 2)[0])


@pytest.mark.parametrize("problem", ["cec2005:F9/d10", "cec2005-test"])
def test_gymnasiums_checker_finds_nothing(problem: str) -> None:
    env = gymnasium.make(ENV_ID, problem=problem, **SMALL)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env.unwrapped)


def test_a_problem_of_ones_own() -> None:
    problem = Problem.from_function(lambda x: float((x**2).sum()), [(-5, 5)] * 3)
    env = gymnasium.make(ENV_ID, problem=problem, **SMALL)
    _, info = env.reset(seed=0)
    assert np.isnan(info["error"])
    assert env.step(1)[4]["evaluations"] == 21


def test_an_objective_that_raises_is_heard() -> None:
    def bad(x: np.ndarray) -> float:
        raise ArithmeticError("no value here")

    env = DEEnv(Problem.from_function(bad, [(-5, 5)] * 3), **SMALL)
    with pytest.raises(ArithmeticError, match="no value here"):
        env.reset(seed=0)


def test_the_docstring_lists_every_observation() -> None:
    text = DEEnv.__doc__ or ""
    for block in TABLE_1:
        first, last = block.rows[0] - 1, block.rows[1] - 1
        index = f"{first}" if first == last else f"{first}-{last}"
        assert f"| {index} | {block.name} | {-1 if block.signed else 0} | 1 | {block.meaning} |" in text
    for words in ("Action space", "Rewards", "End of an episode", "truncated", "Version history"):
        assert words in text
    assert DEVectorEnv.__doc__ == text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"problem": "cec2005:F99/d10"}, "unknown problem"),
        ({"problem": "cec2005-trian"}, "did you mean 'cec2005-train'"),
        ({"problem": []}, "at least one problem"),
        ({"problem": 9}, "must be a name"),
        ({"problem": Problem.box([-1.0], [1.0])}, "only a box"),
        ({"reward": "R4"}, "unknown reward 'R4'"),
        ({"reward": "R3", "problem": Problem.from_function(lambda x: 0.0, [(0, 1)])}, "needs a known optimum"),
        ({"portfolio": ["rand/9"]}, "unknown strategy"),
        ({"portfolio": []}, "at least one entry"),
        ({"budgets": 200}, "did you mean 'budget'"),
        ({"updating": "deferred"}, "an argument of the environment must be one of"),
        ({"budget": 100}, "budget must be more than population_size"),
        ({"population_size": 3}, "at least 6"),
        ({"max_dimension": 0}, "max_dimension must be at least 1"),
    ],
)
def test_bad_arguments(arguments: dict[str, Any], message: str) -> None:
    for make in (DEEnv, lambda **a: DEVectorEnv(2, **a)):
        with pytest.raises((ValueError, KeyError), match=message):
            make(**arguments)


def test_bad_calls() -> None:
    env = DEEnv(**SMALL)
    with pytest.raises(ResetNeeded, match="call reset"):
        env.step(0)
    with pytest.raises(ValueError, match="did you mean 'problem'"):
        env.reset(options={"problems": "cec2005:F9/d10"})
    with pytest.raises(ValueError, match="must be one problem"):
        env.reset(options={"problem": "cec2005-test"})
    with pytest.raises(ValueError, match="repeat"):
        env.reset(options={"repeat": -1})
    with pytest.raises(ValueError, match="render_mode"):
        DEEnv(render_mode="human")
    env.reset(seed=0)
    for action in (4, -1, 1.5, [0, 1], None, "a"):
        with pytest.raises(ValueError, match=r"action must be a whole number in 0\.\.3"):
            env.step(action)


def test_bad_vector_calls() -> None:
    envs = DEVectorEnv(2, **SMALL)
    with pytest.raises(ResetNeeded, match="call reset"):
        envs.step([0, 0])
    with pytest.raises(ResetNeeded, match="first reset"):
        envs.reset(options={"reset_mask": np.array([True, False])})
    envs.reset(seed=0)
    for actions in ([0], [0.0, 1.0], 0, [[0, 1]], [True, False]):
        with pytest.raises(ValueError, match="actions must be 2 whole numbers"):
            envs.step(actions)
    for actions in ([0, 4], [-1, 0]):
        with pytest.raises(ValueError, match=r"actions must lie in 0\.\.3"):
            envs.step(actions)
    for mask in (np.array([1, 0]), np.array([True]), np.array([False, False])):
        with pytest.raises(ValueError, match="reset_mask"):
            envs.reset(options={"reset_mask": mask})
    with pytest.raises(ValueError, match="seed must be one, or 2"):
        envs.reset(seed=[1, 2, 3])
    with pytest.raises(ValueError, match="autoreset_mode must be one of"):
        DEVectorEnv(2, autoreset_mode="NextSteps")
    with pytest.raises(ValueError, match="num_envs"):
        DEVectorEnv(0)
