"""The docstrings of the package as reStructuredText.

Parameters are written as ``name : what it is`` (types stand in the signature), so they become a list of
definitions; a docstring in Markdown (the contract of the environment) has a page of its own.
"""

from __future__ import annotations

import re
from typing import Any

SECTIONS = ("Parameters", "Returns", "Examples", "Attributes")
_ENTRY = re.compile(r"^(\w[\w, .]*?) : (.*)$")


def convert(lines: list[str]) -> list[str]:
    """The lines of a docstring: underlined sections as rubrics and definitions, indented formulas as they stand."""
    out: list[str] = []
    section = ""
    for k, line in enumerate(lines):
        following = lines[k + 1] if k + 1 < len(lines) else ""
        indented = line.startswith("    ") and not section and k > 0 and not lines[k - 1].strip()
        if indented and not _inside_formula(out):
            out += [".. code-block:: text", ""]
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


def _inside_formula(out: list[str]) -> bool:
    """Whether the last line with text belongs to an indented block already."""
    before = next((line for line in reversed(out) if line.strip()), "")
    return before.startswith("    ") or before.endswith("::")


def process(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Sphinx's event ``autodoc-process-docstring``: rewrite the lines in place."""
    markdown = next((k for k, line in enumerate(lines) if line.startswith("## ")), None)
    if markdown is not None:
        lines[:] = [*lines[:markdown], "", "The whole contract: :doc:`/generated/contract`."]
    lines[:] = convert(lines)
