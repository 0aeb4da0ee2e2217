"""The page about explanations: what it shows as commands and code works, and its options exist."""

import re
import shlex
from pathlib import Path

import pytest

from deddqn.cli import main
from deddqn.experiments.explain import Request, explain
from deddqn.experiments.explain.contents import LONG, SHOWN

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "explain.md").read_text()
BLOCKS = re.findall(r"<!-- run -->\n```(sh|python)\n(.*?)```", PAGE, flags=re.DOTALL)


def test_commands_work(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    commands = [line for kind, text in BLOCKS if kind == "sh" for line in text.splitlines()]
    assert len(commands) == 4
    for command in commands:
        program, *arguments = shlex.split(command, comments=True)
        assert program == "deddqn"
        assert main(arguments) == 0, command
    assert "open out/explain/searched/index.html" in capsys.readouterr().out
    assert (tmp_path / "out/search.gif").is_file()


def test_code_works(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    code = [text for kind, text in BLOCKS if kind == "python"]
    assert len(code) == 2
    for text in code:
        exec(compile(text, "docs/explain.md", "exec"), {"__name__": "page"})
    assert "own shares played at random" in capsys.readouterr().out
    assert (tmp_path / "out/own/index.html").is_file()


@pytest.mark.parametrize("name", sorted(set(re.findall(r"`--([a-z-]+)`", PAGE))))
def test_options_that_the_page_names_exist(name):
    from deddqn.cli.explain import Options

    assert name.removeprefix("no-").replace("-", "_") in Options.__dataclass_fields__


def test_the_files_of_the_tables_are_named():
    found = explain(Request(policy="de1", problems="cec2005:F1/d10", repeats=1, budget=100, population_size=20))
    for make in (*SHOWN, *LONG):
        assert f"`{make(found).name}.csv`" in PAGE
