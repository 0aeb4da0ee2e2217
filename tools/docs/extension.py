"""The Sphinx extension of this project: writes the generated pages, reads our docstrings, finds public names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tools.docs import api, cards, docstrings, methods, paper_map

FOLDER = "generated"


def all_pages() -> dict[str, str]:
    """Every generated page: path below ``docs/generated`` -> text."""
    from deddqn.integrations.contract import contract

    made = {**api.pages(), **methods.pages(), "paper-map.md": paper_map.page()}
    made["contract.md"] = "# The contract of the environment\n\n" + contract()
    return made


def write_pages(folder: Path) -> None:
    """Write what changed, delete what is no longer made: an unchanged page is not read again."""
    made = {folder / path: text for path, text in all_pages().items()}
    for old in set(folder.rglob("*.md")) - set(made):
        old.unlink()
    for path, text in made.items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")


def find_public_name(app: Any, env: Any, node: Any, contnode: Any) -> Any:
    """Sphinx's event ``missing-reference``: a class is documented where it is exported, not where it is defined."""
    path = api.public_path(node.get("reftarget", "")) if node.get("refdomain") == "py" else None
    if path is None:
        return None
    return env.domains["py"].resolve_xref(env, node["refdoc"], app.builder, "obj", path, node, contnode)


def setup(app: Any) -> dict[str, Any]:
    """Called by Sphinx."""
    from pygments.lexers.special import TextLexer

    app.add_lexer("output", TextLexer)
    app.connect("builder-inited", lambda app: write_pages(Path(app.srcdir) / FOLDER))
    app.connect("autodoc-process-docstring", docstrings.process)
    app.connect("missing-reference", find_public_name)
    return {"version": cards.VERSION, "parallel_read_safe": True}
