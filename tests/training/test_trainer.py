"""The trainer as a whole: it learns what pays, it is deterministic, it refuses what is not finite."""

import json
from itertools import product

import numpy as np
import pytest

from deddqn.engine import RunSpec, VectorizedRuns
from deddqn.features.layout import AT
from deddqn.policies import load_policy, load_policy_file, network_policy
from deddqn.problems import Problem
from deddqn.training.config import TrainingConfig
from deddqn.training.dqn.learner import NonFiniteLossError
from deddqn.training.dqn.trainer import Trainer, train

SMALL = {
    "problems": ("cec2005:F1/d10", "cec2005:F9/d10"),
    "population_size": 10,
    "budget": 300,
    "hidden": (16,),
    "batch_size": 32,
    "buffer_size": 2000,
    "learning_starts": 200,
    "learning_rate": 3e-3,
    "tensorboard": False,
}


class RiggedTrainer(Trainer):
    """Operator 1 pays in the first half of a run, operator 2 in the second, whatever the search does."""

    def train_on(self, rollout):
        early = rollout.record.states[:, :-1, AT["remaining_budget"]] > 0.5
        rollout.record.rewards[:] = rollout.record.actions == np.where(early, 1, 2)
        super().train_on(rollout)


@pytest.mark.parametrize("synchronous", [True, False])
def test_a_strategy_that_pays_only_in_a_part_of_the_run_is_learned(tmp_path, synchronous):
    config = TrainingConfig(
        **SMALL,
        n_runs=8,
        rollout_steps=10,
        replay_ratio=8.0,
        gamma=0.5,
        target_update_interval=50,
        cycles=40,
        synchronous=synchronous,
    )
    RiggedTrainer(config, tmp_path, quiet=True).run()
    policy = load_policy_file(tmp_path / "final.safetensors")
    runs = VectorizedRuns(
        [
            RunSpec(problem=p, policy=policy, config=config.de_config(), observe=True, seed=99)
            for p in config.training_problems()
        ]
    )
    record = runs.record(290)
    early = record.states[:, :, AT["remaining_budget"]] > 0.5
    paying = record.actions == np.where(early, 1, 2)
    least = 0.9 if synchronous else 0.6  # on a busy machine the learner may lag behind; a uniform policy gets 0.25
    assert paying[:, 10:].mean() > least


def test_the_same_settings_give_the_same_files(tmp_path):
    config = TrainingConfig(**SMALL, n_runs=4, rollout_steps=5, replay_ratio=4.0, cycles=3, evaluate_every=2)
    for name in ("a", "b"):
        assert train(config, tmp_path / name).done
    for name in ("best", "final", "ranked"):
        files = [(tmp_path / k / f"{name}.safetensors").read_bytes() for k in "ab"]
        assert files[0] == files[1]
    provenance = load_policy_file(tmp_path / "a" / "best.safetensors").metadata["provenance"]
    assert provenance["problems"] == list(config.problems)
    assert provenance["deviations"]["n_runs"] == [1, 4]
    events = [json.loads(line) for line in (tmp_path / "a" / "log.jsonl").read_text().splitlines()]
    assert [e["event"] for e in events].count("cycle") >= 3  # four runs end at the same time
    assert {e["event"] for e in events} == {"cycle", "evaluation"}


def test_the_best_cycles_weights_are_kept(tmp_path):
    """Sect. 5.1."""
    config = TrainingConfig(**SMALL, n_runs=2, rollout_steps=10, replay_ratio=1.0, cycles=6)
    result = Trainer(config, tmp_path, quiet=True).run()
    summary = json.loads((tmp_path / "summary.json").read_text())
    means = dict(map(tuple, summary["curve"]))
    assert result.best_return == max(means.values()) == means[result.best_cycle]


def test_a_moving_average_changes_what_is_judged_and_nothing_that_is_learned(tmp_path):
    settings = {**SMALL, "n_runs": 2, "rollout_steps": 5, "replay_ratio": 4.0, "cycles": 3, "evaluate_every": 1}
    plain, averaged = (
        Trainer(TrainingConfig(**settings, ema_window=n), tmp_path / str(n), quiet=True) for n in (0, 40)
    )
    for trainer in (plain, averaged):
        trainer.run()
    assert (plain.learner.primary.flat == averaged.learner.primary.flat).all()
    assert plain.cycle_returns.curve == averaged.cycle_returns.curve
    files = {
        (n, name): load_policy(tmp_path / n / f"{name}.safetensors").setup
        for n, name in product(("0", "40"), ("best", "final"))
    }
    assert np.array_equal(files["0", "best"], files["40", "best"])
    assert not np.array_equal(files["0", "final"], files["40", "final"])
    layers = averaged.learner.average.export()
    assert np.array_equal(files["40", "final"], network_policy(*zip(*layers, strict=True)).setup)


def test_an_average_that_is_asked_for_later_begins_there(tmp_path):
    settings = {**SMALL, "n_runs": 2, "rollout_steps": 5, "replay_ratio": 4.0}
    train(TrainingConfig(**settings, cycles=1), tmp_path)
    later = Trainer(TrainingConfig(**settings, cycles=2, ema_window=40), tmp_path, resume=True, quiet=True)
    assert later.learner.updates > 0
    assert (later.learner.average.flat == later.learner.primary.flat).all()
    later.run()
    assert not (later.learner.average.flat == later.learner.primary.flat).all()
    again = Trainer(TrainingConfig(**settings, cycles=3, ema_window=40), tmp_path, resume=True, quiet=True)
    assert (again.learner.average.flat == later.learner.average.flat).all()


def test_training_on_a_function_of_the_user_with_another_portfolio(tmp_path):
    problem = Problem.from_function(lambda x: float(np.abs(x).sum()), [(-5, 5)] * 3, name="user")
    config = TrainingConfig(
        **SMALL, portfolio=(("rand/1", 0.5, 0.9), ("rand-to-best/2", 0.7, 1.0)), n_runs=2, cycles=2, reward="progress"
    )
    train(config, tmp_path, problems=[problem])
    policy = load_policy(str(tmp_path / "best.safetensors"))
    assert (len(policy.portfolio), policy.max_dimension) == (2, 3)


def test_rewards_that_explode_stop_the_training_and_leave_no_policy(tmp_path):
    config = TrainingConfig(**{**SMALL, "problems": ("cec2005:F6/d10",)}, reward="R1", reward_scale=1e20, cycles=3)
    with pytest.raises(NonFiniteLossError, match="lower learning_rate"):
        train(config, tmp_path)
    assert not list(tmp_path.glob("*.safetensors"))


@pytest.mark.parametrize("reward", ["progress", "rank"])
def test_rewards_with_tables_add_up_to_where_the_run_ended(tmp_path, reward):
    from deddqn.evaluation import evaluate_policy
    from deddqn.rewards import potential
    from deddqn.training.dqn.reward_tables import reward_tables

    config = TrainingConfig(**SMALL)
    problems = config.training_problems()
    tables = reward_tables(reward, problems, config.de_config())
    found = evaluate_policy(
        load_policy("de3"),
        problems,
        repeats=3,
        config=config.de_config(),
        reward=reward,
        reward_setups=tables,
    )
    for problem, table, errors, returns in zip(problems, tables, found.errors, found.returns, strict=True):
        n = len(table) // 2
        assert (np.diff(table[:n]) < 0).all() and (np.diff(table[n:]) >= 0).all()
        ends = np.array([potential(e + problem.optimum, table) for e in errors])
        starts = ends - returns
        assert (starts >= table[n] - 1e-12).all() and (starts < ends).all()
