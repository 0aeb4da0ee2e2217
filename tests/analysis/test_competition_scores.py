"""Scores of CEC competitions: worked out by hand, and against published examples."""

import math

import numpy as np
import pytest

from deddqn.analysis.competition_scores import (
    cec2017_scores,
    competition_scores,
    end_of,
    normalised_scores,
    share_of_lowest,
    u_scores,
)
from deddqn.analysis.result_tables import competitions_table
from tests.analysis.hand_made import analysis_of


def test_shares_of_the_lowest_sum_as_published():
    """V. Stanovov, S. Akhmedova, E. Semenkin, "NL-SHADE-RSP algorithm with ...", CEC 2021, Table IV."""
    assert share_of_lowest(np.array([8.543, 11.242, 18.579, 10.886])) == pytest.approx(
        [50.0, 37.998, 22.991, 39.240], abs=5e-3
    )
    assert share_of_lowest(np.array([82.25, 95.75, 157.5, 144.5])) == pytest.approx(
        [50.0, 42.950, 26.111, 28.460], abs=5e-3
    )


def test_sums_of_zero_and_infinity():
    assert share_of_lowest(np.array([0.0, 0.0, 3.0])).tolist() == [50.0, 50.0, 0.0]
    assert share_of_lowest(np.array([2.0, math.inf])).tolist() == [50.0, 0.0]
    assert share_of_lowest(np.array([math.inf, math.inf])).tolist() == [50.0, 50.0]


def test_cec2017_by_hand():
    """Two methods, two functions with D = 10, one with D = 30: SE = 0.1 x (1 + 0) + 0.2 x 4 = 0.9 and
    0.1 x (3 + 2) + 0.2 x 2 = 0.9 + 0; SR = 0.1 x (1 + 1) + 0.2 x 2 = 0.6 and 0.1 x (2 + 2) + 0.2 x 1 = 0.6."""
    found = cec2017_scores({10: np.array([[1.0, 5e-9], [3.0, 2.0]]), 30: np.array([[4.0], [2.0]])})
    assert found["errors"].tolist() == [50.0, 50.0]
    assert found["ranks"].tolist() == [50.0, 50.0]
    found = cec2017_scores({10: np.array([[1.0], [3.0], [3.0]]), 20: np.array([[9.0], [0.0], [0.0]])})
    assert found["errors"] == pytest.approx([50.0, 50.0 / 3.0, 50.0 / 3.0])  # D = 20 is not in the competition
    assert found["ranks"] == pytest.approx([50.0, 20.0, 20.0])  # ranks 1, 2.5, 2.5
    assert found["score"] == pytest.approx([100.0, 50.0 / 3.0 + 20.0, 50.0 / 3.0 + 20.0])


def test_normalised_errors_by_hand():
    """Best errors over the largest: 1/2 + 0 and 2/2 + 4/4, and 0 where all are solved."""
    best = np.array([[1.0, 1e-9, 0.0], [2.0, 4.0, 0.0]])
    means = np.array([[3.0, 5.0, 0.0], [2.0, 6.0, 0.0]])  # ranks 2, 1, 1.5 and 1, 2, 1.5
    found = normalised_scores(best, means)
    assert found["errors"].tolist() == [50.0, 12.5]
    assert found["ranks"].tolist() == [50.0, 50.0]


def test_u_scores_as_published():
    """Technical report of CEC 2022, Fig. 11 and Table V: seven of twelve runs reach the target."""
    order = "prqqrpqprqpr"  # best first
    errors, evaluations = {m: [] for m in "pqr"}, {m: [] for m in "pqr"}
    for place, method in enumerate(order):
        solved = place < 7
        errors[method].append(
            1e-9 * (12 - place) / 2 if solved else float(place)
        )  # among solved runs errors say nothing
        evaluations[method].append(100 * (place + 1) if solved else 10_000)
    found = u_scores([np.array(errors[m]) for m in "pqr"], [np.array(evaluations[m]) for m in "pqr"])
    assert found.tolist() == [16.0, 18.0, 14.0]


def test_u_scores_share_ranks_of_equal_runs():
    same = [np.array([1.0, 2.0]), np.array([1.0, 2.0])]
    assert u_scores(same, [np.array([9, 9])] * 2).tolist() == [2.0, 2.0]
    assert u_scores([np.array([math.nan]), np.array([5.0])], [np.array([9])] * 2).tolist() == [0.0, 1.0]


def test_the_end_of_a_run():
    assert end_of(np.array([1, 10, 50]), np.array([4.0, 1e-9, 1e-9])) == 10
    assert end_of(np.array([1, 10, 50]), np.array([4.0, 2.0, 1.0])) == 50


def test_every_competition_of_an_experiment():
    first, second = [[9.0, 1.0], [9.0, 3.0]], [[9.0, 2.0], [9.0, 4.0]]
    names = ("cec2017:F1/d10", "cec2017:F2/d10", "cec2022:F1/d10", "cec2020:F1/d5", "cec2020:F1/d10", "cec2014:F1/d10")
    a = analysis_of(
        {"m": dict.fromkeys((*names, "cec2005:F1/d10"), first), "n": dict.fromkeys((*names, "cec2005:F1/d10"), second)},
        budget=1000,
        marks=(1, 1000),
    )
    found = {score.title: score for score in competition_scores(a)}
    assert list(found) == ["CEC2014", "CEC2017", "CEC2020, D = 5", "CEC2020, D = 10", "CEC2022"]
    assert found["CEC2017"].values["score"] == pytest.approx([100.0, 50.0 * 2.0 / 3.0 + 25.0])
    assert found["CEC2022"].values["U-score"].tolist() == [3.0, 1.0]  # of four pairs of runs
    assert found["CEC2014"].values["rank of mean"].tolist() == [1.0, 2.0]
    assert all(score.places.tolist() == [1, 2] for score in found.values())
    assert found["CEC2017"].notes == (
        "without D = 30, 50, 100",
        "1 of 29 functions",
        "not with the official budget",
        "2 runs instead of 51",
    )
    table = competitions_table(a)
    assert len(table.rows) == 10 and "CEC2022 here: without D = 20" in table.note


def test_real_world_problems_are_ranked_by_value():
    a = analysis_of(
        {"m": {"cec2011:F1/d6": [[5.0, -3.0], [5.0, 4.0]]}, "n": {"cec2011:F1/d6": [[5.0, -1.0], [5.0, -2.0]]}},
        budget=150_000,
        marks=(1, 150_000),
        optimum=math.nan,
    )
    (score,) = competition_scores(a)
    assert score.values["rank of best"].tolist() == [1.0, 2.0]
    assert score.values["rank of mean"].tolist() == [2.0, 1.0]
    assert score.places.tolist() == [2, 1]
    assert score.notes == ("1 of 22 functions", "2 runs instead of 25")


def test_no_competition_no_table():
    a = analysis_of({"m": {"cec2005:F1/d10": [[5.0, 3.0]]}}, budget=100, marks=(1, 100))
    assert competition_scores(a) == [] and competitions_table(a).rows == ()
