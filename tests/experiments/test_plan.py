"""Plans as values: keys, differences, names."""

import re

import numpy as np
import pytest

from deddqn.experiments import Job, Plan, Store, compare, plan_experiment, preset
from deddqn.experiments.methods import PAPER_METHODS, method_spec
from deddqn.policies import mixture
from deddqn.problems import Problem
from tests.experiments.methods_for_tests import PROBLEMS, RandomSearch


def test_a_key_is_the_content_of_a_job():
    job = Job("de1", "cec2005:F1/d10", 0, 1000, (("seed", 0),))
    assert job.key == Job("de1", "cec2005:F1/d10", 0, 1000, (("seed", 0),)).key
    others = [
        Job("de2", "cec2005:F1/d10", 0, 1000, (("seed", 0),)),
        Job("de1", "cec2005:F1/d30", 0, 1000, (("seed", 0),)),
        Job("de1", "cec2005:F1/d10", 1, 1000, (("seed", 0),)),
        Job("de1", "cec2005:F1/d10", 0, 2000, (("seed", 0),)),
        Job("de1", "cec2005:F1/d10", 0, 1000, (("seed", 1),)),
    ]
    assert len({job.key, *(other.key for other in others)}) == 6


def test_a_key_never_changes():
    """Stored results are found by it: whoever changes what a job is must raise KEY_VERSION."""
    assert Job("de1", "cec2005:F1/d10", 0, 1000, (("seed", 0),)).key == "fd11926bf4fecd2341153d7c"


def test_other_weights_make_another_job():
    first, second = method_spec(mixture([0.5, 0.2, 0.2, 0.1])), method_spec(mixture([0.4, 0.3, 0.2, 0.1]))
    assert first.fingerprint != second.fingerprint
    assert method_spec(mixture([0.5, 0.2, 0.2, 0.1])).fingerprint == first.fingerprint


def test_jobs_are_all_combinations():
    plan = plan_experiment(["de1", RandomSearch()], PROBLEMS, runs=3, budget=500).plan
    assert len(plan.jobs) == 2 * 2 * 3
    assert len({job.key for job in plan.jobs}) == 12
    assert Plan.from_json(plan.to_json()) == plan
    assert "2 methods x 2 problems x 3 runs x 500 evaluations" in plan.describe()


def test_suites_and_problems_mix_and_repeat_once():
    own = Problem.from_function(lambda x: float(np.sum(x)), [(0, 1)] * 2, name="mine")
    plan = plan_experiment(["de1"], ["cec2005-test", "cec2005:F3/d10", own], runs=1).plan
    assert len(plan.problems) == 11
    assert plan.problems[-1] == "mine"


@pytest.mark.parametrize(
    ("methods", "problems", "changes", "message"),
    [
        (["rndom"], PROBLEMS, {}, "unknown method 'rndom'; did you mean 'random'?"),
        (["de1"], ["cec2005-tset"], {}, "did you mean 'cec2005-test'?"),
        (["de1"], ["cec2005:F99/d10"], {}, "unknown problem 'cec2005:F99/d10'"),
        (["de1"], ["cec2005:F1"], {}, "dimension must be given"),
        (["de1", "de1"], PROBLEMS, {}, "methods must have different names, got 'de1' twice"),
        ([], PROBLEMS, {}, "methods must name at least one method"),
        (["de1"], [], {}, "problems must name at least one problem"),
        (["de1"], PROBLEMS, {"runs": 0}, "runs must be at least 1, got 0"),
        (["de1"], PROBLEMS, {"budget": 0}, "budget must be at least 1 evaluation, got 0"),
        (["de1"], PROBLEMS, {"seed": -1}, "seed must be at least 0, got -1"),
        ([object()], PROBLEMS, {}, "a method must be a name, a policy, or an object with 'name' and 'run'"),
    ],
)
def test_bad_plans_say_what_is_wrong(methods, problems, changes, message):
    with pytest.raises((ValueError, KeyError), match=re.escape(message)):
        plan_experiment(methods, problems, **changes)


def test_differences_are_said_in_words():
    mine = plan_experiment(["de1", "de2"], PROBLEMS, runs=3, budget=500).plan
    theirs = plan_experiment(["de1", "de3"], PROBLEMS[:1], runs=4, budget=600, seed=1).plan
    said = "; ".join(mine.differences(theirs))
    for part in ("runs: 3 wanted, 4 in the folder", "budget: 500 wanted, 600", "seed: 0 wanted, 1", "de2", "de3", "F6"):
        assert part in said
    assert mine.differences(mine) == []


def test_a_plan_grows_only_by_methods_problems_and_runs():
    mine = plan_experiment(["de1", "de2"], PROBLEMS, runs=3, budget=500).plan
    theirs = plan_experiment(["de3"], PROBLEMS[:1], runs=4, budget=500).plan
    grown = mine.extended(theirs)
    assert set(grown.methods) == {"de1", "de2", "de3"}
    assert grown.runs == 4
    assert {job.key for job in mine.jobs} | {job.key for job in theirs.jobs} <= {job.key for job in grown.jobs}
    with pytest.raises(ValueError, match="budget: 500 wanted, 600"):
        mine.extended(plan_experiment(["de1"], PROBLEMS, budget=600).plan)


def test_the_paper_preset_is_its_section_5():
    """Sect. 5 and Sect. 5.1."""
    made = preset("paper")
    plan = made.plan
    assert (plan.runs, plan.budget, len(plan.problems)) == (25, 10_000, 10)
    assert set(plan.methods) | set(plan.missing) == set(PAPER_METHODS)
    assert not set(plan.methods) & set(plan.missing)
    assert "--preset paper" in plan.command("out")


def official(*problems: str, budget: int, runs: int = 51) -> Plan:
    return Plan(methods=("de1",), fingerprints=("x",), problems=problems, runs=runs, budget=budget, official=True)


def test_official_budgets_differ_by_problem():
    plan = official("cec2017:F1/d10", "cec2017:F1/d30", "cec2022:F1/d20", budget=1_000_000, runs=1)
    assert [job.budget for job in plan.jobs] == [100_000, 300_000, 1_000_000]
    assert "100000 to 1000000 evaluations" in plan.describe()
    assert "--budget official" in plan.command("out")
    assert Plan.from_json(plan.to_json()) == plan


def test_plans_without_official_budgets_are_written_as_ever():
    assert "official" not in plan_experiment(["de1"], PROBLEMS, runs=1).plan.to_json()


def test_official_plans_grow_by_other_dimensions():
    small, large = official("cec2017:F1/d10", budget=100_000), official("cec2017:F1/d30", budget=300_000)
    assert large.extended(small) == official("cec2017:F1/d10", "cec2017:F1/d30", budget=300_000)
    plain = Plan(methods=("de1",), fingerprints=("x",), problems=("cec2017:F1/d10",), runs=51, budget=100_000)
    with pytest.raises(ValueError, match="budget: official wanted, 100000 in the folder"):
        large.extended(plain)


def test_official_plans_are_checked():
    with pytest.raises(ValueError, match="largest official one of the problems, got 5"):
        official("cec2017:F1/d10", budget=5)
    with pytest.raises(ValueError, match="cec2005:F1/d10 belongs to no competition"):
        plan_experiment(["de1"], ["cec2005:F1/d10"], budget="official")
    with pytest.raises(ValueError, match="none of the problems has one"):
        plan_experiment(["de1"], ["cec2005:F1/d10"], runs="official")


def test_official_runs_and_marks_of_a_competition(tmp_path):
    pytest.importorskip("minionpy")
    made = plan_experiment(["de1"], ["cec2017:F1/d2", "cec2017:F3/d10"], runs="official", budget="official").plan
    assert (made.runs, made.budget, made.jobs[0].budget) == (51, 100_000, 20_000)
    with pytest.raises(ValueError, match="cec2017 51, cec2022 30"):
        plan_experiment(["de1"], ["cec2017:F1/d10", "cec2022:F1/d10"], runs="official")
    compare(["de1", "jade"], ["cec2017:F5/d2"], runs=1, budget="official", out=tmp_path)
    for row in Store(tmp_path).read().itertuples():
        wanted = {200, 400, 600, 1000, *range(2000, 20_001, 2000)}
        assert {mark for mark in wanted if mark < row.checkpoints[-1]} <= set(row.checkpoints)
