"""What must hold for every run beyond the paper, whatever its sizes, portfolio and objective (Hypothesis)."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deddqn.de import BEYOND, DEConfig, Entry, Portfolio
from deddqn.de.mutation import STRATEGIES
from deddqn.de.portfolio import ADAPTS
from deddqn.de.state import Count, End, Mark, Model
from deddqn.engine import EpisodeSpec, Lanes
from deddqn.engine.loop import start
from deddqn.engine.run_memory import Episode, view_episode
from deddqn.engine.run_spec import write_episode
from deddqn.engine.stepping import ask_points, observe, tell_value
from deddqn.policies import softmax_policy, uniform_policy
from deddqn.policies.softmax import N_FACTS
from deddqn.problems import Problem, get
from tests.properties.test_paper_properties import Tape, any_value, check_donors, check_features

any_entry = st.builds(
    Entry, st.sampled_from(STRATEGIES), st.floats(1e-3, 1.0), st.floats(0.0, 1.0), st.sampled_from(ADAPTS)
)


@st.composite
def any_run(draw: st.DrawFn) -> EpisodeSpec:
    dimension, low = draw(st.integers(1, 4)), draw(st.floats(-1e6, 1e6))
    width = draw(st.sampled_from([0.0, 1e-9, 1.0, 1e6]))
    tape = Tape(draw(st.lists(any_value, min_size=1, max_size=12)))
    problem = Problem.from_function(tape, [(low, low + width)] * dimension)
    population = draw(st.integers(6, 15))
    portfolio = Portfolio(draw(st.lists(any_entry, min_size=1, max_size=5)))
    picking = softmax_policy(np.full((len(portfolio), N_FACTS), 0.1), portfolio=portfolio)
    return EpisodeSpec(
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
            restart_reserve=draw(st.sampled_from([0.0, 0.3, 0.9])),
            foresight=draw(st.integers(1, 4)),
        ),
        seed=draw(st.integers(0, 1000)),
        observe=True,
        generations=3,
        window=4,
    )


def check_sizes(spec: EpisodeSpec, search: object, before: int) -> int:
    """NP never grows and keeps to its schedule; the archive keeps to its room. Returns NP."""
    counts, config = search.counts, spec.config
    population = int(counts[Count.POPULATION])
    final = config.final_population or config.population_size
    assert final <= population <= before
    if counts[Count.GENERATION] and counts[Count.CURSOR] == 0 and counts[Count.INITIALISED]:
        spent = counts[Count.EVALUATIONS] / config.budget
        assert (
            abs(population - (config.population_size + (final - config.population_size) * spent))
            <= 0.5 + (config.population_size - final) * population / config.budget + 1e-9
        )  # a new population may have been evaluated since
    uses = {entry.strategy for entry in spec.portfolio} & {"curr-to-pbest/1", "rand-to-pbest/1"}
    room = math.floor(config.archive * population + 0.5) if uses else 0
    assert 0 <= counts[Count.ARCHIVED] <= counts[Count.ARCHIVE_ROOM] == room
    return population


def check_means(search: object) -> None:
    assert np.all((search.scale_means > 0.0) & (search.scale_means <= 1.0))
    assert np.all((search.crossover_means >= 0.0) & (search.crossover_means <= 1.0))


def check_foreseen(spec: EpisodeSpec, search: object, last: int) -> None:
    """All trials are inside, and the last one that was proposed is one of them."""
    foreseen, problem = search.foreseen, spec.problem
    assert len(foreseen) == len(search.outlook) == (spec.config.foresight if spec.config.foresight > 1 else 0)
    if spec.picks:
        assert np.all((foreseen >= problem.lower) & (foreseen <= problem.upper))
        assert np.all(np.isfinite(search.outlook))
        assert any(np.array_equal(search.trials[last], trial) for trial in foreseen)


def check_distribution(search: object) -> None:
    """Samples wait for their number, which is lambda or a doubling of it; A A' = C where the next one is drawn."""
    if search.model_mean.size == 0:
        assert not search.model.any()
        return
    model = search.model
    assert model[Model.SIGMA] >= 0.0
    if model[Model.BEGUN]:
        doublings = min(model[Model.BEGUN] - 1, 3)
        assert model[Model.LAMBDA] == (4 + math.floor(3 * math.log(search.model_mean.size))) * 2**doublings
        assert 0 <= model[Model.SAMPLES] < model[Model.LAMBDA]
    if model[Model.SIGMA] > 0.0:
        covariance, factor = np.tril(search.model_covariance), np.tril(search.model_factor)
        variances = np.diag(covariance)
        assert np.isfinite(search.model_mean).all() and np.all(variances > 0.0) and np.all(np.diag(factor) > 0.0)
        unit = np.sqrt(variances)
        whole = (factor / unit[:, None]) @ (factor / unit[:, None]).T
        np.testing.assert_allclose(np.tril(whole), covariance / np.outer(unit, unit), rtol=0.0, atol=1e-12)


@settings(max_examples=150, deadline=None)
@given(any_run())
def test_every_run(spec: EpisodeSpec) -> None:
    arena = np.full(spec.size, np.nan)
    write_episode(spec, arena)
    _, search, observer = view_episode(arena)
    start(arena.ctypes.data, True)
    problem, tape = spec.problem, spec.problem.objective.python.function
    best, seen, population, initial = math.inf, 0, spec.config.population_size, 0
    while not search.counts[Count.ENDED]:
        population = check_sizes(spec, search, population)
        check_means(search)
        check_distribution(search)
        if (i := observe(arena.ctypes.data)) >= 0:
            check_features(observer.features, len(spec.portfolio))
            check_donors(search.donors[i], i, population)
        asked, place = ask_points(arena.ctypes.data), int(search.counts[Count.TOLD])
        assert place < asked <= population
        initial += 0 if search.counts[Count.INITIALISED] else 1
        points = search.trials if search.counts[Count.INITIALISED] else search.parents
        if search.counts[Count.INITIALISED]:
            check_foreseen(spec, search, asked - 1)
        assert np.all((points[place] >= problem.lower) & (points[place] <= problem.upper))
        tell_value(arena.ctypes.data, place, tape(points[place].copy()))
        seen += 1
        assert search.marks[Mark.F_BSF] <= best
        best = search.marks[Mark.F_BSF]
    assert search.counts[Count.ENDED] == End.BUDGET
    assert search.counts[Count.EVALUATIONS] == seen == spec.config.budget
    assert search.applications.sum() == seen - initial
    assert np.isfinite(search.parents).all() and not np.isnan(search.fitness).any()


def finished(**changes: object) -> Episode:
    config = DEConfig(population_size=60, budget=4000, final_population=10)
    spec = EpisodeSpec(problem=get("cec2005:F6/d10"), policy=uniform_policy(), portfolio=BEYOND, config=config)
    lanes = Lanes([replace(spec, **changes)], threads=1)
    lanes.advance()
    return lanes.episodes[0]


def test_a_shrinking_population_keeps_its_best() -> None:
    search = finished().search
    assert search.counts[Count.POPULATION] == 10
    assert search.fitness[:10].min() == search.marks[Mark.F_BSF]
    assert np.all(search.fitness[10:] == np.inf)
    np.testing.assert_array_equal(search.parents[search.counts[Count.BEST]], search.best_point)


def test_success_moves_the_means() -> None:
    search = finished().search
    adapting = search.adapts > 0
    assert np.all(search.taught[adapting] > 6) and np.all(search.taught[~adapting] == 0)
    assert not np.any(search.scale_means[adapting] == 0.5)
    assert np.all(search.scale_means[~adapting] == search.scale[~adapting, None])


def test_the_adapted_numbers_have_their_distributions() -> None:
    """F ~ Cauchy(0.5, 0.1) in (0, 1], CR ~ Normal(0.5, 0.1): by their quartiles, before anything is learned."""
    from deddqn.de.success_history import draw_crossover, draw_scale

    stream = np.array([1, 2, 3, 4], dtype=np.uint64)
    rates = np.array([draw_crossover(stream, 0.5) for _ in range(4000)])
    scales = np.array([draw_scale(stream, 0.5) for _ in range(4000)])
    np.testing.assert_allclose(np.quantile(rates, [0.25, 0.5, 0.75]), [0.4326, 0.5, 0.5674], atol=0.01)
    kept = 0.5 + math.atan(5.0) / math.pi  # the share of the Cauchy numbers that are positive
    for share in (0.25, 0.5, 0.75):
        quantile = 0.5 + 0.1 * math.tan(math.pi * (1.0 - kept * (1.0 - share) - 0.5))
        assert abs(np.quantile(scales, share) - quantile) < 0.015
    assert scales.min() > 0.0 and scales.max() == 1.0


@pytest.mark.parametrize("strategy", ["gauss", "cma"])
def test_first_samples_have_mean_and_covariance_of_the_better_half(strategy: str) -> None:
    problem = Problem.from_function(lambda x: float(x[0] + 0.5 * x[1]), [(-1.0, 1.0)] * 2)
    problem.bounded = False
    config = DEConfig(population_size=4000, budget=8000, updating="deferred")
    portfolio = Portfolio([(strategy, 1.0, 1.0)])
    lanes = Lanes(
        [EpisodeSpec(problem=problem, policy=uniform_policy(), portfolio=portfolio, config=config)], threads=1
    )
    search = lanes.episodes[0].search
    lanes.advance(4000)
    better = search.parents[search.order[:2000]].copy()
    lanes.advance(7999)
    trials = search.trials[:3999]
    np.testing.assert_allclose(trials.mean(axis=0), better.mean(axis=0), atol=0.04)
    assert abs(np.cov(better.T)[0, 1]) > 0.05  # more than what the next line lets pass
    np.testing.assert_allclose(np.cov(trials.T), np.cov(better.T), atol=0.03)


def test_a_population_that_drifts_on_a_plateau_begins_anew() -> None:
    """Steps are five tolerances wide here, and on one of them the values say nothing about the coordinates."""

    def steps(x: np.ndarray) -> float:
        return float(np.abs(np.round(x)).sum())

    problem = Problem.from_function(steps, [(-4.7, 5.3)] * 3)  # a step is a tenth of the box
    config = DEConfig(population_size=60, budget=4000, restart_tolerance=0.02)
    search = finished(problem=problem, config=config).search
    assert search.marks[Mark.F_BSF] == 0.0 and search.counts[Count.RESTARTS] > 0
