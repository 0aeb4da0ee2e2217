"""Names that try to become markup, and what of them did."""

from __future__ import annotations

from html.parser import HTMLParser

NAMES = (
    "<script>alert(1)</script>",
    "\"><img src=x onerror='alert(2)'>",
    '\'><svg onload="alert(3)">',
    "</title><b>&amp;",
)
OWN_SCRIPTS = 2  # of every page: the one that collects errors, and page.js


class _Elements(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attributes)))


def injected(text: str) -> list[str]:
    """Elements of a page that can only come from a name."""
    parser = _Elements()
    parser.feed(text)
    tags = [tag for tag, _ in parser.found]
    handlers = [f"{tag} {name}" for tag, given in parser.found for name in given if name.startswith("on")]
    scripts = ["script"] * (tags.count("script") - OWN_SCRIPTS)
    return handlers + scripts + [tag for tag in tags if tag == "img"]
