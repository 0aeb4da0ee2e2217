"""kill -9 at any moment: what was stored stays, nothing is half written, and the rest runs next time."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil

from deddqn.experiments import StoreError, compare
from tests.experiments.methods_for_tests import PROBLEMS, Slow, rows

ROOT = Path(__file__).resolve().parents[2]

DRIVER = """
import os, signal, sys
from deddqn.experiments import compare, store
from tests.experiments.methods_for_tests import PROBLEMS, Slow

moment, folder = sys.argv[1], sys.argv[2]
real_sync, real_replace, seen = os.fsync, os.replace, []

def die():
    os.kill(os.getpid(), signal.SIGKILL)

def sync(descriptor):
    seen.append(descriptor)
    if len(seen) == 7 and moment == "inside":  # the third file: half of it is on the disk
        os.truncate(os.readlink(f"/proc/self/fd/{descriptor}"), os.fstat(descriptor).st_size // 2)
        die()
    real_sync(descriptor)

def replace(source, target):
    late = len(seen) >= 5 and "part-" in str(target)
    if late and moment == "before":
        die()
    real_replace(source, target)
    if late and moment == "after":
        die()

os.fsync, os.replace = sync, replace
print("ready", flush=True)
compare(["random", "de1", Slow()], PROBLEMS, runs=6, budget=400, out=folder, workers=1)
"""

WHAT = {"methods": ["random", "de1", Slow()], "problems": PROBLEMS, "runs": 6, "budget": 400}


def start(moment: str, folder: Path) -> subprocess.Popen:
    paths = os.pathsep.join([str(ROOT), str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": paths}
    command = [sys.executable, "-c", DRIVER, moment, str(folder)]
    process = subprocess.Popen(command, env=environment, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    with process.stdout as said:
        assert said.readline() == "ready\n"
    return process


def parts(folder: Path) -> list[Path]:
    return list((folder / "results").glob("part-*.parquet"))


def test_killed_at_any_moment_the_rest_runs_next_time(tmp_path, monkeypatch):
    monkeypatch.setattr("deddqn.experiments.runner.PYTHON_CHUNK", 400)
    folder, whole = tmp_path / "killed", tmp_path / "whole"
    moments = random.Random(7)
    stored = 0
    for moment in ("inside", "before", "after"):
        assert start(moment, folder).wait(timeout=60) == -signal.SIGKILL
    for _ in range(5):
        process = start("never", folder)
        wanted = len(parts(folder)) + moments.randint(0, 3)
        while process.poll() is None and len(parts(folder)) < wanted:
            time.sleep(0.005)
        time.sleep(moments.uniform(0.0, 0.1))
        process.kill()
        process.wait(timeout=60)
        now = len(rows(folder))
        assert now >= stored
        stored = now
    outcome = compare(**WHAT, out=folder, workers=1)
    assert outcome.skipped == stored
    assert outcome.notices == []
    compare(**WHAT, out=whole, workers=1)
    assert len(rows(whole)) == 36
    assert rows(folder) == rows(whole)
    assert not list(folder.rglob("*.tmp"))


def test_a_second_process_is_refused_and_workers_end_with_their_driver(tmp_path):
    process = start("never", tmp_path)
    try:
        deadline = time.monotonic() + 60
        while not (workers := psutil.Process(process.pid).children(recursive=True)) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert workers
        try:
            compare(**WHAT, out=tmp_path)
        except StoreError as error:
            assert f"in use by another process (pid {process.pid}" in str(error)
        else:
            raise AssertionError("the second process was not refused")
    finally:
        process.kill()
        process.wait(timeout=60)
    _, alive = psutil.wait_procs(workers, timeout=20)
    assert not alive
