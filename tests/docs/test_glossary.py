"""Every name of the glossary exists, the paper's values are the defaults, and one word has one meaning."""

from __future__ import annotations

import ast
import inspect
import re
from collections import Counter
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tests.docs.blocks import ROOT, pages

PAGE = (ROOT / "docs/project/glossary.md").read_text(encoding="utf-8")
ROWS = [[cell.strip() for cell in line.strip("|").split("|")] for line in PAGE.splitlines() if line.startswith("|")]
NAMES = [(row[0], row[2], name) for row in ROWS if len(row) == 4 for name in re.findall(r"`(deddqn[\w.]+)`", row[3])]
TERMS = [row[0] for row in ROWS if row[0] not in ("word", "symbol", "---")]
NEEDED = (
    *("strategy", "operator", "portfolio", "candidate", "surrogate", "pre-screening", "archive", "success history"),
    *("outcome", "selection", "run", "vectorised runs", "slot", "replay buffer", "rollout"),
)

RETIRED = {
    "outlook": "surrogate score",
    "foresight": "pre-screening, n_candidates",
    "foresee": "pre-screen",
    "foreseen": "candidates",
    "lane": "run",
    "lanes": "vectorised runs",
    "settle": "record",
    "settled": "recorded",
    "beaten": "recent points",
    "trust": "pre-screening gate",
    "kept population": "best population",
    "restart_reserve": "restart_final_fraction",
    "ddqn-x": "softmax-x",
    "search-x": "softmax-x",
    "begins anew": "restarts",
    "begin anew": "restart",
    "goes on": "resumes",
    "is told": "receives",
    "has a say": "influences",
    "had a say": "influenced",
    "readings": "interpretations",
    "verb": "make target",
    "verbs": "make targets",
    "contestant": "method",
    "moves": "operators",
    "road": "ablation",
    "bar": "target",
    "bars": "targets",
}
"""Word -> what is said instead."""

IDENTIFIERS = (
    *("outlook", "foresight", "foresee", "foreseen", "lane", "lanes", "settle", "settled", "beaten", "trust"),
    *("restart_reserve", "contestant", "crew", "watched"),
)
"""Retired words that may not be part of an identifier of the package."""

SIMD = ("src/deddqn/problems/cec2005/flat_data.py", "src/deddqn/problems/cec2005/memory_map.py", "src/deddqn/_jit")
"""Where a lane is one of a vector register."""


def look_up(path: str) -> Any:
    """What a dotted name stands for: the default, if it is a field or a parameter."""
    parts = path.split(".")
    for k in range(len(parts), 0, -1):
        try:
            thing: Any = import_module(".".join(parts[:k]))
        except ModuleNotFoundError:
            continue
        for name in parts[k:]:
            if inspect.isfunction(thing):
                return inspect.signature(thing).parameters[name].default
            thing = getattr(thing, name)
        return thing
    raise AttributeError(path)


@pytest.mark.parametrize(("symbol", "value", "path"), NAMES, ids=[name for _, _, name in NAMES])
def test_symbols(symbol: str, value: str, path: str) -> None:
    if ".training." in path:
        pytest.importorskip("torch")
    default = look_up(path)
    if value:
        assert float(value) == default, f"{symbol} is {value} in the glossary and {default} in {path}"


def test_every_row_names_something() -> None:
    tables = [row for row in ROWS if len(row) == 4 and row[0] not in ("symbol", "---")]
    assert len(tables) >= 35
    assert all(re.search(r"`deddqn", row[3]) for row in tables)


def test_no_term_stands_twice() -> None:
    terms = [term for cell in TERMS for term in cell.split(", ") if "(" not in cell] + [t for t in TERMS if "(" in t]
    assert [term for term, n in Counter(terms).items() if n > 1] == []


@pytest.mark.parametrize("term", NEEDED)
def test_the_words_of_the_field_are_there(term: str) -> None:
    assert term in TERMS


def test_no_retired_word_is_explained() -> None:
    assert [term for term in TERMS if term in RETIRED] == []


@pytest.mark.parametrize("page", [*pages(), ROOT / "CHANGELOG.md"], ids=lambda page: page.relative_to(ROOT).as_posix())
def test_retired_words_stay_out_of_the_pages(page: Path) -> None:
    text = page.read_text(encoding="utf-8").lower()
    found = [word for word in RETIRED if re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", text)]
    assert found == [], f"say instead: {', '.join(RETIRED[word] for word in found)}"
    assert re.findall(r"\blooks? \d+", text) == [], "say instead: test-set evaluation"


def identifiers(tree: ast.AST) -> Iterator[str]:
    """Every name that a module defines or uses."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.arg | ast.keyword) and node.arg:
            yield node.arg


def words(identifier: str) -> set[str]:
    """The words of an identifier, in small letters: ``FirstLane`` and ``first_lane`` have ``lane``."""
    split = re.sub(r"([a-z])([A-Z])", r"\1_\2", identifier).lower()
    return {split, *split.split("_")}


def test_retired_words_are_no_identifiers_of_the_package() -> None:
    found = {
        f"{path.relative_to(ROOT).as_posix()}: {name}"
        for path in sorted((ROOT / "src").rglob("*.py"))
        if not path.relative_to(ROOT).as_posix().startswith(SIMD)
        for name in identifiers(ast.parse(path.read_text(encoding="utf-8")))
        if words(name) & set(IDENTIFIERS)
    }
    assert sorted(found) == []
