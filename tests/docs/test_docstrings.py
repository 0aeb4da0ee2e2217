"""The examples in docstrings run: the reference shows them."""

from __future__ import annotations

import ast
import doctest
from importlib import import_module
from pathlib import Path

import pytest

import deddqn
from deddqn.problems import get
from tools.docs.docstrings import convert

PACKAGE = Path(deddqn.__file__).parent
WITH_EXAMPLES = sorted(path for path in PACKAGE.rglob("*.py") if ">>> " in path.read_text(encoding="utf-8"))
NAMES = [".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts) for path in WITH_EXAMPLES]
PACKAGES = {"ioh": "ioh", "coco": "cocoex", "gymnasium": "gymnasium", "stable_baselines3": "stable_baselines3"}
LONG = {
    "deddqn.loggers.formats",
    "deddqn.envs.stable_baselines3",
}  # whole comparisons and trainings: only parsed


@pytest.mark.parametrize("name", NAMES)
def test_examples_run(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = PACKAGES.get(name.rpartition(".")[2])
    if package is not None:
        pytest.importorskip(package)
    monkeypatch.chdir(tmp_path)
    module = import_module(name)
    if name in LONG:
        for example in doctest.DocTestParser().get_examples(module.__doc__ or ""):
            ast.parse(example.source)
        return
    known = {"get": get, "load_policy": deddqn.load_policy}
    found = doctest.testmod(module, extraglobs=known, optionflags=doctest.ELLIPSIS)
    assert found.attempted > 0 and found.failed == 0


def test_sections_become_definitions_and_formulas_stay() -> None:
    lines = [
        "What it does:",
        "",
        "    a = b",
        "",
        "    c = d",
        "",
        "Parameters",
        "----------",
        "x, y : points",
        "    of it.",
    ]
    assert convert(lines) == [
        *("What it does:", "", ".. code-block:: text", "", "    a = b", "", "    c = d", ""),
        *(".. rubric:: Parameters", "", "", "``x``, ``y``", "    points", "    of it."),
    ]
