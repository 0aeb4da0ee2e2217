"""Faults of a driver whose work is done on a cluster: nothing is lost, and the same call goes on."""

from __future__ import annotations

import errno
import os
import signal

import pytest

from deddqn._utils.lock import FolderInUse
from deddqn.experiments import StoreError, compare, plan_experiment, run_experiment
from tests.experiments.methods_for_tests import PROBLEMS, rows

WHAT = {"methods": ["random", "de1"], "problems": PROBLEMS, "runs": 2, "budget": 300}


@pytest.fixture
def full_after(monkeypatch):
    """``full_after(n)``: the disk is full after so many calls of fsync."""

    def begin(calls: int) -> None:
        real, seen = os.fsync, []

        def fsync(handle):
            seen.append(handle)
            if len(seen) > calls:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            real(handle)

        monkeypatch.setattr(os, "fsync", fsync)

    return begin


def test_a_comparison_goes_on_after_a_full_disk_and_ctrl_c(machines, tmp_path, full_after, monkeypatch):
    folder = tmp_path / "cluster"
    compare(**WHAT, out=tmp_path / "local")
    with pytest.raises(StoreError, match="the disk is full"):
        full_after(4)
        compare(**WHAT, out=folder, cluster=machines.address)
    monkeypatch.undo()
    stored = len(rows(folder))
    assert stored < 8
    planned = plan_experiment(**WHAT)
    with pytest.raises(KeyboardInterrupt):
        run_experiment(
            planned,
            folder,
            cluster=machines.address,
            on_start=lambda *_: lambda done: signal.raise_signal(signal.SIGINT),
        )
    assert stored < len(rows(folder)) <= 8
    compare(**WHAT, out=folder, cluster=machines.address)
    assert rows(folder) == rows(tmp_path / "local")


def test_a_training_goes_on_after_a_full_disk_and_lets_no_second_one_in(machines, tmp_path, full_after, monkeypatch):
    pytest.importorskip("torch")
    from deddqn.distributed.training import cluster_actors
    from deddqn.training.config import ClusterConfig
    from deddqn.training.dqn.trainer import Trainer
    from tests.distributed.test_distributed_train import SMALL, events

    with cluster_actors(ClusterConfig(address=machines.address, actors=2)) as make:
        trainer = Trainer(SMALL, tmp_path, quiet=True, actors=make)
        with pytest.raises(FolderInUse, match="in use by another process"):
            Trainer(SMALL, tmp_path, quiet=True, actors=make, resume=True)
        full_after(0)
        with pytest.raises(OSError, match="No space left"):
            trainer.run()
        monkeypatch.undo()
        assert Trainer(SMALL, tmp_path, quiet=True, actors=make, resume=True).run().done
    cycles = [event["cycle"] for event in events(tmp_path) if event["event"] == "cycle"]
    assert len(cycles) == len(set(cycles)) >= SMALL.cycles
