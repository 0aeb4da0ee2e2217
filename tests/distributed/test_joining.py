"""Joining a cluster: who may take part, and what is said when it does not work."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from deddqn.cli import main
from deddqn.experiments import compare
from tests.distributed.conftest import ROOT
from tests.experiments.methods_for_tests import PROBLEMS

COMPARE = ["compare", "--methods", "de1", "--problems", PROBLEMS[0], "--runs", "2", "--budget", "200"]


def test_a_node_with_another_version_is_refused(machines, tmp_path):
    """The node's package is a copy with another number; the driver's error names the node and both versions."""
    shutil.copytree(ROOT / "src/deddqn", tmp_path / "deddqn", ignore=shutil.ignore_patterns("__pycache__"))
    init = tmp_path / "deddqn/__init__.py"
    init.write_text(re.sub(r'__version__ = ".*"', '__version__ = "9.9.9"', init.read_text()))
    message = r"node 127\.0\.0\.\d+ cannot take part: deddqn 9\.9\.9 \(code \w+\) there"
    with machines.extra(env_vars={"PYTHONPATH": str(tmp_path)}), pytest.raises(OSError, match=message):
        compare(["de1"], PROBLEMS, runs=2, budget=200, out=tmp_path / "out", cluster=machines.address)
    assert not (tmp_path / "out").exists()


def test_a_node_without_the_package_is_refused(machines, monkeypatch):
    """What nodes run needs nothing of the package until it has looked whether it is there."""
    from deddqn.distributed.connection import _worker

    monkeypatch.setitem(sys.modules, "deddqn.distributed.node_versions", None)
    fits, reason = _worker()({}, "deddqn.distributed.connection", "ready")
    assert not fits
    assert re.match(r"node 127\.0\.0\.2 cannot take part: deddqn cannot be imported there", reason)


def test_versions_and_code_count():
    from deddqn.distributed.node_versions import differences, versions

    here = versions(["cma"])
    assert set(here) == {"deddqn", "numpy", "numba", "scipy", "cma"}
    assert differences(here) == ""
    assert differences({**here, "numpy": "1.0"}) == f"numpy {here['numpy']} there, 1.0 here"
    assert differences({"no-such-package": "2"}) == "no-such-package missing there, 2 here"


def test_the_command_shows_nodes_cores_and_pace(machines, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("deddqn.experiments.progress.EVERY", 0.0)
    assert main([*COMPARE, "--out", str(tmp_path), "--cluster", machines.address]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert re.search(r"2 of 2 runs, 2 nodes, 2 cores, [\d,]+ evaluations/s", said)
    assert "2 runs stored" in said


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("local", "cluster must be 'auto' or the HOST:PORT of a Ray head, got 'local'"),
        ("ray://127.0.0.1:10001", "cluster must be 'auto' or the HOST:PORT"),
    ],
)
def test_addresses_that_are_none(address, message, tmp_path, capsys):
    pytest.importorskip("ray")
    assert main([*COMPARE, "--out", str(tmp_path), "--cluster", address]) == 2
    assert message in capsys.readouterr().err


def test_another_cluster_than_that_of_the_process(machines, tmp_path):
    with pytest.raises(OSError, match=f"works on the Ray cluster at {machines.address} already, got '127.0.0.1:1'"):
        compare(["de1"], PROBLEMS, runs=2, budget=200, out=tmp_path / "out", cluster="127.0.0.1:1")


def test_where_no_cluster_runs_none_is_started(monkeypatch):
    """The error says how to start one."""
    ray = pytest.importorskip("ray")
    from deddqn.distributed.connection import _connect

    with pytest.raises(OSError, match="no Ray head answers at 127.0.0.1:1"):
        _connect("127.0.0.1:1")

    def init(address, **settings):
        assert address == "auto"
        raise ConnectionError("Could not find any running Ray instance")

    monkeypatch.setattr(ray, "init", init)
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    with pytest.raises(OSError, match="no Ray cluster runs on this machine; start one with 'ray start --head'"):
        _connect("auto")


@pytest.mark.parametrize(
    "command",
    [[*COMPARE, "--out", "out"], ["tune", "rec-pm", "--out", "out"], ["train", "--preset", "fast-r2", "--out", "out"]],
)
def test_without_ray_the_error_names_the_extra(command, tmp_path):
    if command[0] == "train":
        pytest.importorskip("torch", reason="a training asks for torch first")
    (tmp_path / "ray.py").write_text("raise ImportError('no ray here')\n")
    code = "import sys; from deddqn.cli import main; sys.exit(main(sys.argv[1:]))"
    done = subprocess.run(
        [sys.executable, "-c", code, *command, "--cluster", "auto"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={"PYTHONPATH": f"{tmp_path}:{ROOT / 'src'}", "PATH": "", "HOME": str(Path.home())},
    )
    assert done.returncode == 2
    assert "for work on a cluster install the package 'ray' (extra 'cluster'): pip install " in done.stderr


@pytest.mark.parametrize("option", [["--log", "ioh"], ["--workers", "2"]])
def test_what_belongs_to_one_machine_is_refused(option, tmp_path, capsys):
    assert main([*COMPARE, "--out", str(tmp_path), "--cluster", "auto", *option]) == 2
    assert "of one machine: leave them out on a cluster" in capsys.readouterr().err
