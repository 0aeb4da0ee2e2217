"""The mean ranks of the page of the test set: ``python -m tools.docs.test_set_ranks``.

They are those of the means that docs/results/test-set.md prints: the default's in its first table, those of all others
in the second one, those of methods on the paper's four strategies once more in the third.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from scipy.stats import rankdata

PAGE = Path(__file__).parents[2] / "docs" / "results" / "test-set.md"
DEFAULT, BEFORE = "softmax-budget", "softmax-x"
PROBLEMS = 10
NUMBER = r"[\d.e+]+"


def rows(text: str) -> list[list[str]]:
    """The cells of the lines that have a name or a heading, perhaps a mean rank, and something of every problem."""
    split = ([cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines())
    return [cells for cells in split if len(cells) in (PROBLEMS + 1, PROBLEMS + 2)]


def printed_tables(text: str) -> list[dict[str, list[float]]]:
    """Per table with mean ranks, and by method: its mean rank and its mean errors."""
    found: list[dict[str, list[float]]] = []
    for cells in rows(text):
        if cells[:2] == ["method", "mean rank"]:
            found.append({})
        elif found and len(cells) == PROBLEMS + 2 and re.fullmatch(NUMBER, cells[1]):
            found[-1][cells[0]] = [float(cell) for cell in cells[1:]]
    return found


def printed_means(text: str) -> dict[str, list[float]]:
    """The mean errors of every method: of the default, and of those in the table of all."""
    own = next(cells for cells in rows(text) if cells[0] == DEFAULT)
    others = {name: row[1:] for name, row in printed_tables(text)[0].items()}
    return {DEFAULT: [float(cell) for cell in own[-PROBLEMS:]], **others}


def mean_ranks(means: dict[str, list[float]]) -> dict[str, float]:
    """From the lowest to the highest."""
    ranks = np.mean([rankdata(column) for column in zip(*means.values(), strict=True)], axis=0)
    return dict(sorted(zip(means, ranks.tolist(), strict=True), key=lambda pair: pair[1]))


def main() -> None:
    """Print the first ones with the default beside its predecessor and in its place, and the ranks of both tables."""
    text = PAGE.read_text(encoding="utf-8")
    means = printed_means(text)
    for title, left_out in (("in the place of " + BEFORE, BEFORE), ("beside " + BEFORE, "")):
        ranks = mean_ranks({name: row for name, row in means.items() if name != left_out})
        print(f"{title}, {len(ranks)} methods: " + ", ".join(f"{n} {r:.2f}" for n, r in list(ranks.items())[:4]))
    for table in printed_tables(text):
        ranks = mean_ranks({name: row[1:] for name, row in table.items()})
        print(f"{len(ranks)} methods: " + ", ".join(f"{n} {r:.2f}" for n, r in ranks.items()))


if __name__ == "__main__":
    main()
