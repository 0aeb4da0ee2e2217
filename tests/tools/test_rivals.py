"""The comparison with learned optimisers: ranks, rows that stay, and the page beside the saved rows."""

from __future__ import annotations

import csv

import numpy as np
import pytest

from benchmarks import rivals
from deddqn.baselines import BudgetedObjective
from deddqn.problems import Problem, get
from tests.docs.blocks import ROOT

SAVED = ROOT / rivals.SAVED


def row(method, name, error, seconds="1"):
    return {"method": method, "made_with": "x 1", "problem": name, "error": str(error), "seconds": seconds}


def every(method, instances, error):
    return [row(method, name, error) for name, _ in rivals.problems(instances)]


def test_ranks_by_medians():
    rows = every("good", 3, 1e-12) + every("level", 3, 9e-9) + every("bad", 3, 2.0)
    rows[0]["error"] = "5.0"  # one instance of three: the median does not move
    found = {line[0]: line[1:] for line in rivals.table(rows, 3)}
    assert found == {"good": (1.5, 24, 24, 1.0), "level": (1.5, 24, 24, 1.0), "bad": (3.0, 0, 0, 1.0)}


def test_who_did_not_run_everywhere_is_left_out():
    rows = every("all", 2, 1.0) + every("first", 1, 0.5)
    assert [line[0] for line in rivals.table(rows, 2)] == ["all"]
    assert [line[0] for line in rivals.table(rows, 1)] == ["first", "all"]
    assert rivals.table(every("first", 1, 0.5), 2) == []


def test_rows_of_others_stay_and_only_new_runs_are_made(tmp_path, monkeypatch):
    out, made = tmp_path / "rows.csv", []

    def maker(method):
        def best(problem, seed):
            made.append((method, seed))
            return problem.optimum + 1.0

        return best, "x 1"

    monkeypatch.setattr(rivals, "maker", maker)
    monkeypatch.setattr(rivals, "FUNCTIONS", range(1, 3))
    monkeypatch.setattr(rivals, "get", lambda name: Problem.from_function(abs, [(-5, 5)] * 10, name=name, optimum=0.0))
    rivals.write(out, [row("other", "bbob:f1/i1/d10", 3.0)])
    arguments = ["--methods", "own", "--out", str(out), "--instances"]
    rivals.main([*arguments, "1"])
    rivals.main([*arguments, "2"])
    assert made == [("own", 1001), ("own", 1002), ("own", 2001), ("own", 2002)]
    rivals.main([*arguments, "1", "--again"])
    assert made[4:] == [("own", 1001), ("own", 1002)]
    assert [r["method"] for r in rivals.read(out)] == ["other", "own", "own"]


def test_a_search_ends_with_its_budget(monkeypatch):
    monkeypatch.setattr(rivals, "BUDGET", 50)
    problem, seen = Problem.from_function(lambda x: float(x @ x), [(-5, 5)] * 10, optimum=0.0), []

    def search(objective, seed):
        while True:
            seen.extend(objective.batch(np.full((7, 10), 1.0 + len(seen))))

    assert rivals._searched(search)(problem, 1) == 10.0
    assert len(seen) == 49


def test_problems_as_metabox_wants_them():
    pytest.importorskip("ioh")
    objective = BudgetedObjective(get("bbob:f1/i1/d10"), 20, np.random.default_rng(1))
    theirs = rivals.MetaBoxProblem(objective)
    points = np.random.default_rng(2).uniform(-5, 5, (3, 10))
    assert theirs.eval(points).tolist() == [theirs.eval(x) for x in points]
    assert (theirs.lb, theirs.ub, theirs.dim, objective.evaluations) == (-5.0, 5.0, 10, 6)
    assert theirs.__deepcopy__({}) is theirs and str(theirs) == "bbob:f1/i1/d10"


def test_the_page_shows_the_saved_rows():
    page = (ROOT / "docs/results/rivals.md").read_text(encoding="utf-8")
    assert "\n".join(rivals.page_tables(rivals.read(SAVED), 5)).strip() in page
    with open(SAVED, newline="", encoding="utf-8") as file:
        assert all(float(r["error"]) >= 0.0 and r["made_with"] for r in csv.DictReader(file))
