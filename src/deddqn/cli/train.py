"""``deddqn train``: train a network by Double DQN, or search a policy (``--preset softmax`` or ``softmax-x``)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro

from deddqn._utils.optional_imports import need
from deddqn.cli.config_options import given_values, with_options
from deddqn.training.__main__ import run_settings
from deddqn.training.config import PRESETS, ClusterConfig, TrainingConfig
from deddqn.training.policy_search.config import SEARCH_PRESETS, PolicySearchConfig
from deddqn.training.strict_json import read_values

PaperGrid = Literal["paper"]
CONFIGS = {"network": TrainingConfig, "search": PolicySearchConfig}
CLUSTER_CONFIGS = {"on a cluster": ClusterConfig}


@dataclass(frozen=True, kw_only=True)
class TrainOptions:
    """Settings that are not given come from the preset, and what that does not say from the paper."""

    out: Annotated[Path, tyro.conf.arg(help="folder of the log, the checkpoints and the policies")]
    resume: Annotated[bool, tyro.conf.arg(help="continue from the newest checkpoint")] = False
    preset: Annotated[str, tyro.conf.arg(help=", ".join([*PRESETS, *SEARCH_PRESETS]))] = "paper-r2"
    config: Annotated[Path | None, tyro.conf.arg(help="a JSON file of settings, instead of a preset")] = None
    grid: Annotated[PaperGrid | None, tyro.conf.arg(help="3 rewards x 2 batch sizes x 2 depths, and the choice")] = None
    cluster: Annotated[
        str | None,
        tyro.conf.arg(help="actors on a Ray cluster: 'auto', or HOST:PORT of its head (docs/guide/distributed.md)"),
    ] = None


Options = with_options(with_options(TrainOptions, CLUSTER_CONFIGS, without=("address",)), CONFIGS)


def settings_of(options: TrainOptions) -> dict[str, Any]:
    """The settings that were given, as in a JSON file."""
    base = read_values(options.config) if options.config is not None else {"preset": options.preset}
    return {**base, **given_values(options, *CONFIGS.values())}


def cluster_of(options: TrainOptions) -> ClusterConfig | None:
    """Where the actors work, if on a cluster."""
    given = given_values(options, ClusterConfig)
    if options.cluster is None:
        if given:
            raise ValueError(f"{', '.join(given)} must be left out without --cluster, got {given}")
        return None
    if options.grid is not None:
        raise ValueError("cluster must be left out with --grid: its networks learn from one run each")
    return ClusterConfig(address=options.cluster, **given)


def run(options: TrainOptions) -> int:
    """Train, search, or train the grid."""
    settings, cluster = settings_of(options), cluster_of(options)
    if options.grid is not None:
        need("torch", "training a network", "train")
        from deddqn.training.dqn.paper_grid import paper_grid

        print(paper_grid(settings, options.out, resume=options.resume))
        return 0
    return run_settings(settings, options.out, resume=options.resume, cluster=cluster)
