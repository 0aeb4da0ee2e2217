"""Targets reached over evaluations, by hand."""

import math

import numpy as np
import pytest

from deddqn.analysis.ecdf import RELATIVE, TARGETS, area_below, dimension_of, ecdf, share_reached, targets_of
from deddqn.analysis.result_tables import targets_table
from tests.analysis.hand_made import analysis_of

MARKS = (1, 100, 200)


def shares(analysis):
    return {curve.method: curve.values for curve in ecdf(analysis).panel.curves}


def test_targets_are_those_of_bbob():
    assert len(TARGETS) == 51
    assert (TARGETS[0], TARGETS[-1]) == (pytest.approx(100.0), pytest.approx(1e-8))
    assert np.diff(np.log10(TARGETS)) == pytest.approx(-0.2)


def test_shares_by_hand():
    a = analysis_of(
        {"de1": {"p/d10": [[100.0, 10.0, 1.0]] * 2}, "de2": {"p/d10": [[1000.0, 10.0, 1e-9], [1000.0, 10.0, 10.0]]}},
        budget=200,
        marks=MARKS,
    )
    found = shares(a)
    axis = ecdf(a).panel.evaluations
    assert ecdf(a).panel.axis == "evaluations / D"
    assert (axis[0], axis[-1]) == (1.0, pytest.approx(20.0))
    assert found["de1"][0] == pytest.approx(1 / 51)  # 100 after 10 evaluations
    assert found["de1"][np.searchsorted(axis, 10.001)] == pytest.approx(6 / 51)  # 100 to 10
    assert found["de1"][-1] == pytest.approx(11 / 51)
    assert found["de2"][0] == 0.0
    assert found["de2"][-1] == pytest.approx((51 + 6) / 102)  # one run reaches all, one the first six


def test_problems_of_other_dimensions_and_budgets_share_one_axis():
    curves = {"cec2017:F1/d10": [[1e3, 1e3, 1e-9]], "cec2017:F1/d30": [[1e3, 1e3, 1e-9]]}
    a = analysis_of({"m": curves}, budget=300_000, marks=(1, 50_000, 100_000), official=True)
    axis, values = ecdf(a).panel.evaluations, shares(a)["m"]
    assert axis[-1] == pytest.approx(10_000.0)
    reached_in_30 = np.searchsorted(axis, 100_000 / 30 * 1.001)
    assert (values[reached_in_30 - 2], values[reached_in_30], values[-1]) == (0.0, 0.5, 1.0)


def test_without_an_optimum_targets_are_relative_to_the_best_of_all_runs():
    a = analysis_of(
        {"m": {"p/d2": [[9.0, 5.0, -5.0]]}, "n": {"p/d2": [[9.0, 5.0, 4.0]]}},
        budget=200,
        marks=MARKS,
        optimum=math.nan,
    )
    base, targets = targets_of(a, "p/d2")
    assert base == -5.0
    assert targets == pytest.approx(10.0 * RELATIVE)  # all stand at 5 after 100 evaluations
    assert ecdf(a).relative == 1
    assert shares(a)["m"][-1] == 1.0
    assert shares(a)["n"][-1] == pytest.approx(1 / 51)  # 9 above the best: only the first target


def test_a_name_without_a_dimension_counts_evaluations():
    a = analysis_of({"m": {"mine": [[1e3, 1.0, 1.0]]}}, budget=200, marks=MARKS)
    assert ecdf(a).panel.axis == "evaluations"
    assert ecdf(a).panel.evaluations[-1] == pytest.approx(200.0)
    assert [dimension_of(name) for name in ("made:17/d23", "mine", "a/d0")] == [23, None, None]


def test_area_is_the_mean_over_the_logarithm():
    axis = np.array([1.0, 10.0, 1000.0])
    assert area_below(axis, np.array([0.0, 1.0, 1.0])) == pytest.approx((0.5 + 2.0) / 3.0)


def test_table_orders_by_area():
    a = analysis_of({"slow": {"p/d10": [[1e3, 1e3, 1e-9]]}, "fast": {"p/d10": [[1e3, 1e-9]]}}, budget=200, marks=MARKS)
    assert [row[0] for row in targets_table(a).rows] == ["fast", "slow"]
    assert [row[2] for row in targets_table(a).rows] == [1.0, 1.0]


def test_runs_without_a_number_reach_nothing():
    assert share_reached(np.array([[math.inf, 100.0]]), TARGETS).tolist() == [0.0, pytest.approx(1 / 51)]
