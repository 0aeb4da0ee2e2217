"""The mean ranks on the test set with the default in the table: ``python -m tools.docs.test_set_ranks``.

The means of the methods are those that docs/results/test-set.md prints: the default's in its first table, those of all
others in the second one.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from scipy.stats import rankdata

PAGE = Path(__file__).parents[2] / "docs" / "results" / "test-set.md"
DEFAULT, BEFORE = "softmax-budget", "softmax-x"
PROBLEMS, METHODS = 10, 23


def printed_means(text: str) -> dict[str, list[float]]:
    """The mean errors of every method: of the default, and of the `METHODS` in the table of all."""
    own: dict[str, list[float]] = {}
    found: dict[str, list[float]] = {}
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not re.fullmatch(r"[\d.e+]+", cells[-1]) or len(cells) not in (PROBLEMS + 1, PROBLEMS + 2):
            continue
        if cells[0] == DEFAULT and not own:
            own[DEFAULT] = [float(cell) for cell in cells[-PROBLEMS:]]
        elif len(cells) == PROBLEMS + 2 and len(found) < METHODS:
            found[cells[0]] = [float(cell) for cell in cells[-PROBLEMS:]]
    return own | found


def mean_ranks(means: dict[str, list[float]]) -> dict[str, float]:
    """From the lowest to the highest."""
    ranks = np.mean([rankdata(column) for column in zip(*means.values(), strict=True)], axis=0)
    return dict(sorted(zip(means, ranks.tolist(), strict=True), key=lambda pair: pair[1]))


def main() -> None:
    """Print the first ones, with the default beside its predecessor and in its place."""
    means = printed_means(PAGE.read_text(encoding="utf-8"))
    for title, left_out in (("in the place of " + BEFORE, BEFORE), ("beside " + BEFORE, "")):
        ranks = mean_ranks({name: row for name, row in means.items() if name != left_out})
        print(f"{title}, {len(ranks)} methods: " + ", ".join(f"{n} {r:.2f}" for n, r in list(ranks.items())[:4]))


if __name__ == "__main__":
    main()
