"""Whether a training gave the weights that are recorded in the repository.

``python tools/training_checksum.py FOLDER`` compares the last weights of the training in FOLDER with the record; the
training is the one of docs/guide/training.md. Networks are trained with sums whose order depends on the processor and
the versions of the libraries, so the checksum must be the same where these are those of the record; elsewhere every
weight must lie within `TOLERANCE` of the recorded one. ``--write`` makes a new record.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import sys
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch
from llvmlite import binding
from numba import config
from safetensors import safe_open
from safetensors.numpy import load_file, save_file

from deddqn._utils.versions import installed
from deddqn.policies.files import read_policy_file
from deddqn.training.provenance import LIBRARIES

RECORD = Path(__file__).resolve().parents[1] / "tests" / "training" / "recorded.safetensors"
TOLERANCE = 1e-6
"""One step of Adam moves a weight a hundred times further; other instructions move it by less than a tenth of this."""

Weights = Mapping[str, np.ndarray]


def machine() -> dict[str, str]:
    """What the last bits of a training depend on."""
    return installed(LIBRARIES) | {
        "machine": platform.machine(),
        "processor": str(binding.get_host_cpu_name()),
        "vectors": str(torch.backends.cpu.get_cpu_capability()),
        "libc": " ".join(platform.libc_ver()),
        "compiled": str(not config.DISABLE_JIT),
    }


def checksum(weights: Weights) -> str:
    """SHA-256 of names, shapes and bits, in the order of the names."""
    found = hashlib.sha256()
    for name in sorted(weights):
        array = np.ascontiguousarray(weights[name])
        found.update(f"{name} {array.dtype} {array.shape}".encode())
        found.update(array.tobytes())
    return found.hexdigest()


def trained_weights(folder: Path) -> Weights:
    """The last weights of a training."""
    return read_policy_file(folder / "final.safetensors")[0]


def read_record(path: Path = RECORD) -> tuple[Weights, dict[str, str], str]:
    """The recorded weights, the machine that made them, and their checksum."""
    with safe_open(path, framework="np") as file:
        metadata = file.metadata()
    return load_file(path), json.loads(metadata["machine"]), metadata["sha256"]


def write_record(weights: Weights, path: Path = RECORD) -> None:
    """Record these weights as those of this machine."""
    temporary = path.with_name(f".{path.name}.tmp")
    save_file(dict(weights), temporary, metadata={"machine": json.dumps(machine()), "sha256": checksum(weights)})
    os.replace(temporary, path)


def judge(weights: Weights, here: Mapping[str, str]) -> tuple[bool, str]:
    """Whether weights that were trained on the machine `here` are those of the record, and why."""
    recorded, made_on, expected = read_record()
    shapes, wanted = ({name: array.shape for name, array in some.items()} for some in (weights, recorded))
    if shapes != wanted:
        return False, f"another network: {shapes} instead of {wanted}"
    furthest = max(float(np.abs(weights[name] - recorded[name]).max()) for name in recorded)
    if here == made_on:
        found = checksum(weights)
        same = found == expected
        return (
            same,
            f"sha256 {found}: {'as recorded' if same else f'{expected} is recorded'} (up to {furthest:.2g} apart)",
        )
    differs = ", ".join(
        f"{name} {here.get(name)} instead of {value}" for name, value in made_on.items() if here.get(name) != value
    )
    close = furthest <= TOLERANCE
    rule = "close enough" if close else f"further than {TOLERANCE:g}"
    return close, f"up to {furthest:.2g} from the record: {rule} (recorded with another {differs})"


def main(arguments: list[str] | None = None) -> int:
    """Compare or record; status 1 if the weights are others."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="the folder of the training")
    parser.add_argument("--write", action="store_true", help="record its weights")
    given = parser.parse_args(arguments)
    weights = trained_weights(given.folder)
    if given.write:
        write_record(weights)
    good, why = judge(weights, machine())
    print(why)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
