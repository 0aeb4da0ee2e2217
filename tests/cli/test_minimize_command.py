"""The command line, as a user types it."""

import errno
import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import deddqn
from deddqn.cli import main
from deddqn.problems import get

FUNCTIONS = """
import time
import numpy as np
from numba import njit

def bowl(x):
    return float(((x - 1) ** 2).sum())

@njit
def jitted(x):
    return ((x - 1) ** 2).sum()

def slow(x):
    time.sleep(0.002)
    return bowl(x)

def holes(x):
    return np.nan if x[0] > 0 else bowl(x)

def nothing(x):
    return np.nan

calls = 0

def broken(x):
    global calls
    calls += 1
    if calls > 150:
        raise KeyError("pressure")
    return bowl(x)

number = 3

from scipy.optimize import LinearConstraint
apart = [LinearConstraint([[1.0, 1.0]], 4.0, float("inf"))]
nowhere = LinearConstraint([[1.0, 1.0]], 40.0, float("inf"))

def tuned(params):
    assert type(params["layers"]) is int and type(params["kind"]) is str
    return abs(params["layers"] - 3) + (params["kind"] != "tanh") + abs(params["rate"] - 0.01)
"""
SPACE = """
[layers]
type = "int"
low = 1
high = 9

[kind]
type = "categorical"
choices = ["relu", "tanh"]

[rate]
type = "float"
low = 1e-4
high = 1.0
log = true
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a module of the user's."""
    name = f"my_functions_{tmp_path.name.replace('-', '_')}"
    (tmp_path / f"{name}.py").write_text(FUNCTIONS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    return name


def read(path):
    def refuse(word):
        raise AssertionError(f"{word} is not JSON")

    return json.loads(path.read_text(), parse_constant=refuse)


def test_a_problem_by_name(tmp_path, capsys):
    assert main(["minimize", "cec2005:F9/d10", "--maxfun", "500", "--seed", "3"]) == 0
    out = capsys.readouterr().out
    expected = deddqn.minimize(get("cec2005:F9/d10"), maxfun=500, rng=3)
    assert f"f = {expected.fun:.10g}" in out and "error" in out
    assert "500 evaluations, policy" in out and "All 500 evaluations are used." in out


def test_the_moves_beyond_the_paper(capsys):
    options = ["--portfolio", "extended", "--final-population", "8", "--population-size", "20", "--maxfun", "200"]
    assert main(["minimize", "cec2005:F1/d2", *options, "--local-share", "0", "--json", "-"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert len(facts["strategy_counts"]) == 12 and sum(facts["strategy_counts"].values()) == 180


def test_json(tmp_path, capsys):
    path = tmp_path / "result.json"
    command = ["minimize", "cec2005:F9", "--dimension", "10", "--maxfun", "300", "--policy", "de3"]
    assert main([*command, "--json", str(path)]) == 0
    facts = read(path)
    expected = deddqn.minimize(get("cec2005:F9/d10"), maxfun=300, policy="de3", rng=0)
    assert facts["fun"] == expected.fun and facts["x"] == expected.x.tolist() and facts["nfev"] == 300
    assert facts["error"] == expected.fun - get("cec2005:F9/d10").optimum and facts["policy"] == "de3"
    assert facts["strategy_counts"]["rand-to-best/2"] == 200 and facts["success"] and facts["seed"] == 0
    capsys.readouterr()
    assert main([*command, "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out) == facts
    assert [p.name for p in tmp_path.iterdir()] == ["result.json"]


@pytest.mark.parametrize("name", ["bowl", "jitted"])
@pytest.mark.parametrize("bounds", [["--bounds", "-5,5", "--dimension", "3"], ["--bounds=-5,5;-5,5;-5,5"]])
def test_a_function(folder, name, bounds, capsys):
    assert main(["minimize", f"{folder}:{name}", *bounds, "--maxfun", "400", "--json", "-"]) == 0
    facts = json.loads(capsys.readouterr().out)
    expected = deddqn.minimize(lambda x: float(((x - 1) ** 2).sum()), [(-5, 5)] * 3, maxfun=400, rng=0)
    assert facts["fun"] == pytest.approx(expected.fun, rel=1e-9) and facts["error"] is None


def test_workers_change_nothing(folder, capsys):
    found = []
    for workers in ("2", "3"):
        main(["minimize", f"{folder}:bowl", "--bounds", "-5,5", "--maxfun", "300", "--workers", workers, "--json", "-"])
        found.append(json.loads(capsys.readouterr().out))
    assert found[0] == found[1] and found[0]["nfev"] == 300


def test_bad_values_are_reported(folder, tmp_path, capsys):
    assert main(["minimize", f"{folder}:holes", "--bounds", "-5,5", "--maxfun", "300", "--json", "r.json"]) == 0
    facts = read(tmp_path / "r.json")
    assert facts["non_finite"] > 0 and "gave NaN" in facts["message"] and "gave NaN" in capsys.readouterr().out
    assert main(["minimize", f"{folder}:nothing", "--bounds", "-5,5", "--maxfun", "300", "--json", "r.json"]) == 1
    assert read(tmp_path / "r.json")["fun"] is None
    assert main(["minimize", f"{folder}:bowl", "--bounds", "-5,5", "--maxtime", "0", "--json", "r.json"]) == 1
    assert read(tmp_path / "r.json")["nfev"] == 0
    assert main(["minimize", "cec2005:F1/d10", "--maxtime", "0", "--json", "r.json"]) == 1
    assert read(tmp_path / "r.json")["error"] is None


def test_stopping_rules(folder, capsys):
    assert main(["minimize", f"{folder}:bowl", "--bounds", "-5,5", "--ftarget", "1", "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out)["message"] == "The target value 1 is reached."
    assert main(["minimize", f"{folder}:slow", "--bounds", "-5,5", "--maxtime", "0.05", "--json", "-"]) in (0, 1)
    assert "The time is up." in json.loads(capsys.readouterr().out)["message"]


@pytest.mark.parametrize("target", ["cec2005:F4/d10", "function"])
@pytest.mark.parametrize("workers", ["1", "2"])
def test_resumed_equals_uninterrupted(target, workers, folder, tmp_path, capsys):
    """The first process is interrupted in the middle of a generation, by the clock."""
    name = target if target != "function" else f"{folder}:slow"
    command = ["minimize", name, "--workers", workers]
    settings = ["--maxfun", "400", "--population-size", "50", "--seed", "5"]
    if target == "function":
        settings += ["--bounds", "-5,5", "--dimension", "10"]
    assert main([*command, *settings, "--json", "whole.json"]) == 0
    whole = read(tmp_path / "whole.json")
    early = ["--save", "s.npz", "--maxtime", "0.15" if target == "function" else "0.002"]
    assert main([*command, *settings, *early]) in (0, 1)  # 1: a busy machine had no value by then
    capsys.readouterr()
    for _ in range(3):  # a resumed search may be stopped, saved and resumed again
        assert main([*command, "--resume", "s.npz", "--save", "s.npz", "--maxtime", "0.05"]) in (0, 1)
        assert "continue with --resume s.npz" in capsys.readouterr().err
    assert main([*command, "--resume", "s.npz", "--json", "resumed.json"]) == 0
    assert read(tmp_path / "resumed.json") == whole
    assert main([*command, "--resume", "s.npz", "--json", "resumed.json"]) == 0  # the file was not used up
    assert read(tmp_path / "resumed.json") == whole


def test_an_error_in_the_function_is_shown_and_nothing_is_lost(folder, capsys):
    command = ["minimize", f"{folder}:broken", "--bounds", "-5,5", "--maxfun", "300"]
    assert main([*command, "--save", "s.npz"]) == 1
    out, err = capsys.readouterr()
    assert "KeyError: 'pressure'" in err and "in broken" in err and out == ""
    assert "the function failed after 150 evaluations; best value " in err
    assert deddqn.Optimizer.load("s.npz").result.nfev == 150


def test_resuming_something_else_is_refused(folder, capsys):
    box = ["--bounds", "-5,5", "--dimension", "10", "--maxfun", "200"]
    assert main(["minimize", f"{folder}:bowl", *box, "--save", "function.npz"]) == 0
    assert main(["minimize", "cec2005:F9/d10", "--maxfun", "200", "--save", "problem.npz"]) == 0
    capsys.readouterr()
    for command, message in [
        (["cec2005:F1/d10", "--resume", "problem.npz"], "resume must hold a search on cec2005:F1/d10, got one on"),
        ([f"{folder}:bowl", "--resume", "problem.npz"], "got one on 'cec2005:F9/d10'"),
        (["cec2005:F9/d10", "--resume", "function.npz"], "resume must hold a search on cec2005:F9/d10"),
        ([f"{folder}:bowl", "--resume", "function.npz", "--bounds", "-4,4"], "bounds must be those of the saved"),
        ([f"{folder}:bowl", "--resume", "function.npz", "--workers", "2"], "updating must be 'deferred'"),
        ([f"{folder}:slow", "--resume", "function.npz"], f"a search on {folder}:slow, got one on '{folder}:bowl'"),
        (
            [f"{folder}:bowl", "--resume", "function.npz", "--maxfun", "100"],
            "maxfun must be at least 200, the evaluations made",
        ),
        ([f"{folder}:bowl", "--resume", "function.npz", "--seed", "0"], "seed must be left out with resume"),
        ([f"{folder}:bowl", "--resume", "nothing.npz"], "nothing.npz"),
        ([f"{folder}:bowl", "--resume", f"{folder}.py"], "is not a whole saved search"),
    ]:
        assert main(["minimize", *command]) == 2, command
        err = capsys.readouterr().err
        assert message in err.replace("\n", " ") and "Traceback" not in err


def test_a_search_that_python_saved_is_resumed(folder, capsys):
    deddqn.Optimizer([(-5, 5)] * 3, maxfun=200, rng=1).save("python.npz")
    assert main(["minimize", f"{folder}:bowl", "--resume", "python.npz", "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out)["nfev"] == 200


def test_bad_commands(folder, capsys):
    for command, message in [
        (["cec2005:F99/d10"], "unknown problem 'cec2005:F99/d10'"),
        (["cec2005:F9"], "dimension must be given"),
        (["cec2005:F9/d11"], "11"),
        (["cec2005:F9/d10", "--dimension", "30"], "dimension must agree with the name"),
        (["cec2006:F9/d10"], "cec2006"),
        (["F9"], "unknown problem 'F9'"),
        (["no_such_module:f", "--bounds", "-5,5"], "got 'no_such_module:f': No module named"),
        ([f"{folder}:missing", "--bounds", "-5,5"], "has no function 'missing'"),
        ([f"{folder}:number", "--bounds", "-5,5"], "has no function 'number'"),
        ([f"{folder}:bowl"], "bounds must be given for a function"),
        ([f"{folder}:bowl", "--bounds", "-5"], 'bounds must look like "-5,5" or "-5,5;0,1", got \'-5\''),
        ([f"{folder}:bowl", "--bounds", "a,b"], "got 'a,b'"),
        ([f"{folder}:bowl", "--bounds", ""], "got ''"),
        ([f"{folder}:bowl", "--bounds", "5,-5"], "bounds must have lower <= upper, got 5.0 > -5.0"),
        ([f"{folder}:bowl", "--bounds", "0,inf"], "bounds must be finite"),
        ([f"{folder}:bowl", "--bounds", "0,1;0,1", "--dimension", "3"], "dimension must be 2 as in the bounds, got 3"),
        ([f"{folder}:bowl", "--bounds", "0,1", "--dimension", "0"], "dimension must be at least 1, got 0"),
        (["cec2005:F9/d10", "--policy", "rndom"], "did you mean 'random'?"),
        (["cec2005:F9/d10", "--maxfun", "5"], "maxfun must be at least the population size"),
        (["cec2005:F9/d10", "--maxfun", "50", "--policy", "random"], "least the population size 100, got 50"),
        (["cec2005:F9/d10", "--workers", "0"], "workers must be -1"),
        (["cec2005:F9/d10", "--seed", "-1"], "seed must be at least 0, got -1"),
        (["cec2005:F9/d10", "--json", "no/folder/r.json", "--maxfun", "200"], "no/folder"),
    ]:
        assert main(["minimize", *command]) == 2, command
        err = capsys.readouterr().err
        assert message in err.replace("\n", " "), (command, err)
        assert "Traceback" not in err


def test_unknown_commands_and_help(capsys):
    assert main(["minimise"]) == 2
    assert "did you mean 'minimize'?" in capsys.readouterr().err
    for far in ("solve", "optimum", "x"):
        assert main([far]) == 2
        assert "did you mean" not in capsys.readouterr().err
    for arguments in ([], ["--help"], ["-h"]):
        assert main(arguments) == 0
        assert "usage: deddqn COMMAND" in capsys.readouterr().out
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"deddqn {deddqn.__version__}\n"
    for command in ("minimize", "problems", "policies"):
        with pytest.raises(SystemExit) as stopped:
            main([command, "--help"])
        assert stopped.value.code == 0
        assert f"deddqn {command}" in capsys.readouterr().out
    with pytest.raises(SystemExit) as stopped:
        main(["minimize", "cec2005:F9/d10", "--maxfn", "3"])
    assert stopped.value.code == 2


def test_lists(capsys):
    assert main(["problems"]) == 0
    out = capsys.readouterr().out
    assert all(f"cec2005:F{number} " in out for number in range(1, 26)) and "cec2005-train: 32 problems" in out
    assert main(["policies"]) == 0
    out = capsys.readouterr().out
    assert all(name in out for name in deddqn.policies.policy_names()) and "(default)" in out


def run_in_a_shell(*arguments, **options):
    return subprocess.Popen(
        [sys.executable, "-m", "deddqn", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        **options,
    )


def test_ctrl_c_saves_and_reports(folder, tmp_path):
    """In a process of its own: the command of the issue, interrupted and resumed."""
    box = ["--bounds", "-5,5", "--dimension", "10", "--maxfun", "100000", "--population-size", "20"]
    process = run_in_a_shell("minimize", f"{folder}:slow", *box, "--save", "s.npz", "--json", "r.json", cwd=tmp_path)
    try:
        while not (tmp_path / "s.npz").exists():  # saved every few seconds
            assert process.poll() is None
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130, err
    facts = read(tmp_path / "r.json")
    assert 20 <= facts["nfev"] < 100_000 and "f = " in out and "Traceback" not in err
    search = deddqn.Optimizer.load(tmp_path / "s.npz")
    assert search.result.nfev == facts["nfev"] and search.result.x.tolist() == facts["x"]
    assert np.isfinite(search.result.fun)


@pytest.fixture
def full_disk(monkeypatch):
    """Nothing reaches the disk any more, and the search would be saved after every generation."""

    def full(handle):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("deddqn.cli.minimize.SAVE_EVERY", 0.0)
    monkeypatch.setattr(os, "fsync", full)
    return monkeypatch


def test_a_search_that_cannot_save_goes_on_and_prints_its_result(tmp_path, capsys, full_disk):
    arguments = ["minimize", "cec2005:F1/d10", "--maxfun", "1000", "--json", "-"]
    assert main([*arguments, "--save", str(tmp_path / "s.npz")]) == 1
    shown = capsys.readouterr()
    full_disk.undo()
    assert main(arguments) == 0
    assert json.loads(shown.out) == json.loads(capsys.readouterr().out)
    assert shown.err.count("the disk is full") == 2  # when it first fails, and in the end
    assert "the search goes on, and tries again to save" in shown.err
    assert os.listdir(tmp_path) == []


def test_a_save_that_works_again_is_made(tmp_path, capsys, full_disk):
    real, calls = full_disk, []

    def full_for_a_while(handle):
        calls.append(handle)
        if len(calls) < 3:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    real.setattr(os, "fsync", full_for_a_while)
    path = tmp_path / "s.npz"
    assert main(["minimize", "cec2005:F9/d10", "--maxfun", "1000", "--save", str(path)]) == 0
    shown = capsys.readouterr().err
    assert shown.count("the disk is full") == 1 and "saved to" in shown
    assert deddqn.Optimizer.load(path).result.nfev == 1000


def test_a_result_that_cannot_be_written_is_printed(tmp_path, capsys, full_disk):
    arguments = ["minimize", "cec2005:F1/d10", "--maxfun", "1000", "--json"]
    assert main([*arguments, str(tmp_path / "r.json")]) == 1
    shown = capsys.readouterr()
    assert "r.json: the disk is full; the result follows" in shown.err
    full_disk.undo()
    assert main([*arguments, "-"]) == 0
    assert json.loads(shown.out) == json.loads(capsys.readouterr().out)
    assert os.listdir(tmp_path) == []


def test_a_space_from_a_file(folder, tmp_path, capsys):
    (tmp_path / "space.toml").write_text(SPACE)
    deddqn.Space.load("space.toml").save("space.json")
    command = ["minimize", f"{folder}:tuned", "--maxfun", "600", "--json"]
    assert main([*command, "result.json", "--space", "space.toml", "--save", "search.npz"]) == 0
    shown = capsys.readouterr().out
    assert "layers = 3\nkind = tanh\nrate = 0.01" in shown and "x =" not in shown
    found = json.loads((tmp_path / "result.json").read_text())
    assert found["params"]["layers"] == 3 and found["params"]["kind"] == "tanh" and len(found["x"]) == 3
    assert main([*command, "again.json", "--space", "space.json"]) == 0
    assert json.loads((tmp_path / "again.json").read_text()) == found
    assert main(["minimize", f"{folder}:tuned", "--resume", "search.npz", "--space", "space.json"]) == 0
    assert main(["minimize", f"{folder}:tuned", "--resume", "search.npz"]) == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--space", "none.toml"], "space must be a file that can be read"),
        (["--space", "space.txt"], "must end in .toml or .json"),
        (["--space", "space.toml", "--bounds", "0,1"], "bounds must be left out with a space"),
        (["--space", "space.toml", "--dimension", "2"], "dimension must be left out with a space"),
        (["--space", "wrong.toml"], "unknown key 'hihg'; did you mean 'high'"),
        ([], "or a space, as --space space.toml"),
    ],
)
def test_wrong_spaces(folder, tmp_path, capsys, options, message):
    (tmp_path / "space.toml").write_text(SPACE)
    (tmp_path / "wrong.toml").write_text(SPACE.replace("high = 9", "hihg = 9"))
    assert main(["minimize", f"{folder}:tuned", *options]) != 0
    assert message in " ".join(capsys.readouterr().err.split())


def test_constraints(folder, capsys):
    box = ["--bounds", "-5,5", "--dimension", "2", "--maxfun", "600", "--json", "-"]
    assert main(["minimize", f"{folder}:bowl", "--constraints", f"{folder}:apart", *box]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["success"] and found["maxcv"] == 0.0
    assert found["fun"] == pytest.approx(2.0, abs=0.01)
    assert main(["minimize", f"{folder}:bowl", "--constraints", f"{folder}:nowhere", *box]) == 1
    assert "No feasible point" in json.loads(capsys.readouterr().out)["message"]
    assert main(["minimize", f"{folder}:bowl", "--constraints", f"{folder}:missing", *box]) != 0
    assert "constraints must name what a module holds" in capsys.readouterr().err
