"""One self-contained HTML page: no server, no network, nothing outside of the file."""

from __future__ import annotations

from html import escape
from importlib.resources import files

from deddqn.experiments.analysis import Analysis
from deddqn.experiments.report import sections

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


def page(a: Analysis, folder: str) -> str:
    """The whole page as text."""
    assets = files("deddqn.experiments.report").joinpath("assets")
    style, script = assets.joinpath("page.css").read_text(), assets.joinpath("page.js").read_text()
    places = [("short", "In short"), *((f"s-{name}", title) for name, title, _ in SECTIONS), ("s-source", "Source")]
    links = "".join(f'<a href="#{place}">{title}</a>' for place, title in places)
    body = "".join(f'<section id="s-{name}"><h2>{title}</h2>{make(a)}</section>' for name, title, make in SECTIONS)
    end = f'<section id="s-source"><h2>How to get this page again</h2>{sections.provenance(a, folder)}</section>'
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<link rel="icon" href="data:,"><title>Comparison of optimisers</title>'
        f"<style>{style}</style><script>{COLLECT_ERRORS}</script></head><body>"
        f"<header><h1>Comparison of optimisers</h1><p class='lead'>{escape(a.plan.describe())}</p></header>"
        f'<nav aria-label="sections"><div>{links}</div></nav>'
        f"<main>{sections.summary(a)}{body}{end}</main>"
        "<footer>Errors below 1e-8 count as 0 in ranks and tests.</footer>"
        f"<script>{script}</script></body></html>"
    )
