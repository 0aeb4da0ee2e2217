"""The tuner: its score, its folder, its resumption. Tiny budgets; what it finds does not matter here."""

from __future__ import annotations

import json
import os
from dataclasses import replace

import numpy as np
import pytest

from deddqn.cli import main
from deddqn.evaluation import TRAINING_SUITE
from deddqn.experiments import tuning as tuning_module
from deddqn.experiments.tuning import SPACES, Tuning, TuningProtocol, decide, finished, open_study, search
from deddqn.policies import load_policy
from deddqn.policies.adaptive import ADAPTIVE, default_parameters, tuned
from deddqn.problems import SUITES

TINY = TuningProtocol(problems=("cec2005:F1/d10", "cec2005:F24/d10"), runs=2, budget=300, threads=1)


@pytest.fixture
def tiny(monkeypatch, tmp_path):
    """A tuning on two problems."""
    pytest.importorskip("optuna")
    monkeypatch.setattr(Tuning, "protocol", property(lambda self: replace(TINY, runs=self.runs, seed=self.seed)))
    return Tuning(method="rec-pm", trials=3, runs=2, budget=300, out=tmp_path)


def test_only_training_functions_are_touched():
    assert TuningProtocol().problems == SUITES[TRAINING_SUITE] == SUITES["cec2005-train"]
    assert not set(TuningProtocol().problems) & set(SUITES["cec2005-test"])


def test_errors_are_those_of_the_repeats():
    both = replace(TINY, runs=4).errors("random")
    assert np.array_equal(both[:, 2:], replace(TINY, first=2).errors("random"))
    assert np.array_equal(both, replace(TINY, runs=4, threads=2).errors("random"))


@pytest.mark.parametrize("method", SPACES)
def test_the_spaces_hold_the_defaults_and_only_valid_values(method):
    defaults = default_parameters(method)
    assert list(defaults) == list(SPACES[method])
    for key, where in SPACES[method].items():
        assert where.low <= defaults[key] <= where.high
        for end in (where.low, where.high):
            ADAPTIVE[method](**{key: int(end) if where.integer else end})


@pytest.mark.parametrize("method", SPACES)
def test_the_shipped_values_are_used_and_tell_where_they_come_from(method):
    record = tuned()[method]
    assert load_policy(method).metadata["parameters"] == record["parameters"]
    assert load_policy(f"{method}:default").metadata["parameters"] == record["default_parameters"]
    assert record["suite"] == "cec2005-train" and record["command"].startswith(f"deddqn tune {method} --trials")
    assert set(record["score"]) == {"tuned", "default", "random"}


def test_a_study_resumes_where_it_stopped(tiny):
    study = open_study(tiny)
    next(search(tiny, study))  # one trial, then the process dies
    study.ask()  # and leaves a trial without a score
    again = open_study(tiny)
    assert len(finished(again)) == 1
    assert [trial.params for trial in finished(again)] == [default_parameters("rec-pm")]
    assert len(list(search(tiny, again))) == 2
    assert list(search(tiny, open_study(tiny))) == []
    record = decide(tiny, again)
    assert set(record["parameters"]) == {"gamma", "p_min"} and record["trials"] == 3
    assert record["suite"] == "cec2005-train" and record["command"].startswith("deddqn tune rec-pm --trials 3")


def test_a_tuning_that_was_interrupted_ends_with_the_values_of_one_that_was_not(tiny, tmp_path):
    """After any trial, also while one is under way; beyond the trials that the sampler only draws at random."""
    whole, parts = replace(tiny, trials=14, out=tmp_path / "whole"), replace(tiny, trials=14, out=tmp_path / "parts")
    list(search(whole, open_study(whole)))
    for stop in (1, 2, 9, 12, 14):
        study = open_study(parts)
        study.ask()  # as earlier versions left it when they were killed
        for _ in zip(search(parts, study), range(stop - len(finished(study))), strict=False):
            pass
    ends = [sorted(finished(open_study(each)), key=lambda trial: trial.number) for each in (whole, parts)]
    assert [(t.params, t.value) for t in ends[0]] == [(t.params, t.value) for t in ends[1]]
    assert {trial.state.name for trial in open_study(parts).trials} == {"COMPLETE", "FAIL"}


def test_the_same_seed_finds_the_same(tiny, tmp_path):
    other = replace(tiny, out=tmp_path / "again")
    studies = [open_study(each) for each in (tiny, other)]
    for each, study in zip((tiny, other), studies, strict=True):
        list(search(each, study))
    assert [t.params for t in studies[0].trials] == [t.params for t in studies[1].trials]


def test_the_study_maximises_the_rank_score(tiny):
    study = open_study(tiny)
    list(search(tiny, study))
    assert study.direction.name == "MAXIMIZE"
    values = [trial.value for trial in finished(study)]
    assert values == sorted(values, reverse=True) and study.best_value == values[0]


def test_other_settings_need_another_folder(tiny):
    open_study(tiny)
    with pytest.raises(ValueError, match=r"out must be a new folder.*runs 2 -> 3"):
        open_study(replace(tiny, runs=3))


def test_the_command(tiny, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(tuning_module, "FINALISTS", 1)
    arguments = ["tune", "rec-pm", "--trials", "2", "--runs", "2", "--budget", "300", "--out", str(tmp_path)]
    assert main(arguments) == 0
    assert "default" in capsys.readouterr().out
    record = json.loads((tmp_path / "rec-pm.json").read_text())
    assert record["default_parameters"] == {"gamma": 0.6, "p_min": 0.0}
    assert sorted(path.name for path in tmp_path.iterdir()) == [".rec-pm.lock", "rec-pm.db", "rec-pm.json"]
    with tiny.locked():
        assert main(arguments) == 2
    assert f"is in use by another process (pid {os.getpid()} on" in capsys.readouterr().err
    assert main(["tune", "rec-pn"]) == 2
    assert "did you mean 'rec-pm'" in capsys.readouterr().err
