"""Tuning on a cluster finds the same, trial by trial."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from deddqn.experiments.tuning import Tuning, TuningProtocol, open_study, search

TINY = TuningProtocol(problems=("cec2005:F1/d10", "cec2005:F24/d10"), runs=3, budget=300, threads=1)


def test_the_same_errors_and_the_same_study(machines, tmp_path, monkeypatch):
    pytest.importorskip("optuna")
    from deddqn.distributed.experiments import cluster_evaluator

    monkeypatch.setattr(Tuning, "protocol", property(lambda self: replace(TINY, remote=self.remote)))
    with cluster_evaluator(machines.address) as remote:
        assert np.array_equal(
            replace(TINY, first=7, remote=remote).errors("f-auc"), replace(TINY, first=7).errors("f-auc")
        )
        assert remote.where == "2 nodes, 2 cores"
        studies = []
        for folder, place in (("here", None), ("there", remote)):
            tuning = Tuning(method="rec-pm", trials=3, runs=3, budget=300, out=tmp_path / folder, remote=place)
            studies.append(open_study(tuning))
            list(search(tuning, studies[-1]))
    here, there = ([(t.params, t.value) for t in study.trials] for study in studies)
    assert here == there


def test_runs_are_shared_out_where_there_are_more_cores_than_problems():
    pytest.importorskip("ray")
    from deddqn.distributed.experiments import _pieces

    pieces = list(_pieces(replace(TINY, runs=5, first=10), cores=6))
    assert [(p.problems[0], p.first, p.runs) for p in pieces[:3]] == [
        ("cec2005:F1/d10", 10, 2),
        ("cec2005:F1/d10", 12, 2),
        ("cec2005:F1/d10", 14, 1),
    ]
    assert len(pieces) == 6
