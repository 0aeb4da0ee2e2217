"""Runs logged by ioh and by COCO's observer are the runs without a logger; the files are read back."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deddqn import DEConfig, RunSpec, VectorizedRuns, load_policy
from deddqn.engine.run import Run
from deddqn.loggers.ioh_files import write_ioh_logs
from deddqn.loggers.problem_id import parse_problem_id
from deddqn.problems import Problem, get
from deddqn.problems.wrappers import with_callback
from tests.loggers.ioh_reader import read_ioh

SMALL = DEConfig(population_size=10, budget=300)


def spec_of(problem: str, repeat: int = 0, **more: Any) -> RunSpec:
    return RunSpec(problem=get(problem), policy=load_policy("random"), repeat=repeat, **{"config": SMALL, **more})


def best_of(spec: RunSpec) -> float:
    lanes = VectorizedRuns([spec], threads=1)
    lanes.advance()
    return float(lanes.best_values[0])


@pytest.mark.parametrize("updating", ["sequential", "deferred"])
@pytest.mark.parametrize("problem", ["cec2005:F9/d2", "cec2005:F24/d10"])
def test_a_seen_run_is_the_run(problem: str, updating: str) -> None:
    spec = spec_of(problem, config=DEConfig(population_size=10, budget=255, updating=updating))
    told: list[tuple[np.ndarray, float]] = []
    watched = replace(spec, problem=with_callback(spec.problem, lambda point, value: told.append((point, value))))
    run, lanes = Run(watched), VectorizedRuns([spec], threads=1)
    run.advance(255)
    lanes.advance()
    assert len(told) == run.evaluations == 255
    assert min(value for _, value in told) == run.best_value == lanes.best_values[0]
    assert np.array_equal(run.de_state.parents, lanes.episodes[0].de_state.parents)


def test_a_seen_problem_is_the_problem() -> None:
    plain, told = get("cec2005:F4/d10"), []
    shown = with_callback(plain, lambda point, value: told.append((point.tolist(), value)))
    points = np.random.default_rng(1).uniform(-100, 100, (5, 10))
    for problem in (plain, shown):
        problem.seed_noise(7)
    values = [plain(points[0]), *plain(points)]
    assert [shown(points[0]), *shown(points)] == values
    assert told == [(point.tolist(), value) for point, value in zip([points[0], *points], values, strict=True)]
    assert (shown.name, shown.seed_name, shown.optimum) == (plain.name, plain.seed_name, plain.optimum)


def test_places() -> None:
    assert parse_problem_id("cec2005:F9/d10") == ("cec2005", 9, 1, 10)
    assert parse_problem_id("bbob:f3/i7/d5") == parse_problem_id("bbob-coco:f3/i7/d5") == ("bbob", 3, 7, 5)
    with pytest.raises(ValueError, match="must have a name with function and dimension"):
        parse_problem_id("objective")


def test_ioh_logs_runs(tmp_path: Path) -> None:
    pytest.importorskip("ioh")
    from deddqn.loggers.ioh import log_with_ioh

    specs = [spec_of("bbob:f3/i2/d5", 0), spec_of("bbob:f3/i2/d5", 1), spec_of("cec2005:F24/d2", 3)]
    runs = log_with_ioh(specs, tmp_path / "log")
    read = read_ioh(tmp_path / "log")
    assert set(read) == {("bbob_f3", 5, 2, 0), ("bbob_f3", 5, 2, 1), ("cec2005_f24", 2, 1, 3)}
    for spec, run in zip(specs, runs, strict=True):
        problem_id = parse_problem_id(spec.problem.name)
        entry, lines = read[problem_id.title, problem_id.dimension, problem_id.instance, spec.repeat]
        assert run.best_value == best_of(spec)
        assert entry["evals"] == run.evaluations == 300
        assert entry["best"]["y"] == pytest.approx(run.best_value - spec.problem.optimum, rel=1e-12)
        assert min(value for _, value in lines) == pytest.approx(entry["best"]["y"], abs=1e-9)
        assert lines[-1][0] == 300
    assert json.loads(next((tmp_path / "log").rglob("*f24*.json")).read_text())["algorithm"]["name"] == "random"


def test_ioh_logs_any_optimiser_that_takes_a_problem(tmp_path: Path) -> None:
    pytest.importorskip("ioh")
    from deddqn.loggers.ioh import IohLogger

    with IohLogger(tmp_path / "log", "sampling") as log:
        problem = log.attach(get("bbob:f1/i1/d3"))
        assert isinstance(problem, Problem)
        points = np.random.default_rng(0).uniform(-5, 5, (40, 3))
        values = [problem(point) for point in points]
        assert values == [get("bbob:f1/i1/d3")(point) for point in points]
        spec = RunSpec(problem=log.attach(get("cec2005:F1/d10")), policy=load_policy("random"), config=SMALL)
        assert best_of(spec) == best_of(spec_of("cec2005:F1/d10"))
    read = read_ioh(log.folder)
    assert read["bbob_f1", 3, 1, 0][0]["evals"] == 40
    assert read["cec2005_f1", 10, 1, 0][0]["evals"] == 300


def rows() -> list[dict[str, Any]]:
    curve = {"checkpoints": [1, 20, 40, 80], "best": [-320.0, -325.0, -325.0, -329.5], "optimum": -330.0}
    more = {"checkpoints": [1, 100], "best": [3.0, 2.0], "optimum": math.nan, "evaluations": 100}
    return [
        {"method": "de3", "problem": "cec2005:F9/d10", "repeat": 1, "seed": 5, "evaluations": 90, **curve},
        {"method": "de3", "problem": "cec2005:F9/d10", "repeat": 0, **curve},
        {"method": "mixture:.5,.5", "problem": "bbob:f3/i4/d5", "repeat": 0, **more},
        {"method": "de3", "problem": "cec2005:F9/d30", "repeat": 0, **more},
        {"method": "de3", "problem": "cec2005:F3/d10", "repeat": 0, "checkpoints": [], "best": []},
    ]


def test_finished_runs_become_ioh_files(tmp_path: Path) -> None:
    folders = write_ioh_logs(rows(), tmp_path)
    assert [folder.relative_to(tmp_path).as_posix() for folder in folders] == ["de3/cec2005", "mixture_.5,.5/bbob"]
    read = read_ioh(tmp_path)
    assert len(read) == 4
    entry, lines = read["cec2005_f9", 10, 1, 1]
    assert lines == [(1, 10.0), (20, 5.0), (80, 0.5), (90, 0.5)]
    assert (entry["evals"], entry["best"]["evals"], entry["best"]["y"], entry["seed"]) == (90, 80, 0.5, 5)
    assert read["bbob_f3", 5, 4, 0][1] == [(1, 3.0), (100, 2.0)]


def test_rows_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="at least one run with a trajectory"):
        write_ioh_logs([], tmp_path)
    with pytest.raises(ValueError, match="rows must have 'checkpoints'"):
        write_ioh_logs([{"method": "a", "problem": "cec2005:F9/d10"}], tmp_path)
    with pytest.raises(ValueError, match="as long as each other"):
        write_ioh_logs([{"method": "a", "problem": "cec2005:F9/d10", "checkpoints": [1], "best": []}], tmp_path)


def test_a_trajectory_must_begin_at_the_first_evaluation(tmp_path: Path) -> None:
    row = {"method": "a", "problem": "cec2005:F9/d10", "checkpoints": [2, 3], "best": [2.0, 1.0]}
    with pytest.raises(ValueError, match="must begin at evaluation 1"):
        write_ioh_logs([row], tmp_path)


def test_iohinspector_reads_both(tmp_path: Path) -> None:
    iohinspector = pytest.importorskip("iohinspector")
    pytest.importorskip("ioh")
    from deddqn.loggers.ioh import log_with_ioh

    run = log_with_ioh([spec_of("bbob:f3/i2/d5")], tmp_path / "live" / "log")[0]
    write_ioh_logs(rows(), tmp_path / "export")
    for folder, runs, best in (
        (tmp_path / "live", 1, run.best_value - get("bbob:f3/i2/d5").optimum),
        (tmp_path / "export" / "de3", 3, 0.5),
    ):
        manager = iohinspector.DataManager()
        manager.add_folder(str(folder))
        table = manager.load(monotonic=True)
        assert len(manager.overview) == runs
        assert table["raw_y"].min() == pytest.approx(best, abs=1e-9)


def test_cocos_observer_sees_runs(tmp_path: Path) -> None:
    pytest.importorskip("cocoex")
    pytest.importorskip("ioh")
    from deddqn.loggers.coco import log_with_coco

    specs = [spec_of(f"bbob:f{f}/i{i}/d2") for i in (1, 2) for f in (1, 3)]
    runs = log_with_coco(specs, tmp_path / "res", "random choice")
    for spec, run in zip(specs, runs, strict=True):
        assert run.best_value == best_of(spec)
        assert run.evaluations == 300
    text = (tmp_path / "res" / "bbobexp_f3.info").read_text()
    assert "random_choice" in text
    assert "1:300|" in text
    assert "2:300|" in text


def test_coco_bad_input(tmp_path: Path) -> None:
    pytest.importorskip("cocoex")
    from deddqn.loggers.coco import CocoObserver, log_with_coco

    with pytest.raises(ValueError, match="must be one of BBOB"):
        log_with_coco([spec_of("cec2005:F9/d2")], tmp_path / "a")
    with pytest.raises(ValueError, match="at least one run"):
        log_with_coco([], tmp_path / "a")
    with pytest.raises(ValueError, match="no spaces"):
        CocoObserver(tmp_path / "a b", "x")
    pytest.importorskip("ioh")
    with pytest.raises(ValueError, match="dimension must be one of"):
        log_with_coco([spec_of("bbob:f1/i1/d30")], tmp_path / "a")


@pytest.mark.slow
def test_cocopp_makes_its_page(tmp_path: Path) -> None:
    pytest.importorskip("cocopp")
    pytest.importorskip("cocoex")
    pytest.importorskip("ioh")
    from deddqn.loggers.coco import log_with_coco

    log_with_coco([spec_of(f"bbob:f{f}/i{i}/d5") for f in range(1, 25) for i in (1, 2, 3)], tmp_path / "res")
    command = [sys.executable, "-m", "cocopp", "--no-svg", "-o", str(tmp_path / "pages"), str(tmp_path / "res")]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "pages" / "index.html").is_file()
    assert any("res" in page.parent.name for page in (tmp_path / "pages").rglob("*.html"))
