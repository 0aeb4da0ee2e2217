"""What must hold for every run beyond the paper, whatever its sizes, portfolio and objective (Hypothesis)."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deddqn.de import EXTENDED, DEConfig, Operator, Portfolio
from deddqn.de.cma_state import Model
from deddqn.de.mutation import STRATEGIES
from deddqn.de.portfolio import ADAPTS
from deddqn.de.state import Counter, End, Scalar
from deddqn.engine import RunSpec, VectorizedRuns
from deddqn.engine.loop import start
from deddqn.engine.run_memory import Episode, view_run
from deddqn.engine.run_spec import write_run
from deddqn.engine.stepping import ask_points, observe, tell_value
from deddqn.policies import softmax_policy, uniform_policy
from deddqn.policies.softmax import N_INPUTS
from deddqn.problems import Problem, get
from tests.properties.test_paper_properties import Tape, any_value, check_donors, check_features

any_entry = st.builds(
    Operator, st.sampled_from(STRATEGIES), st.floats(1e-3, 1.0), st.floats(0.0, 1.0), st.sampled_from(ADAPTS)
)


@st.composite
def any_run(draw: st.DrawFn) -> RunSpec:
    dimension, low = draw(st.integers(1, 4)), draw(st.floats(-1e6, 1e6))
    width = draw(st.sampled_from([0.0, 1e-9, 1.0, 1e6]))
    tape = Tape(draw(st.lists(any_value, min_size=1, max_size=12)))
    problem = Problem.from_function(tape, [(low, low + width)] * dimension)
    population = draw(st.integers(6, 15))
    portfolio = Portfolio(draw(st.lists(any_entry, min_size=1, max_size=5)))
    picking = softmax_policy(np.full((len(portfolio), N_INPUTS), 0.1), portfolio=portfolio)
    return RunSpec(
        problem=problem,
        policy=draw(st.sampled_from([uniform_policy(), picking])),
        portfolio=portfolio,
        config=DEConfig(
            population_size=population,
            budget=draw(st.integers(1, 90)),
            updating=draw(st.sampled_from(["sequential", "deferred"])),
            final_population=draw(st.none() | st.integers(6, population)),
            pbest=draw(st.floats(1e-9, 1.0)),
            archive=draw(st.floats(0.0, 3.0)),
            restart_tolerance=draw(st.sampled_from([0.0, 0.3])),
            restart_final_fraction=draw(st.sampled_from([0.0, 0.3, 0.9])),
            n_candidates=draw(st.integers(1, 4)),
        ),
        seed=draw(st.integers(0, 1000)),
        observe=True,
        generations=3,
        window=4,
    )


def check_sizes(spec: RunSpec, de_state: object, before: int) -> int:
    """NP never grows and keeps to its schedule; the archive keeps to its room. Returns NP."""
    counters, config = de_state.counters, spec.config
    population = int(counters[Counter.POPULATION])
    final = config.final_population or config.population_size
    assert final <= population <= before
    if counters[Counter.GENERATION] and counters[Counter.RECORDED] == 0 and counters[Counter.INITIALISED]:
        spent = counters[Counter.EVALUATIONS] / config.budget
        assert (
            abs(population - (config.population_size + (final - config.population_size) * spent))
            <= 0.5 + (config.population_size - final) * population / config.budget + 1e-9
        )  # a new population may have been evaluated since
    uses = {entry.strategy for entry in spec.portfolio} & {"curr-to-pbest/1", "rand-to-pbest/1"}
    room = math.floor(config.archive * population + 0.5) if uses else 0
    assert 0 <= counters[Counter.ARCHIVED] <= counters[Counter.ARCHIVE_ROOM] == room
    return population


def check_means(de_state: object) -> None:
    assert np.all((de_state.memory_f > 0.0) & (de_state.memory_f <= 1.0))
    assert np.all((de_state.memory_cr >= 0.0) & (de_state.memory_cr <= 1.0))


def check_foreseen(spec: RunSpec, de_state: object, last: int) -> None:
    """All trials are inside, and the last one that was proposed is one of them."""
    candidates, problem = de_state.candidates, spec.problem
    assert (
        len(candidates)
        == len(de_state.candidate_scores)
        == (spec.config.n_candidates if spec.config.n_candidates > 1 else 0)
    )
    if spec.prescreens:
        assert np.all((candidates >= problem.lower) & (candidates <= problem.upper))
        assert np.all(np.isfinite(de_state.candidate_scores))
        assert any(np.array_equal(de_state.trials[last], trial) for trial in candidates)


def check_distribution(de_state: object) -> None:
    """Samples wait for their number, which is lambda or a doubling of it; A A' = C where the next one is drawn."""
    if de_state.model_mean.size == 0:
        assert not de_state.model.any()
        return
    model = de_state.model
    assert model[Model.SIGMA] >= 0.0
    if model[Model.BEGUN]:
        doublings = min(model[Model.BEGUN] - 1, 3)
        assert model[Model.LAMBDA] == (4 + math.floor(3 * math.log(de_state.model_mean.size))) * 2**doublings
        assert 0 <= model[Model.SAMPLES] < model[Model.LAMBDA]
    if model[Model.SIGMA] > 0.0:
        covariance, factor = np.tril(de_state.model_covariance), np.triu(de_state.model_factor).T
        variances = np.diag(covariance)
        assert np.isfinite(de_state.model_mean).all() and np.all(variances > 0.0) and np.all(np.diag(factor) > 0.0)
        unit = np.sqrt(variances)
        whole = (factor / unit[:, None]) @ (factor / unit[:, None]).T
        np.testing.assert_allclose(np.tril(whole), covariance / np.outer(unit, unit), rtol=0.0, atol=1e-12)


@settings(max_examples=150, deadline=None)
@given(any_run())
def test_every_run(spec: RunSpec) -> None:
    arena = np.full(spec.size, np.nan)
    write_run(spec, arena)
    _, de_state, observer = view_run(arena)
    start(arena.ctypes.data, True)
    problem, tape = spec.problem, spec.problem.objective.python.function
    best, seen, population, initial = math.inf, 0, spec.config.population_size, 0
    while not de_state.counters[Counter.ENDED]:
        population = check_sizes(spec, de_state, population)
        check_means(de_state)
        check_distribution(de_state)
        if (i := observe(arena.ctypes.data)) >= 0:
            check_features(observer.features, len(spec.portfolio))
            check_donors(de_state.donors[i], i, population)
        asked, place = ask_points(arena.ctypes.data), int(de_state.counters[Counter.TOLD])
        assert place < asked <= population
        initial += 0 if de_state.counters[Counter.INITIALISED] else 1
        points = de_state.trials if de_state.counters[Counter.INITIALISED] else de_state.parents
        if de_state.counters[Counter.INITIALISED]:
            check_foreseen(spec, de_state, asked - 1)
        assert np.all((points[place] >= problem.lower) & (points[place] <= problem.upper))
        tell_value(arena.ctypes.data, place, tape(points[place].copy()))
        seen += 1
        assert de_state.scalars[Scalar.F_BSF] <= best
        best = de_state.scalars[Scalar.F_BSF]
    assert de_state.counters[Counter.ENDED] == End.BUDGET
    assert de_state.counters[Counter.EVALUATIONS] == seen == spec.config.budget
    assert de_state.applications.sum() == seen - initial
    assert np.isfinite(de_state.parents).all() and not np.isnan(de_state.fitness).any()


def finished(**changes: object) -> Episode:
    config = DEConfig(population_size=60, budget=4000, final_population=10)
    spec = RunSpec(problem=get("cec2005:F6/d10"), policy=uniform_policy(), portfolio=EXTENDED, config=config)
    lanes = VectorizedRuns([replace(spec, **changes)], threads=1)
    lanes.advance()
    return lanes.episodes[0]


def test_a_shrinking_population_keeps_its_best() -> None:
    de_state = finished().de_state
    assert de_state.counters[Counter.POPULATION] == 10
    assert de_state.fitness[:10].min() == de_state.scalars[Scalar.F_BSF]
    assert np.all(de_state.fitness[10:] == np.inf)
    np.testing.assert_array_equal(de_state.parents[de_state.counters[Counter.BEST]], de_state.best_point)


def test_success_moves_the_means() -> None:
    de_state = finished().de_state
    adapting = de_state.adapts > 0
    assert np.all(de_state.memory_updates[adapting] > 6) and np.all(de_state.memory_updates[~adapting] == 0)
    assert not np.any(de_state.memory_f[adapting] == 0.5)
    assert np.all(de_state.memory_f[~adapting] == de_state.scale[~adapting, None])


def test_the_adapted_numbers_have_their_distributions() -> None:
    """F ~ Cauchy(0.5, 0.1) in (0, 1], CR ~ Normal(0.5, 0.1): by their quartiles, before anything is learned."""
    from deddqn.de.success_history import draw_crossover, draw_scale

    stream = np.array([1, 2, 3, 4], dtype=np.uint64)
    rates = np.array([draw_crossover(stream, 0.5) for _ in range(4000)])
    scales = np.array([draw_scale(stream, 0.5) for _ in range(4000)])
    np.testing.assert_allclose(np.quantile(rates, [0.25, 0.5, 0.75]), [0.4326, 0.5, 0.5674], atol=0.01)
    best_population = 0.5 + math.atan(5.0) / math.pi  # the share of the Cauchy numbers that are positive
    for share in (0.25, 0.5, 0.75):
        quantile = 0.5 + 0.1 * math.tan(math.pi * (1.0 - best_population * (1.0 - share) - 0.5))
        assert abs(np.quantile(scales, share) - quantile) < 0.015
    assert scales.min() > 0.0 and scales.max() == 1.0


@pytest.mark.parametrize(("rate", "mean"), [(0.0, 0.4), (0.1, 0.4 + math.tanh(0.5) / 4), (1.0, 0.65)])
def test_scales_by_the_success_rate(rate: float, mean: float) -> None:
    """F ~ Normal(0.4 + tanh(5 s) / 4, 0.02)."""
    from deddqn.de.success_history import draw_scale_by_rate

    stream = np.array([1, 2, 3, 4], dtype=np.uint64)
    scales = np.array([draw_scale_by_rate(stream, rate) for _ in range(4000)])
    assert abs(scales.mean() - mean) < 0.002 and abs(scales.std() - 0.02) < 0.002


def test_half_of_the_scales_follow_the_success_rate() -> None:
    """With a share of one half, half of the F lie within 0.1 of the mean that the rate gives, and more with 1."""
    from deddqn.de.state import Scalar

    shares = []
    for share in (0.0, 0.5, 1.0):
        config = DEConfig(population_size=200, budget=2400, rate_share=share)
        portfolio = Portfolio([("rand/1", 0.05, 0.9, "F")])  # remembered ones are far from the others at first
        run = RunSpec(problem=get("cec2005:F1/d10"), policy=uniform_policy(), portfolio=portfolio, config=config)
        lanes = VectorizedRuns([run], threads=1)
        lanes.advance(400)  # the first generation of trials
        de_state = lanes.episodes[0].de_state
        shares.append(np.mean(np.abs(de_state.trial_f[:200] - 0.4 - math.tanh(2.5) / 4) < 0.1))
        lanes.advance()
        assert 0.0 <= de_state.scalars[Scalar.SUCCESS_RATE] < 0.5 or share == 0.0
    assert shares[0] < 0.1 and abs(shares[1] - 0.5) < 0.15 and shares[2] == 1.0


@pytest.mark.parametrize("strategy", ["gauss", "cma"])
def test_first_samples_have_mean_and_covariance_of_the_better_half(strategy: str) -> None:
    problem = Problem.from_function(lambda x: float(x[0] + 0.5 * x[1]), [(-1.0, 1.0)] * 2)
    problem.bounded = False
    config = DEConfig(population_size=4000, budget=8000, updating="deferred")
    portfolio = Portfolio([(strategy, 1.0, 1.0)])
    lanes = VectorizedRuns(
        [RunSpec(problem=problem, policy=uniform_policy(), portfolio=portfolio, config=config)], threads=1
    )
    de_state = lanes.episodes[0].de_state
    lanes.advance(4000)
    better = de_state.parents[de_state.order[:2000]].copy()
    lanes.advance(7999)
    trials = de_state.trials[:3999]
    np.testing.assert_allclose(trials.mean(axis=0), better.mean(axis=0), atol=0.04)
    assert abs(np.cov(better.T)[0, 1]) > 0.05  # more than what the next line lets pass
    np.testing.assert_allclose(np.cov(trials.T), np.cov(better.T), atol=0.03)


def test_a_population_that_drifts_on_a_plateau_begins_anew() -> None:
    """Steps are five tolerances wide here, and on one of them the values say nothing about the coordinates."""

    def steps(x: np.ndarray) -> float:
        return float(np.abs(np.round(x)).sum())

    problem = Problem.from_function(steps, [(-4.7, 5.3)] * 3)  # a step is a tenth of the box
    config = DEConfig(population_size=60, budget=4000, restart_tolerance=0.02)
    de_state = finished(problem=problem, config=config).de_state
    assert de_state.scalars[Scalar.F_BSF] == 0.0 and de_state.counters[Counter.RESTARTS] > 0
