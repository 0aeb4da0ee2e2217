"""What must hold for every run, whatever its sizes, portfolio and objective (Hypothesis)."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from deddqn.de import DEConfig, Operator, Portfolio
from deddqn.de.mutation import STRATEGIES
from deddqn.de.state import Counter, End, Scalar
from deddqn.engine import RunSpec
from deddqn.engine.loop import start
from deddqn.engine.run_memory import Episode, view_run
from deddqn.engine.run_spec import write_run
from deddqn.engine.stepping import ask_points, observe, tell_value
from deddqn.features import n_features, signed_mask
from deddqn.policies import uniform_policy
from deddqn.problems import Problem

ODD_VALUES = (math.nan, math.inf, -math.inf, 0.0, -0.0, 1.0, 1e300, -1e300, 1.7e308, -1.7e308, 5e-324)

any_value = st.one_of(st.sampled_from(ODD_VALUES), st.floats(-10.0, 10.0), st.floats())
any_entry = st.builds(Operator, st.sampled_from(list(STRATEGIES)), st.floats(0.0, 3.0), st.floats(0.0, 1.0))


class Tape:
    """An objective that plays given values in turn, whatever the point."""

    def __init__(self, values: list[float]) -> None:
        self.values = values
        self.calls = 0

    def __call__(self, x: np.ndarray) -> float:
        self.calls += 1
        return self.values[(self.calls * 7 + self.calls // len(self.values)) % len(self.values)]


@st.composite
def any_run(draw: st.DrawFn) -> RunSpec:
    dimension = draw(st.integers(1, 5))
    low = draw(st.floats(-1e6, 1e6))
    width = draw(st.sampled_from([0.0, 1e-9, 1.0, 1e6]))
    tape = Tape(draw(st.lists(any_value, min_size=1, max_size=12)))
    problem = Problem.from_function(tape, [(low, low + width)] * dimension, optimum=draw(st.sampled_from([None, 0.0])))
    problem.bounded = draw(st.booleans())
    return RunSpec(
        problem=problem,
        policy=uniform_policy(),
        portfolio=Portfolio(draw(st.lists(any_entry, min_size=1, max_size=6))),
        config=DEConfig(
            population_size=draw(st.integers(6, 15)),
            budget=draw(st.integers(1, 70)),
            repair=draw(st.sampled_from(["clip", "reflect", "midpoint"])),
            updating=draw(st.sampled_from(["sequential", "deferred"])),
        ),
        seed=draw(st.integers(0, 1000)),
        reward=draw(st.sampled_from(["R1", "R2"])),
        observe=True,
        generations=draw(st.integers(2, 4)),
        window=draw(st.integers(1, 6)),
    )


def check_features(features: np.ndarray, n_ops: int) -> None:
    assert features.size == n_features(n_ops) == 19 + 20 * n_ops
    lowest = np.where(signed_mask(n_ops), -1.0, 0.0)
    assert np.all(np.isfinite(features))
    assert np.all((features >= lowest) & (features <= 1.0))
    for group in np.abs(features[19:]).reshape(20, n_ops).sum(axis=1):
        assert group == 0.0 or math.isclose(group, 1.0, rel_tol=1e-9)


def check_donors(donors: np.ndarray, i: int, population: int) -> None:
    assert len({i, *donors.tolist()}) == 6
    assert donors.min() >= 0 and donors.max() < population


@settings(max_examples=120, deadline=None)
@given(any_run())
def test_every_run(spec: RunSpec) -> None:
    arena = np.full(spec.size, np.nan)
    write_run(spec, arena)
    core, de_state, observer = episode = view_run(arena)
    start(arena.ctypes.data, True)
    problem, tape = spec.problem, spec.problem.objective.python.function
    best, seen = math.inf, 0
    while not de_state.counters[Counter.ENDED]:
        if (i := observe(arena.ctypes.data)) >= 0:
            check_features(observer.features, len(spec.portfolio))
            check_donors(de_state.donors[i], i, spec.config.population_size)
        asked = ask_points(arena.ctypes.data)
        points = de_state.trials if de_state.counters[Counter.INITIALISED] else de_state.parents
        place = int(de_state.counters[Counter.TOLD])
        assert place < asked <= spec.config.population_size
        if problem.bounded or not de_state.counters[Counter.INITIALISED]:
            assert np.all((points[place] >= problem.lower) & (points[place] <= problem.upper))
        assert np.all(np.isfinite(points[place]))
        tell_value(arena.ctypes.data, place, tape(points[place].copy()))
        seen += 1
        assert de_state.scalars[Scalar.F_BSF] <= best
        best = de_state.scalars[Scalar.F_BSF]
        assert np.all(np.isfinite(core.rewards)) and np.all(core.rewards >= 0.0)
    check_end(spec, episode, seen)
    check_nothing_moves(arena)


def check_end(spec: RunSpec, episode: Episode, seen: int) -> None:
    """The budget is exact: what was told was counted, and only the target ends a run before its budget."""
    de_state, budget = episode.de_state, spec.config.budget
    assert de_state.counters[Counter.EVALUATIONS] == seen <= budget
    if de_state.counters[Counter.ENDED] == End.BUDGET:
        assert seen == budget
    else:
        assert de_state.counters[Counter.ENDED] == End.TARGET
        assert spec.problem.optimum is not None
        assert de_state.scalars[Scalar.F_BSF] - spec.problem.optimum < spec.config.target_error
    assert de_state.applications.sum() == max(seen - spec.config.population_size, 0)
    assert de_state.fitness.min() >= de_state.scalars[Scalar.F_BSF]


def check_nothing_moves(arena: np.ndarray) -> None:
    before = arena.tobytes()
    assert ask_points(arena.ctypes.data) == 0
    assert observe(arena.ctypes.data) == -1
    assert arena.tobytes() == before


@settings(max_examples=60, deadline=None)
@given(st.integers(6, 40), st.integers(0, 10**6))
def test_donors_are_distinct_and_reach_everyone(population: int, seed: int) -> None:
    spec = RunSpec(
        problem=Problem.from_function(lambda x: 0.0, [(0.0, 1.0)]),
        policy=uniform_policy(),
        config=DEConfig(population_size=population, budget=6 * population, updating="deferred"),
        seed=seed,
    )
    arena = np.zeros(spec.size)
    write_run(spec, arena)
    de_state = view_run(arena).de_state
    start(arena.ctypes.data, True)
    reached: set[int] = set()
    while not de_state.counters[Counter.ENDED]:
        size = ask_points(arena.ctypes.data)
        if de_state.counters[Counter.INITIALISED]:
            for i in range(size):
                check_donors(de_state.donors[i], i, population)
            reached |= set(de_state.donors.ravel().tolist())
        for i in range(size):
            tell_value(arena.ctypes.data, i, 0.0)
    # five generations of at least 6 x 5 draws: one of NP is missed with probability NP (1 - 5 / NP)^(5 NP) < 1e-8
    assert reached == set(range(population))
