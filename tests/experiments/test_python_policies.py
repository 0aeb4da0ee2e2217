"""Comparisons with policies in Python: by name, in processes, resumed, and with trouble that stays where it is."""

import os

import numpy as np
import pytest

from deddqn.cli import main
from deddqn.experiments import Store, compare, plan_experiment, run_experiment
from deddqn.experiments.methods import is_picklable, method_spec
from deddqn.experiments.runner import tasks_of
from deddqn.policies import FunctionPolicy
from tests.experiments.methods_for_tests import PROBLEMS, rows
from tests.policies.python_policies import Fragile, KeepWhatPays, by_distance

HERE = "tests.policies.python_policies"
SMALL = {"runs": 2, "budget": 330}

COPY_OF_DE2 = """
class Always:
    name, needs_features = "always", False
    def reset(self, n_ops, n_pop, rng): pass
    def choose(self, features, i): return {op}
    def learn(self, *outcome): pass
    def end_generation(self): pass
"""


def one(folder, method):
    return [{**row, "method": "", "key": ""} for row in rows(folder) if row["method"] == method]


def test_a_run_is_that_of_the_compiled_policy(tmp_path):
    file = tmp_path / "own.py"
    file.write_text(COPY_OF_DE2.format(op=1))
    names = [f"{file}:Always", "de2", f"{HERE}:compiled", "mixture:0.1,0.2,0.3,0.4"]
    summary = compare(names, PROBLEMS, out=tmp_path / "out", **SMALL)
    assert (summary.ran, summary.failed, summary.flagged) == (16, [], [])
    for mine, known in (names[:2], names[2:]):
        assert one(tmp_path / "out", mine) == one(tmp_path / "out", known) != []
    row = one(tmp_path / "out", names[0])[0]
    assert row["operators"][1] == "rand/2" and sum(row["strategy_counts"]) == 230


def test_objects_and_names_run_in_processes_and_agree(tmp_path):
    methods = [KeepWhatPays(), f"{HERE}:KeepWhatPays", f"{HERE}:distance_policy", f"{HERE}:Seeded"]
    planned = plan_experiment(methods, PROBLEMS, **SMALL)
    assert all(task.in_process for task in tasks_of(planned, planned.plan.jobs))
    assert run_experiment(planned, tmp_path, workers=2).failed == []
    assert one(tmp_path, "keep-what-pays") == one(tmp_path, f"{HERE}:KeepWhatPays")
    again = run_experiment(planned, tmp_path, workers=1)
    assert (again.ran, again.skipped) == (0, 16)


def test_what_a_process_cannot_import_runs_in_a_thread(tmp_path):
    local = FunctionPolicy(lambda features, search: search.individual % 4, name="in turn", needs_features=False)
    assert not is_picklable(local) and is_picklable(FunctionPolicy(by_distance))
    assert compare([local], PROBLEMS, out=tmp_path, workers=2, **SMALL).failed == []
    counts = np.sum([np.reshape(row["strategy_counts"], (-1, 4)) for row in rows(tmp_path)], axis=0)
    assert counts[0].tolist() == [100] * 4


def test_an_exception_is_a_row_that_names_it(tmp_path):
    compare([KeepWhatPays()], PROBLEMS[:1], out=tmp_path / "first", **SMALL)
    best = [row["best_value"] for row in rows(tmp_path / "first")]
    policy = Fragile()
    policy.bound = float(np.mean(best))
    summary = compare([policy, "de1"], PROBLEMS[:1], out=tmp_path / "second", **SMALL)
    assert summary.ran == 4 and len(summary.failed) == 1
    assert summary.failed[0].note == "ArithmeticError: too high for me" and "in look" in summary.failed[0].traceback
    assert (summary.failed[0].problem, summary.failed[0].seed) == (PROBLEMS[0], 0)
    confused = compare([f"{HERE}:Confused"], PROBLEMS[:1], out=tmp_path / "third", **SMALL)
    assert {row.note for row in confused.failed} == {"ValueError: policy must choose an operator in 0..3, got 'rand/1'"}


def test_another_source_is_another_method(tmp_path):
    marks = []
    for op, folder in ((1, "a"), (2, "b"), (1, "c")):
        (tmp_path / folder).mkdir()
        file = tmp_path / folder / "own.py"
        file.write_text(COPY_OF_DE2.format(op=op))
        marks.append(method_spec(f"{file}:Always").fingerprint)
    assert marks[0] == marks[2] != marks[1]
    planned = plan_experiment([f"{file}:Always"], PROBLEMS[:1], **SMALL)
    assert planned.plan.fingerprints == (marks[2],)
    file.write_text(COPY_OF_DE2.format(op=3))
    summary = run_experiment(planned, tmp_path / "out")
    assert len(summary.failed) == 2 and "has changed since the comparison began" in summary.failed[0].note
    weights = [FunctionPolicy(by_distance), FunctionPolicy(lambda features, search: 0, name="by_distance")]
    assert len({method_spec(policy).fingerprint for policy in weights}) == 2


def test_the_command_finds_modules_of_the_folder(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(os.getcwd())
    (tmp_path / "policies_of_a_command.py").write_text(COPY_OF_DE2.format(op=1))
    (tmp_path / "broken_policies.py").write_text("import nowhere_to_be_found\n")
    arguments = ["--problems", PROBLEMS[0], "--runs", "2", "--budget", "300", "--out"]
    assert (
        main(
            [
                "compare",
                "--methods",
                "policies_of_a_command:Always",
                "policies_of_a_command.py:Always",
                *arguments,
                "out",
            ]
        )
        == 0
    )
    frame = Store(tmp_path / "out").read()
    assert set(frame.method) == {"policies_of_a_command:Always", "policies_of_a_command.py:Always"}
    assert frame.groupby("repeat").best_value.nunique().eq(1).all()
    assert main(["compare", "--methods", "broken_policies:Always", *arguments, "bad"]) == 2
    said = capsys.readouterr().err
    assert "importing broken_policies raised ModuleNotFoundError: No module named 'nowhere_to_be_found'" in said
    assert not (tmp_path / "bad").exists()


def test_classes_are_not_methods():
    with pytest.raises(ValueError, match=r"not a class: give KeepWhatPays\(\)"):
        method_spec(KeepWhatPays)


def test_a_stored_name_is_not_loaded(tmp_path):
    """A folder of results may come from a stranger: what is read from its plan imports nothing."""
    (tmp_path / "module").mkdir()
    file = tmp_path / "module" / "own.py"
    file.write_text(COPY_OF_DE2.format(op=1))
    compare([f"{file}:Always"], PROBLEMS[:1], out=tmp_path / "out", **SMALL)
    file.write_text("raise SystemExit")
    planned = plan_experiment(["de1"], PROBLEMS[:1], **SMALL)
    assert run_experiment(planned, tmp_path / "out", extend=True).ran == 2
