"""The folder of an experiment: whole files or none, corrupt ones set aside, clear errors."""

import errno
import os

import pytest

from deddqn._utils import atomic
from deddqn.experiments import Store, StoreError, compare, plan_experiment
from deddqn.experiments.plan import Job
from deddqn.experiments.results import Run, failed, job_columns
from tests.experiments.methods_for_tests import PROBLEMS, rows


def run_of(repeat: int, **changes) -> Run:
    job = Job("m", "p", repeat, 100, (("seed", 0),))
    return Run(**job_columns(job), best_value=1.0, error=0.5, checkpoints=[1, 100], best=[2.0, 1.0], **changes)


@pytest.fixture
def store(tmp_path):
    made = Store(tmp_path / "e")
    made.create()
    return made


def test_rows_come_back_as_they_were(store):
    store.append([run_of(0), run_of(1, operators=["a", "b"], strategy_counts=[1, 2, 3, 4])])
    store.append([run_of(2)])
    frame = store.read()
    assert frame["repeat"].tolist() == [0, 1, 2]
    assert frame["strategy_counts"][1].tolist() == [1, 2, 3, 4]
    assert frame["best"][2].tolist() == [2.0, 1.0]
    assert store.done() == {run_of(k).key for k in range(3)}


def test_a_success_replaces_a_failure(store):
    job = Job("m", "p", 0, 100, (("seed", 0),))
    store.append([failed(job, "why", "traceback")])
    assert store.done() == {job.key}
    assert store.done(retry_failed=True) == set()
    store.append([run_of(0)])
    store.append([failed(job, "why", "traceback")])
    assert store.read()["status"].tolist() == ["ok"]


@pytest.mark.parametrize("damage", ["truncated", "flipped", "emptied", "text"])
def test_a_corrupt_file_is_named_and_set_aside(store, damage):
    good, bad = store.append([run_of(0)]), store.append([run_of(1), run_of(2)])
    content = bytearray(bad.read_bytes())
    if damage == "truncated":
        content = content[: len(content) // 2]
    elif damage == "flipped":
        content[100] ^= 0xFF
    else:
        content = b"" if damage == "emptied" else b"hello"
    bad.write_bytes(content)
    frame = store.read()
    assert frame["repeat"].tolist() == [0]
    assert bad.exists()
    assert bad.name in store.problems[0]
    assert store.done() == {run_of(0).key}
    assert not bad.exists()
    assert bad.with_name(bad.name + ".corrupt").exists()
    assert store.append([run_of(1)]).name not in (good.name, bad.name)


def test_a_full_disk_says_so_and_leaves_nothing_half_written(store, monkeypatch):
    store.append([run_of(0)])

    def full(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StoreError, match="the disk is full; what was stored before is intact"):
        store.append([run_of(1)])
    monkeypatch.undo()
    assert [path.name for path in store.results.iterdir()] == ["part-000001.parquet"]
    assert store.read()["repeat"].tolist() == [0]


def test_a_full_disk_in_the_middle_of_an_experiment_can_be_mended(tmp_path, monkeypatch):
    real, calls = os.fsync, []

    def full_after_some(descriptor):
        if str(tmp_path) in os.readlink(f"/proc/self/fd/{descriptor}"):  # and not the cache of compiled code
            calls.append(descriptor)
        if len(calls) > 6:
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(descriptor)

    what = {"methods": ["de1", "de2"], "problems": PROBLEMS, "runs": 2, "budget": 300}
    monkeypatch.setattr(os, "fsync", full_after_some)
    with pytest.raises(StoreError, match="the disk is full"):
        compare(**what, out=tmp_path / "a")
    monkeypatch.undo()
    assert 0 < len(rows(tmp_path / "a")) < 8
    compare(**what, out=tmp_path / "a")
    compare(**what, out=tmp_path / "b")
    assert rows(tmp_path / "a") == rows(tmp_path / "b")


def test_no_permission_says_so(tmp_path, monkeypatch):
    def refuse(*args, **kwargs):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(os, "mkdir", refuse)
    with pytest.raises(StoreError, match="no permission to write there"):
        compare(["de1"], PROBLEMS, runs=1, budget=200, out=tmp_path / "x")


def test_a_file_in_the_way_says_so(tmp_path):
    (tmp_path / "x").write_text("")
    with pytest.raises(StoreError, match="cannot create in"):
        compare(["de1"], PROBLEMS, runs=1, budget=200, out=tmp_path / "x")


def test_a_folder_of_another_plan_is_refused_and_can_be_extended(tmp_path):
    from deddqn.experiments import run_experiment

    compare(["de1"], PROBLEMS[:1], runs=2, budget=200, out=tmp_path)
    before = rows(tmp_path)
    with pytest.raises(StoreError, match="belongs to another plan; methods: not in the folder de2; only in the folder"):
        compare(["de2"], PROBLEMS[:1], runs=2, budget=200, out=tmp_path)
    assert rows(tmp_path) == before
    run_experiment(plan_experiment(["de2"], PROBLEMS[:1], runs=3, budget=200), tmp_path, extend=True)
    assert sorted((r["method"], r["repeat"]) for r in rows(tmp_path)) == [
        ("de1", 0), ("de1", 1), ("de2", 0), ("de2", 1), ("de2", 2)
    ]  # fmt: skip


def test_a_spoilt_plan_and_a_missing_one_say_so(tmp_path):
    with pytest.raises(StoreError, match="holds no experiment"):
        Store(tmp_path).existing_plan()
    (tmp_path / "plan.json").write_text("{")
    with pytest.raises(StoreError, match="is not the plan of an experiment"):
        Store(tmp_path).existing_plan()


def test_one_at_a_time(store):
    holder = f"in use by another process \\(pid {os.getpid()} on "
    with store.locked(), pytest.raises(StoreError, match=holder), store.locked():
        pass
    with store.locked():
        pass


def leave_behind(store):
    """What a killed process leaves: a part of a result file, under its temporary name."""
    with pytest.MonkeyPatch.context() as patch, pytest.raises(OSError, match="killed"):
        patch.setattr(os, "replace", _raise_killed)
        patch.setattr(atomic, "_remove", lambda path: None)
        store.append([run_of(1)])
    (left,) = store.results.glob(".part-*")
    return left


def _raise_killed(*_):
    raise OSError("killed")


def test_leftovers_of_a_write_are_never_read_and_go_with_the_next_writer(store):
    store.append([run_of(0)])
    left = leave_behind(store)
    assert len(store.read()) == 1
    with store.locked():
        assert not left.exists()


def test_who_does_not_get_the_lock_removes_nothing(store):
    """The temporary file may be one that the holder is about to rename."""
    with store.locked():
        left = leave_behind(store)
        with pytest.raises(StoreError, match="in use"):
            compare(["de1"], PROBLEMS, runs=1, budget=200, out=store.folder)
        assert left.exists()


def test_only_what_the_package_wrote_is_removed(store):
    """A user's file of a similar name stays, and a folder of such a name is no stumbling block."""
    mine = [
        store.folder / ".x.tmp",
        store.results / ".part-000001.parquet.tmp",
        store.results / ".notes.7.0a1b2c3d.tmp",
    ]
    for path in mine:
        path.write_text("mine")
    for name in (".folder.tmp", ".part-000001.parquet.7.0a1b2c3d.tmp"):
        (store.results / name).mkdir()
    compare(["de1"], PROBLEMS, runs=1, budget=200, out=store.folder)
    assert all(path.read_text() == "mine" for path in mine)
    assert (store.results / ".folder.tmp").is_dir()
