"""The Python blocks of these pages run, each page from top to bottom."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize(
    ("page", "packages"), [("gymnasium", ["gymnasium"]), ("bbob", ["ioh", "cocoex"]), ("beyond", [])]
)
def test_blocks_run(page: str, packages: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for package in packages:
        pytest.importorskip(package)
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```", (DOCS / f"{page}.md").read_text(), flags=re.MULTILINE | re.DOTALL)
    assert blocks
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, f"{page}.md", "exec"), names)
