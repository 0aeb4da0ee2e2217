"""Which nodes may take part: those whose deddqn (to the byte), numpy, numba and scipy are the driver's."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from deddqn._utils.versions import installed

PACKAGES = ("numpy", "numba", "scipy")
MISSING = "missing"
CODE = (".py", ".json", ".npz", ".safetensors")  # files that results depend on


@cache
def code_digest() -> str:
    """The hash of the package's own files: versions are equal between two checkouts, their code need not be."""
    root = Path(__file__).resolve().parents[1]
    total = hashlib.sha256()
    for path in sorted(path for path in root.rglob("*") if path.suffix in CODE):
        total.update(f"{path.relative_to(root).as_posix()}\n".encode())
        total.update(path.read_bytes())
    return total.hexdigest()[:12]


@cache
def version_of(package: str) -> str:
    """The version of a package that is installed here."""
    return installed([package]).get(package, MISSING)


def versions(packages: Iterable[str] = ()) -> dict[str, str]:
    """What results depend on here: deddqn, numpy, numba, scipy and further packages."""
    from deddqn import __version__

    here = {"deddqn": f"{__version__} (code {code_digest()})"}
    return here | {package: version_of(package) for package in dict.fromkeys((*PACKAGES, *packages))}


def differences(wanted: Mapping[str, str]) -> str:
    """In words, how this machine differs from the driver's `wanted`; empty if it does not."""
    here = versions(name for name in wanted if name != "deddqn")
    return "; ".join(
        f"{name} {here[name]} there, {value} here" for name, value in wanted.items() if here[name] != value
    )
