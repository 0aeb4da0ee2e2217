"""Print what pip must install before the package itself: ``python tools/requirements.py [EXTRA ...]``.

The lists stand in pyproject.toml alone: what the build asks for, the dependencies, and those of the extras, in which
``deddqn[...]`` stands for other extras. The Makefile installs them first and the package after them, because the
package is built with what is in the environment (``--no-build-isolation``), and dependencies that come as sources are
not: that option holds for everything that one call of pip installs.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).resolve().parent.parent / "pyproject.toml"
EDITABLE = "editables"
"""hatchling asks for it when it installs a package in place."""


def requirements(project: dict[str, Any], extras: list[str]) -> list[str]:
    """The requirements of the build, of the package and of `extras`, each once, in the order of the file."""
    found = [*project["build-system"]["requires"], EDITABLE, *project["project"]["dependencies"]]
    for extra in extras:
        found += expanded(project["project"], extra)
    return list(dict.fromkeys(found))


def expanded(project: dict[str, Any], extra: str, marker: str = "") -> Iterator[str]:
    """The requirements of one extra; a marker at a reference to other extras holds for all that they bring."""
    known = project["optional-dependencies"]
    if extra not in known:
        raise SystemExit(f"there is no extra {extra!r} in pyproject.toml; the extras are {', '.join(known)}")
    for requirement in known[extra]:
        what, _, own = (part.strip() for part in requirement.partition(";"))
        both = " and ".join(f"({part})" for part in (marker, own) if part) if marker and own else marker or own
        match = re.fullmatch(rf"{project['name']}\[([\w, -]+)\]", what)
        if match:
            for other in match[1].split(","):
                yield from expanded(project, other.strip(), both)
        else:
            yield f"{what}; {both}" if both else what


if __name__ == "__main__":
    print("\n".join(requirements(tomllib.loads(PROJECT.read_text(encoding="utf-8")), sys.argv[1:])))
