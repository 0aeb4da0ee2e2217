"""Logs and names that mean harm: nothing is written outside of the folder, and no name breaks a file."""

from __future__ import annotations

import json
import shutil
import stat
import zipfile
from pathlib import Path

import pytest

pytest.importorskip("ioh")

from deddqn.cli import main
from deddqn.experiments import Store, compare
from deddqn.loggers.formats import IohLog
from deddqn.loggers.ioh_files import write_ioh_logs
from tests.experiments.methods_for_tests import RandomSearch

SMALL = {"methods": ["de1"], "problems": ["bbob:f1/i1/d2"], "runs": 2, "budget": 200}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("made") / "experiment"
    compare(**SMALL, out=target, logs=[IohLog()], workers=1)
    return target


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    return shutil.copytree(made, tmp_path / "deep" / "experiment")


def everything(folder: Path) -> set[Path]:
    return {path for path in folder.rglob("*") if "experiment" not in path.relative_to(folder).parts}


@pytest.mark.parametrize(
    "name",
    [
        "KEY/../../../../x",
        "KEY//tmp/deddqn-x",
        "KEY/a/../../../x",
        "../x",
        "KEY/C:\\x",
        "KEY/..\\..\\x",
        "KEY/\x00x",
        "x",
    ],
)
def test_members_of_logs_cannot_leave_their_folder(folder: Path, tmp_path: Path, name: str) -> None:
    archive = next((folder / "logs" / "runs").glob("ioh-*.zip"))
    key = next(iter(Store(folder).read()["key"]))
    with zipfile.ZipFile(archive, "a") as file:
        file.writestr(name.replace("KEY", key), "harm")
    before = everything(tmp_path)
    compare(**SMALL, out=folder, logs=[IohLog()], workers=1)
    assert everything(tmp_path) == before and not Path("/tmp/deddqn-x").exists()
    assert archive.with_name(archive.name + ".corrupt").exists()


def test_links_in_logs_are_refused(folder: Path, tmp_path: Path) -> None:
    archive = next((folder / "logs" / "runs").glob("ioh-*.zip"))
    key = next(iter(Store(folder).read()["key"]))
    with zipfile.ZipFile(archive, "a") as file:
        member = zipfile.ZipInfo(f"{key}/link")
        member.external_attr = (stat.S_IFLNK | 0o777) << 16
        file.writestr(member, str(tmp_path))
    compare(**SMALL, out=folder, logs=[IohLog()], workers=1)
    assert archive.with_name(archive.name + ".corrupt").exists()


@pytest.mark.parametrize("name", ["runs", ".joining", ".scratch", "ioh"])
def test_folders_that_are_links_are_refused(folder: Path, tmp_path: Path, name: str) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    place = folder / "logs" / name
    if place.exists():
        place.rename(folder / "logs" / "kept")
    place.symlink_to(elsewhere)
    with pytest.raises(ValueError, match=f"{name} must be a folder, got a link"):
        compare(**SMALL, out=folder, logs=[IohLog()], workers=1)
    assert not list(elsewhere.iterdir())


def row(method: str) -> dict[str, object]:
    return {"method": method, "problem": "bbob:f1/i1/d2", "checkpoints": [1, 9], "best": [2.0, 1.0], "optimum": 0.0}


def test_methods_cannot_name_folders_above(tmp_path: Path) -> None:
    out = tmp_path / "a" / "b"
    folders = write_ioh_logs([row(method) for method in ("..", ".", "../..", "/etc", "a/b", "a_b")], out)
    assert len(set(folders)) == 6
    assert all(folder.resolve().parent.parent == out for folder in folders)
    assert {path.name for path in tmp_path.iterdir()} == {"a"} and {p.name for p in (tmp_path / "a").iterdir()} == {"b"}


class Quoted(RandomSearch):
    """A name that JSON has to escape."""

    name = 'a "quoted" \\ name'


def test_quotes_in_names_do_not_break_logs(tmp_path: Path) -> None:
    options = {**SMALL, "methods": [Quoted()], "out": tmp_path, "logs": [IohLog()], "workers": 1}
    compare(**options)
    index = next((tmp_path / "logs" / "ioh").rglob("*.json"))
    assert json.loads(index.read_text())["algorithm"]["name"] == Quoted.name
    compare(**options)  # joined again from what is stored


@pytest.mark.parametrize("name", ["a\nb", "a\x00b", "\x1b[2J", "", "x" * 1001, 5, None])
def test_names_that_cannot_be_written_are_refused(tmp_path: Path, name: object) -> None:
    method = RandomSearch()
    method.name = name  # type: ignore[assignment]
    with pytest.raises(ValueError, match="name of a method must"):
        compare([method], ["bbob:f1/i1/d2"], runs=1, budget=50, out=tmp_path / "x")
    assert not (tmp_path / "x").exists()


def test_a_wrong_index_is_refused_in_one_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    archive = next((folder / "logs" / "runs").glob("ioh-*.zip"))
    with zipfile.ZipFile(archive) as file:
        members = {name: file.read(name) for name in file.namelist()}
    with zipfile.ZipFile(archive, "w") as file:
        for name, content in members.items():
            file.writestr(name, b'{"scenarios": [3]}' if name.endswith(".json") else content)
    command = "compare --methods de1 --problems bbob:f1/i1/d2 --runs 2 --budget 200 --log ioh --out"
    assert main([*command.split(), str(folder)]) == 2
    assert "an index of ioh.scenarios[0] must be an object, got 3" in capsys.readouterr().err
