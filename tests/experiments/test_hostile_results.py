"""Folders of results that are wrong, or mean harm: refused in one line, without a traceback, and nothing is written."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deddqn.cli import main
from deddqn.experiments import Store, compare
from deddqn.experiments.results import SCHEMA, Run, to_table
from deddqn.experiments.store import StoreError


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("made") / "experiment"
    compare(["de1", "random"], ["cec2005:F1/d10"], runs=2, budget=200, out=target, workers=1)
    return target


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    return shutil.copytree(made, tmp_path / "experiment")


def planned(folder: Path, **changes: Any) -> None:
    """The plan of the folder with other values, as 0.1.0 wrote it: without format and checksum."""
    path = folder / "plan.json"
    content = json.loads(path.read_text()) | changes
    kept = {k: v for k, v in content.items() if k not in ("format", "sha256") and v is not ...}
    path.write_text(json.dumps(kept))


@pytest.mark.parametrize(
    "changes",
    [
        {"runs": "2"},
        {"runs": 2.0},
        {"runs": 10**12},
        {"runs": -1},
        {"budget": None},
        {"budget": [1]},
        {"methods": "de1"},
        {"methods": [1, 2]},
        {"methods": {"de1": 1}},
        {"methods": ["de1"]},
        {"methods": ["\x1b[2J", "de1"]},
        {"methods": []},
        {"problems": 3},
        {"problems": [None]},
        {"fingerprints": ["a"]},
        {"fingerprints": [[], []]},
        {"de": 5},
        {"de": [[1, 2, 3]]},
        {"de": [["population_size"]]},
        {"de": [["population_size", "x"]]},
        {"de": [["unknown", 1]]},
        {"seed": 1e300},
        {"preset": 1},
        {"missing": [1]},
        {"new": 1},
        {"runs": ...},
    ],
    ids=str,
)
def test_wrong_plans_are_refused(folder: Path, changes: Any, capsys: pytest.CaptureFixture[str]) -> None:
    planned(folder, **changes)
    with pytest.raises(StoreError, match=r"plan.json is not the plan of an experiment: "):
        Store(folder).plan()
    for command in (["report", str(folder)], ["export", str(folder), "--out", str(folder / "x.csv")]):
        assert main(command) == 2
        error = capsys.readouterr().err
        assert "plan.json is not the plan" in error and len(error.splitlines()) == 1


@pytest.mark.parametrize("text", ["", "[]", "{", "[" * 10**5, "null", '"plan"', '{"runs": 1, "runs": 1}', "\xff"])
def test_texts_that_are_no_plans(folder: Path, text: str) -> None:
    (folder / "plan.json").write_bytes(text.encode("latin-1"))
    with pytest.raises(StoreError, match="is not the plan of an experiment"):
        Store(folder).plan()


def test_plans_of_older_versions_are_read_and_changed_ones_noticed(folder: Path) -> None:
    plan = Store(folder).plan()
    path = folder / "plan.json"
    path.write_text(path.read_text().replace('"budget": 200', '"budget": 201'))
    with pytest.raises(StoreError, match="the checksum differs"):
        Store(folder).plan()
    planned(folder, budget=200)
    assert Store(folder).plan() == plan


def test_pipes_are_not_waited_for(folder: Path) -> None:
    (folder / "plan.json").unlink()
    os.mkfifo(folder / "plan.json")
    with pytest.raises(StoreError, match="not a plain file"):
        Store(folder).plan()
    os.mkfifo(folder / "results" / "part-000009.parquet")
    store = Store(folder)
    assert len(store.read()) == 4 and "not a plain file" in store.problems[0]


def test_links_to_other_folders_are_not_written_to(folder: Path, tmp_path: Path) -> None:
    shutil.rmtree(folder / "results")
    (tmp_path / "elsewhere").mkdir()
    (folder / "results").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StoreError, match="results must not be a link"):
        compare(["de1", "random"], ["cec2005:F1/d10"], runs=2, budget=200, out=folder, workers=1)
    assert not list((tmp_path / "elsewhere").iterdir())


ROW = Run(key="k", method="m", problem="p", repeat=0, budget=9, seed=0, checkpoints=[1, 9], best=[2.0, 1.0])


def written(path: Path, table: pa.Table) -> str:
    """What is said about a folder with this part."""
    (path / "results").mkdir(exist_ok=True)
    pq.write_table(table, path / "results" / "part-000001.parquet")
    store = Store(path)
    assert len(store.read()) == 0
    return store.problems[0]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"best": [1.0]}, "lists of lengths that do not go together"),
        ({"operators": ["a", "b"], "strategy_counts": [1, 2, 3]}, "lists of lengths that do not go together"),
        ({"status": "<b>"}, "a status that there is none of"),
        ({"method": "\x1b[2J"}, "method must have 1 to 1000 characters that can be printed"),
        ({"key": ""}, "key must have 1 to 1000 characters"),
        ({"budget": -5}, "negative counts"),
    ],
)
def test_wrong_rows_are_refused(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    assert message in written(tmp_path, to_table([replace(ROW, **changes)]))


def test_rows_that_were_changed_or_are_empty(tmp_path: Path) -> None:
    table = to_table([ROW])
    index = table.schema.get_field_index("budget")
    other = table.set_column(index, table.schema.field(index), pa.array([10], pa.int64()))
    assert "the checksum differs" in written(tmp_path, other)
    nothing = table.set_column(index, table.schema.field(index), pa.array([None], pa.int64()))
    assert "it has empty cells" in written(tmp_path, nothing.replace_schema_metadata(SCHEMA.metadata))
    assert "its columns are not those" in written(tmp_path, table.replace_schema_metadata({"deddqn-results": "2"}))
    assert "its columns are not those" in written(tmp_path, table.drop_columns(["budget"]))
