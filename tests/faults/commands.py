"""The commands that faults are injected into, tiny; each can be called again to go on, and has an end to compare."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

PROBLEMS = ["cec2005:F1/d10", "cec2005:F6/d10"]
EXPERIMENT = "experiment"  # beside the folder of a command: a comparison to report and export


@dataclass(frozen=True)
class Command:
    """A command of the package.

    Parameters
    ----------
    arguments : of the command line, for a folder; the same again where it goes on after an interruption.
    end : what it leaves behind in that folder, without times.
    locks : whether a second one in the same folder is refused.
    """

    name: str
    arguments: Callable[[Path], list[str]]
    end: Callable[[Path], Any]
    locks: bool


def _minimize(folder: Path) -> list[str]:
    saved = folder / "search.npz"
    settings = ["--resume", str(saved)] if saved.exists() else ["--maxfun", "1500", "--seed", "3"]
    return ["minimize", PROBLEMS[1], *settings, "--save", str(saved), "--json", str(folder / "result.json")]


def _compare(folder: Path) -> list[str]:
    sizes = ["--runs", "4", "--budget", "600", "--workers", "2"]
    return ["compare", "--methods", "random", "rec-pm", "--problems", *PROBLEMS, *sizes, "--out", str(folder)]


def _train(folder: Path) -> list[str]:
    settings = {
        "problems": PROBLEMS,
        "population-size": [10],
        "budget": [100],
        "hidden": [8],
        "batch-size": [8],
        "buffer-size": [500],
        "learning-starts": [50],
        "cycles": [3],
        "threads": [1],
        "checkpoint-seconds": [0.1],
        "tensorboard": ["no"],
    }
    options = [word for name, values in settings.items() for word in (f"--{name}", *map(str, values))]
    return ["train", "--out", str(folder), "--resume", *options]


def _search(folder: Path) -> list[str]:
    settings = {
        "problems": PROBLEMS,
        "population-size": [10],
        "budget": [150],
        "generations": [6],
        "offspring": [4],
        "reference-repeats": [2],
        "evaluate-every": [2],
        "evaluate-repeats": [1],
        "threads": [1],
        "checkpoint-seconds": [0.0],
        "tensorboard": ["no"],
    }
    options = [word for name, values in settings.items() for word in (f"--{name}", *map(str, values))]
    return ["train", "--preset", "softmax", "--out", str(folder), "--resume", *options]


def _tune(folder: Path) -> list[str]:
    return ["tune", "rec-pm", "--trials", "5", "--runs", "2", "--budget", "200", "--out", str(folder)]


def _report(folder: Path) -> list[str]:
    return ["report", str(folder.parent / EXPERIMENT), "--out", str(folder), "--no-figures"]


def _export(folder: Path) -> list[str]:
    return ["export", str(folder.parent / EXPERIMENT), "--out", str(folder / "runs.csv"), "--trajectories"]


def _export_ioh(folder: Path) -> list[str]:
    return ["export", str(folder.parent / EXPERIMENT), "--out", str(folder / "ioh"), "--format", "ioh"]


def _result(folder: Path) -> Any:
    return json.loads((folder / "result.json").read_text())


def _rows(folder: Path) -> Any:
    from tests.experiments.methods_for_tests import rows

    return rows(folder)


def _trained(folder: Path) -> Any:
    files = {path.name: path.read_bytes() for path in sorted(folder.glob("*.safetensors"))}
    lines = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
    return files, [{key: value for key, value in line.items() if key != "seconds"} for line in lines]


def _tuned(folder: Path) -> Any:
    import sqlite3

    with sqlite3.connect(folder / "rec-pm.db") as database:
        states = {state for (state,) in database.execute("select state from trials")}
        values = database.execute("select value from trial_values order by trial_id").fetchall()
        drawn = database.execute("select param_name, param_value from trial_params order by trial_id, param_name")
        trials = (states, values, drawn.fetchall())
    database.close()
    return trials, json.loads((folder / "rec-pm.json").read_text())


def _files(folder: Path) -> Any:
    """What a command without a lock left of an unfinished file stays, and does not count."""
    paths = sorted(path for path in folder.rglob("[!.]*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


COMMANDS = {
    each.name: each
    for each in (
        Command("minimize", _minimize, _result, locks=False),
        Command("compare", _compare, _rows, locks=True),
        Command("train", _train, _trained, locks=True),
        Command("search", _search, _trained, locks=True),
        Command("tune", _tune, _tuned, locks=True),
        Command("report", _report, _files, locks=False),
        Command("export", _export, _files, locks=False),
        Command("export-ioh", _export_ioh, _files, locks=False),
    )
}


def prepare(names: Collection[str]) -> None:
    """Make this process ready for these: import what they need, and make what they do small and frequent."""
    import tests.experiments.methods_for_tests  # noqa: F401
    from deddqn.cli import minimize
    from deddqn.experiments import runner, tuning

    for name in ("compare", "train", "tune", "report", "export"):
        __import__(f"deddqn.cli.{name}")
    for name in ("experiments.progress", "report", "loggers.ioh_files", "training.policy_search.search"):
        __import__(f"deddqn.{name}")
    torch = ["deddqn.training.dqn.trainer"] if "train" in names else []
    for name in ("scipy.stats", "jinja2", "optuna", "sqlalchemy", *torch):
        with suppress(ImportError):
            __import__(name)
    minimize.SAVE_EVERY = 0.0
    runner.COMPILED_CHUNK = 1200
    tuning.FINALISTS = 1
    whole = tuning.Tuning.protocol.fget
    small = {"problems": tuple(PROBLEMS), "threads": 1}
    tuning.Tuning.protocol = property(lambda self: replace(whole(self), **small))  # type: ignore[method-assign]


def leftovers(folder: Path) -> list[str]:
    """Temporary files of the package."""
    return [str(path.relative_to(folder)) for path in folder.rglob(".*.tmp")]
