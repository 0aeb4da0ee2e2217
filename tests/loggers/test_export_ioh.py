"""``deddqn export --format ioh``: a stored comparison as IOHprofiler files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from deddqn.cli import main
from deddqn.experiments import compare


def test_a_comparison_becomes_files_of_iohprofiler(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    compare(["random", "de1"], ["cec2005:F1/d10"], runs=2, budget=300, out=tmp_path / "runs")
    assert main(["export", str(tmp_path / "runs"), "--format", "ioh", "--out", str(tmp_path / "ioh")]) == 0
    assert "4 runs" in capsys.readouterr().out
    described = [json.loads(path.read_text()) for path in sorted((tmp_path / "ioh").rglob("*.json"))]
    assert sorted(page["algorithm"]["name"] for page in described) == ["de1", "random"]
    runs = [run for page in described for scenario in page["scenarios"] for run in scenario["runs"]]
    assert [run["evals"] for run in runs] == [300] * 4
