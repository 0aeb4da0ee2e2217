"""Delete numba's cached machine code when it may be stale.

Numba keeps compiled functions in ``__pycache__`` (``*.nbi``, ``*.nbc``) and recompiles one when the file that
defines it changes. It does not look at the files of the functions that it calls, nor at the constants that it
imports: after an edit there, the callers go on running the old code. So this script compares all sources with
what the caches were made from, and deletes every cache when

- the text of a source, or the version of Python, numba or numpy, differs from the last time it was called, or
- a source is younger than a cache (edited, used without this script, and put back).

It runs before tests, benchmarks and the demo, in one process, and says nothing when nothing is stale.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "deddqn"
STAMP = ROOT / "build" / "numba-sources.sha256"
CACHED_IN = ("src", "tests", "benchmarks", "examples")
LEAVES = ("cli", "experiments", "integrations", "training")
"""Packages on top of the engine: what they compile ends up in no other file's code, so an edit keeps the caches."""


def sources(package: Path) -> list[Path]:
    """The files whose text can end up in the compiled code of another file."""
    files = (path for path in package.rglob("*.py") if path.relative_to(package).parts[0] not in LEAVES)
    return sorted(files)


def caches(root: Path) -> list[Path]:
    """All index and code files of numba's caches in the working tree."""
    return [path for folder in CACHED_IN for path in (root / folder).rglob("__pycache__/*.nb[ic]")]


def fingerprint(files: Iterable[Path], root: Path) -> str:
    """A hash of names and contents of `files`, and of the versions that compile them."""
    digest = hashlib.sha256(sys.version.encode())
    for name in ("numba", "llvmlite", "numpy"):
        digest.update(f"{name} {_version(name)}\n".encode())
    for path in files:
        content = path.read_bytes()
        digest.update(f"{path.relative_to(root).as_posix()} {len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "missing"


def main() -> None:
    files = sources(PACKAGE)
    now = fingerprint(files, ROOT)
    before = STAMP.read_text().strip() if STAMP.exists() else ""
    found = caches(ROOT)
    youngest_source = max((path.stat().st_mtime_ns for path in files), default=0)
    oldest_cache = min((path.stat().st_mtime_ns for path in found), default=youngest_source)
    if found and (now != before or youngest_source > oldest_cache):
        print("==> sources changed: deleting compiled code, the next run compiles again", flush=True)
        for path in found:
            path.unlink(missing_ok=True)
    if now != before:
        STAMP.parent.mkdir(exist_ok=True)
        fresh = STAMP.with_suffix(f".{os.getpid()}")
        fresh.write_text(now + "\n")
        fresh.replace(STAMP)
    if os.environ.get("NUMBA_CACHE_DIR"):
        print("==> NUMBA_CACHE_DIR is set: caches in it are yours to clean", flush=True)


if __name__ == "__main__":
    main()
