"""The map of the paper: where each of its items is implemented and tested, from the citations in the sources.

A citation is a phrase in a docstring or a comment: "Algorithm 1 line 15", "Table 1 rows 20-35", "Sect. 4.2",
"Fig. 1", "R2", "OM_3". In a file that names Algorithm 1 or Table 1, "line 15" and "rows 7-11" are theirs.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tools.docs import markdown
from tools.docs.markdown import code
from tools.docs.paper_items import ITEMS, Item

ROOT = Path(__file__).parents[2]
FOREIGN = re.compile(r"Kingma|Demsar")  # a line that cites another paper

_NUMBERS = r"(?P<numbers>\d+(?:-\d+)?(?:(?:, | and |, and )\d+(?:-\d+)?)*)"
_PART = re.compile(rf"(?P<kind>Algorithm|Table|Sect\.|Fig\.) (?P<n>\d(?:\.\d)?)(?:,? (?:lines?|rows?) {_NUMBERS})?")
_BARE = {
    "Algorithm 1": re.compile(rf"(?<!\w )\blines? {_NUMBERS}"),
    "Table 1": re.compile(rf"(?<!Table \d )\b[Rr]ows? {_NUMBERS}"),
}
_SYMBOL = re.compile(r"\b(?:OM_(?P<from>[1-4])\s?\.\.\s?OM_(?P<to>[1-4])|(?P<one>OM_[1-4]|R[123]\b))")


class Citation(NamedTuple):
    """A place that cites a part, or lines or rows of it."""

    part: str
    first: int
    last: int
    path: str  # below the root
    place: str  # the function or class around it, "" at the top of a module


def _texts(source: str) -> Iterator[tuple[int, str]]:
    """Line and text of every comment and of every string that stands alone (docstrings)."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.lineno, node.value.value


def _places(body: list[ast.stmt], prefix: str = "") -> list[tuple[int, int, str]]:
    """First line, last line and name of every function, class and method; the innermost first."""
    found: list[tuple[int, int, str]] = []
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            name = prefix + node.name
            found += [*_places(node.body, f"{name}."), (node.lineno, node.end_lineno or node.lineno, name)]
    return found


def _ranges(numbers: str | None) -> list[tuple[int, int]]:
    if not numbers:
        return [(0, 0)]
    ends = [part.split("-") for part in re.findall(r"\d+(?:-\d+)?", numbers)]
    return [(int(end[0]), int(end[-1])) for end in ends]


def _cited(text: str, bare: tuple[str, ...]) -> Iterator[tuple[str, int, int]]:
    """What a text cites."""
    for line in text.splitlines():
        if FOREIGN.search(line):
            continue
        for match in _PART.finditer(line):
            for first, last in _ranges(match["numbers"]):
                yield f"{match['kind']} {match['n']}", first, last
        rest = _PART.sub("", line)
        for part in bare:
            for match in _BARE[part].finditer(rest):
                for first, last in _ranges(match["numbers"]):
                    yield part, first, last
        for match in _SYMBOL.finditer(line):
            first, last = match["from"], match["to"]
            for name in [match["one"]] if match["one"] else [f"OM_{m}" for m in range(int(first), int(last) + 1)]:
                yield name, 0, 0


def citations(root: Path, folder: str) -> list[Citation]:
    """Every citation in the Python files of a folder."""
    found: list[Citation] = []
    for path in sorted((root / folder).rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        bare = tuple(part for part in _BARE if part in source)
        places = _places(ast.parse(source).body)
        for line, text in _texts(source):
            place = next((name for first, last, name in places if first <= line <= last), "")
            name = path.relative_to(root).as_posix()
            found += [Citation(*what, name, place) for what in _cited(text, bare)]
    return found


def covers(citation: Citation, item: Item) -> bool:
    """Whether a citation is about an item: the same part, and one of its lines or rows where the item names some."""
    if citation.part != item.part:
        return False
    if not item.first or not citation.first:
        return not item.first and not citation.first
    return citation.first <= item.last and item.first <= citation.last


def places_of(item: Item, found: list[Citation]) -> dict[str, list[str]]:
    """File -> the functions and classes in it that cite the item."""
    places: dict[str, list[str]] = {}
    for citation in found:
        if covers(citation, item):
            names = places.setdefault(citation.path, [])
            if citation.place and citation.place not in names:
                names.append(citation.place)
    return places


def unknown(found: list[Citation]) -> list[Citation]:
    """Citations of something that the list of items does not have."""
    parts = {item.part for item in ITEMS}
    return [citation for citation in found if citation.part not in parts]


def _plain(name: str) -> str:
    return name.removesuffix(".__init__").replace("_", "\\_")


def _shown(places: dict[str, list[str]], prefix: str) -> str:
    return "<br>".join(
        code(path.removeprefix(prefix)) + (": " + ", ".join(map(_plain, names)) if names else "")
        for path, names in places.items()
    )


def page() -> str:
    """The map as a page."""
    sources, tests = citations(ROOT, "src/deddqn"), citations(ROOT, "tests")
    rows = [
        (
            f"**{item.label}**",
            item.what,
            _shown(places_of(item, sources), "src/deddqn/"),
            _shown(places_of(item, tests), "tests/"),
        )
        for item in ITEMS
    ]
    return markdown.page(
        "---\nhide-toc: true\n---",
        "# Map of the paper",
        "Where each item of [the paper](https://doi.org/10.1145/3321707.3321813) is implemented and tested. This page "
        "is made from the citations in docstrings and comments when the site is built; a test fails when an item has "
        "no place in the code or no test. Paths are below `src/deddqn` and `tests`. Where the paper, its authors' code "
        "and this package differ is listed in [](../research/interpretations.md).",
        '<div class="wide">',
        markdown.table(("item", "what it is", "implemented in", "tested in"), rows),
        "</div>",
    )
