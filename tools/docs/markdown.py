"""Pieces of Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table; bars inside of cells are escaped."""
    lines = [_row(head), "|" + "---|" * len(head)]
    return "\n".join(lines + [_row(row) for row in rows])


def _row(cells: Sequence[object]) -> str:
    return "| " + " | ".join(str(cell).replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def code(value: object) -> str:
    """A value between back quotes."""
    return f"`{value}`"


def block(language: str, text: str) -> str:
    """A fenced block."""
    return f"```{language}\n{text.rstrip()}\n```"


def rst(text: str) -> str:
    """reStructuredText inside of a page."""
    return block("{eval-rst}", text)


def contents(pages: Iterable[str], depth: int = 1, hidden: bool = False) -> str:
    """A table of contents of other pages."""
    options = [f":maxdepth: {depth}", *([":hidden:"] if hidden else [])]
    return block("{toctree}", "\n".join([*options, "", *pages]))


def page(*parts: str) -> str:
    """A page from its parts, with an empty line between them."""
    return "\n\n".join(part.strip("\n") for part in parts if part) + "\n"
