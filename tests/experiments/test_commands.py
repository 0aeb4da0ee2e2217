"""The command line of comparisons, from compare to export."""

import pandas as pd
import pytest

from deddqn.cli import main

ARGUMENTS = ["--methods", "random", "de1", "--problems", "cec2005:F1/d10", "--runs", "2", "--budget", "250"]


def test_compare_export_report(tmp_path, capsys):
    folder = str(tmp_path / "e")
    assert main(["compare", *ARGUMENTS, "--out", folder, "--workers", "1"]) == 0
    assert "4 runs stored" in capsys.readouterr().out
    assert main(["compare", *ARGUMENTS, "--out", folder]) == 0
    assert "4 of 4 runs are stored already" in capsys.readouterr().out
    assert main(["export", folder, "--out", str(tmp_path / "runs.csv")]) == 0
    assert main(["export", folder, "--out", str(tmp_path / "long.csv"), "--trajectories"]) == 0
    runs, long = pd.read_csv(tmp_path / "runs.csv"), pd.read_csv(tmp_path / "long.csv")
    assert len(runs) == 4
    assert {"method", "problem", "repeat", "error", "evaluations", "cpu_seconds", "versions"} <= set(runs.columns)
    assert long.groupby(["method", "repeat"]).evaluations.max().tolist() == [250] * 4
    last = long.groupby(["method", "repeat"]).best.min() - -450.0
    assert last.tolist() == pytest.approx(runs.sort_values(["method", "repeat"]).error.tolist())
    assert main(["report", folder, "--no-figures"]) == 0
    assert (tmp_path / "e" / "report" / "index.html").is_file()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["compare", "--out", "x"], "name methods and problems"),
        (["compare", "--out", "x", "--preset", "paper", "--methods", "de1"], "brings its own methods"),
        (["compare", "--out", "x", "--methods", "dee1", "--problems", "cec2005-test"], "did you mean 'de1'?"),
        (["compare", "--out", "x", "--methods", "de1", "--problems", "cec205-test"], "did you mean 'cec2005-test'?"),
        (["compare", "--out", "x", *ARGUMENTS[:-1], "official"], "cec2005:F1/d10 belongs to no competition"),
        (["compare", "--out", "x", "--preset", "paper", "--runs", "official"], "runs must be a number"),
        (["report", "nowhere"], "holds no experiment"),
        (["export", "nowhere", "--out", "x.csv"], "holds no experiment"),
    ],
)
def test_bad_commands_say_what_is_wrong(arguments, message, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "x").exists()


def test_the_papers_tables(capsys):
    assert main(["paper"]) == 0
    shown = capsys.readouterr().out
    assert "misprint" in shown
    assert "equal printed means" in shown and "look exchanged" in shown and "differs" not in shown
