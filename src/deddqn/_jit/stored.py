"""Machine code in files: what the package was built with, and the cache of what was compiled on this machine.

Both belong to one exact state of the sources: a hash of them is part of every name. In doubt a file does not count, and
a damaged one neither; then the code is compiled again.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
import shutil
import tempfile
import time
from functools import cache
from pathlib import Path
from typing import NamedTuple

from deddqn._jit.kernels import Kernel
from deddqn._utils.atomic import write_bytes

PACKAGE = Path(__file__).resolve().parent.parent
FOLDER = Path(__file__).resolve().parent / "built"
MANIFEST = "kernels.json"
CORE = ("_jit", "de", "engine", "features", "policies", "problems", "*.py")
"""What ends up in kernels: packages and modules of the core; and modules elsewhere that are named `*kernels.py`."""
LEVELS = {
    "x86-64-v3": ("avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe"),
    "x86-64-v2": ("cx16", "popcnt", "sahf", "sse3", "ssse3", "sse4.1", "sse4.2"),
}
"""Levels of x86-64 that code is built for, the better one first, and what they ask of a processor, as LLVM names it."""

_CHECKSUM = 32
_KEEP_DAYS = 60


@cache
def stamp() -> str:
    """A hash of all sources that kernels are made from."""
    digest = hashlib.sha256()
    for path in sources():
        content = path.read_bytes()
        digest.update(f"{path.relative_to(PACKAGE).as_posix()} {len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()


def sources() -> list[Path]:
    """All files that kernels are made from."""
    found = set(PACKAGE.rglob("*kernels.py"))
    for part in CORE:
        found |= set(PACKAGE.glob(part) if part.endswith(".py") else (PACKAGE / part).rglob("*.py"))
    return sorted(found)


class PackagedCode(NamedTuple):
    """The machine code that came with the package: entries with offset, length and checksum; why there are none."""

    entries: dict[str, tuple[int, int, str]]
    path: Path | None
    description: str

    @property
    def fits(self) -> bool:
        """Whether it can be used here."""
        return bool(self.entries)

    def read(self, name: str) -> bytes | None:
        """The object file of an entry, if it is there and whole."""
        if self.path is None or name not in self.entries:
            return None
        start, size, checksum = self.entries[name]
        try:
            with self.path.open("rb") as file:
                file.seek(start)
                code = file.read(size)
        except OSError:
            return None
        return code if hashlib.sha256(code).hexdigest() == checksum else None


def packaged_code() -> PackagedCode:
    """What the package was built with, if it fits: these sources, this system, this processor."""
    import llvmlite.binding as llvm

    try:
        manifest = json.loads((FOLDER / MANIFEST).read_text())
        level = best_level()
        missing = [name for name in manifest["needs"] if not hasattr(ctypes.pythonapi, name)]
        if manifest["stamp"] != stamp():
            return PackagedCode({}, None, "built from other sources")
        if manifest["system"] != llvm.get_process_triple():
            return PackagedCode({}, None, f"built for {manifest['system']}")
        if level not in manifest["levels"]:
            return PackagedCode({}, None, "not built for a processor like this one")
        if missing:
            return PackagedCode({}, None, f"needs {', '.join(missing)}")
        entries = {name: (int(a), int(b), str(c)) for name, (a, b, c) in manifest["levels"][level].items()}
        return PackagedCode(entries, FOLDER / f"{level}.bin", f"for {level}, built with numba {manifest['numba']}")
    except OSError:
        return PackagedCode({}, None, "not built")
    except (ValueError, KeyError, TypeError, AttributeError):
        return PackagedCode({}, None, "damaged")


def built_levels() -> list[str]:
    """The levels that these sources have been built for."""
    try:
        manifest = json.loads((FOLDER / MANIFEST).read_text())
        return list(manifest["levels"]) if manifest["stamp"] == stamp() else []
    except (OSError, ValueError, KeyError, TypeError):
        return []


def best_level() -> str | None:
    """The best level that this processor reaches."""
    import llvmlite.binding as llvm

    able = llvm.get_host_cpu_features()
    for level, needed in LEVELS.items():
        if all(able.get(name) for name in needed):
            return level
    return None


@cache
def cache_folder() -> Path | None:
    """Where compiled code is kept, or None where nothing can be written."""
    for base in _cache_bases():
        folder = base / "deddqn" / stamp()[:16]
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            with tempfile.TemporaryFile(dir=folder):
                pass
        except OSError:
            continue
        return folder
    return None


def _cache_bases() -> list[Path]:
    if named := os.environ.get("NUMBA_CACHE_DIR"):
        return [Path(named)]
    bases = []
    if named := os.environ.get("XDG_CACHE_HOME"):
        bases.append(Path(named))
    home = os.path.expanduser("~")
    if os.path.isabs(home):
        bases.append(Path(home) / ".cache")
    return [*bases, PACKAGE / "__pycache__"]


@cache
def _machine() -> str:
    """What decides which code a compiler makes, beside the sources."""
    from importlib.metadata import version

    import llvmlite
    import llvmlite.binding as llvm

    own = "" if best_level() else llvm.get_host_cpu_name() + llvm.get_host_cpu_features().flatten()
    parts = [llvm.get_process_triple(), best_level() or own, llvmlite.__version__, version("numba")]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def _cache_file(kernel: Kernel) -> Path | None:
    folder = cache_folder() if kernel.name.startswith("deddqn.") else None  # the stamp covers no other sources
    return None if folder is None else folder / f"{kernel.name}-{_machine()}.o"


def cached_code(kernel: Kernel) -> bytes | None:
    """What was compiled here before, if it is whole."""
    path = _cache_file(kernel)
    try:
        content = path.read_bytes() if path is not None else b""
    except OSError:
        return None
    checksum, code = content[:_CHECKSUM], content[_CHECKSUM:]
    return code if code and hashlib.sha256(code).digest() == checksum else None


def keep(kernel: Kernel, code: bytes) -> None:
    """Write what was compiled into the cache, whole or not at all; without a cache it is compiled again next time."""
    path = _cache_file(kernel)
    if path is None:
        return
    try:
        write_bytes(path, hashlib.sha256(code).digest() + code)
        _forget_old(path.parent)
    except OSError:
        pass


@cache
def _forget_old(folder: Path) -> None:
    """Delete the code of sources that nobody has used for a long time."""
    os.utime(folder)
    for other in folder.parent.iterdir():
        if other != folder and other.is_dir() and time.time() - other.stat().st_mtime > _KEEP_DAYS * 86400:
            shutil.rmtree(other, ignore_errors=True)
