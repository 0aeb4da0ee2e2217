"""The suites of later competitions: names, dimensions, optima and budgets."""

import numpy as np
import pytest

pytest.importorskip("minionpy")

from deddqn._utils.validation import UnknownNameError
from deddqn.problems import SUITES, get
from deddqn.problems.cec_competitions import COMPETITIONS, official_budget


@pytest.mark.parametrize("suite", ["cec2011", "cec2014-d10", "cec2017-d2", "cec2017-d20", "cec2020-d5", "cec2022-d20"])
def test_every_problem_of_a_suite_can_be_evaluated(suite):
    for name in SUITES[suite]:
        problem = get(name)
        value = problem(0.5 * (problem.lower + problem.upper))
        assert np.isfinite(value)
        assert (problem.optimum is None) == suite.startswith("cec2011")
        if problem.optimum is not None:
            assert value >= problem.optimum and f"/d{problem.dimension}" in name


def test_values_are_the_librarys():
    import minionpy

    point = np.linspace(-80.0, 70.0, 10)
    assert get("cec2017:F5/d10")(point) == minionpy.CEC2017Functions(5, 10)([point.tolist()])[0]
    assert get("cec2022:F3/d10").optimum == minionpy.CEC2022Functions(3, 10).f_opt


def test_suites_and_budgets():
    assert len(SUITES["cec2011"]) == 22 and len(SUITES["cec2017-d30"]) == 30 and len(SUITES["cec2017-d2"]) == 16
    assert [official_budget("cec2017", 30), official_budget("cec2011", 26)] == [300_000, 150_000]
    assert [official_budget("cec2020", d) for d in COMPETITIONS["cec2020"].dimensions] == [
        50_000,
        10**6,
        3 * 10**6,
        10**7,
    ]
    assert official_budget("cec2022", 20) == 10**6


def test_what_does_not_exist():
    with pytest.raises(UnknownNameError, match="Known: cec2017:F1 to cec2017:F30"):
        get("cec2017:F31/d10")
    with pytest.raises(ValueError, match="dimension must be one of 10, 20 for cec2022, got 7"):
        get("cec2022:F1/d7")
    with pytest.raises(ValueError, match="cec2017:F11 has no data for 20 coordinates"):
        get("cec2017:F11/d20")
    with pytest.raises(ValueError, match="dimension must be 6 for cec2011:F1, got 7"):
        get("cec2011:F1/d7")
