"""Settings: the paper's values are the defaults, and what is not known is an error that suggests a neighbour."""

import json

import pytest

from deddqn.training.config import PRESETS, TrainingConfig, preset


def test_the_defaults_are_table_2():
    """Table 2."""
    config = TrainingConfig()
    assert config.hidden == (100, 100, 100, 100)
    assert (config.learning_rate, config.gamma, config.epsilon) == (1e-4, 0.99, 0.1)
    assert (config.batch_size, config.replay_ratio, config.n_runs, config.rollout_steps) == (64, 64.0, 1, 1)
    assert (config.target_update_interval, config.buffer_size, config.learning_starts) == (1000, 100_000, 10_000)
    assert (config.population_size, config.budget, config.cycles) == (100, 10_000, 1890)
    assert (config.loss, config.n_step, config.synchronous) == ("squared", 1, True)
    assert len(config.training_problems()) == 32


@pytest.mark.parametrize("name", PRESETS)
def test_presets_survive_json(name):
    config = preset(name)
    assert TrainingConfig.from_json(json.loads(json.dumps(config.to_json()))) == config
    assert TrainingConfig.from_json({"preset": name}) == config


def test_unknown_settings_suggest_a_neighbour():
    with pytest.raises(ValueError, match="unknown setting 'leraning_rate'; did you mean 'learning_rate'"):
        TrainingConfig.from_json({"leraning_rate": 0.1})
    with pytest.raises(ValueError, match="did you mean 'paper-r2'"):
        TrainingConfig.from_json({"preset": "paper-r22"})
    with pytest.raises(ValueError, match="did you mean 'huber'"):
        TrainingConfig(loss="hubert")
    with pytest.raises(KeyError, match="unknown reward 'R4'"):
        TrainingConfig(reward="R4")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"batch_size": 1.5}, "batch_size must be of type int, got 1.5"),
        ({"synchronous": 1}, "synchronous must be of type bool, got 1"),
        ({"gamma": 1.5}, r"gamma must be in \[0, 1\], got 1.5"),
        (
            {"n_runs": 100, "learning_starts": 50},
            "learning_starts must be at least n_runs x n_step = 100 transitions, got 50",
        ),
        ({"portfolio": [["rand/9", 0.5, 1.0]]}, "unknown strategy"),
        ({"population_size": 3}, "population_size must be at least 6"),
        ({"n_candidates": 0}, "n_candidates must be at least 1"),
        ({"n_candidates": 17}, "n_candidates must be at most 16, got 17"),
        ({"n_candidates": True}, "n_candidates must be of type int, got True"),
    ],
)
def test_wrong_values_are_refused_with_the_rule(values, message):
    with pytest.raises((ValueError, KeyError), match=message):
        TrainingConfig.from_json(values)


def test_a_file_that_is_not_a_config_is_refused(tmp_path):
    path = tmp_path / "config.json"
    path.write_text("[1, 2]")
    with pytest.raises(ValueError, match="is not a settings file .*: it must be an object"):
        TrainingConfig.read(path)
    path.write_text("{")
    with pytest.raises(ValueError, match="is not a settings file"):
        TrainingConfig.read(path)
