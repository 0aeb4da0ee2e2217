"""The scripts of examples/ as a page."""

from __future__ import annotations

import ast
from pathlib import Path

from tools.docs import markdown

FOLDER = Path(__file__).parents[2] / "examples"


def page() -> str:
    """Every example: what it is about, and its source."""
    parts = []
    for path in sorted(FOLDER.glob("*.py")):
        source = path.read_text(encoding="utf-8")
        about = ast.get_docstring(ast.parse(source)) or ""
        parts += [f"## {path.name}", about.partition("\n")[0], markdown.block("python", source)]
    return markdown.page(
        "# Examples", "Scripts to read and change, from the folder `examples`. All are run by tests.", *parts
    )
