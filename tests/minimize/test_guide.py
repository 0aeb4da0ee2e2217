"""The user guide: its Python blocks run in their order, and its commands exist."""

import re
import shlex
from pathlib import Path

import pytest

from deddqn.cli import main

GUIDE = (Path(__file__).parents[2] / "docs" / "minimize.md").read_text()


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```", GUIDE, flags=re.DOTALL | re.MULTILINE)


def test_python_blocks(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "guide"}
    for block in blocks("python"):
        exec(compile(block, "docs/minimize.md", "exec"), names)
    assert len(blocks("python")) >= 9
    assert {path.name for path in tmp_path.iterdir()} == {"search.npz", "run.png"}


def test_commands(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "mymodule.py").write_text("def function(x):\n    return float((x**2).sum())\n")
    commands = [line for block in blocks("sh") for line in block.splitlines() if line.startswith("deddqn ")]
    assert len(commands) == 5
    for command in commands:
        assert main(shlex.split(command)[1:]) == 0, command
    assert (tmp_path / "result.json").exists()


@pytest.mark.parametrize("field", re.findall(r"`(\w+)`", GUIDE.split("## When it stops")[0].split("| field")[1]))
def test_fields_of_the_table_exist(field):
    import deddqn

    result = deddqn.minimize(lambda x: 0.0, [(0, 1)], maxfun=100, history=True, rng=1)
    assert field in result or field in result.history or field in ("inf", "ValueError", "True")
