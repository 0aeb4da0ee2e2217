"""The table of the performance page, from what ``python -m benchmarks`` measured.

``python -m tools.docs.performance`` takes out/benchmarks.json into docs/project/benchmarks.json, and writes the table
between the two comments of docs/project/performance.md.
"""

from __future__ import annotations

import json
import re
import sys
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path
from typing import Any

from benchmarks.bars import Bar
from tools.docs import markdown

ROOT = Path(__file__).parents[2]
MEASURED = ROOT / "out" / "benchmarks.json"
KEPT = ROOT / "docs" / "project" / "benchmarks.json"
PAGE = ROOT / "docs" / "project" / "performance.md"
BEGIN, END = "<!-- table: python -m tools.docs.performance -->", "<!-- end of table -->"


def bars_of(results: dict[str, Any]) -> list[tuple[str, Bar]]:
    """The numbers of a results file, each with the benchmark that measured it."""
    return [
        (entry.get("benchmark", ""), Bar(**{k: v for k, v in entry.items() if k != "benchmark"}))
        for entry in results["bars"]
    ]


def _row(bar: Bar) -> tuple[str, ...]:
    sign = "at most" if bar.smaller_is_better else "at least"
    unit = "" if bar.unit in ("", "x") else f" {bar.unit}"
    times = "x" if bar.unit == "x" else ""
    return (
        bar.what,
        f"**{_number(bar.measured)}{times}**{unit}",
        f"{sign} {_number(bar.bar)}{times}",
        "reached" if bar.reached else "missed",
        bar.peer,
    )


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def _about(name: str) -> str:
    """The first line of a benchmark's docstring."""
    spec = find_spec(f"benchmarks.bench_{name}") if name else None
    if spec is None or spec.origin is None:
        return ""
    match = re.match(r'"""(.*?)(?:"""|\n)', Path(spec.origin).read_text(encoding="utf-8"))
    return match[1] if match else ""


def table(results: dict[str, Any]) -> str:
    """The measured numbers, one table per benchmark, and where they were measured."""
    machine = results["machine"]
    versions = ", ".join(f"{name} {value}" for name, value in machine.items() if name != "cores")
    parts = [f"Measured on {machine['cores']} cores with {versions}."]
    for name, group in groupby(bars_of(results), key=lambda pair: pair[0]):
        heading = f"### {name}\n\n{_about(name)}" if name else ""
        head = ("what", "measured", "target", "", "beside it, in the same run")
        parts += [heading, markdown.table(head, (_row(bar) for _, bar in group))]
    return markdown.page(*parts)


def with_table(page: str, results: dict[str, Any]) -> str:
    """The page with the table of these results."""
    before, _, rest = page.partition(BEGIN)
    _, found, after = rest.partition(END)
    if not found:
        raise ValueError(f"the page must hold {BEGIN!r} and {END!r}")
    return f"{before}{BEGIN}\n\n{table(results)}\n{END}{after}"


def main() -> int:
    """Take over the newest results."""
    if not MEASURED.exists():
        print(f"no {MEASURED.relative_to(ROOT)}: run 'python -m benchmarks' first", file=sys.stderr)
        return 2
    results = json.loads(MEASURED.read_text(encoding="utf-8"))
    page = with_table(PAGE.read_text(encoding="utf-8"), results)
    for path, text in ((KEPT, json.dumps(results, indent=2) + "\n"), (PAGE, page)):
        fresh = path.with_suffix(".tmp")
        fresh.write_text(text, encoding="utf-8")
        fresh.replace(path)
    print(f"{len(results['bars'])} numbers in {PAGE.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
