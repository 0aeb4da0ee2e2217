"""Training with actors on two real nodes: what is learned from, how old it is, and what a lost actor changes."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import ExitStack
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("torch")

from deddqn.cli import main
from deddqn.engine import RunSpec, VectorizedRuns
from deddqn.policies import load_policy_file, network_policy
from deddqn.problems import Problem
from deddqn.training.config import ClusterConfig, TrainingConfig
from deddqn.training.dqn.network import QNetwork
from deddqn.training.dqn.trainer import Trainer
from tests.distributed.conftest import PATHS

SMALL = TrainingConfig(
    problems=("cec2005:F1/d10", "cec2005:F9/d10"),
    population_size=10,
    budget=300,
    hidden=(16,),
    batch_size=32,
    buffer_size=4000,
    learning_starts=200,
    n_runs=6,
    rollout_steps=10,
    replay_ratio=4.0,
    cycles=12,
    synchronous=False,
    tensorboard=False,
)


def events(folder):
    return [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]


@pytest.fixture
def made(machines):
    """Makes trainers whose actors work on the cluster."""
    from deddqn.distributed.training import cluster_actors

    with cluster_actors(ClusterConfig(address=machines.address, actors=2)) as make:
        yield lambda config, out, kind=Trainer, **more: kind(config, out, quiet=True, actors=make, **more)


def check_usable(path, config):
    """The policy runs, and its weights are not those that the training began with."""
    policy, problems = load_policy_file(path), config.training_problems()
    lanes = VectorizedRuns([RunSpec(problem=p, policy=policy, config=config.de_config()) for p in problems])
    lanes.advance()
    assert np.isfinite(lanes.errors).all()
    before = network_policy(*zip(*QNetwork(99, config.hidden, 4, seed=config.seed).export(), strict=True))
    assert policy.setup.shape == before.setup.shape
    assert not np.allclose(policy.setup, before.setup)


class Watched(Trainer):
    """Checks after every rollout that actors do not outrun the learner, and in the end that every run was made once."""

    def train_on(self, rollout):
        super().train_on(rollout)
        self.ended = [*getattr(self, "ended", []), *(run.number for run in rollout.finished)]
        owed = int((self.decisions - self.skipped) * self.config.replay_ratio // self.config.batch_size)
        assert self.learner.updates == owed * (self.skipped < self.decisions)
        assert len(self.actors._pending) <= len(self.actors.handles)
        assert self.buffer.stored == self.decisions

    def check_runs(self):
        """Every number that was given out has ended, or is under way."""
        assert sorted([*self.ended, *self.actors.numbers.tolist()]) == list(range(self.actors.next_number))


def test_two_actors_one_learner(made, tmp_path):
    trainer = made(SMALL, tmp_path, Watched)
    assert trainer.run().done
    trainer.check_runs()
    cycles = [event for event in events(tmp_path) if event["event"] == "cycle"]
    assert cycles[-1]["actors"] == 2
    limit = ClusterConfig(address="auto", actors=2).max_staleness(SMALL)
    assert all(0 <= event["staleness"] <= event["max_staleness"] <= limit for event in cycles)
    assert max(event["max_staleness"] for event in cycles) > 0, "actors decide while the learner learns"
    check_usable(tmp_path / "best.safetensors", SMALL)


def test_a_node_joins_and_is_lost_on_the_way(machines, tmp_path):
    from deddqn.distributed.training import cluster_actors

    with ExitStack() as stack:

        class Struck(Watched):
            """Three actors for two cores; the third begins when a node joins, and is lost with it."""

            kill = None
            last = 0  # cycle to end with: five after the loss was noticed

            def _end_cycle(self, cycle):
                super()._end_cycle(cycle)
                if self.kill is None:
                    self.kill = stack.enter_context(machines.extra())
                elif self.actors.ready == 3:
                    self.kill()
                elif self.actors.lost and not self.last:
                    self.last = self.cycle_returns.finished + 5

            @property
            def done(self):
                return 0 < self.last <= self.cycle_returns.finished

        with cluster_actors(ClusterConfig(address=machines.address, actors=3)) as make:
            trainer = Struck(replace(SMALL, max_seconds=120.0), tmp_path, quiet=True, actors=make)
            assert trainer.run().done
    trainer.check_runs()
    cycles = [event for event in events(tmp_path) if event["event"] == "cycle"]
    present = [event["actors"] for event in cycles]
    assert (present[0] <= 2, max(present), present[-1]) == (True, 3, 2)
    assert cycles[-1]["lost_actors"] == 1
    check_usable(tmp_path / "final.safetensors", SMALL)


def test_a_training_goes_on_there_and_here(made, tmp_path):
    """Stopped on a cluster, resumed on a cluster, resumed in one process: one log, one buffer, one count of runs."""

    class Stopping(Trainer):
        def _end_cycle(self, cycle):
            super()._end_cycle(cycle)
            self.stopped = self.cycle_returns.finished >= 5

    first = made(SMALL, tmp_path, Stopping).run()
    assert not first.done
    trainer = made(SMALL, tmp_path, resume=True)
    assert (trainer.cycle_returns.finished, trainer.learner.updates) == (first.cycles, first.updates)
    assert trainer.buffer.stored == trainer.decisions > 0
    assert trainer.buffer.ends[trainer.buffer._first[:, 0] + (trainer.buffer.head - 1) % trainer.buffer.length].all()
    second = trainer.run()
    assert second.done
    third = Trainer(replace(SMALL, cycles=second.cycles + 3), tmp_path, quiet=True, resume=True).run()
    assert third.done
    cycles = [event["cycle"] for event in events(tmp_path) if event["event"] == "cycle"]
    assert len(cycles) == len(set(cycles)) == third.cycles


def test_rollouts_of_old_weights_are_counted_but_not_learned_from(made, tmp_path):
    from deddqn.distributed.training import Report

    trainer = made(SMALL, tmp_path)
    actors, limit = trainer.actors, trainer.actors.cluster_config.max_staleness(SMALL)
    handle = actors.handles[1]
    record = actors._buffer(handle.n_runs, trainer.learner.primary.export(), np.asarray)
    record.made[:] = 7
    actors.set_weights(trainer.learner.primary.export(), 1000)
    fresh = actors.accept(handle, Report(record, [], 1000 - limit))
    assert (fresh.first, fresh.decisions, fresh.unrecorded, fresh.truncate) == (3, 21, 0, True)
    following = actors.accept(handle, Report(record, [], 1000))
    assert (following.decisions, following.truncate) == (21, False)
    old = actors.accept(handle, Report(record, [], 1000 - limit - 1))
    assert (old.decisions, old.unrecorded, old.truncate, old.record.made.sum()) == (0, 21, True, 0)
    metrics = actors.metrics()
    assert (metrics["stale_rollouts"], metrics["max_staleness"]) == (1, limit)
    trainer.train_on(old)
    assert (trainer.decisions, trainer.evaluations, trainer.buffer.stored) == (0, 21, 0)


def test_the_command(machines, tmp_path, capsys):
    settings = "--problems cec2005:F1/d10 --budget 200 --population-size 10 --learning-starts 50 --cycles 2"
    settings += " --n-runs 4 --batch-size 32"
    command = ["train", "--preset", "fast-r2", *settings.split(), "--buffer-size", "400", "--rollout-steps", "5"]
    command += ["--evaluate-every", "0", "--cluster", machines.address, "--actors", "2", "--out", str(tmp_path)]
    assert main(command) == 0
    assert "done:" in capsys.readouterr().out
    assert (tmp_path / "best.safetensors").is_file()


@pytest.mark.parametrize(
    ("changes", "place", "message"),
    [
        ({"n_runs": 1}, {"actors": 2}, "n_runs must be at least one per actor"),
        ({"synchronous": True}, {"actors": 2}, "synchronous must be no on a cluster"),
        ({}, {"actors": 2, "staleness": 3}, r"staleness must be at least 12 updates with these settings, got 3"),
        ({}, {"actors": 0}, "actors must be at least 1; the cluster has no core for one, got 0"),
        ({}, {"actors": -1}, "actors must be 0 or more, got -1"),
    ],
)
def test_settings_that_do_not_go_together(changes, place, message):
    with pytest.raises(ValueError, match=message):
        ClusterConfig(address="auto", **place).check(replace(SMALL, **changes))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--actors", "3"], "actors must be left out without --cluster"),
        (["--cluster", "auto", "--grid", "paper"], "cluster must be left out with --grid"),
        (
            ["--cluster", "auto", "--preset", "softmax"],
            "cluster must be left out with the presets of the policy search",
        ),
    ],
)
def test_options_that_do_not_go_together(arguments, message, tmp_path, capsys):
    assert main(["train", "--out", str(tmp_path), *arguments]) == 2
    assert message in capsys.readouterr().err


def test_nodes_need_no_torch():
    pytest.importorskip("ray")
    code = "import sys, deddqn.distributed.training; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], env={"PYTHONPATH": PATHS}).returncode == 0


def test_a_problem_that_cannot_be_sent_is_named(made, tmp_path):
    lock = __import__("threading").Lock()
    problem = Problem.from_function(lambda x: float(lock.locked()), [(-1, 1)] * 2, name="locked", optimum=0.0)
    with pytest.raises(ValueError, match="a problem of the training cannot be sent"):
        made(SMALL, tmp_path, problems=[problem])
