"""The options of ``deddqn train`` are the fields of the settings."""

from dataclasses import dataclass, fields
from typing import get_type_hints

import pytest
import tyro

from deddqn.cli import main
from deddqn.cli.config_options import given_values, option_type, parameter_texts, with_options
from deddqn.cli.train import Options, cluster_of, settings_of
from deddqn.training.config import ClusterConfig, TrainingConfig
from deddqn.training.policy_search.config import PolicySearchConfig


@pytest.mark.parametrize("config", [TrainingConfig, PolicySearchConfig, ClusterConfig])
def test_every_setting_is_an_option_with_a_text(config, capsys):
    names = {field.name for field in fields(config)} - {"address"}
    assert names <= {field.name for field in fields(Options)}
    assert names <= parameter_texts(config).keys()
    with pytest.raises(SystemExit):
        main(["train", "--help"])
    text = capsys.readouterr().out
    assert all(f"--{name.replace('_', '-')} " in text for name in names)


@pytest.mark.parametrize("config", [TrainingConfig, PolicySearchConfig])
def test_every_default_survives_the_command_line(config):
    """Written out as options, the defaults are the defaults; portfolios are given by name."""
    defaults, words = config(), ["--out", "x"]
    for name, kind in get_type_hints(config).items():
        value = getattr(defaults, name)
        if name == "portfolio":
            value = "paper"
        elif option_type(kind) is str and not value:
            continue
        values = (
            value if isinstance(value, tuple) else ["yes" if value else "no"] if isinstance(value, bool) else [value]
        )
        words += [f"--{name.replace('_', '-')}", *map(str, values)] if values else []
    settings = given_values(tyro.cli(Options, args=words), TrainingConfig, PolicySearchConfig)
    assert config.from_json(settings) == defaults
    assert {type(settings[name]) for name in ("seed", "max_seconds", "tensorboard")} == {int, float, bool}


def test_what_is_not_given_is_not_a_setting():
    options = tyro.cli(Options, args=["--out", "x", "--pbest", "0.2", "--archive", "2", "--restart-tolerance", "0.01"])
    assert settings_of(options) == {"preset": "paper-r2", "pbest": 0.2, "archive": 2.0, "restart_tolerance": 0.01}
    assert cluster_of(options) is None
    on_cluster = tyro.cli(Options, args=["--out", "x", "--cluster", "auto", "--staleness", "9"])
    assert cluster_of(on_cluster) == ClusterConfig(address="auto", staleness=9)


def test_a_new_field_is_a_new_option():
    @dataclass(frozen=True)
    class Base:
        """Nothing yet."""

    @dataclass(frozen=True)
    class One:
        """Settings.

        Parameters
        ----------
        size : how large, in a text
            of two lines.
        kinds : which ones.
        """

        size: int = 3
        kinds: tuple[str, ...] = ()

    made = with_options(Base, {"one": One})
    assert parameter_texts(One) == {"size": "how large, in a text of two lines.", "kinds": "which ones."}
    assert given_values(tyro.cli(made, args=["--kinds", "a", "b"]), One) == {"kinds": ["a", "b"]}
