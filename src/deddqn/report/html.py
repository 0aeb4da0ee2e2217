"""Pieces of the page: tables that can be sorted and filtered, figures, legends."""

from __future__ import annotations

import math
from collections.abc import Iterable
from html import escape
from typing import Any

from deddqn.analysis.comparison import Analysis, MeasuredCell
from deddqn.analysis.result_tables import mark_of
from deddqn.analysis.tables import Table, method_title, number, short_problem
from deddqn.report.style import style_of

LONG = 14  # rows from which on a table can be filtered

TINTS = {
    "holds": "good",
    "reproduced": "good",
    "win": "good",
    "does not hold": "bad",
    "loss": "bad",
    "failed": "bad",
    "holds in part": "part",
    "flagged": "part",
    "paper = initial population": "part",
    "measured lower": "part",
    "measured higher": "part",
}


def table(content: Table) -> str:
    """A table with a heading, a filter if it is long, and links to its files."""
    heads = "".join(
        _head(escape(c.name) or "&nbsp;", _title(c.hint) + _class("n" if c.form else "")) for c in content.columns
    )
    body = "".join(
        f"<tr>{_cells(content, row, shown)}</tr>" for row, shown in zip(content.rows, content.shown(), strict=True)
    )
    size = " long" if len(content.rows) >= LONG else ""
    note = f'<p class="note">{escape(content.note)}</p>' if content.note else ""
    return (
        f'<div class="table" id="{content.name}"><h3>{escape(content.title)}</h3>{_tools(content)}'
        f'<div class="scroll{size}"><table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></div>'
        f"{note}</div>"
    )


def _tools(content: Table) -> str:
    search = ""
    if len(content.rows) >= LONG:
        search = (
            f'<input type="search" placeholder="filter, e.g. F9 de3" aria-label="filter {escape(content.title)}">'
            f'<span class="count">{len(content.rows)} rows</span>'
        )
    return f'<div class="tools">{search}{_files(content.name)}</div>'


def _files(name: str) -> str:
    links = "".join(f'<a href="{name}.{kind}">{kind}</a>' for kind in ("csv", "md", "tex"))
    return f'<span class="files">{links}</span>'


def _head(name: str, attributes: str = "") -> str:
    return f'<th scope="col"{attributes}><button type="button">{name}</button></th>'


def _cells(content: Table, row: tuple[Any, ...], shown: list[str]) -> str:
    parts = []
    for column, value, text in zip(content.columns, row, shown, strict=True):
        kind = " ".join(filter(None, ["n" if column.form else "", TINTS.get(text, "")]))
        parts.append(f"<td{_class(kind)}{_sort_key(value, text)}>{escape(text)}</td>")
    return "".join(parts)


def _sort_key(value: Any, text: str) -> str:
    if isinstance(value, bool | str) or value is None:
        return ' data-v="0"' if text.startswith("<") else ""
    return "" if math.isnan(value) else f' data-v="{value:.6g}"'


def _class(kind: str) -> str:
    return f' class="{kind}"' if kind else ""


def _title(hint: str) -> str:
    return f' title="{escape(hint, quote=True)}"' if hint else ""


def matrix(a: Analysis) -> str:
    """The results as the paper's Table 3: per problem and method the mean, the std, and the paper's mean below."""
    by_cell = {(c.method, c.problem): c for c in a.cells}
    heads = "".join(_head(escape(method_title(m)), f' class="n" data-m="{escape(m, quote=True)}"') for m in a.methods)
    rows = []
    for problem in a.problems:
        cells = [by_cell[method, problem] for method in a.methods]
        best = min((c.mean for c in cells if c.errors.size), default=math.nan)
        rows.append(
            f'<tr><th scope="row">{escape(short_problem(problem))}</th>{"".join(_entry(c, best) for c in cells)}</tr>'
        )
    return (
        '<div class="table" id="results"><h3>Mean error (standard deviation)</h3>'
        f'<div class="tools">{_files("results")}</div>'
        f'<div class="scroll"><table class="matrix"><thead><tr>{_head("problem")}{heads}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div></div>"
    )


def _entry(cell: MeasuredCell, best: float) -> str:
    if not cell.errors.size:
        return '<td class="n"></td>'
    own = f"<b>{number(cell.mean)}</b>" if cell.mean == best else number(cell.mean)
    spread = f"<br><small>({number(cell.std)})</small>" if not math.isnan(cell.std) else ""
    paper = f'<br><small class="paper">{number(cell.paper.mean)} {mark_of(cell)}</small>' if cell.paper else ""
    tint = " differs" if cell.differs else ""
    return f'<td class="n{tint}" data-v="{cell.mean:.6g}">{own}{spread}{paper}</td>'


def figure(drawing: str, caption: str) -> str:
    """A drawing with its caption."""
    return f"<figure><figcaption>{escape(caption)}</figcaption>{drawing}</figure>"


def grid(figures: Iterable[str], kind: str = "") -> str:
    """Figures side by side, as many as fit."""
    return f'<div class="grid-of {kind}">{"".join(figures)}</div>'


def legend(methods: tuple[str, ...]) -> str:
    """Buttons that show and hide methods in all figures."""
    chips = []
    for method in methods:
        colour, dash = style_of(method, methods)
        stroke = f'<path d="M0 4H22" stroke="{colour}" stroke-width="3" stroke-dasharray="{dash}"/>'
        line = f'<svg viewBox="0 0 22 8" width="22" height="8" aria-hidden="true">{stroke}</svg>'
        name, title = escape(method, quote=True), escape(method_title(method))
        chips.append(f'<button type="button" aria-pressed="true" data-toggle="{name}">{line}{title}</button>')
    every = '<button type="button" data-toggle="*">all</button><button type="button" data-toggle="">none</button>'
    return f'<div class="legend" role="group" aria-label="methods shown in the figures">{"".join(chips)}{every}</div>'
