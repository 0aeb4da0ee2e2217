"""What follows from runs: records behind figures, verdicts on the paper's entries and claims."""

import math

import numpy as np
import pandas as pd
import pytest

from deddqn.analysis.claims import FAILS, HOLDS, UNCHECKED, judge_claims
from deddqn.analysis.comparison import Analysis
from deddqn.analysis.curves import (
    box_of,
    convergence_panels,
    cost_bars,
    rank_figure,
    share_panel,
    share_panels,
)
from deddqn.analysis.paper_tables import table_3
from deddqn.analysis.reproduction import EQUIVALENT, INITIAL, UNDECIDED, cell_verdicts, initial_best, verdict_counts
from deddqn.analysis.result_tables import ALL
from deddqn.analysis.tables import Column, Table, number, p_value, to_csv, to_latex, to_markdown, without_empty
from deddqn.experiments import Store, compare, plan_experiment
from deddqn.experiments.results import Run, job_columns, to_table
from tests.experiments.methods_for_tests import PROBLEMS, paper_experiment


@pytest.fixture(scope="session")
def analysis(paper_folder):
    return Analysis.of_folder(paper_folder)


def tiny(values, *, optimum=0.0, marks=(1, 100, 200), counts=None, budget=200):
    """An analysis of hand-made runs: ``values[method]`` is a list of best-so-far lists."""
    plan = plan_experiment(list(values), PROBLEMS[:1], runs=len(next(iter(values.values()))), budget=budget).plan
    runs = []
    for job in plan.jobs:
        best = values[job.method][job.repeat]
        runs.append(
            Run(
                **job_columns(job),
                best_value=best[-1],
                optimum=optimum,
                error=best[-1] - optimum,
                evaluations=budget,
                cpu_seconds=1e-4 * (1 + plan.methods.index(job.method)),
                checkpoints=list(marks),
                best=list(best),
                operators=["a", "b"] if counts else [],
                strategy_counts=counts or [],
            )
        )
    return Analysis(plan, to_table(runs).to_pandas())


def test_box_by_hand():
    """Fig. 1."""
    box = box_of("m", np.array([1.0, 2.0, 3.0, 4.0, 5.0, 30.0, np.inf]))
    assert (box.first, box.median, box.third) == (2.25, 3.5, 4.75)
    assert (box.low, box.high, box.outside) == (1.0, 5.0, (30.0,))


def test_convergence_is_the_median_so_far_at_the_checkpoints():
    a = tiny({"de1": [[9.0, 5.0, 1.0], [8.0, 6.0, 2.0], [7.0, 4.0, 3.0]]})
    panel = convergence_panels(a)[0]
    at = {int(e): float(v) for e, v in zip(panel.evaluations, panel.curves[0].values, strict=True)}
    assert (at[1], at[100], at[200]) == (8.0, 5.0, 2.0)
    assert at[int(panel.evaluations[3])] == 8.0  # between checkpoints the last one counts
    assert panel.curves[0].low[-1] <= 2.0 <= panel.curves[0].high[-1]


def test_shares_by_hand():
    a = tiny({"de1": [[3.0, 2.0, 1.0]] * 2}, counts=[75, 25])
    panel = share_panel(a, "de1", PROBLEMS[0])
    assert panel.shares.tolist() == [[0.75, 0.25]]
    assert panel.evaluations.tolist() == [200]


def test_fixed_strategies_have_no_panel(tmp_path):
    compare(["de1", "random"], PROBLEMS[:1], runs=2, budget=350, out=tmp_path)
    a = Analysis.of_folder(tmp_path)
    panels = share_panels(a)
    assert [panel.method for panel in panels] == ["random"]
    assert panels[0].evaluations.tolist() == [200, 300, 350]
    assert panels[0].shares.sum(axis=1) == pytest.approx(1.0)


def test_cost_is_cpu_time_per_evaluation():
    bars = cost_bars(tiny({"random": [[2.0, 1.0, 1.0]], "de1": [[2.0, 1.0, 1.0]]}))
    assert [(b.method, b.microseconds, b.ratio) for b in bars] == [
        ("random", pytest.approx(0.5), 1.0),
        ("de1", pytest.approx(1.0), pytest.approx(2.0)),
    ]


def test_groups_within_the_critical_difference(analysis):
    figure = rank_figure(analysis)
    for first, last in figure.cliques:
        assert figure.ranks[last].rank - figure.ranks[first].rank < figure.critical_difference
    assert [r.rank for r in figure.ranks] == sorted(r.rank for r in figure.ranks)


def test_numbers_beside_the_papers(analysis):
    """Table 3 and Table 4."""
    assert len(analysis.cells) == 130
    assert analysis.control == "ddqn-r2"
    cell = next(c for c in analysis.cells if (c.method, c.problem) == ("de1", "cec2005:F9/d10"))
    assert cell.paper == table_3()["de1", "cec2005:F9/d10"]
    assert cell.differs
    assert cell.adjusted >= cell.welch_p
    assert analysis.paper_rank("ddqn-r2") == 3.3


def test_entries_that_are_the_initial_population_are_found(analysis):
    counted = verdict_counts(cell_verdicts(analysis))
    for method in ("random", "de1", "de2", "de3", "de4"):
        assert counted[method][INITIAL] >= 8
    for method in ("ddqn-r2", "rec-pm", "ipop-cmaes"):
        assert counted[method][EQUIVALENT] + counted[method][UNDECIDED] >= 9
    assert counted["rec-pm"][EQUIVALENT] >= 7
    assert initial_best(analysis, "cec2005:F9/d10").size == 25


def test_claims_get_the_verdict_of_the_data(analysis, tmp_path):
    """Sect. 5.2 and Sect. 6."""
    claims = {c.number: c for c in judge_claims(analysis)}
    assert len(claims) == 13
    assert claims[1].verdict == HOLDS
    assert claims[2].verdict == FAILS  # in these numbers the fixed strategies are better
    assert "Li p-values: random" in claims[2].evidence
    assert claims[12].verdict == FAILS
    paper_experiment(tmp_path / "e", learned=False)
    without = judge_claims(Analysis.of_folder(tmp_path / "e"))
    assert without[1].verdict == UNCHECKED
    assert without[1].evidence == "did not run: ddqn-r2"
    assert without[0].verdict == HOLDS


def test_every_table_can_be_written(analysis):
    for make in ALL:
        table = make(analysis)
        assert to_csv(table).count("\n") == len(table.rows) + 1
        assert to_markdown(table).startswith(f"## {table.title}")
        assert to_latex(table).count(r"\\") == len(table.rows) + 1


def test_tables_of_an_unfinished_experiment(tmp_path):
    compare(["de1", "random"], PROBLEMS, runs=2, budget=200, out=tmp_path)
    sorted((tmp_path / "results").iterdir())[0].unlink()
    a = Analysis.of_folder(tmp_path)
    assert a.missing_runs == 2
    for make in ALL:
        make(a).shown()


def test_values_of_a_problem_without_a_known_optimum_are_ranked_as_they_are():
    a = tiny({"de1": [[5.0, 1.0, -10.0]] * 5, "de2": [[5.0, 1.0, -30.0]] * 5}, optimum=math.nan)
    assert a.unknown_optima == {PROBLEMS[0]}
    assert [(r.method, r.rank) for r in a.ranks] == [("de2", 1.0), ("de1", 2.0)]
    assert [(row.other, row.verdict, row.a12) for row in a.pairs] == [("de1", "win", 1.0)]
    assert a.friedman.chi_square == 1.0
    known = tiny({"de1": [[5.0, 1.0, 2e-9]] * 5, "de2": [[5.0, 1.0, 1e-9]] * 5})
    assert known.unknown_optima == set() and [r.rank for r in known.ranks] == [1.5, 1.5]


def test_an_experiment_without_runs_says_so(tmp_path):
    plan = plan_experiment(["de1"], PROBLEMS, runs=1).plan
    with pytest.raises(ValueError, match="has no finished runs yet"):
        Analysis(plan, Store(tmp_path).read())


def test_numbers_as_text():
    shown = [number(v) for v in (0.0, 5.6e-9, 0.0123, 1.0, 36.77, 580.7, 9999.0, 2.34e8, math.inf)]
    assert shown == ["0", "5.60e-9", "0.0123", "1.00", "36.8", "581", "9999", "2.34e8", "inf"]
    assert [p_value(v) for v in (0.5, 0.0002, 1e-9, math.nan)] == ["0.500", "2.0e-4", "< 1e-6", ""]


def test_latex_and_markdown_by_hand():
    table = Table("t", "A & B", (Column("name"), Column("x_1", ".1f"), Column("none", "d")), (("a_b", 1.25, None),))
    small = without_empty(table)
    assert [c.name for c in small.columns] == ["name", "x_1"]
    assert r"a\_b & 1.2 \\" in to_latex(small)
    assert r"\caption{A \& B}" in to_latex(small)
    assert to_markdown(small).splitlines()[2:] == ["| name | x_1 |", "| ---- | --: |", "| a_b  | 1.2 |"]


def test_csv_keeps_all_digits():
    table = Table("t", "t", (Column("x", "error"),), ((1 / 3,),))
    assert pd.read_csv(pd.io.common.StringIO(to_csv(table)))["x"][0] == 1 / 3


def test_some_methods_and_another_control(paper_folder, analysis):
    chosen = Analysis.of_folder(paper_folder, methods=["de3", "random", "ddqn-r2"], control="random")
    assert set(chosen.methods) == {"random", "de3", "ddqn-r2"} and chosen.missing_runs == 0
    assert sorted(r.rank for r in chosen.ranks)[-1] <= 3.0
    assert chosen.control == "random" and {row.other for row in chosen.pairs} == {"de3", "ddqn-r2"}
    whole = Analysis.of_folder(paper_folder, control="random")
    assert whole.control != analysis.control
    assert [c.verdict for c in judge_claims(whole)] == [c.verdict for c in judge_claims(analysis)]


@pytest.mark.parametrize("wrong", [{"methods": ["de33"]}, {"control": "de33"}, {"methods": ["de3"], "control": "de1"}])
def test_unknown_methods_are_named(paper_folder, wrong):
    with pytest.raises(ValueError, match=r"(methods|control) must be one of .* got 'de"):
        Analysis.of_folder(paper_folder, **wrong)
