"""Files that anybody may have made: read whole, within limits, and never by unpickling.

Everything that the package reads comes through here: bytes of a plain file, members of a zip archive, arrays (.npz),
tensors (.safetensors) and Keras weights (HDF5). Sizes are checked where they are declared, before memory is taken;
names of members cannot leave a folder. What is wrong raises ValueError; `refusing` adds the name of the file.
"""

from __future__ import annotations

import io
import math
import os
import re
import stat
import subprocess
import sys
import zipfile
from collections.abc import Container, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from deddqn._utils.plain_json import Mapped, parse_json

MOST_MEMBERS = 100_000
_DTYPES = {
    "F64": "<f8",
    "F32": "<f4",
    "I64": "<i8",
    "I32": "<i4",
    "U64": "<u8",
    "U32": "<u4",
    "U8": "|u1",
    "BOOL": "|b1",
}
_DTYPES |= {"I8": "|i1", "I16": "<i2", "U16": "<u2", "F16": "<f2"}
_ARRAY_KINDS = "biufU"
_STORED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENCRYPTED = 0x1
_HDF5_SIGNATURE = b"\x89HDF\r\n\x1a\n"
_HDF5_SECONDS = 20.0


@contextmanager
def refusing(path: str | os.PathLike[str], what: str, kind: type[ValueError] = ValueError) -> Iterator[None]:
    """Turn every error of reading into one ValueError that names the file and says why it is not `what`.

    That the file is missing or forbidden stays as it is.
    """
    try:
        yield
    except (FileNotFoundError, PermissionError):
        raise
    except Exception as error:
        reason = (str(error) or type(error).__name__).splitlines()[0]
        raise kind(f"{os.fspath(path)} is not {what}: {reason}") from error


def read_limited(path: str | os.PathLike[str], limit: int) -> bytes:
    """The content of a plain file of at most `limit` bytes; pipes and devices, which may never end, are refused."""
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise ValueError("it is not a plain file")
    with open(os.open(path, flags), "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):  # it was exchanged in the meantime
            raise ValueError("it is not a plain file")
        if status.st_size > limit:
            raise ValueError(f"it has {status.st_size:,} bytes, more than the {limit:,} allowed")
        return file.read(limit)


def check_member(name: str) -> str:
    """The name of a member of an archive, if it is a plain relative path: below a folder whatever the system."""
    parts = name.split("/")
    if re.search(r'[\x00-\x1f\x7f\\:*?"<>|]', name) or any(part.strip(" .") == "" for part in parts):
        raise ValueError(f"it has a member with the name {name[:80]!r}, which is no plain relative path")
    return name


def below_folder(folder: Path, name: str) -> Path:
    """The path of a member below `folder`; a link on the way that leaves it is refused."""
    target = folder / check_member(name)
    if not target.resolve().is_relative_to(folder.resolve()):
        raise ValueError(f"{name[:80]!r} leads out of {folder}")
    return target


def check_no_links(folder: Path, *names: str) -> None:
    """Refuse a folder that is, or has under these names, a link: what is written there would land elsewhere."""
    for path in (folder, *(folder / name for name in names)):
        if path.is_symlink():
            raise ValueError(f"{path} must be a folder, got a link to {os.readlink(path)[:80]!r}")


def read_members(content: bytes, limit: int, most: int = MOST_MEMBERS) -> Iterator[tuple[str, bytes]]:
    """Names and contents of the members of a zip archive, together at most `limit` bytes; each name once."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = archive.infolist()
        if content[-22:-18] != b"PK\5\6" or int.from_bytes(content[-12:-10], "little") != len(members) % 2**16:
            raise ValueError("its list of members is not whole")  # zipfile reads as many as it can
        if len(members) > most:
            raise ValueError(f"it has {len(members):,} members, more than the {most:,} allowed")
        if (total := sum(member.file_size for member in members)) > limit:
            raise ValueError(f"its members have {total:,} bytes, more than the {limit:,} allowed")
        names = set()
        for member in members:
            if member.filename in names:
                raise ValueError(f"it has the member {member.filename[:80]!r} twice")
            names.add(check_member(member.filename))
            if stat.S_ISLNK(member.external_attr >> 16):
                raise ValueError(f"its member {member.filename[:80]!r} is a link")
            if member.compress_type not in _STORED or member.flag_bits & _ENCRYPTED:
                raise ValueError(f"its member {member.filename[:80]!r} is compressed in another way, or encrypted")
            yield member.filename, archive.read(member)


def read_arrays(content: bytes, limit: int, most: int = 100) -> dict[str, np.ndarray]:
    """The arrays of an .npz archive by name: of numbers or text, in C order, as large as their headers say."""
    return {name.removesuffix(".npy"): _array(name, member) for name, member in read_members(content, limit, most)}


def _array(name: str, content: bytes) -> np.ndarray:
    stream = io.BytesIO(content)
    version = np.lib.format.read_magic(stream)
    if version != (1, 0):
        raise ValueError(f"the array {name[:80]!r} has version {version}")
    shape, fortran, dtype = np.lib.format.read_array_header_1_0(stream)
    if dtype.kind not in _ARRAY_KINDS or dtype.hasobject or fortran and len(shape) > 1:
        raise ValueError(f"the array {name[:80]!r} has elements of the type {dtype}, or another order")
    data = content[stream.tell() :]
    if min(shape, default=0) < 0 or math.prod(shape) * dtype.itemsize != len(data):
        raise ValueError(f"the array {name[:80]!r} has {len(data):,} bytes, not those of the shape {shape}")
    return np.frombuffer(data, dtype=dtype).reshape(shape).copy()


def read_tensors(content: bytes, kinds: Container[str] = ()) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """The tensors of a safetensors file, of the types in `kinds` (all that NumPy has by default), and its metadata."""
    from safetensors import deserialize

    length = int.from_bytes(content[:8], "little")
    if len(content) < 8 or length > len(content) - 8:
        raise ValueError("it is shorter than its header says")
    header = parse_json(content[8 : 8 + length], Mapped(dict), "its header")
    metadata = header.get("__metadata__", {})
    tensors = {}
    for name, tensor in deserialize(content):  # type: ignore[no-untyped-call]
        if tensor["dtype"] not in (kinds or _DTYPES):
            raise ValueError(f"the tensor {name[:80]!r} has elements of the type {tensor['dtype']}")
        values = np.frombuffer(tensor["data"], dtype=_DTYPES[tensor["dtype"]])
        tensors[name] = values.reshape(tensor["shape"]).copy()
    return tensors, metadata


def read_keras_layers(content: bytes) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """The float32 arrays of a Keras weight file (HDF5) by ``<layer>/<kind>``, and its metadata.

    Another process reads them (`deddqn._utils.hdf5_reader`): what crashes or hangs the HDF5 library ends there.
    """
    if not content.startswith(_HDF5_SIGNATURE):
        raise ValueError("it is no HDF5 file")
    script = Path(__file__).with_name("hdf5_reader.py")
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "HDF5_USE_FILE_LOCKING": "FALSE"}
    try:
        done = subprocess.run(
            [sys.executable, "-P", str(script)],
            input=content,
            capture_output=True,
            timeout=_HDF5_SECONDS,
            env=environment,
        )
    except subprocess.TimeoutExpired:
        raise ValueError(f"the HDF5 library did not read it within {_HDF5_SECONDS:.0f} s") from None
    if done.returncode == 1:
        raise ValueError(done.stderr.decode(errors="replace").strip() or "the HDF5 library does not read it")
    if done.returncode != 0:
        raise ValueError(f"the HDF5 library fails on it (status {done.returncode})")
    return read_tensors(done.stdout, ("F32",))


def array_parts(arrays: Mapping[str, np.ndarray]) -> Iterator[bytes | memoryview]:
    """Named arrays as the bytes that a checksum is made of."""
    for name in sorted(arrays):
        yield f"{name} {arrays[name].dtype.str} {arrays[name].shape}".encode()
        yield np.ascontiguousarray(arrays[name]).reshape(-1).view(np.uint8).data


def check_arrays(arrays: Mapping[str, np.ndarray], wanted: Mapping[str, tuple[str, tuple[int, ...]]]) -> None:
    """Refuse arrays (ValueError) unless they are those `wanted`: name -> kind of their numbers as in NumPy, shape."""
    for name in sorted(arrays.keys() | wanted.keys()):
        if name not in arrays or name not in wanted:
            raise ValueError(f"the array {name[:80]!r} is {'missing' if name in wanted else 'not one of them'}")
        found = arrays[name].dtype.kind, arrays[name].shape
        if found != wanted[name]:
            raise ValueError(f"{name} must be of kind and shape {wanted[name]}, got {found}")
        if found[0] == "f" and np.isnan(arrays[name]).any():
            raise ValueError(f"{name} must not hold NaN")


def forms_of(arrays: Mapping[str, np.ndarray]) -> dict[str, tuple[str, tuple[int, ...]]]:
    """Kinds and shapes of arrays, for `check_arrays`."""
    return {name: (array.dtype.kind, array.shape) for name, array in arrays.items()}
