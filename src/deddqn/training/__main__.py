"""``python -m deddqn.training CONFIG.json --out DIR [--resume]``: needs numpy, scipy, numba, torch, safetensors."""

from __future__ import annotations

import argparse
import signal
import sys
from pathlib import Path
from typing import Any

from deddqn.training.checkpoint import checkpoints
from deddqn.training.config import TrainingConfig


def main(arguments: list[str] | None = None) -> int:
    """Train as a JSON file says (``{"preset": "paper-r2", "lanes": 32, ...}``); return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m deddqn.training", description=__doc__)
    parser.add_argument("config", type=Path, help="a JSON file of settings")
    parser.add_argument("--out", type=Path, default=None, help="folder of the results (default: beside the config)")
    parser.add_argument("--resume", action="store_true", help="go on from the newest checkpoint, if there is one")
    given = parser.parse_args(arguments)
    try:
        config = TrainingConfig.read(given.config)
    except (ValueError, OSError) as error:
        print(f"{given.config}: {error}", file=sys.stderr)
        return 2
    out = given.out if given.out is not None else given.config.with_suffix("")
    return run_training(config, out, resume=given.resume)


def run_training(config: TrainingConfig, out: Path, *, resume: bool = False) -> int:
    """Train until done, stopped by a signal (a checkpoint is written first) or out of time."""
    from deddqn.training.learner import NonFiniteLossError
    from deddqn.training.trainer import Trainer

    try:
        trainer = Trainer(config, out, resume=resume and bool(checkpoints(out)))
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2

    def stop(number: int, frame: Any) -> None:
        trainer.stopped = True

    for sign in (signal.SIGINT, signal.SIGTERM):
        signal.signal(sign, stop)
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


if __name__ == "__main__":
    sys.exit(main())
