"""Training: evaluations and updates per second, of the paper's algorithm and with many lanes.

*paper* is one lane, batch 64 and one update per evaluation; MetaBox needs 5.6 ms per evaluation for the same. *ratio 1*
replays as many samples as there are evaluations. With ``--device cuda`` the ratios 8 and 64 are measured too.
"""

import argparse
import tempfile
import time
from dataclasses import dataclass

from deddqn.training.config import TrainingConfig
from deddqn.training.trainer import Trainer

PEER_MS = 5.6  # MetaBox, batch 64, one update per evaluation, two cores
SECONDS = 10.0


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
    "paper": TrainingConfig(warmup=1000),
    "ratio 1": TrainingConfig(
        lanes=256,
        decisions=25,
        batch=4096,
        replay_ratio=1.0,
        learning_rate=1e-3,
        memory=400_000,
        warmup=20_000,
        synchronous=False,
    ),
}
MANY = {
    "lanes": 1024,
    "decisions": 25,
    "batch": 65_536,
    "learning_rate": 1e-3,
    "target_sync": 100,
    "memory": 10_240_000,
    "warmup": 200_000,
    "synchronous": False,
    "device": "cuda",
}
CUDA = {
    "ratio 8": TrainingConfig(**MANY, replay_ratio=8.0),
    "ratio 64": TrainingConfig(**MANY, replay_ratio=64.0),
    "n-step 64": TrainingConfig(**{**MANY, "n_step": 100, "gamma": 0.999}, replay_ratio=64.0),
}


def measure(name: str, config: TrainingConfig, seconds: float) -> Speed:
    """Train for a while; what is compiled, captured and warmed up before is not counted."""
    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(config, folder, quiet=True)
        begun = 0.0
        first = (0, 0)

        def more() -> bool:
            return not begun or time.monotonic() - begun < seconds

        for tick in trainer.actors.ticks(more, overlapped=not config.synchronous):
            trainer.digest(tick)
            if not begun and trainer.learner.updates >= 20:
                trainer.learner.check_loss()
                begun, first = time.monotonic(), (trainer.evaluations, trainer.learner.updates)
        trainer.learner.check_loss()  # waits for the device
        took = time.monotonic() - begun
        evaluations, updates = trainer.evaluations - first[0], trainer.learner.updates - first[1]
        trainer.log.close()
    return Speed(name, evaluations / took, updates / took, updates * config.batch / took)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--seconds", type=float, default=SECONDS)
    given = parser.parse_args()
    print(f"{'training':<12}{'evaluations/s':>14}{'updates/s':>12}{'samples/s':>16}")
    for name, config in (CPU if given.device == "cpu" else CUDA).items():
        speed = measure(name, config, given.seconds)
        print(speed.line(), flush=True)
        if name == "paper":
            took = 1000.0 / speed.evaluations
            print(f"{'':<12}{took:.2f} ms per evaluation: {PEER_MS / took:.1f} x the speed of MetaBox ({PEER_MS} ms)")


if __name__ == "__main__":
    main()
