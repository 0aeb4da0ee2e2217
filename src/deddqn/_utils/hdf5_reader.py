"""The layers of a Keras weight file (HDF5), read in a process of its own.

HDF5 is a large C library, and a damaged file can crash it or keep it busy for ever. So this module is run as a script
(by `deddqn._utils.reading.read_keras_layers`): the file comes on standard input, the arrays leave as safetensors on
standard output, and whatever happens in between happens here. A file that is refused gives one line on standard error
and status 1. It imports nothing of the package.
"""

from __future__ import annotations

import io
import json
import sys
from typing import Any

MOST_LAYERS = 100
LARGEST = 2**26  # bytes of all arrays together
MEMORY = 2**32  # that the process may take
LONGEST_TEXT = 200


def read_layers(content: bytes) -> tuple[dict[str, Any], dict[str, str]]:
    """Arrays by ``<layer>/<kind>``, and metadata: the layers that have any as JSON, and who wrote the file."""
    import h5py

    with h5py.File(io.BytesIO(content), "r") as file:
        root = _member(file, "model_weights") if "model_weights" in file else file
        arrays: dict[str, Any] = {}
        layers: list[str] = []
        for layer in _names(root, "layer_names"):
            group = _member(root, layer)
            weights = _names(group, "weight_names")
            layers += [layer] if weights else []
            for name in weights:
                key = f"{layer}/{name.rpartition('/')[2].partition(':')[0]}"
                if key in arrays:
                    raise ValueError(f"it has {key!r} twice")
                room = LARGEST - sum(array.nbytes for array in arrays.values())
                arrays[key] = _array(_member(group, name), key, room)
        metadata = {"layers": json.dumps(layers)}
        metadata |= {key: _text(root, key) for key in ("keras_version", "backend") if key in root.attrs}
    return arrays, metadata


def _names(group: Any, attribute: str) -> list[str]:
    """A list of names in an attribute; its length is looked at before it is read."""
    if attribute not in group.attrs:
        raise ValueError(f"{group.name[:80]!r} has no attribute {attribute!r}, which Keras writes")
    shape = group.attrs.get_id(attribute).shape
    if len(shape) != 1 or shape[0] > MOST_LAYERS:
        raise ValueError(f"{attribute} must be a list of at most {MOST_LAYERS} names, got shape {shape}")
    names = [one.decode() if isinstance(one, bytes) else str(one) for one in group.attrs[attribute]]
    if len(set(names)) < len(names) or any(len(name) > LONGEST_TEXT or not name.isprintable() for name in names):
        raise ValueError(f"{attribute} must be different names that can be printed")
    return names


def _text(group: Any, attribute: str) -> str:
    if group.attrs.get_id(attribute).shape not in ((), (1,)):
        return ""
    value = group.attrs[attribute]
    return str(value.decode() if isinstance(value, bytes) else value)[:LONGEST_TEXT]


def _member(group: Any, path: str) -> Any:
    """A member below a group; links that could lead to another file are refused."""
    import h5py

    for part in path.split("/"):
        if not isinstance(group, h5py.Group) or part in ("", ".") or part not in group:
            raise ValueError(f"it has no {path[:80]!r}")
        if not isinstance(group.get(part, getlink=True), h5py.HardLink):
            raise ValueError(f"its member {path[:80]!r} is a link")
        group = group[part]
    return group


def _array(dataset: Any, key: str, room: int) -> Any:
    """The numbers of a dataset as little-endian float32; its declared size is looked at before they are read."""
    import h5py

    if not isinstance(dataset, h5py.Dataset):
        raise ValueError(f"{key!r} is no array")
    if dataset.chunks is not None or dataset.is_virtual or dataset.external:
        raise ValueError(f"{key!r} must be stored in one piece in this file, as Keras does")
    if dataset.dtype.kind != "f" or dataset.dtype.itemsize not in (4, 8):
        raise ValueError(f"{key!r} has elements of the type {dataset.dtype}")
    if dataset.shape is None or dataset.size * 8 > room:
        raise ValueError(f"{key!r} has the shape {dataset.shape}, and all arrays may take {LARGEST:,} bytes")
    return dataset[()].astype("<f4")


def main() -> int:
    """Read from standard input, write to standard output."""
    from safetensors.numpy import save

    _limit_memory()
    try:
        written = save(*read_layers(sys.stdin.buffer.read()))
    except Exception as error:
        print((str(error) or type(error).__name__).splitlines()[0], file=sys.stderr)
        return 1
    sys.stdout.buffer.write(written)
    return 0


def _limit_memory() -> None:
    try:
        import resource
    except ImportError:  # not on Windows
        return
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


if __name__ == "__main__":
    sys.exit(main())
