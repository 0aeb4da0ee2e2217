"""What users get wrong: the message names the argument, the rule and the value, and nothing is left behind."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import deddqn
from deddqn import DEConfig, Optimizer, RunSpec, load_policy, minimize
from deddqn._utils.optional_imports import install_command
from deddqn.cli import main
from deddqn.experiments import compare
from deddqn.problems import get

SMALL = ["--runs", "1", "--budget", "150", "--workers", "1"]
TRAIN = ["train", "--preset", "softmax", "--problems", "cec2005:F1/d10", "--budget", "150", "--population-size", "12"]
TRAIN += ["--generations", "1", "--offspring", "4", "--evaluate-every", "1", "--evaluate-repeats", "1"]


def box(x: Any) -> float:
    return float(x @ x)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["minimize", "cec2005:F1/d10", "--bounds", "1,2"], "bounds must be left out: cec2005:F1/d10 has its own"),
        (["minimize", "cec2005:F1/d10", "--seed", "-1"], "seed must be at least 0, got -1"),
        (["minimize", "cec2005:F1/d10", "--save", "no/x.npz"], "save must be a file in a folder that exists"),
        (["minimize", "cec2005:F1/d10", "--json", "no/x.json"], "json must be a file in a folder that exists"),
        (["minimize", "cec2005:F1/d10", "--resume", "text"], "text is not a whole saved search: it is no archive"),
        (["minimize", "cec2005:F1/d10", "--policy", "text"], "text is not a policy file"),
        (["compare", "--methods", "de9", "--problems", "cec2005:F1/d10"], "needs at least 9 operators, got 4"),
        (["compare", "--methods", "mixture:1,0", "--problems", "cec2005:F1/d10"], "gives 2 probabilities"),
        (["compare", "--methods", "de1", "--problems", "cec2005:F1/d10", "--workers", "0"], "workers must be at least"),
        (["compare", "--methods", "de1", "--problems", "cec2005:F1/d10", "--runs", "-2"], "runs must be at least 1"),
        (["compare", "--methods", "de1", "--suite", "bbob-smal"], "unknown suite 'bbob-smal'; did you mean 'bbob-sm"),
        (["compare", "--methods", "text", "--problems", "cec2005:F1/d10"], "text is not a policy file"),
        (["score"], "say who"),
        (["score", "random", "--runs", "0"], "runs must be at least 1, got 0"),
        (["tune", "pm-adapss", "--runs", "0"], "runs must be at least 1, got 0"),
        ([*TRAIN, "--preset", "sofmax"], "did you mean 'softmax'?"),
        ([*TRAIN, "--config", "no.json"], "there is no settings file no.json"),
        ([*TRAIN, "--config", "text"], "text is not a settings file"),
        ([*TRAIN, "--out", "text"], "out must be a folder, got the file 'text'"),
    ],
)
def test_commands(
    arguments: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text").write_text("hello")
    if arguments[0] in ("compare", "train", "tune") and "--out" not in arguments:
        arguments = [*arguments, "--out", "new"]
    assert main(arguments) == 2
    assert message in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["text"]


def test_a_device_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch")
    assert main(["train", "--device", "coda", "--out", str(tmp_path / "t")]) == 2
    assert "device must be one that torch has here, such as 'cpu', got 'coda'" in capsys.readouterr().err
    assert not (tmp_path / "t").exists()


def test_a_training_is_not_overwritten_nor_continued_as_another(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = ["--out", str(tmp_path / "t")]
    assert main([*TRAIN, *out]) == 0
    assert main([*TRAIN, *out]) == 2
    assert "holds a training already: continue with --resume" in capsys.readouterr().err
    assert main([*TRAIN, *out, "--resume", "--seed", "3"]) == 2
    assert "seed must be 0 to resume this search, got 3" in capsys.readouterr().err
    if importlib.util.find_spec("torch") is not None:  # a network's training says so first
        assert main(["train", "--problems", "cec2005:F1/d10", *out, "--resume"]) == 2
        assert "holds a search, which --resume does not continue" in capsys.readouterr().err
    arrays = next((tmp_path / "t").glob("checkpoint-*/arrays-*"))
    arrays.write_bytes(arrays.read_bytes()[:50])
    assert main([*TRAIN, *out, "--resume"]) == 2
    assert "is damaged" in capsys.readouterr().err


def test_exports(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, text = tmp_path / "e", tmp_path / "text"
    text.write_text("hello")
    compare(["de1"], ["cec2005:F1/d10"], runs=1, budget=150, out=folder)
    for arguments, message in (
        (["--out", str(tmp_path / "no" / "x.csv")], "non-existent directory"),
        (["--out", str(text), "--format", "ioh"], "folder must be a folder, got the file"),
        (["--out", str(tmp_path / "x"), "--format", "ioh", "--trajectories"], "--trajectories is for CSV"),
    ):
        assert main(["export", str(folder), *arguments]) == 2
        assert message in capsys.readouterr().err
    assert text.read_text() == "hello"


@pytest.mark.parametrize(
    ("keyword", "meant"), [("maxfn", "maxfun"), ("popsize", "population_size"), ("polcy", "policy")]
)
def test_unknown_keywords_suggest(keyword: str, meant: str) -> None:
    for called in (lambda given: minimize(box, [(-1, 1)], **given), lambda given: Optimizer([(-1, 1)], **given)):
        with pytest.raises(TypeError, match=f"unexpected keyword argument '{keyword}'; did you mean '{meant}'"):
            called({keyword: 3})
    assert minimize.__doc__ is not None
    assert minimize.__name__ == "minimize"


def test_things_of_the_wrong_kind() -> None:
    with pytest.raises(ValueError, match=r"deddqn\.problems\.get\(name\)\), got 'cec2005:F1/d10'"):
        minimize("cec2005:F1/d10")
    with pytest.raises(ValueError, match="policy must be an object with the Policy methods.*got 'random'"):
        RunSpec(problem=get("cec2005:F1/d10"), policy="random")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="name must be that of a problem.*got 3"):
        get(3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="instance must be at most 214748"):
        get("bbob:f1/i99999999999/d5")


def test_comparisons_from_python(tmp_path: Path) -> None:
    where: dict[str, Any] = {"problems": ["cec2005:F1/d10"], "budget": 150, "out": tmp_path / "new"}
    for wrong, message in (
        ({"methods": ["de1"], "runs": 1.5}, "runs must be a whole number, got 1.5"),
        ({"methods": ["de1"], "runs": 1, "logs": ["ioh"]}, r"logs must be formats.*got 'ioh'"),
        ({"methods": ["de1"], "runs": 1, "workers": -1}, "workers must be at least 1, got -1"),
        ({"methods": [3], "runs": 1}, "a method must be a name.*got 3"),
        ({"methods": ["de1"], "runs": 1, "problems": [3]}, "name must be that of a problem.*got 3"),
    ):
        with pytest.raises(ValueError, match=message):
            compare(**{**where, **wrong})
    assert not list(tmp_path.iterdir())
    assert compare(**{**where, "methods": "de1", "problems": "cec2005:F1/d10", "runs": 1}).ran == 1


def test_environments() -> None:
    gymnasium = pytest.importorskip("gymnasium")
    import deddqn.envs.gymnasium  # noqa: F401

    for wrong, message in (
        ({"problm": "cec2005:F1/d10"}, "did you mean 'problem'"),
        ({"portfolio": "rand/1"}, "portfolio must be a list of strategy names"),
        ({"portfolio": 3}, "portfolio must be a list of strategy names"),
        ({"reward": "rank"}, "reward must be one of 'R1', 'R2', 'R3'; got 'rank'"),
    ):
        with pytest.raises(ValueError, match=message):
            gymnasium.make("deddqn/DE-v0", **wrong)
        with pytest.raises(ValueError, match=message):
            gymnasium.make_vec("deddqn/DE-v0", num_envs=2, **wrong)
    environment = gymnasium.make("deddqn/DE-v0", problem="cec2005:F1/d10", disable_env_checker=True).unwrapped
    with pytest.raises(ValueError, match="options must be a mapping of 'problem', 'repeat', got 3"):
        environment.reset(options=3)


def test_logs_of_single_runs(tmp_path: Path) -> None:
    pytest.importorskip("ioh")
    from deddqn.loggers.ioh import log_with_ioh

    with pytest.raises(ValueError, match=r"specs must hold runs \(RunSpec\), got 3"):
        log_with_ioh([3], tmp_path / "log")  # type: ignore[list-item]
    one = RunSpec(problem=get("cec2005:F1/d10"), policy=load_policy("random"), config=DEConfig(budget=120))
    assert len(log_with_ioh(one, tmp_path / "log")) == 1


BLOCKED = """
import sys
from importlib.abc import MetaPathFinder

class Blocker(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in sys.argv[1].split(","):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Blocker())
import contextlib, io, json
from deddqn.cli import main

said = []
for arguments in json.loads(sys.argv[2]):
    with contextlib.redirect_stderr(io.StringIO()) as errors, contextlib.redirect_stdout(io.StringIO()):
        status = main(arguments)
    said.append((status, errors.getvalue()))
print(json.dumps(said))
"""
ANYWHERE = ["--problems", "cec2005:F1/d10", *SMALL]


NEEDED: dict[str, list[tuple[str, list[str], str]]] = {
    "pandas": [
        ("pandas", ["compare", "--methods", "de1", *ANYWHERE, "--out", "new"], "report,baselines"),
        ("pandas", ["report", "nowhere"], "report,baselines"),
    ],
    "cma,minionpy,matplotlib,torch,optuna,ioh,cocoex": [
        ("cma", ["compare", "--methods", "ipop-cmaes", *ANYWHERE, "--out", "new"], "baselines"),
        ("minionpy", ["compare", "--methods", "jade", *ANYWHERE, "--out", "new"], "baselines"),
        ("matplotlib", ["demo", "--out", "new"], "report"),
        ("torch", ["train", "--out", "new"], "train"),
        ("torch", ["train", "--grid", "paper", "--out", "new"], "train"),
        ("optuna", ["tune", "pm-adapss", "--out", "new"], "baselines"),
        ("ioh", ["minimize", "bbob:f1/i1/d5"], "bbob"),
        ("cocoex", ["minimize", "bbob-coco:f1/i1/d5"], "bbob"),
    ],
}


@pytest.mark.parametrize("packages", NEEDED)
def test_a_missing_package_names_its_extra(packages: str, tmp_path: Path) -> None:
    said = _without(packages, [arguments for _, arguments, _ in NEEDED[packages]], tmp_path)
    for (package, _, extra), (status, errors) in zip(NEEDED[packages], said, strict=True):
        assert status == 2, errors
        assert package in errors
        assert install_command(*extra.split(",")) in errors
    assert not list(tmp_path.iterdir())


def test_direct_search_needs_only_the_basics(tmp_path: Path) -> None:
    said = _without("torch,pandas,pyarrow,matplotlib,cma,ioh,gymnasium", [[*TRAIN, "--out", "t"]], tmp_path)
    assert said == [[0, ""]]
    assert (tmp_path / "t" / "softmax.safetensors").is_file()


def _without(packages: str, commands: list[list[str]], folder: Path) -> list[tuple[int, str]]:
    """Status and errors of commands in a process that cannot import some packages."""
    paths = os.pathsep.join([str(Path(deddqn.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-c", BLOCKED, packages, json.dumps(commands)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
