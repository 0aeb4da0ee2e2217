"""One self-contained HTML page: no server, no network, nothing outside of the file."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from importlib.resources import files

from deddqn.analysis.comparison import Analysis
from deddqn.report import sections

SECTIONS = (
    ("results", "Results", sections.results),
    ("ranking", "Ranks", sections.ranks),
    ("testing", "Tests", sections.tests),
    ("boxes", "Box plots", sections.boxes),
    ("curves", "Convergence", sections.curves),
    ("shares", "Strategies", sections.shares),
    ("costs", "Cost", sections.cost),
    ("paper", "What of the paper reproduces", sections.reproduction),
)

COLLECT_ERRORS = (
    'window.addEventListener("error",e=>{const d=document.documentElement.dataset;'
    'd.errors=(d.errors||"")+e.message+"; "});'
)
"""Errors of scripts end up in an attribute of the page, where tests (and the curious) find them."""


@dataclass(frozen=True)
class Section:
    """A part of a page: its anchor is ``s-<name>``."""

    name: str
    title: str
    body: str
    link: str = ""  # in the navigation; the title by default


def document(title: str, lead: str, top: str, parts: Iterable[Section], footer: str) -> str:
    """A whole page in the style of the report; `top` holds the cards and the section ``short``."""
    assets = files("deddqn.report").joinpath("assets")
    style, script = assets.joinpath("page.css").read_text(), assets.joinpath("page.js").read_text()
    made = list(parts)
    places = [("short", "In short"), *((f"s-{part.name}", part.link or part.title) for part in made)]
    links = "".join(f'<a href="#{place}">{escape(name)}</a>' for place, name in places)
    body = "".join(f'<section id="s-{p.name}"><h2>{escape(p.title)}</h2>{p.body}</section>' for p in made)
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<link rel="icon" href="data:,"><title>{escape(title)}</title>'
        f"<style>{style}</style><script>{COLLECT_ERRORS}</script></head><body>"
        f"<header><h1>{escape(title)}</h1><p class='lead'>{escape(lead)}</p></header>"
        f'<nav aria-label="sections"><div>{links}</div></nav>'
        f"<main>{top}{body}</main><footer>{escape(footer)}</footer>"
        f"<script>{script}</script></body></html>"
    )


def page(a: Analysis, folder: str, note: str = "") -> str:
    """The page of a comparison; `note` stands under its title."""
    parts = [Section(name, title, make(a)) for name, title, make in SECTIONS]
    parts.append(Section("source", "How to get this page again", sections.provenance(a, folder), link="Source"))
    footer = "Errors below 1e-8 count as 0 in ranks and tests."
    lead = f"{a.plan.describe()}. {note}" if note else a.plan.describe()
    return document("Comparison of optimisers", lead, sections.summary(a), parts, footer)
