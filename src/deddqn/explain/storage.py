"""Explanations as files: data first (one JSON file, and tables), so that the page can be drawn again."""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from deddqn._utils.atomic import write_text
from deddqn._utils.plain_json import Exactly, parse_json
from deddqn._utils.reading import read_limited, refusing
from deddqn.analysis.statistics import PairResult
from deddqn.explain.control_comparison import ControlComparison
from deddqn.explain.decision_summary import DecisionSummary, Gaps
from deddqn.explain.importance import Importance
from deddqn.explain.study import Explanation

DATA = "explanation.json"
FORMAT = "deddqn-explanation-2"
LARGEST_FILE = 2**28


class ExplanationError(ValueError):
    """A folder that holds no explanation, or one that cannot be read; the message says why."""


def write_explanation(found: Explanation, folder: str | os.PathLike[str]) -> Path:
    """Write the data into `folder`, which is made if it is missing; return the file."""
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    content = {"format": FORMAT, **asdict(found)}
    write_text(target / DATA, json.dumps(content, default=_plain, allow_nan=True) + "\n")
    return target / DATA


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} is not data of an explanation")


def read_explanation(folder: str | os.PathLike[str]) -> Explanation:
    """The explanation in a folder."""
    path = Path(folder) / DATA
    try:
        with refusing(path, f"an explanation of this version ({FORMAT})", ExplanationError):
            content = parse_json(read_limited(path, LARGEST_FILE), {"format": Exactly(FORMAT), "*?": object})
            del content["format"]
            return _explanation(content)
    except FileNotFoundError:
        raise ExplanationError(
            f"{folder} holds no explanation ({DATA} is not there); 'deddqn explain' makes one"
        ) from None


def _explanation(content: dict[str, Any]) -> Explanation:
    made = {
        "operators": tuple(content["operators"]),
        "summaries": tuple(_summary(summary) for summary in content["summaries"]),
        "importance": tuple(Importance(**row) for row in content["importance"]),
        "errors": {
            method: {problem: np.array(runs, dtype=np.float64) for problem, runs in by_problem.items()}
            for method, by_problem in content["errors"].items()
        },
        "comparisons": tuple(_comparison(comparison) for comparison in content["comparisons"]),
    }
    return Explanation(**{**content, **made})


def _summary(content: dict[str, Any]) -> DecisionSummary:
    gaps = content["gaps"]
    if gaps is not None:
        low, median, high = (np.array(gaps[key], dtype=np.float64) for key in ("low", "median", "high"))
        gaps = Gaps(low, median, high, gaps["relative"])
    return DecisionSummary(
        problem=content["problem"],
        evaluations=np.array(content["evaluations"], dtype=np.int64),
        shares=np.array(content["shares"]),
        cells=np.array(content["cells"]),
        gaps=gaps,
    )


def _comparison(content: dict[str, Any]) -> ControlComparison:
    return ControlComparison(
        content["policy"], content["control"], tuple(PairResult(**row) for row in content["results"])
    )
