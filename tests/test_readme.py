"""Every command and code block of the README runs."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

import deddqn
from deddqn.cli import COMMANDS, main

README = (Path(__file__).parent.parent / "README.md").read_text()
LONG = {"train"}  # tested with smaller settings in tests/training


def _commands() -> list[list[str]]:
    blocks = "\n".join(re.findall(r"```sh\n(.*?)```", README, flags=re.S))
    lines = [line.split("#")[0] for line in blocks.splitlines()]
    return [shlex.split(line)[1:] for line in lines if line.startswith("deddqn ")]


def test_the_python_block_gives_a_good_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    pytest.importorskip("matplotlib")
    (block,) = re.findall(r"```python\n(.*?)```", README, flags=re.S)
    names: dict[str, object] = {}
    exec(block, names)
    result = names["result"]
    assert isinstance(names["deddqn"], type(deddqn))
    assert result.fun < 1e-2  # type: ignore[attr-defined]
    assert (tmp_path / "run.png").stat().st_size > 10_000


def test_the_commands_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyarrow")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "mymodule.py").write_text("def function(x):\n    return (x**2).sum()\n")
    commands = _commands()
    assert {command[0] for command in commands} <= set(COMMANDS)
    for command in commands:
        if command[0] not in LONG:
            assert main(command) == 0, command
    assert (tmp_path / "out/small/report/index.html").exists()


def test_the_pictures_and_links_exist() -> None:
    root = Path(__file__).parent.parent
    links = [link for link in re.findall(r"\]\(([^)]+)\)", README) if not link.startswith("http")]
    assert links
    assert [link for link in links if not (root / link).exists()] == []
