"""Training: evaluations and updates per second, of the paper's algorithm and with many runs.

*paper* is one run, batch 64 and one update per evaluation; MetaBox needs 5.6 ms per evaluation for the same. *ratio 1*
replays as many samples as there are evaluations. With ``--device cuda`` the ratios 8 and 64 are measured too.
"""

import argparse
import tempfile
import time
from dataclasses import dataclass

from benchmarks.bars import Bar, print_bars
from deddqn.training.config import TrainingConfig, preset
from deddqn.training.dqn.trainer import Trainer

PEER_MS = 5.6  # MetaBox, batch 64, one update per evaluation, two cores
SECONDS = 10.0
PAPER_EVALUATIONS = 6.05e8


@dataclass(frozen=True)
class Speed:
    """What a training did in a while, after it was warm."""

    name: str
    evaluations: float  # per second
    updates: float
    samples: float

    def line(self) -> str:
        """One row of the table."""
        return f"{self.name:<12}{self.evaluations:>14,.0f}{self.updates:>12,.1f}{self.samples:>16,.0f}"


CPU = {
    "paper": TrainingConfig(learning_starts=1000),
    "ratio 1": TrainingConfig(
        n_runs=256,
        rollout_steps=25,
        batch_size=4096,
        replay_ratio=1.0,
        learning_rate=1e-3,
        buffer_size=400_000,
        learning_starts=20_000,
        synchronous=False,
    ),
}
CUDA = {
    "ratio 8": preset("fast-r2", device="cuda", replay_ratio=8.0),
    "ratio 64": preset("fast-r2", device="cuda"),
    "n-step 64": preset("fast-rank", device="cuda"),
}


def measure(name: str, config: TrainingConfig, seconds: float) -> Speed:
    """Train for a while; what is compiled, captured and warmed up before is not counted."""
    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(config, folder, quiet=True)
        begun = 0.0
        first = (0, 0)

        def more() -> bool:
            return not begun or time.monotonic() - begun < seconds

        for rollout in trainer.actors.rollouts(more, overlapped=not config.synchronous):
            trainer.train_on(rollout)
            if not begun and trainer.learner.updates >= 20:
                trainer.learner.check_loss()
                begun, first = time.monotonic(), (trainer.evaluations, trainer.learner.updates)
        trainer.learner.check_loss()  # waits for the device
        took = time.monotonic() - begun
        evaluations, updates = trainer.evaluations - first[0], trainer.learner.updates - first[1]
        trainer.close()
    return Speed(name, evaluations / took, updates / took, updates * config.batch_size / took)


def main(device: str = "cpu", seconds: float = SECONDS) -> list[Bar]:
    """Measure and print; return the bars."""
    print(f"{'training':<12}{'evaluations/s':>14}{'updates/s':>12}{'samples/s':>16}")
    found = {}
    for name, config in (CPU if device == "cpu" else CUDA).items():
        found[name] = measure(name, config, seconds)
        print(found[name].line(), flush=True)
    bars = cpu_bars(found) if device == "cpu" else cuda_bars(found)
    print_bars(bars)
    return bars


def cpu_bars(found: dict[str, Speed]) -> list[Bar]:
    """What two cores should reach."""
    ratio = PEER_MS * found["paper"].evaluations / 1000.0
    return [
        Bar("training, batch 64, one update per evaluation, against MetaBox's 5.6 ms", ratio, 3.0, "x", False),
        Bar("training, replay ratio 1", found["ratio 1"].evaluations, 60e3, "evaluations/s", False),
    ]


def cuda_bars(found: dict[str, Speed]) -> list[Bar]:
    """What one GPU with 16 cores should reach."""
    minutes = PAPER_EVALUATIONS / found["ratio 64"].evaluations / 60.0
    return [
        Bar("training on CUDA, replay ratio 8", found["ratio 8"].evaluations, 1e6, "evaluations/s", False),
        Bar("training on CUDA, 6.05e8 evaluations at replay ratio 64", minutes, 15.0, "min"),
    ]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--seconds", type=float, default=SECONDS)
    main(**vars(parser.parse_args()))
