"""The rank score by hand, and evaluations whose runs are those of their repeats."""

from pathlib import Path

import numpy as np
import pytest

from deddqn.cli import main
from deddqn.de import DEConfig
from deddqn.engine import RunSpec, VectorizedRuns
from deddqn.evaluation import (
    HELD_OUT,
    REFERENCES,
    evaluate_policies,
    evaluate_policy,
    rank_fractions,
    rank_score,
    rank_scores,
    read_errors,
    reference_errors,
    standard_error,
)
from deddqn.policies import load_policy
from deddqn.problems import get

REFERENCE_RUNS = np.array([[3.0, 1.0, 4.0, 2.0], [0.0, 5.0, 0.0, 0.0]])


def test_the_rank_score_by_hand():
    errors = np.array([[2.5, 0.5], [0.0, 6.0]])
    # 2 and 4 of 4 are worse; 1 is worse than 0 and three tie with it (half of them: 1.5), none is worse than 6
    assert rank_fractions(errors, REFERENCE_RUNS).tolist() == [[2 / 4, 4 / 4], [2.5 / 4, 0.0]]
    assert rank_scores(errors, REFERENCE_RUNS).tolist() == [(2 + 4) / 8, (1 + 1.5 + 0) / 8]
    assert rank_score(errors, REFERENCE_RUNS) == pytest.approx((0.75 + 2.5 / 8) / 2)
    assert standard_error(np.array([[0.0, 1.0], [0.5, 0.5]])) == pytest.approx(np.sqrt(0.5 / 2) / 2)


def test_higher_is_better_and_references_among_themselves_are_one_half():
    assert rank_score(REFERENCE_RUNS, REFERENCE_RUNS) == 0.5
    assert rank_score(REFERENCE_RUNS - 10.0, REFERENCE_RUNS) == 1.0
    assert rank_score(REFERENCE_RUNS + 10.0, REFERENCE_RUNS) == 0.0


def test_the_rank_score_does_not_depend_on_the_scale():
    rng = np.random.default_rng(0)
    errors, references = rng.random((3, 4)), rng.random((3, 20))
    assert rank_score(errors, references) == rank_score(1e9 * errors**3, 1e9 * references**3)


def test_an_evaluation_has_the_runs_of_its_repeats():
    problems, config = [get("cec2005:F1/d10"), get("cec2005:F9/d10")], DEConfig(budget=300, population_size=20)
    policies = [load_policy(name) for name in ("de1", "random")]
    together = evaluate_policies(policies, problems, repeats=3, config=config, threads=1)
    for policy, found in zip(policies, together, strict=True):
        alone = evaluate_policy(policy, problems, repeats=2, first=HELD_OUT + 1, config=config, threads=1)
        np.testing.assert_array_equal(found.errors[:, 1:], alone.errors)
        spec = RunSpec(problem=problems[1], policy=policy, config=config, repeat=HELD_OUT + 2)
        run = VectorizedRuns([spec], threads=1)
        run.advance()
        assert found.best_values[1, 2] == run.best_values[0] and found.errors[1, 2] == run.errors[0]
        assert found.returns[1, 2] == run.total_rewards[0]
    pool = reference_errors(problems, repeats=3, config=config, threads=1)
    assert pool.shape == (2, 3 * len(REFERENCES))
    np.testing.assert_array_equal(pool[:, :3], together[1].errors)  # random is the first reference, on the same seeds


HEADER = "method,problem,error\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "its first line must name 'problem' and 'error' once"),
        ("method,error\nde1,1\n", "its first line must name 'problem' and 'error' once"),
        ("error,problem,error\n1,cec2005:F1/d10,1\n", "its first line must name 'problem' and 'error' once"),
        (HEADER + "de1\n", "row 2 must have 3 fields, got 1"),
        (HEADER + "de1,cec2005:F1/d10\n", "row 2 must have 3 fields, got 2"),
        (HEADER + "de1,cec2005:F1/d10,1,2\n", "row 2 must have 3 fields, got 4"),
        (HEADER + "de1,cec2005:F1/d10,much\n", "could not convert string to float: 'much'"),
        (HEADER + "de1,cec2005:F1/d10,\n", "could not convert"),
        (HEADER + "de1,cec2005:F1/d10,nan\n" * 3, "the error in row 2 must be a number, got 'nan'"),
        (HEADER + 'de1,"cec2005:F1/d10,1\n', "unexpected end of data"),
        (HEADER + "de1,other,1\n", r"the same number of runs of every problem, got \[0\]"),
    ],
)
def test_wrong_pools_are_refused(text: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pool = tmp_path / "pool.csv"
    pool.write_text(text)
    with pytest.raises(ValueError, match=f"pool.csv is not a pool of runs: .*{message}"):
        read_errors(pool, [get("cec2005:F1/d10")])
    assert main(["score", "random", "--runs", "1", "--pool", str(pool)]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1
