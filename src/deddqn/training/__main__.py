"""``python -m deddqn.training CONFIG.json --out DIR [--resume]``: needs numpy, scipy, numba, torch, safetensors."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from deddqn.training.checkpoint import checkpoints
from deddqn.training.config import TrainingConfig
from deddqn.training.search import SEARCH_PRESETS, Search, SearchConfig
from deddqn.training.settings import read_values


def main(arguments: list[str] | None = None) -> int:
    """Train as a JSON file says (``{"preset": "paper-r2", "lanes": 32, ...}``); return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m deddqn.training", description=__doc__)
    parser.add_argument("config", type=Path, help="a JSON file of settings")
    parser.add_argument("--out", type=Path, default=None, help="folder of the results (default: beside the config)")
    parser.add_argument("--resume", action="store_true", help="go on from the newest checkpoint, if there is one")
    given = parser.parse_args(arguments)
    out = given.out if given.out is not None else given.config.with_suffix("")
    try:
        return run_settings(read_values(given.config), out, resume=given.resume)
    except (ValueError, KeyError, OSError) as error:
        print(f"{given.config}: {error}", file=sys.stderr)
        return 2


def run_settings(values: Mapping[str, Any], out: Path, *, resume: bool = False) -> int:
    """Train, or with one of the presets of the search search, as the settings say."""
    found = resume and bool(checkpoints(out))
    if values.get("preset") in SEARCH_PRESETS:
        return run_search(SearchConfig.from_json(values), out, resume=found)
    return run_training(TrainingConfig.from_json(values), out, resume=found)


def _stop_by_signal(trainer: Any) -> None:
    """Make SIGINT and SIGTERM end the training with a checkpoint."""

    def stop(number: int, frame: Any) -> None:
        trainer.stopped = True

    for sign in (signal.SIGINT, signal.SIGTERM):
        signal.signal(sign, stop)


def run_training(config: TrainingConfig, out: Path, *, resume: bool = False) -> int:
    """Train until done, stopped by a signal or out of time."""
    from deddqn.training.learner import NonFiniteLossError
    from deddqn.training.trainer import Trainer

    trainer = Trainer(config, out, resume=resume)
    _stop_by_signal(trainer)
    try:
        result = trainer.run()
    except NonFiniteLossError as error:
        print(error, file=sys.stderr)
        return 1
    state = "done" if result.done else "stopped; go on with --resume"
    print(
        f"{state}: {result.cycles} cycles, {result.evaluations:,} evaluations, {result.updates:,} updates, "
        f"best mean return {result.best_return:.6g} (cycle {result.best_cycle}) -> {result.folder}"
    )
    return 0


def run_search(config: SearchConfig, out: Path, *, resume: bool = False) -> int:
    """Search until done, stopped by a signal or out of time."""
    search = Search(config, out, resume=resume)
    _stop_by_signal(search)
    score = search.run()
    state = "done" if search.done else "stopped; go on with --resume"
    print(f"{state}: {search.cma.generation} generations, best rank score {score:.4f} -> {out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
