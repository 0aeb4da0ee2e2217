"""Networks from Keras: weight files (HDF5) of the shape that the paper's authors released, as policy files.

Such a file has no portfolio, no state and no settings; what the authors used is assumed: the paper's four strategies in
its order, rectified hidden layers, and features as their code computes them (`deddqn.features.STATES`).
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from deddqn._utils.disk_errors import clear_errors
from deddqn._utils.optional_imports import need
from deddqn._utils.reading import read_keras_layers, read_limited, refusing
from deddqn.de.portfolio import PAPER
from deddqn.features.layout import AUTHORS_STATE, PAPER_STATE, check_state
from deddqn.policies.q_network import save_policy

WIDTHS = (99, 100, 100, 100, 100, 4)
"""Inputs, hidden layers and outputs of the paper's networks."""

MAX_DIMENSIONS = {AUTHORS_STATE: 50, PAPER_STATE: 30}
"""dim^max of Table 1 row 5: the authors divide by 50."""

LARGEST_FILE = 2**26
WHAT = "a Keras weight file that can be imported"


class KerasNetwork(NamedTuple):
    """The layers of a file, weights as ``(outputs, inputs)``, and where they come from."""

    weights: list[np.ndarray]
    biases: list[np.ndarray]
    provenance: dict[str, Any]


def read_keras_network(path: str | os.PathLike[str]) -> KerasNetwork:
    """Read a weight file; one that is damaged, has other layers or is not finite is refused with the reason."""
    need("h5py", "weight files of Keras", "keras")
    try:
        with refusing(path, WHAT):
            content = read_limited(path, LARGEST_FILE)
            arrays, metadata = read_keras_layers(content)
            layers: list[str] = json.loads(metadata["layers"])
            _check_layers(layers, arrays)
    except FileNotFoundError:
        raise ValueError(f"no weight file at {os.fspath(path)}") from None
    weights = [np.ascontiguousarray(arrays[f"{layer}/kernel"].T) for layer in layers]
    provenance: dict[str, Any] = {
        "imported_from": Path(path).name,
        "sha256": hashlib.sha256(content).hexdigest(),
        "what": "weights of a Keras model, kernels transposed",
        **{key: metadata[key] for key in ("keras_version", "backend") if key in metadata},
    }
    return KerasNetwork(weights, [arrays[f"{layer}/bias"] for layer in layers], provenance)


def _check_layers(layers: list[str], arrays: dict[str, np.ndarray]) -> None:
    widths = "-".join(map(str, WIDTHS))
    if len(layers) != len(WIDTHS) - 1:
        raise ValueError(f"it must have {len(WIDTHS) - 1} layers with weights ({widths}), got {len(layers)}: {layers}")
    wanted: dict[str, tuple[int, ...]] = {}
    for layer, n_in, n_out in zip(layers, WIDTHS, WIDTHS[1:], strict=False):
        wanted |= {f"{layer}/kernel": (n_in, n_out), f"{layer}/bias": (n_out,)}
    for key, shape in wanted.items():
        (layer, _, kind), array = key.rpartition("/"), arrays.get(key, np.empty(0))
        if key not in arrays or array.shape != shape:
            found = array.shape if key in arrays else "none"
            raise ValueError(f"layer {layer!r} must have a {kind} of shape {shape} ({widths}), got {found}")
        if bad := int(np.count_nonzero(~np.isfinite(array))):
            what = "NaN" if np.isnan(array).any() else "infinite"
            raise ValueError(
                f"layer {layer!r} must have a finite {kind}, but {bad:,} of its {array.size:,} numbers are {what}: "
                "the network has no Q-values to select by"
            )
    if odd := sorted(arrays.keys() - wanted.keys()):
        raise ValueError(f"a layer must have a kernel and a bias and nothing else, got {odd[0]!r}")


def import_keras(
    path: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    state: str = AUTHORS_STATE,
    max_dimension: int | None = None,
    name: str | None = None,
) -> None:
    """Write the network of a Keras weight file as a policy file.

    `state` is what the network was trained on (see `deddqn.features.STATES`) and `max_dimension` its dim^max: 50 for
    the authors' state, 30 for the paper's, unless given. The policy is named after the file unless `name` is given.
    """
    check_state(state)
    source = Path(path)
    if source.exists() and Path(out).exists() and source.samefile(out):
        raise ValueError(f"out must be another file than the weights, got {os.fspath(out)}")
    weights, biases, provenance = read_keras_network(source)
    with clear_errors(f"write to {os.fspath(out)}"):
        save_policy(
            out,
            weights,
            biases,
            name=source.stem if name is None else name,
            portfolio=PAPER,
            max_dimension=MAX_DIMENSIONS[state] if max_dimension is None else max_dimension,
            state=state,
            provenance=provenance,
        )
