"""Tables as data: columns, rows, and how to write them as CSV, Markdown and LaTeX."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from deddqn.analysis.paper_tables import PRINTED


@dataclass(frozen=True)
class Column:
    """A heading, how its numbers are shown, and what it means."""

    name: str
    form: str = ""  # a format such as ".2e"; empty for words
    hint: str = ""

    def show(self, value: Any) -> str:
        """A value as a reader sees it."""
        if value is None or (isinstance(value, float) and math.isnan(value)):
            return ""
        if isinstance(value, str) or not self.form:
            return str(value)
        return number(value) if self.form == "error" else format(value, self.form)


@dataclass(frozen=True)
class Table:
    """Rows under columns; `name` becomes the name of its files."""

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Any, ...], ...]
    note: str = ""

    def shown(self) -> list[list[str]]:
        """All cells as text."""
        return [[c.show(v) for c, v in zip(self.columns, row, strict=True)] for row in self.rows]


def number(value: float) -> str:
    """An error with three digits, as the paper prints them where they are large or small."""
    if value == 0.0:
        return "0"
    if not math.isfinite(value):
        return "inf" if value > 0 else str(value)
    if 0.01 <= abs(value) < 9999.5:
        digits = max(0, 2 - math.floor(math.log10(abs(value))))
        return f"{value:.{digits}f}"
    return f"{value:.2e}".replace("e+0", "e").replace("e-0", "e-").replace("e+", "e")


def p_value(value: float) -> str:
    """A p-value with two digits; very small ones only as small."""
    if math.isnan(value):
        return ""
    return "< 1e-6" if value < 1e-6 else (f"{value:.1e}".replace("e-0", "e-") if value < 1e-3 else f"{value:.3f}")


def short_problem(name: str) -> str:
    """As the paper writes it: F9-10 for cec2005:F9/d10."""
    return name.removeprefix("cec2005:").replace("/d", "-")


KEPT_BY_TRAINERS = ("best", "final", "ranked", "greedy", "softmax")
"""Names of policy files that say nothing without their folder."""


def method_title(name: str) -> str:
    """As a reader of the paper knows it."""
    if name.endswith(".safetensors"):
        path = Path(name)
        return f"{path.parent.name}/{path.stem}" if path.stem in KEPT_BY_TRAINERS and path.parent.name else path.stem
    return {"ddqn-r1": "DE-DDQN1", "ddqn-r2": "DE-DDQN2", "ddqn-r3": "DE-DDQN3"}.get(name, PRINTED.get(name, name))


def to_csv(table: Table) -> str:
    """Full precision, one line per row."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([column.name for column in table.columns])
    writer.writerows([["" if v is None else v for v in row] for row in table.rows])
    return out.getvalue()


def to_markdown(table: Table) -> str:
    """A table that is readable as text too."""
    cells = [[c.name for c in table.columns], *table.shown()]
    widths = [max(len(row[k]) for row in cells) for k in range(len(table.columns))]
    lines = ["| " + " | ".join(text.ljust(w) for text, w in zip(row, widths, strict=True)) + " |" for row in cells]
    aligned = [("-" * (w - 1) + ":") if c.form else "-" * w for c, w in zip(table.columns, widths, strict=True)]
    lines.insert(1, "| " + " | ".join(aligned) + " |")
    note = f"\n{table.note}\n" if table.note else ""
    return f"## {table.title}\n\n" + "\n".join(lines) + "\n" + note


_LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "{": r"\{",
    "}": r"\}",
    "±": r"$\pm$",
    "≠": r"$\neq$",
    "≈": r"$\approx$",
}


def escape_latex(text: str) -> str:
    """Text that LaTeX prints as it is."""
    return "".join(_LATEX.get(character, character) for character in text)


def to_latex(table: Table) -> str:
    """A table for a paper (needs booktabs)."""
    align = "".join("r" if column.form else "l" for column in table.columns)
    lines = [
        r"\begin{table}",
        r"  \centering",
        rf"  \caption{{{escape_latex(table.title)}}}",
        rf"  \begin{{tabular}}{{{align}}}",
        r"    \toprule",
        "    " + " & ".join(escape_latex(c.name) for c in table.columns) + r" \\",
        r"    \midrule",
        *("    " + " & ".join(map(escape_latex, row)) + r" \\" for row in table.shown()),
        r"    \bottomrule",
        r"  \end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


WRITERS = {"csv": to_csv, "md": to_markdown, "tex": to_latex}


def without_empty(table: Table) -> Table:
    """The same table without columns that hold nothing."""
    shown = table.shown()
    kept = [k for k in range(len(table.columns)) if any(row[k] for row in shown) or not shown]
    return replace(
        table,
        columns=tuple(table.columns[k] for k in kept),
        rows=tuple(tuple(row[k] for k in kept) for row in table.rows),
    )


def columns(*given: Sequence[str]) -> tuple[Column, ...]:
    """Columns from (name, form, hint), the last two optional."""
    return tuple(Column(*column) for column in given)
