"""Every name of the glossary exists, and the paper's values are the defaults."""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from typing import Any

import pytest

from tests.docs.blocks import ROOT

PAGE = (ROOT / "docs/project/glossary.md").read_text(encoding="utf-8")
ROWS = [[cell.strip() for cell in line.strip("|").split("|")] for line in PAGE.splitlines() if line.startswith("|")]
NAMES = [(row[0], row[2], name) for row in ROWS if len(row) == 4 for name in re.findall(r"`(deddqn[\w.]+)`", row[3])]


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
