"""The Python blocks of the pages on the ecosystem run, each page from top to bottom."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from deddqn.cli import main

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize(("page", "packages"), [("gymnasium", ["gymnasium"]), ("bbob", ["ioh", "cocoex"])])
def test_blocks_run(page: str, packages: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for package in packages:
        pytest.importorskip(package)
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```", (DOCS / f"{page}.md").read_text(), flags=re.MULTILINE | re.DOTALL)
    assert blocks
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, f"{page}.md", "exec"), names)


def test_commands_of_the_page_on_bbob_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those without the comment that says that they take long."""
    for package in ("ioh", "cocoex", "cma", "pyarrow"):
        pytest.importorskip(package)
    monkeypatch.chdir(tmp_path)
    page = (DOCS / "bbob.md").read_text()
    blocks = re.findall(r"(<!-- test: parse -->\n)?^```sh\n(.*?)^```", page, flags=re.MULTILINE | re.DOTALL)
    short = [line for long, text in blocks if not long for line in text.splitlines() if line.startswith("deddqn ")]
    assert len(short) == 2
    for line in short:
        assert main(shlex.split(line)[1:]) == 0, line
    assert (tmp_path / "out" / "small-transfer" / "comparison" / "report" / "index.html").is_file()
    assert sorted(path.name for path in (tmp_path / "out" / "logged" / "logs").iterdir()) == ["coco", "ioh", "runs"]
