"""The page about comparisons: what it shows as commands and code works."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from deddqn.cli import main

PAGE = Path(__file__).resolve().parents[2] / "docs" / "compare.md"
BLOCKS = re.findall(r"<!-- run -->\n```(sh|python)\n(.*?)```", PAGE.read_text(), flags=re.DOTALL)
assert len(BLOCKS) == 5


def test_commands_work(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    commands = [line for kind, text in BLOCKS if kind == "sh" for line in text.splitlines()]
    assert len(commands) == 4
    for command in commands:
        program, *arguments = shlex.split(command)
        assert program == "deddqn"
        assert main(arguments) == 0, command
    assert "open out/small/report/index.html" in capsys.readouterr().out


def test_code_works(tmp_path):
    """All blocks as one script, each in a name space of its own, as a reader would run them."""
    code = [text for kind, text in BLOCKS if kind == "python"]
    script = tmp_path / "blocks.py"
    script.write_text("\n".join(f"exec({text!r}, {{'__name__': '__main__'}})" for text in code))
    paths = os.pathsep.join([str(PAGE.parents[1] / "src"), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": paths}
    done = subprocess.run([sys.executable, script], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == ["own-method", "own-policy", "own-problem", "python"]


@pytest.mark.parametrize("name", re.findall(r"`--([a-z-]+)`", PAGE.read_text()))
def test_options_that_the_page_names_exist(name):
    from deddqn.cli.compare import Options

    assert name.replace("-", "_") in Options.__dataclass_fields__
