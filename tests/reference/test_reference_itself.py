"""The reference against arithmetic done by hand, and against what must hold for every run."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reference import de_reference as plain
from tests.reference.de_reference import ReferenceRun
from tests.reference.hand_cases import PAPER_PORTFOLIO, RUN_CASES, TRIAL_CASES, RunCase, TrialCase, block_slice
from tests.reference.replay import check_run_case, check_trial_case

INF = math.inf
NAN = math.nan


@pytest.mark.parametrize("case", TRIAL_CASES, ids=lambda case: case.name)
def test_trial_by_hand(case: TrialCase) -> None:
    check_trial_case(ReferenceRun, case)


@pytest.mark.parametrize("case", RUN_CASES, ids=lambda case: case.name)
def test_run_by_hand(case: RunCase) -> None:
    check_run_case(ReferenceRun, case)


# -- single formulas


@pytest.mark.parametrize(
    ("first", "second", "best", "worst", "expected"),
    [
        (7.0, 3.0, 2.0, 12.0, 0.4),
        (3.0, 7.0, 2.0, 12.0, -0.4),
        (INF, INF, 2.0, 12.0, 0.0),
        (INF, 3.0, 2.0, 12.0, 1.0),
        (3.0, INF, 2.0, 12.0, -1.0),
        (INF, 3.0, 3.0, 3.0, 1.0),
        (3.0, 3.0, 3.0, 3.0, 0.0),
        (INF, INF, INF, -INF, 0.0),
        (30.0, 3.0, 2.0, 12.0, 1.0),
        (1.7e308, -1.7e308, -1.7e308, 1.7e308, 1.0),
        (0.0, 1.7e308, -1.7e308, 1.7e308, -0.5),
        (5e-324, 0.0, 0.0, 1e-323, 0.5),
    ],
)
def test_relative_difference(first: float, second: float, best: float, worst: float, expected: float) -> None:
    assert plain.relative_difference(first, second, best, worst) == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([3.0, 1.0, 2.0], 2.0),
        ([4.0, 1.0, 2.0, 3.0], 2.5),
        ([INF, 4.0, INF, 1.0], 2.5),
        ([INF, INF], INF),
        ([1.7e308, 1.6e308], 1.65e308),
        ([-1.7e308, 1.7e308], 0.0),
    ],
)
def test_median(values: list[float], expected: float) -> None:
    assert plain.median_of_finite(values) == pytest.approx(expected, rel=1e-15)


@pytest.mark.parametrize(
    ("reference", "value", "worst", "expected"),
    [
        (5.0, 3.0, 9.0, 2.0),
        (3.0, 5.0, 9.0, 0.0),
        (5.0, 5.0, 9.0, 0.0),
        (INF, 5.0, 9.0, 4.0),
        (INF, 9.5, 9.0, 0.0),
        (INF, 5.0, -INF, 0.0),
        (INF, INF, 9.0, 0.0),
        (5.0, INF, 9.0, 0.0),
        (1.7e308, -1.7e308, 1.7e308, 1e300),
        (3e300, 1e300, 3e300, 1e300),
        (3e299, 1e299, 3e300, 2e299),
    ],
)
def test_improvement(reference: float, value: float, worst: float, expected: float) -> None:
    assert plain.improvement(reference, value, worst) == pytest.approx(expected, rel=1e-12)


def test_distance_over_diagonal() -> None:
    origin, far = np.zeros(2), np.array([3.0, 4.0])
    assert plain.distance_over_diagonal(origin, far, 10.0) == 0.5
    assert plain.distance_over_diagonal(origin, far, 2.0) == 1.0
    assert plain.distance_over_diagonal(origin, far, 0.0) == 0.0
    assert plain.distance_over_diagonal(np.array([-1.7e308]), np.array([1.7e308]), 10.0) == 1.0


def test_normalised_keeps_signs_and_survives_zero() -> None:
    assert plain.normalised([1.0, -3.0, 0.0]) == [0.25, -0.75, 0.0]
    assert plain.normalised([0.0, 0.0]) == [0.0, 0.0]
    assert plain.normalised([1e300, 3e300]) == pytest.approx([0.25, 0.75])


def test_blocks_cover_the_99_rows_once() -> None:
    names = [
        *("parent", "mean", "deviation", "budget", "dimension", "stagnation", "donor_distances"),
        *("best_distance", "donor_differences", "best_difference", "bsf_distance", "success_rates"),
        *("improvement_per_application", "change_of_best", "sum_of_bests", "window"),
    ]
    places = [place for name in names for place in range(99)[block_slice(name, 4)]]
    assert places == list(range(99))
    assert block_slice("success_rates", 4) == slice(19, 35)  # rows 20-35
    assert block_slice("window", 4) == slice(83, 99)  # rows 84-99


# -- the course of a run


def line_run(**changes: Any) -> ReferenceRun:
    """Six points 0..5 on [0, 10] with values 6 5 4 3 2 1; optimum 0."""
    arguments: dict[str, Any] = {
        "lower": [0.0],
        "upper": [10.0],
        "portfolio": list(PAPER_PORTFOLIO),
        "population_size": 6,
        "budget": 100,
        "optimum": 0.0,
    }
    run = ReferenceRun(**{**arguments, **changes})
    run.initialise(np.arange(6.0).reshape(6, 1), np.array([6.0, 5.0, 4.0, 3.0, 2.0, 1.0]))
    return run


def test_target_error_is_a_strict_limit() -> None:
    run = line_run(target_error=0.5)
    run.commit(0, 0, [1.0], 0.5)
    assert not run.ended
    run.commit(1, 0, [1.0], 0.25)
    assert run.ended
    assert run.generation == 1
    assert run.fitness.tolist() == [0.5, 0.25, 4.0, 3.0, 2.0, 1.0]


def test_unknown_optimum_never_ends_and_gives_no_third_reward() -> None:
    run = line_run(optimum=None)
    assert run.commit(0, 0, [1.0], -1e9)["R3"] is None
    assert not run.ended


def test_deferred_target_ends_after_the_generation() -> None:
    run = line_run(deferred=True)
    run.commit(0, 0, [9.0], 0.0)
    ended = []
    for parent in range(1, 6):
        run.commit(parent, 0, [8.0], 0.5)
        ended.append(run.ended)
    assert ended == [False, False, False, False, True]
    assert run.fitness.tolist() == [0.0, 0.5, 0.5, 0.5, 0.5, 0.5]
    assert run.evaluations == 12
    assert run.x_bsf.tolist() == [9.0]


@pytest.mark.parametrize("deferred", [False, True])
def test_budget_truncates_the_last_generation(deferred: bool) -> None:
    run = line_run(budget=8, deferred=deferred)
    assert run.decisions_left == 2
    run.commit(0, 0, [7.0], 5.5)
    assert not run.ended
    run.commit(1, 1, [7.5], 5.5)
    assert run.ended
    assert run.evaluations == 8
    assert run.generation == 1
    assert run.fitness.tolist() == [5.5, 5.0, 4.0, 3.0, 2.0, 1.0]
    assert run.population[:, 0].tolist() == [7.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    assert run.decisions_left == 0


@pytest.mark.parametrize("deferred", [False, True])
def test_deferred_truncated_generation_with_target(deferred: bool) -> None:
    run = line_run(budget=8, deferred=deferred)
    run.commit(0, 0, [7.0], 0.0)
    assert run.ended is not deferred
    if deferred:
        run.commit(1, 0, [7.0], 0.5)
        assert run.ended
        assert run.fitness.tolist() == [0.0, 0.5, 4.0, 3.0, 2.0, 1.0]


def test_best_so_far_moves_only_on_strict_improvement() -> None:
    run = line_run()
    assert run.x_bsf.tolist() == [5.0]
    run.commit(0, 0, [9.0], 1.0)
    assert run.x_bsf.tolist() == [5.0]
    assert run.stagnation == 1


def test_parents_are_copies() -> None:
    run = line_run()
    point = np.array([9.0])
    run.commit(0, 0, point, 0.5)
    point[0] = -1.0
    assert run.x_bsf.tolist() == [9.0]
    run.population[5, 0] = 4.5
    assert run.x_bsf.tolist() == [9.0]


def test_wrong_order_is_refused() -> None:
    run = line_run()
    with pytest.raises(ValueError, match="parent 0 is next"):
        run.commit(1, 0, [0.0], 1.0)
    with pytest.raises(ValueError, match="at least one"):
        run.trial(0, (1, 2, 3, 4, 5), 0, [False])


# -- what holds for every run

any_value = st.one_of(
    st.sampled_from([0.0, 1.0, 2.0, -1.0, INF, -INF, NAN, 1e300, -1e300, 1.7e308, -1.7e308, 5e-324]),
    st.floats(-10.0, 10.0),
    st.floats(allow_nan=True, allow_infinity=True),
)


@st.composite
def any_script(draw: st.DrawFn) -> tuple[int, list[float], list[tuple[int, float]], bool]:
    operators = draw(st.integers(1, 4))
    initial = draw(st.lists(any_value, min_size=6, max_size=6))
    decision = st.tuples(st.integers(0, operators - 1), any_value)
    return operators, initial, draw(st.lists(decision, min_size=1, max_size=24)), draw(st.booleans())


def signed_rows(operators: int) -> list[int]:
    start = 19 + 8 * operators
    return [*range(12, 17), *range(start, start + 4 * operators)]


def check_bounds(features: np.ndarray, operators: int) -> None:
    assert np.all(np.isfinite(features))
    assert np.all(np.abs(features) <= 1.0)
    unsigned = np.delete(features, signed_rows(operators))
    assert np.all(unsigned >= 0.0)
    for group in features[19:].reshape(20, operators):
        total = np.abs(group).sum()
        assert total == 0.0 or total == pytest.approx(1.0)


@settings(max_examples=150, deadline=None)
@given(any_script())
def test_features_stay_in_their_range_for_every_input(
    script: tuple[int, list[float], list[tuple[int, float]], bool],
) -> None:
    operators, initial, decisions, bounded = script
    bounds = ([-5.0, 0.0], [5.0, 2.0]) if bounded else ([-INF, -INF], [INF, INF])
    run = ReferenceRun(
        lower=[-5.0, 0.0],
        upper=[5.0, 2.0],
        search_lower=bounds[0],
        search_upper=bounds[1],
        portfolio=list(PAPER_PORTFOLIO)[:operators],
        population_size=6,
        budget=30,
        window_size=4,
        generations=2,
    )
    run.initialise(np.array([[-5, 0], [5, 2], [0, 1], [1, 0], [2, 2], [-3, 1]], dtype=float), initial)
    seen = list(initial)
    for number, (op, value) in enumerate(decisions):
        parent = number % 6
        donors = [index for index in range(6) if index != parent]
        check_bounds(run.features(parent, donors), operators)
        parent_value = float(run.fitness[parent])
        rewards = run.commit(parent, op, run.trial(parent, donors, op, [True, False]), value)
        seen.append(value)
        finite = [known for known in seen if math.isfinite(known)]
        assert run.f_bsf == min(finite, default=INF)
        assert run.f_wsf == max(finite, default=-INF)
        assert run.non_finite == len(seen) - len(finite)
        assert run.evaluations == len(seen)
        assert sum(run.counters) == number + 1
        assert len(run.window) <= 4
        assert all(math.isfinite(entry) for element in run.window for entry in element)
        improved = math.isfinite(value) and value < parent_value
        assert (rewards["R2"] in (1.0, 10.0)) == improved
        if parent == 5:
            assert run.fitness[parent] <= parent_value
    assert run.ended == (run.evaluations == 30)
    assert run.generation == len(decisions) // 6
