"""``python -m deddqn.training CONFIG.json --out DIR [--resume]``: needs numpy, scipy, numba, torch, safetensors."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from deddqn.training.api import TrainingFailed, config_of, learn
from deddqn.training.config import ClusterConfig
from deddqn.training.strict_json import read_values


def main(arguments: list[str] | None = None) -> int:
    """Train as a JSON file says (``{"preset": "paper-r2", "n_runs": 32, ...}``); return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m deddqn.training", description=__doc__)
    parser.add_argument("config", type=Path, help="a JSON file of settings")
    parser.add_argument("--out", type=Path, default=None, help="folder of the results (default: beside the config)")
    parser.add_argument("--resume", action="store_true", help="continue from the newest checkpoint, if there is one")
    given = parser.parse_args(arguments)
    out = given.out if given.out is not None else given.config.with_suffix("")
    try:
        return run_settings(read_values(given.config), out, resume=given.resume)
    except (ValueError, KeyError, OSError) as error:
        print(f"{given.config}: {error}", file=sys.stderr)
        return 2


def run_settings(
    values: Mapping[str, Any], out: Path, *, resume: bool = False, cluster: ClusterConfig | None = None
) -> int:
    """Train a network, or search a policy with one of the presets of the policy search, as the settings say."""
    try:
        print(learn(config_of(values), out, resume=resume, cluster=cluster).summary)
    except TrainingFailed as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
