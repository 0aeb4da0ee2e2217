"""Optional packages, and errors that say how to install them here."""

from __future__ import annotations

import importlib
import importlib.metadata
import json
import re
import shlex
from collections.abc import Iterator
from types import ModuleType
from urllib.parse import unquote, urlsplit

NAME = "deddqn"


class MissingPackageError(ImportError, ValueError):
    """An optional package is not installed; a ValueError too, so that commands print its message and no traceback."""


def need(module: str, what: str, extra: str) -> ModuleType:
    """Import an optional package, or say how to install it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingPackageError(
            f"for {what} install the package {module!r} (extra {extra!r}): {install_command(extra)}"
        ) from error


def install_command(*extras: str) -> str:
    """The command that installs extras for whoever reads it; the package is on no index.

    In a clone that is installed in place, the extras of the clone; elsewhere the packages that they consist of. Where
    the package runs without being installed nothing is known about either, and the folder of the project is named.
    """
    wanted = ",".join(extras)
    try:
        package = importlib.metadata.distribution(NAME)
    except importlib.metadata.PackageNotFoundError:
        return f"pip install -e '.[{wanted}]' in the folder of the project"
    clone = _clone(package)
    if clone is not None:
        return f"pip install -e '{clone}[{wanted}]'"
    packages = dict.fromkeys(what for extra in extras for what in _requirements(package, extra))
    return shlex.join(["pip", "install", *packages])


def _clone(package: importlib.metadata.Distribution) -> str | None:
    """The folder that an editable installation points to."""
    written = package.read_text("direct_url.json")
    origin = json.loads(written) if written else {}
    if not origin.get("dir_info", {}).get("editable"):
        return None
    return unquote(urlsplit(origin["url"]).path)


def _requirements(package: importlib.metadata.Distribution, extra: str) -> Iterator[str]:
    """What an extra consists of, other extras that it names included; other markers than that of the extra stay."""
    mine = re.compile(rf"""(?:\s+and\s+)?\bextra\s*==\s*['"]{re.escape(extra)}['"]""")
    for line in package.requires or []:
        what, _, marker = (part.strip() for part in line.partition(";"))
        if not mine.search(marker):
            continue
        others = re.fullmatch(rf"{NAME}\[([\w, -]+)\]", what)
        if others:
            for other in others[1].split(","):
                yield from _requirements(package, other.strip())
            continue
        rest = re.sub(r"^\s*and\s+", "", mine.sub("", marker)).strip()
        yield f"{what}; {rest}" if rest else what
