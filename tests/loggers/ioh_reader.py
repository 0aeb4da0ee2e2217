"""IOHprofiler's files, read by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def read_ioh(folder: Path) -> dict[str, Any]:
    """All runs under a folder by (function name, dimension, instance, repeat): their JSON entry and their lines."""
    runs: dict[Any, Any] = {}
    for meta in folder.rglob("IOHprofiler_*.json"):
        facts = json.loads(meta.read_text())
        for scenario in facts["scenarios"]:
            blocks = (meta.parent / scenario["path"]).read_text().split("evaluations raw_y\n")[1:]
            assert len(blocks) == len(scenario["runs"])
            for entry, block in zip(scenario["runs"], blocks, strict=True):
                lines = [tuple(map(float, line.split())) for line in block.splitlines()]
                runs[facts["function_name"], scenario["dimension"], entry["instance"], entry["repeat"]] = entry, lines
    return runs
