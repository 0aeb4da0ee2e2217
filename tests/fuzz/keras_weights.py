"""``python -m tests.fuzz.keras_weights --mutants 6000``: what the HDF5 library makes of damaged weight files.

Every mutant is read in a process of its own, as `deddqn import` does; the campaign counts how these processes end. Some
of them crash or hang: that is why there is another process, and no failure.
"""

from __future__ import annotations

import argparse
import os
import signal
import tempfile
from collections import Counter
from pathlib import Path
from random import Random

import h5py

from deddqn._utils.hdf5_reader import read_layers
from tests.policies.keras_files import random_layers, write_keras

SECONDS = 20


def structure(path: Path) -> list[int]:
    """The places of a file where no weights lie."""
    places = set(range(path.stat().st_size))
    with h5py.File(path) as file:

        def leave_out(name: str, member: object) -> None:
            if isinstance(member, h5py.Dataset):
                start = member.id.get_offset()
                places.difference_update(range(start, start + member.nbytes))

        file.visititems(leave_out)
    return sorted(places)


def mutant(rng: Random, content: bytes, places: list[int]) -> bytes:
    """A file that ends early, or has some other bytes in these places."""
    if rng.random() < 0.25:
        return content[: rng.randrange(len(content))]
    changed = bytearray(content)
    for _ in range(rng.choice([1, 1, 2, 5, 20])):
        at = rng.choice(places)
        changed[at] = rng.choice([0, 255, rng.randrange(256), changed[at] ^ (1 << rng.randrange(8))])
    return bytes(changed)


def outcome(content: bytes) -> str:
    """How a process ends that reads `content`."""
    process = os.fork()
    if process == 0:
        signal.alarm(SECONDS)
        try:
            read_layers(content)
            os._exit(0)
        except Exception:
            os._exit(1)
    status = os.waitpid(process, 0)[1]
    if os.WIFSIGNALED(status):
        return "hung" if os.WTERMSIG(status) == signal.SIGALRM else "crashed"
    return "read" if os.WEXITSTATUS(status) == 0 else "refused"


def main() -> None:
    """Count the ends."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.keras_weights", description=__doc__)
    parser.add_argument("--mutants", type=int, default=6000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--weights", type=Path, help="file to mutate; one of random weights by default")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = options.weights or write_keras(Path(folder) / "weights.h5f", random_layers())
        content, places = path.read_bytes(), structure(path)
    random = (Random(f"{options.seed} {k}") for k in range(options.mutants))
    counted = Counter(outcome(mutant(rng, content, places)) for rng in random)
    print(", ".join(f"{counted[word]} {word}" for word in ("refused", "read", "hung", "crashed")))


if __name__ == "__main__":
    main()
