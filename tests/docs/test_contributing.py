"""CONTRIBUTING says what is so: make targets, extras, layers, and the size of modules and functions."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.blocks import ROOT

PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
DESIGN = (ROOT / "docs/project/design.md").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
SOURCES = sorted((ROOT / "src" / "deddqn").rglob("*.py"))
OTHERS_SIGNATURES = ["optimize/drop_in.py: differential_evolution"]  # scipy's
MOST_LINES, MOST_PARAMETERS, USUAL_LENGTH = 400, 7, 35


def first_cells(text: str, heading: str) -> list[list[str]]:
    """The code spans in the first cells of the table whose first heading this is, row by row."""
    table = text.split(f"| {heading} |")[1].split("\n\n")[0].splitlines()[2:]
    return [re.findall(r"`([^`]+)`", line.split("|")[1]) for line in table]


def layers() -> list[set[str]]:
    """The layers of the import linter, without the one that starts the command line."""
    contract = next(c for c in PROJECT["tool"]["importlinter"]["contracts"] if c["id"] == "layers")
    return [set(re.findall(r"\w+", layer)) for layer in contract["layers"] if "__main__" not in layer]


def test_make_targets() -> None:
    targets = re.findall(r"^([a-z]+):.*##", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE)
    listed = [name.removeprefix("make ") for row in first_cells(PAGE, "make target") for name in row]
    assert sorted(listed) == sorted(set(targets) - {"help"})


def test_extras() -> None:
    listed = [name for row in first_cells(PAGE, "extra") for name in row]
    assert sorted(listed) == sorted(PROJECT["project"]["optional-dependencies"])


@pytest.mark.parametrize(("text", "heading"), [(PAGE, "in `src/deddqn`"), (DESIGN, "layer")], ids=["page", "design"])
def test_layers(text: str, heading: str) -> None:
    rows = [{name.removesuffix("/").removesuffix(".py") for name in row} for row in first_cells(text, heading)]
    assert rows == layers()


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.relative_to(ROOT / "src/deddqn").as_posix())
def test_modules_are_short(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) < MOST_LINES


def functions() -> Iterator[tuple[str, ast.FunctionDef]]:
    """Every function of the package with where it is."""
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                yield f"{path.relative_to(ROOT / 'src/deddqn').as_posix()}: {node.name}", node


def test_parameters_are_few() -> None:
    def positional(node: ast.FunctionDef) -> int:
        names = [argument.arg for argument in (*node.args.posonlyargs, *node.args.args)]
        return len([name for name in names if name not in ("self", "cls")])

    many = [name for name, node in functions() if positional(node) > MOST_PARAMETERS]
    assert many == OTHERS_SIGNATURES


def test_most_functions_are_short() -> None:
    lengths = [(node.end_lineno or 0) - node.lineno + 1 for _, node in functions()]
    assert sum(length > USUAL_LENGTH for length in lengths) < 0.02 * len(lengths)
