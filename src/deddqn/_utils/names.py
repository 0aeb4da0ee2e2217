"""Names that users and files give: as folders, and inside of other formats."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

LONGEST = 120


def folder_names(names: Iterable[str]) -> dict[str, str]:
    """A folder for every name: without characters that readers and systems do not like, never above, and different."""
    found: dict[str, str] = {}
    for name in dict.fromkeys(names):
        folder = plain = re.sub(r"[^\w.,=-]+", "_", name).strip(".")[:LONGEST] or "method"
        number = 2
        while folder in found.values():
            folder, number = f"{plain}-{number}", number + 1
        found[name] = folder
    return found


def escaped(text: str) -> str:
    """A text as it stands between quotes in JSON, for writers that do not escape what they are given."""
    return json.dumps(text)[1:-1]
