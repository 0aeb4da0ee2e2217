"""Formats of logs for comparisons (``deddqn compare --log ioh coco``): those of ioh's logger and COCO's observer.

>>> compare(["de3", "ipop-cmaes"], ["bbob-small"], out="out/bbob", logs=[IohLog(), CocoLog()])
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deddqn._utils.optional_imports import need
from deddqn._utils.plain_json import parse_json
from deddqn._utils.reading import below_folder, refusing
from deddqn.loggers.coco import CocoObserver, check_folder, coco_problem_id
from deddqn.loggers.ioh import IohLogger
from deddqn.loggers.problem_id import ProblemId, parse_problem_id
from deddqn.problems import Problem
from deddqn.problems.wrappers import EvaluationCallback


@dataclass(frozen=True)
class IohLog:
    """Files of ioh's Analyzer logger, for IOHanalyzer and iohinspector; for problems with a number."""

    name: str = "ioh"

    def check(self, problems: Iterable[Problem], folder: Path) -> None:
        """See `deddqn.experiments.evaluation_logs.LogFormat`, as for all methods here."""
        need("ioh", "logging with ioh", "bbob")
        _check_distinct((problem.name, parse_problem_id(problem.name)) for problem in problems)

    @contextmanager
    def opened(self, folder: Path, job: Any, problem: Problem) -> Iterator[EvaluationCallback]:
        """One logger per run."""
        with IohLogger(folder, job.method) as logger:
            yield logger.begin(problem, repeat=job.repeat, seed=int(dict(job.settings).get("seed", 0)))

    def join(self, runs: Iterable[dict[str, bytes]], folder: Path) -> None:
        """Data one after the other; JSON files with the runs of all."""
        join_files(runs, folder, ".json", join_json)


@dataclass(frozen=True)
class CocoLog:
    """Files of COCO's bbob observer, for ``cocopp``; for BBOB problems in COCO's dimensions."""

    name: str = "coco"

    def check(self, problems: Iterable[Problem], folder: Path) -> None:
        """COCO's own rules."""
        need("cocoex", "logging with COCO's observer", "bbob")
        check_folder(folder)
        _check_distinct((problem.name, coco_problem_id(problem)) for problem in problems)

    @contextmanager
    def opened(self, folder: Path, job: Any, problem: Problem) -> Iterator[EvaluationCallback]:
        """One observer per run. It wants to make its folder itself."""
        folder.rmdir()
        with CocoObserver(folder, job.method) as observer:
            yield observer.begin(problem)

    def join(self, runs: Iterable[dict[str, bytes]], folder: Path) -> None:
        """Data one after the other; ``.info`` files with the runs of all."""
        join_files(runs, folder, ".info", join_info)


LOGS: dict[str, Callable[[], IohLog | CocoLog]] = {"ioh": IohLog, "coco": CocoLog}
"""The formats by name."""


INDEX = {"scenarios": [{"dimension": int, "runs": [dict], "*?": object}], "*?": object}
"""What is read of a JSON file of ioh."""


def _check_distinct(ids: Iterable[tuple[str, ProblemId]]) -> None:
    """Names with one identity (``bbob:..`` and ``bbob-coco:..``) would be one problem in the log."""
    names: dict[ProblemId, str] = {}
    for name, problem_id in ids:
        if names.setdefault(problem_id, name) != name:
            raise ValueError(
                f"problems must differ in the log, but {names[problem_id]!r} and {name!r} are one problem there"
            )


def join_files(runs: Iterable[dict[str, bytes]], folder: Path, index: str, join: Callable[[list[str]], str]) -> None:
    """Write the files of runs into one folder: index files (by their suffix) through `join`, others end to end."""
    indices: dict[str, list[str]] = {}
    for files in runs:
        for path, content in files.items():
            target = below_folder(folder, path)
            target.parent.mkdir(parents=True, exist_ok=True)
            if path.endswith(index):
                indices.setdefault(path, []).append(content.decode())
            else:
                with open(target, "ab") as file:
                    file.write(content)
    for path, texts in indices.items():
        with refusing(path, "a log"):
            below_folder(folder, path).write_text(join(texts))


def join_json(texts: list[str]) -> str:
    """The JSON files of ioh on one function as one: the runs of a dimension together."""
    parsed = [parse_json(text, INDEX, "an index of ioh") for text in texts]
    whole: dict[str, Any] = parsed[0]
    scenarios: dict[int, dict[str, Any]] = {}
    for content in parsed:
        for scenario in content["scenarios"]:
            known = scenarios.setdefault(scenario["dimension"], {**scenario, "runs": []})
            known["runs"] += scenario["runs"]
    return json.dumps({**whole, "scenarios": list(scenarios.values())}, indent=1) + "\n"


def join_info(texts: list[str]) -> str:
    """The .info files of COCO on one function as one: the runs of a dimension in one line.

    A file has three lines per dimension: the header, a comment, and the data file with its runs.
    """
    blocks: dict[tuple[str, str, str], list[str]] = {}
    for text in texts:
        lines = text.splitlines()
        for first in range(0, len(lines), 3):
            header, comment, data = lines[first : first + 3]
            path, *found = data.split(", ")
            blocks.setdefault((header, comment, path), []).extend(found)
    return "\n".join(
        f"{header}\n{comment}\n{', '.join([path, *found])}" for (header, comment, path), found in blocks.items()
    )
