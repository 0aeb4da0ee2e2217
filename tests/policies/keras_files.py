"""Weight files as Keras 2 writes them, with random numbers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import h5py
import numpy as np

WIDTHS = (99, 100, 100, 100, 100, 4)
Layers = list[tuple[np.ndarray, np.ndarray]]


def random_layers(seed: int = 0, widths: Sequence[int] = WIDTHS) -> Layers:
    """Kernels (inputs, outputs) and biases that select every operator somewhere: wide, and centred on usual states."""
    rng = np.random.default_rng(seed)
    layers = []
    centre = 0.2
    for n_in, n_out in zip(widths, widths[1:], strict=False):
        kernel = rng.normal(0.0, 4.0 * n_in**-0.5, (n_in, n_out))
        layers.append((kernel.astype(np.float32), (-centre * kernel.sum(axis=0)).astype(np.float32)))
        centre = 0.0
    return layers


def write_keras(path: Path, layers: Layers, *, group: str = "/") -> Path:
    """A file of a flattening layer without weights and of dense layers; in a group where a whole model was saved."""
    names = [f"dense_{k}" for k in range(1, len(layers) + 1)]
    with h5py.File(path, "w") as file:
        root = file.require_group(group)
        root.attrs["layer_names"] = np.array(["flatten_1", *names], dtype="S")
        root.attrs["backend"], root.attrs["keras_version"] = np.bytes_("tensorflow"), np.bytes_("2.2.4")
        root.create_group("flatten_1").attrs["weight_names"] = np.zeros(0)
        for name, (kernel, bias) in zip(names, layers, strict=True):
            weights = {f"{name}/kernel:0": kernel, f"{name}/bias:0": bias}
            layer = root.create_group(name)
            layer.attrs["weight_names"] = np.array(list(weights), dtype="S")
            for weight, values in weights.items():
                layer[weight] = values
    return path


def q_values(layers: Layers, state: np.ndarray) -> np.ndarray:
    """What the network answers."""
    values = state.astype(np.float64)
    for kernel, bias in layers[:-1]:
        values = np.maximum(values @ kernel + bias, 0.0)
    return values @ layers[-1][0] + layers[-1][1]
