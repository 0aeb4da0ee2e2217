"""Checkpoints of trainings and policy searches: complete, atomic, in files of a limited size.

A checkpoint is a folder ``checkpoint-<number>`` of safetensors files and one JSON file. It is written under another
name and renamed when it is complete, and only then is the one before it deleted: whenever the process dies, the
newest folder of that name is whole.
"""

from __future__ import annotations

import json
import math
import re
import shutil
from collections.abc import Container, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import save

from deddqn._utils.atomic import remove_leftovers, replacing
from deddqn._utils.lock import FolderLock
from deddqn._utils.plain_json import CHECKSUM, Exactly, check_checksum, checksum, parse_json
from deddqn._utils.reading import array_parts, read_limited, read_tensors

FILE_LIMIT = 15 * 2**20  # bytes of arrays per file, so that a file with its header stays below 16 MiB
LARGEST_FILE, LARGEST_STATE = 2 * FILE_LIMIT, 2**28
FORMAT, STATE = "deddqn-checkpoint-1", "state.json"
FORM = {"format?": Exactly(FORMAT), "config?": dict, f"{CHECKSUM}?": str, "*?": object}
_NAME = re.compile(r"checkpoint-(\d+)")
_PART = "@"  # name@k is the k-th piece of an array that is too large for one file


def save_checkpoint(folder: Path, number: int, arrays: dict[str, np.ndarray], state: dict[str, Any]) -> Path:
    """Write checkpoint `number` below `folder` and delete older ones; weights that are not finite are refused."""
    for name in ("learner/primary", "learner/target"):
        if name in arrays and not np.isfinite(arrays[name]).all():
            raise ValueError(f"{name} has weights that are not finite: they are not saved")
    target = folder / f"checkpoint-{number:08d}"
    with replacing(target) as temporary:
        temporary.mkdir(parents=True)
        for k, bundle in enumerate(_bundles(arrays)):
            (temporary / f"arrays-{k:02d}.safetensors").write_bytes(save(bundle))
        content = json.loads(json.dumps({"format": FORMAT, **state}))
        stated = checksum(content, *array_parts(arrays))
        (temporary / STATE).write_text(json.dumps({**content, CHECKSUM: stated}))
    for old in checkpoints(folder)[:-1]:
        shutil.rmtree(old, ignore_errors=True)
    return target


def load_checkpoint(folder: Path) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """The newest checkpoint below `folder`; who takes it over checks that arrays and state are what it needs."""
    found = checkpoints(folder)
    if not found:
        raise FileNotFoundError(f"no checkpoint in {folder}")
    with damaged(folder):
        pieces: dict[str, np.ndarray] = {}
        for path in sorted(found[-1].glob("arrays-*.safetensors")):
            read, _ = read_tensors(read_limited(path, LARGEST_FILE))
            if twice := pieces.keys() & read.keys():
                raise ValueError(f"the array {min(twice)[:80]!r} is there twice")
            pieces |= read
        arrays = _joined(pieces)
        state = parse_json(read_limited(found[-1] / STATE, LARGEST_STATE), FORM, "its state")
        stated = state.pop(CHECKSUM, None)
        if stated is not None or "format" in state:  # those of 0.1.0 have neither
            check_checksum(stated, checksum(state, *array_parts(arrays)))
        state.pop("format", None)
    return arrays, state


@contextmanager
def damaged(folder: Path) -> Iterator[None]:
    """Say of every error that it is the checkpoint's."""
    try:
        yield
    except Exception as error:
        reason = (str(error) or type(error).__name__).splitlines()[0]
        raise ValueError(f"the checkpoint in {folder} is damaged ({reason}); train again in another folder") from error


def prepare_folder(folder: Path, *, resume: bool) -> tuple[FolderLock, bool]:
    """Make the folder of a training; return its lock, and whether it resumes from a checkpoint there.

    `resume` has to allow that. What a killed training left of unfinished files and checkpoints is deleted.
    """
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"out must be a folder, got the file {str(folder)!r}")
    folder.mkdir(parents=True, exist_ok=True)
    lock = FolderLock(folder)
    found = bool(checkpoints(folder))
    if found and not resume:
        raise ValueError(f"{folder} holds a training already: continue with --resume, or choose another folder")
    remove_leftovers(folder, "checkpoint-*", folders=True)
    remove_leftovers(folder, "*.safetensors", "summary.json")
    return lock, found


def check_same(folder: Path, settings: Mapping[str, Any], saved: Mapping[str, Any], may_change: Container[str]) -> None:
    """A training resumes with its own settings; only its length and what does not change results may differ."""
    kinds = ["training" if "batch_size" in values else "search" for values in (settings, saved)]
    if settings.keys() != saved.keys():
        held = {"training": "the training of a network", "search": "a search"}[kinds[1]]
        version = " (it is of another version)" if kinds[0] == kinds[1] else ""
        raise ValueError(
            f"{folder} holds {held}, which --resume does not continue here{version}; choose another folder"
        )
    for name, value in settings.items():
        if name not in may_change and saved[name] != value:
            raise ValueError(f"{name} must be {saved[name]!r} to resume this {kinds[1]}, got {value!r}")


def checkpoints(folder: Path) -> list[Path]:
    """The whole checkpoints below `folder`, oldest first."""
    return sorted(path for path in folder.glob("checkpoint-*") if _NAME.fullmatch(path.name))


def _bundles(arrays: dict[str, np.ndarray]) -> list[dict[str, np.ndarray]]:
    """Split large arrays by rows and pack everything into bundles of at most `FILE_LIMIT` bytes."""
    pieces: dict[str, np.ndarray] = {}
    for name, array in arrays.items():
        rows = np.ascontiguousarray(array).reshape(-1) if array.ndim == 0 else np.ascontiguousarray(array)
        if rows.nbytes <= FILE_LIMIT:
            pieces[name] = array if array.ndim == 0 else rows
            continue
        flat = rows.reshape(-1)
        step = FILE_LIMIT // flat.itemsize
        pieces[f"{name}{_PART}shape"] = np.array(rows.shape, dtype=np.int64)
        for k, start in enumerate(range(0, flat.size, step)):
            pieces[f"{name}{_PART}{k}"] = flat[start : start + step]
    bundles: list[dict[str, np.ndarray]] = [{}]
    room = FILE_LIMIT
    for name, piece in sorted(pieces.items(), key=lambda item: -item[1].nbytes):
        if piece.nbytes > room:
            bundles.append({})
            room = FILE_LIMIT
        bundles[-1][name] = piece
        room -= piece.nbytes
    return bundles


def _joined(pieces: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    arrays = {name: piece for name, piece in pieces.items() if _PART not in name}
    for name in [name.removesuffix(f"{_PART}shape") for name in pieces if name.endswith(f"{_PART}shape")]:
        parts, k = [], 0
        while f"{name}{_PART}{k}" in pieces:
            parts.append(pieces[f"{name}{_PART}{k}"])
            k += 1
        shape = [int(size) for size in pieces[f"{name}{_PART}shape"].tolist()]
        if min(shape, default=0) < 0 or not parts or math.prod(shape) != sum(part.size for part in parts):
            raise ValueError(f"the array {name[:80]!r} does not have the shape {shape}")
        arrays[name] = np.concatenate(parts).reshape(shape)
    return arrays


def prefixed(prefix: str, arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Arrays under ``prefix/``."""
    return {f"{prefix}/{name}": array for name, array in arrays.items()}


def below(prefix: str, arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The arrays under ``prefix/``, without it."""
    return {name[len(prefix) + 1 :]: array for name, array in arrays.items() if name.startswith(f"{prefix}/")}
