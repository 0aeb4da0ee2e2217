"""The Sphinx extension of this project: writes the generated pages, reads our docstrings, finds public names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tools.docs import api, cards, docstrings, examples, methods, paper_map
from tools.docs.stamps import check_stamps

ROOT = Path(__file__).parents[2]
FOLDER = "generated"
OUTSIDE = {"CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
"""Files of the root that are pages of the site."""

LINKS = {"../../examples": "examples.md", **{f"../../{file}": page for file, page in OUTSIDE.items()}}
"""What pages link to, for code hosts, and the generated pages that show it."""


def all_pages() -> dict[str, str]:
    """Every generated page: path below ``docs/generated`` -> text."""
    from deddqn.envs.observation_docs import contract

    made = {**api.pages(), **methods.pages(), "paper-map.md": paper_map.page(), "examples.md": examples.page()}
    made["contract.md"] = "# The contract of the environment\n\n" + contract()
    return {**made, **_outside()}


def _outside() -> dict[str, str]:
    texts = {page: (ROOT / file).read_text(encoding="utf-8") for file, page in OUTSIDE.items()}
    for file, link in OUTSIDE.items():
        texts = {page: text.replace(f"]({file})", f"]({link})") for page, text in texts.items()}
    return {page: text.replace("](docs/", "](../") for page, text in texts.items()}


def write_pages(folder: Path) -> None:
    """Write what changed, delete what is no longer made: an unchanged page is not read again."""
    made = {folder / path: text for path, text in all_pages().items()}
    for old in set(folder.rglob("*.md")) - set(made):
        old.unlink()
    for path, text in made.items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")


def adapt(app: Any, docname: str, source: list[str]) -> None:
    """Sphinx's event ``source-read``: links out of docs/ become links to generated pages; old numbers are an error."""
    check_stamps(docname, source[0])
    for link, page in LINKS.items():
        source[0] = source[0].replace(f"]({link})", f"](/{FOLDER}/{page})")


def find_public_name(app: Any, env: Any, node: Any, contnode: Any) -> Any:
    """Sphinx's event ``missing-reference``: a class is documented where it is exported, not where it is defined.

    What exists and is not public is shown without a link; only what does not exist is an error.
    """
    path = api.public_path(node.get("reftarget", "")) if node.get("refdomain") == "py" else None
    if not path:
        return None if path is None else contnode
    return env.domains["py"].resolve_xref(env, node["refdoc"], app.builder, "obj", path, node, contnode)


def setup(app: Any) -> dict[str, Any]:
    """Called by Sphinx."""
    from pygments.lexers.special import TextLexer

    app.add_lexer("output", TextLexer)
    app.connect("builder-inited", lambda app: write_pages(Path(app.srcdir) / FOLDER))
    app.connect("autodoc-process-docstring", docstrings.process)
    app.connect("source-read", adapt)
    app.connect("missing-reference", find_public_name)
    return {"version": cards.VERSION, "parallel_read_safe": True}
