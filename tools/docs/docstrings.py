"""The docstrings of the package as reStructuredText.

Parameters are written as ``name : what it is`` (types stand in the signature), so they become a list of
definitions; a docstring in Markdown (the contract of the environment) has a page of its own.
"""

from __future__ import annotations

import re
from typing import Any

SECTIONS = ("Parameters", "Returns", "Examples", "Attributes")
_ENTRY = re.compile(r"^(\w[\w, ]*?) : (.*)$")


def convert(lines: list[str]) -> list[str]:
    """The lines of a docstring with its underlined sections as rubrics and definitions."""
    out: list[str] = []
    section = ""
    for k, line in enumerate(lines):
        following = lines[k + 1] if k + 1 < len(lines) else ""
        if line.strip() in SECTIONS and set(following.strip()) == {"-"}:
            section = line.strip()
            out += [f".. rubric:: {section}", ""]
        elif section and set(line.strip()) == {"-"}:
            continue
        elif section in ("Parameters", "Attributes") and (match := _ENTRY.match(line)):
            names = ", ".join(f"``{name.strip()}``" for name in match[1].split(","))
            out += ["", names, f"    {match[2]}"]
        else:
            out.append(line)
    return out


def process(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Sphinx's event ``autodoc-process-docstring``: rewrite the lines in place."""
    markdown = next((k for k, line in enumerate(lines) if line.startswith("## ")), None)
    if markdown is not None:
        lines[:] = [*lines[:markdown], "", "The whole contract: :doc:`/generated/contract`."]
    lines[:] = convert(lines)
