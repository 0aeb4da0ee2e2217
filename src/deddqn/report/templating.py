"""HTML pages from jinja2 templates: self-contained files, with everything that is inserted escaped."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from deddqn._utils.optional_imports import need
from deddqn.analysis.tables import Table, method_title
from deddqn.report.style import operator_colour, style_of

if TYPE_CHECKING:
    from jinja2 import Environment

TINTS = {
    "holds": "good",
    "equivalent": "good",
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
"""Words of tables -> the class that colours their cells."""


@dataclass(frozen=True)
class Figure:
    """A drawing (SVG) with its caption."""

    drawing: Any
    caption: str


@dataclass(frozen=True)
class HtmlCell:
    """A cell of a table: its text, its class, and the number that it is sorted by where the text is none."""

    text: str
    kind: str
    sort_key: str


def html_cells(table: Table) -> Iterator[list[HtmlCell]]:
    """The rows of a table as cells of the page."""
    for row, shown in zip(table.rows, table.shown(), strict=True):
        yield [
            HtmlCell(text, " ".join(filter(None, ["n" if column.form else "", TINTS.get(text, "")])), _key(value, text))
            for column, value, text in zip(table.columns, row, shown, strict=True)
        ]


def _key(value: Any, text: str) -> str:
    if isinstance(value, bool | str) or value is None:
        return "0" if text.startswith("<") else ""  # a p-value too small to be shown
    return "" if math.isnan(value) else f"{value:.6g}"


@cache
def _environment() -> Environment:
    jinja2 = need("jinja2", "the page of a report", "report")
    environment: Environment = jinja2.Environment(
        loader=jinja2.PackageLoader("deddqn.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"html_cells": html_cells, "method_title": method_title}
    environment.globals |= {"asset": _asset, "operator_colour": operator_colour, "style_of": style_of}
    return environment


def _asset(name: str) -> Any:
    """A style sheet or a script of the package, which needs no escaping."""
    from markupsafe import Markup

    return Markup(files("deddqn.report").joinpath("assets", name).read_text(encoding="utf-8"))


def render(template: str, **content: Any) -> str:
    """A page from a template in ``report/templates``."""
    return _environment().get_template(template).render(**content)
