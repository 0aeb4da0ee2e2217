"""``deddqn import WEIGHTS.h5f --out FILE``: a network that was trained with Keras, as a policy file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import tyro


@dataclass(frozen=True, kw_only=True)
class Options:
    """For networks with the layers of the paper's, 99-100-100-100-100-4, such as those that its authors released."""

    weights: Annotated[
        Path, tyro.conf.Positional, tyro.conf.arg(metavar="WEIGHTS", help="weight file of Keras or keras-rl (HDF5)")
    ]
    out: Annotated[Path, tyro.conf.arg(help="the policy file (.safetensors) to write")]
    state: Annotated[
        Literal["authors", "paper"],
        tyro.conf.arg(
            help="what it was trained on: the state as the authors' code computes it, or as Table 1 prints it"
        ),
    ] = "authors"
    max_dimension: Annotated[
        int | None, tyro.conf.arg(help="dim^max of Table 1 row 5; 50 for the authors' state, 30 for the paper's")
    ] = None
    name: Annotated[str | None, tyro.conf.arg(help="of the policy; that of the weight file by default")] = None


def run(options: Options) -> int:
    """Write the policy file and say how to use it."""
    from deddqn.policies import load_policy
    from deddqn.policies.keras_import import WIDTHS, import_keras

    import_keras(
        options.weights, options.out, state=options.state, max_dimension=options.max_dimension, name=options.name
    )
    policy = load_policy(options.out)
    print(f"{policy.name}: a network {'-'.join(map(str, WIDTHS))} that reads the state {options.state!r}")
    print(f"next: deddqn compare --methods {options.out} random --suite cec2005-train --out FOLDER")
    return 0
