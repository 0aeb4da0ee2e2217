"""``deddqn compare --log ioh coco``: every stored run is in the logs once, whatever happened on the way."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("ioh")
pytest.importorskip("cocoex")

from deddqn.cli import main
from deddqn.experiments import Store, compare
from deddqn.loggers.formats import CocoLog, IohLog, join_info
from deddqn.loggers.problem_id import parse_problem_id
from deddqn.policies import mixture
from deddqn.problems import Problem
from tests.experiments.methods_for_tests import Failing, RandomSearch, rows
from tests.loggers.ioh_reader import read_ioh

ROOT = Path(__file__).resolve().parents[2]
PROBLEMS = ("bbob:f1/i1/d5", "bbob:f1/i2/d5", "bbob:f3/i1/d5", "bbob:f3/i1/d2")
BOTH = (IohLog(), CocoLog())


class Local(RandomSearch):
    """Cannot be found by its name: runs in the driver."""

    name = "local search"


class Overrunning(RandomSearch):
    """Makes twice as many evaluations as it may."""

    name = "overrunning"

    def run(self, problem: Any, budget: int, rng: Any) -> Any:
        return super().run(problem, 2 * budget, rng)


def read_coco(folder: Path) -> Counter[tuple[int, int, int, int]]:
    """How often each (function, dimension, instance, evaluations) is in the .info files; the data must agree."""
    found: Counter[tuple[int, int, int, int]] = Counter()
    for path in folder.rglob("*.info"):
        for facts, _, data in re.findall(r"(suite.*)\n(%.*)\n(data.*)", path.read_text()):
            function, dimension = (int(re.search(rf"{word} = (\d+)", facts)[1]) for word in ("funcId", "DIM"))  # type: ignore[index]
            file, *runs = data.split(", ")
            for run in runs:
                instance, evaluations = map(int, run.split("|")[0].split(":"))
                found[function, dimension, instance, evaluations] += 1
            blocks = (path.parent / file).read_text().count("% f evaluations")
            assert blocks == len(runs)
    return found


def assert_logged_once(folder: Path) -> None:
    """Every run that is stored and did not fail is in both logs, with its evaluations and its error."""
    stored = Store(folder).read()
    stored = stored[stored.status != "failed"]
    assert len(stored)
    for method, of_method in stored.groupby("method"):
        name = re.sub(r"[^\w.,=-]+", "_", str(method))
        by_hand = read_ioh(folder / "logs" / "ioh" / name)
        assert len(by_hand) == len(of_method)
        expected: Counter[tuple[int, int, int, int]] = Counter()
        for row in of_method.itertuples():
            problem_id = parse_problem_id(row.problem)
            made = min(row.evaluations, row.budget)
            expected[problem_id.function, problem_id.dimension, problem_id.instance, made] += 1
            entry, lines = by_hand[problem_id.title, problem_id.dimension, problem_id.instance, row.repeat]
            assert (entry["evals"], entry["seed"], lines[-1][0]) == (made, row.seed, made)
            assert entry["best"]["y"] == pytest.approx(row.error, abs=1e-9)
        assert read_coco(folder / "logs" / "coco" / name) == expected
    assert {path.name for path in (folder / "logs").iterdir()} == {"ioh", "coco", "runs"}


def test_all_kinds_of_methods_are_logged_and_no_run_changes(tmp_path: Path) -> None:
    what: dict[str, Any] = {"runs": 2, "budget": 230}
    methods = ["de3", "ipop-cmaes", RandomSearch(), Local(), mixture([0.5, 0.5, 0, 0]), Overrunning()]
    outcome = compare(methods, PROBLEMS, out=tmp_path / "logged", workers=2, logs=BOTH, **what)
    assert (outcome.ran, outcome.failed, len(outcome.flagged)) == (48, [], 8)
    assert outcome.logs == [tmp_path / "logged" / "logs" / "ioh", tmp_path / "logged" / "logs" / "coco"]
    assert_logged_once(tmp_path / "logged")
    compare(methods, PROBLEMS, out=tmp_path / "plain", workers=2, **what)
    assert rows(tmp_path / "logged") == rows(tmp_path / "plain")


def test_noise_is_logged_as_it_was(tmp_path: Path) -> None:
    what: dict[str, Any] = {"methods": ["de1", RandomSearch()], "problems": ["cec2005:F4/d10"], "runs": 2}
    compare(**what, budget=150, out=tmp_path / "logged", logs=[IohLog()], workers=1)
    compare(**what, budget=150, out=tmp_path / "plain", workers=1)
    assert rows(tmp_path / "logged") == rows(tmp_path / "plain")
    for row in rows(tmp_path / "plain"):
        entry, _ = read_ioh(tmp_path / "logged" / "logs" / "ioh" / row["method"])["cec2005_f4", 10, 1, row["repeat"]]
        assert entry["best"]["y"] == pytest.approx(row["error"], rel=1e-12)


def test_iohinspector_reads_the_logs_of_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    iohinspector = pytest.importorskip("iohinspector")
    arguments = ["--methods", "de3", "random", "--problems", *PROBLEMS, "--runs", "2", "--budget", "200"]
    assert main(["compare", *arguments, "--log", "ioh", "--out", str(tmp_path), "--workers", "1"]) == 0
    assert f"logs: a folder per method in {tmp_path / 'logs' / 'ioh'}" in capsys.readouterr().out.replace("\n", "")
    manager = iohinspector.DataManager()
    manager.add_folder(str(tmp_path / "logs" / "ioh"))
    assert len(manager.overview) == 16
    best = (
        manager.load(monotonic=True, include_meta_data=True)
        .to_pandas()
        .groupby(["algorithm_name", "function_id"])
        .raw_y.min()
    )
    stored = Store(tmp_path).read()
    stored["function"] = [parse_problem_id(name).function for name in stored.problem]
    expected = stored.groupby(["method", "function"]).error.min()
    assert best.tolist() == pytest.approx(expected.tolist(), abs=1e-9)


def test_runs_joined_are_what_one_observer_writes(tmp_path: Path) -> None:
    from deddqn import DEConfig, RunSpec, load_policy
    from deddqn.loggers.coco import log_with_coco
    from deddqn.problems import get

    compare(["de3"], PROBLEMS[:3], runs=2, budget=150, out=tmp_path / "e", logs=[CocoLog()], workers=1)
    policy, config = load_policy("de3"), DEConfig(budget=150)
    specs = [
        RunSpec(problem=get(name), policy=policy, config=config, repeat=repeat)
        for name in PROBLEMS[:3]
        for repeat in range(2)
    ]
    log_with_coco(specs, tmp_path / "one", "de3")
    joined = tmp_path / "e" / "logs" / "coco" / "de3"
    files = sorted(path.relative_to(joined) for path in joined.rglob("*.*"))
    assert files == sorted(path.relative_to(tmp_path / "one") for path in (tmp_path / "one").rglob("*.*"))
    for path in files:
        assert (joined / path).read_text() == (tmp_path / "one" / path).read_text()


def test_info_files_of_two_dimensions_are_joined_apart() -> None:
    def text(dimension: int, run: str) -> str:
        return f"suite = 'bbob', funcId = 3, DIM = {dimension}\n% a\ndata_f3/x_DIM{dimension}.dat, {run}"

    whole = join_info([text(2, "1:60|7.8e+01"), text(5, "1:9|1"), text(2, "2:60|6.6e+01")])
    assert whole == f"{text(2, '1:60|7.8e+01, 2:60|6.6e+01')}\n{text(5, '1:9|1')}"


DRIVER = """
import os, signal, sys
from deddqn.experiments import compare
from deddqn.loggers.formats import CocoLog, IohLog
from tests.experiments.methods_for_tests import RandomSearch

moment, number, folder = sys.argv[1], int(sys.argv[2]), sys.argv[3]
real, seen = os.replace, []

def replace(source, target):
    seen.append(str(target))
    here = moment in str(target) and sum(moment in name for name in seen) == number
    if not here or "after" in sys.argv:
        real(source, target)
    if here:
        os.kill(os.getpid(), signal.SIGKILL)

os.replace = replace
compare(["de3", RandomSearch()], ["bbob:f1/i1/d5", "bbob:f3/i1/d2"], runs=3, budget=150, out=folder,
        logs=[IohLog(), CocoLog()], workers=1)
"""


def test_killed_at_any_moment_every_run_is_logged_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "killed"
    paths = os.pathsep.join([str(ROOT), str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    moments = [("ioh-", 1, "before"), ("coco-", 1, "after"), ("part-", 1, "after")]
    for moment, number, when in moments:
        command = [sys.executable, "-c", DRIVER, moment, str(number), str(folder), when]
        process = subprocess.run(command, env={**os.environ, "PYTHONPATH": paths}, cwd=ROOT, timeout=120)
        assert process.returncode == -signal.SIGKILL
    assert (folder / "logs" / ".scratch").exists()  # what the next call has to clear
    what: dict[str, Any] = {"methods": ["de3", RandomSearch()], "problems": ["bbob:f1/i1/d5", "bbob:f3/i1/d2"]}
    outcome = compare(**what, runs=3, budget=150, out=folder, logs=BOTH, workers=2)
    assert outcome.skipped > 0
    assert len(rows(folder)) == 12
    assert_logged_once(folder)


def test_logs_can_be_added_later_and_failed_runs_have_none(tmp_path: Path) -> None:
    class Fragile(Failing):
        def run(self, problem: Any, budget: int, rng: Any) -> Any:
            problem(problem.lower)  # begins a log
            if problem.name == PROBLEMS[0]:
                raise ArithmeticError("not this one")
            return super().run(problem, budget, rng)

    what: dict[str, Any] = {"methods": ["random", Fragile()], "problems": PROBLEMS[:2], "budget": 150}
    compare(**what, runs=2, out=tmp_path)
    before = [row for row in rows(tmp_path) if row["status"] == "ok"]
    again = compare(**what, runs=2, out=tmp_path, logs=BOTH)
    assert (again.skipped, again.ran) == (2, 6)
    assert [row for row in rows(tmp_path) if row["status"] == "ok"] == before
    assert_logged_once(tmp_path)
    assert compare(**what, runs=2, out=tmp_path, logs=BOTH).skipped == 8
    assert_logged_once(tmp_path)


def test_a_damaged_archive_is_set_aside_and_its_runs_are_run_again(tmp_path: Path) -> None:
    what: dict[str, Any] = {"methods": ["random"], "problems": PROBLEMS[:2], "runs": 2, "budget": 150}
    compare(**what, out=tmp_path, logs=BOTH)
    archive = tmp_path / "logs" / "runs" / "coco-000001.zip"
    content = bytearray(archive.read_bytes())
    content[len(content) // 2] ^= 0xFF
    archive.write_bytes(content)
    outcome = compare(**what, out=tmp_path, logs=BOTH)
    assert outcome.skipped == 2
    assert "set aside as coco-000001.zip.corrupt" in outcome.notices[0]
    assert_logged_once(tmp_path)


def test_what_cannot_be_logged_is_said_before_anything_runs(tmp_path: Path) -> None:
    own = Problem.from_function(lambda x: float(x @ x), [(-1, 1)] * 3, name="own")
    for problems, form, message in (
        (["cec2005:F1/d10"], CocoLog(), "must be one of BBOB"),
        (["bbob:f1/i1/d30"], CocoLog(), "dimension must be one of"),
        ([own], IohLog(), "must have a name with function and dimension"),
        (["bbob:f1/i1/d5", "bbob-coco:f1/i1/d5"], IohLog(), "are one problem there"),
    ):
        with pytest.raises(ValueError, match=message):
            compare(["random"], problems, runs=1, budget=150, out=tmp_path / "x", logs=[form])
    with pytest.raises(ValueError, match="no spaces"):
        compare(["random"], PROBLEMS, runs=1, budget=150, out=tmp_path / "x y", logs=[CocoLog()])
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("form", "package"), [("ioh", "ioh"), ("coco", "cocoex")])
def test_a_missing_package_is_named(
    form: str, package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    arguments = ["--methods", "random", "--problems", "cec2005:F1/d10", "--log", form, "--out", str(tmp_path / "x")]
    assert main(["compare", *arguments]) == 2
    assert "(extra 'bbob'): pip install " in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_cocopp_makes_its_page_of_a_comparison(tmp_path: Path) -> None:
    pytest.importorskip("cocopp")
    problems = [f"bbob:f{f}/i{i}/d5" for f in range(1, 25) for i in (1, 2, 3)]
    arguments = ["--methods", "de3", "ipop-cmaes", "--problems", *problems, "--runs", "1", "--budget", "500"]
    assert main(["compare", *arguments, "--log", "coco", "--out", str(tmp_path / "e")]) == 0
    logs = [str(tmp_path / "e" / "logs" / "coco" / method) for method in ("de3", "ipop-cmaes")]
    command = [sys.executable, "-m", "cocopp", "--no-svg", "-o", str(tmp_path / "pages"), *logs]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "pages" / "index.html").is_file()
    page = "".join(path.read_text(errors="replace") for path in (tmp_path / "pages").rglob("*.html"))
    assert "de3" in page
    assert "ipop-cmaes" in page
