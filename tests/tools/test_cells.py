"""Ranks in cells: by hand, and saved runs that are not run again."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any

import pytest

from benchmarks import cells, world
from benchmarks.cells import CELLS, Cell, Task, medians_of, path_of, ranks_of, read, rows_of
from deddqn._utils.validation import UnknownNameError

TINY = {"tiny": Cell(("made:17/d3", "made:18/d2"), 60)}


def rows(problem: str, *results: float) -> list[dict[str, str]]:
    return [{"problem": problem, "repeat": str(k), "result": repr(r)} for k, r in enumerate(results)]


def test_there_are_18_cells():
    assert len(CELLS) == 18
    assert sum(len(cell.problems) for cell in CELLS.values()) == 3 * 22 + 12 * 24 + 12 + 29 + 29
    assert CELLS["bbob-d40-4e3"].budget == 4000
    assert CELLS["cec2017-d30-3e5"].budget == 300_000


def test_medians():
    saved = (
        rows("bbob:f1/i1/d2", 1e-9, 3.0, 2e-9) + rows("bbob:f2/i1/d2", 5.0, math.inf, 4.0) + rows("cec2011:F1", -7.0)
    )
    assert medians_of(saved, 3) == {"bbob:f1/i1/d2": 0.0, "bbob:f2/i1/d2": 5.0}  # the last has one run of three
    assert medians_of(saved, 1)["cec2011:F1"] == -7.0  # a value, not an error: nothing is solved there


def test_a_run_tried_again_counts_as_it_ended_last():
    assert medians_of([*rows("a", math.inf), *rows("a", 2.0)], 1) == {"a": 2.0}


def test_ranks_by_hand():
    ranks = ranks_of(
        {
            "ours": {"p": 0.0, "q": 2.0, "r": 1.0},
            "tied": {"p": 0.0, "q": 1.0, "r": math.inf},
            "third": {"p": 4.0, "q": 3.0},
            "never": {"p": math.inf, "q": math.inf, "r": math.inf},
        }
    )
    assert ranks is not None
    assert ranks.problems == 2  # on r one method of the pool has no runs yet
    assert ranks.means == {"ours": 1.75, "tied": 1.25, "third": 3.0}  # a method that never ran is left out
    assert (ranks.first, ranks.place("ours"), ranks.place("third")) == ("tied", 2, 3)
    assert ranks_of({"ours": {}}) is None


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cells, "CELLS", TINY)


def start(out: Path, *arguments: str) -> None:
    cells.main(
        ["--out", str(out), "--runs", "2", "--workers", "1", "--cells", "tiny", "--peers", "scipy-de", *arguments]
    )


def test_saved_runs_are_not_run_again(tmp_path: Path, tiny: None, capsys: pytest.CaptureFixture[str]):
    start(tmp_path, "--methods")
    peer = path_of(tmp_path, "tiny", "scipy-de")
    before = peer.read_text()
    assert len(read(peer)) == 4
    peer.write_text("\n".join(before.splitlines()[:-1]) + "\n")  # killed before the last run
    start(tmp_path, "--methods", "new@softmax-x:population_size=10")
    assert [r["result"] for r in read(peer)] == [line.split(",")[2] for line in before.splitlines()[1:]]
    assert len(read(path_of(tmp_path, "tiny", "new@softmax-x:population_size=10"))) == 4
    printed = capsys.readouterr().out
    assert "| tiny | 2 |" in printed
    assert "1 of 1 cells" in printed or "0 of 1 cells" in printed
    assert (tmp_path / "ranks.csv").read_text().count("scipy-de") == 1


def fails_on_the_second(method: str, problem: Any, budget: int, *, repeat: int, number: int) -> float:
    if method == "crash" and repeat == 1:
        os._exit(3)
    if repeat == 1:
        raise RuntimeError("no room")
    return 1.0


@pytest.mark.parametrize(("method", "note"), [("crash", "exit code 3"), ("raise", "RuntimeError: no room")])
def test_failures_are_rows(tiny: None, monkeypatch: pytest.MonkeyPatch, method: str, note: str):
    monkeypatch.setattr(cells, "best_found", fails_on_the_second)
    found = [row for _, row in rows_of([Task("tiny", method, "made:17/d3", (0, 1))], 2)]
    assert [math.isfinite(float(row["result"])) for row in found] == [True, False]
    assert note in found[1]["failure"]


def test_unknown_methods_are_refused_before_anything_runs(tmp_path: Path):
    with pytest.raises(UnknownNameError, match="softmaxx"):
        cells.main(["--methods", "softmaxx", "--out", str(tmp_path)])
    assert not list(tmp_path.iterdir())


def test_settings_of_a_method():
    assert world.settings_of("softmax-x:population_size=200,restart_tolerance=0.0") == (
        "softmax-x",
        {"population_size": 200, "restart_tolerance": 0.0},
    )
