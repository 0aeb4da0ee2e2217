"""The code blocks of a page, and the one runner that README, CONTRIBUTING and all pages of docs/ share.

A page is read from top to bottom in a folder of its own: ``python`` blocks share one name space, lines of ``sh``
blocks are commands (see `commands`), and an ``output`` block must equal what the blocks since the last one printed
(``...`` stands for anything, and white space is one space). A comment above a block changes what happens to it:

=====================================  ================================================================
``<!-- test: parse -->``               it is parsed, commands by the real parser, and not run
``<!-- test: with --runs 1 -->``       its commands are run with these options added
``<!-- test: file own.py -->``         it is written into this file, too
=====================================  ================================================================
"""

from __future__ import annotations

import ast
import contextlib
import doctest
import io
import json
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.docs import commands

ROOT = Path(__file__).parents[2]
GENERATED = ROOT / "docs" / "generated"
SHELL, PROSE = ("sh", "bash", ""), ("text", "bibtex")

_BLOCK = re.compile(
    r"(?:^<!-- test: (?P<order>.*?) -->\n)?^(?P<fence>```+)(?P<language>[\w{}-]*)[^\n]*\n(?P<text>.*?)^(?P=fence)[ ]*$",
    flags=re.MULTILINE | re.DOTALL,
)
_INLINE = re.compile(r"(?<!`)`((?:deddqn|python|make|pip install) [^`]+)`(?!`)")
_SAME = doctest.OutputChecker()
_HOW = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@dataclass(frozen=True)
class Block:
    """One fenced block."""

    line: int  # of its first line of text
    language: str
    text: str
    order: str = ""  # "", "parse", "with ..." or "file ..."

    @property
    def added(self) -> list[str]:
        """The options that ``with`` adds to its commands."""
        return self.order.removeprefix("with").split() if self.order.startswith("with") else []


def pages() -> list[Path]:
    """README, CONTRIBUTING and every written page."""
    written = [path for path in sorted((ROOT / "docs").rglob("*.md")) if GENERATED not in path.parents]
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *written]


def blocks(text: str) -> list[Block]:
    """The fenced blocks of a page; directives of the documentation's builder are not among them."""
    found = []
    for match in _BLOCK.finditer(text):
        if not match["language"].startswith("{"):
            line = text.count("\n", 0, match.start("text")) + 1
            found.append(Block(line, match["language"], match["text"], match["order"] or ""))
    return found


def inline_commands(text: str) -> list[str]:
    """Commands that stand in running text between back quotes."""
    return [" ".join(command.split()) for command in _INLINE.findall(_BLOCK.sub("", text))]


class PageError(AssertionError):
    """A block that does not do what the page says; the message begins with page and line."""


class Reader:
    """Reads one page as a user would: block by block, in the current folder."""

    def __init__(self, name: str, text: str) -> None:
        self.name, self.text = name, text
        self.names: dict[str, object] = {"__name__": "__main__"}
        self.printed = io.StringIO()
        self.outputs: list[tuple[Block, str]] = []  # every output block with what really came out

    def read(self) -> None:
        """Run or parse every block; raise `PageError` at the first that is wrong."""
        for block in blocks(self.text):
            with self._errors_at(block):
                self._do(block)

    def wrong_outputs(self) -> list[tuple[Block, str]]:
        """The output blocks that differ from what came out."""
        return [(block, real) for block, real in self.outputs if not _SAME.check_output(block.text, real, _HOW)]

    @contextlib.contextmanager
    def _errors_at(self, block: Block) -> Iterator[None]:
        try:
            yield
        except (Exception, SystemExit) as error:
            raise PageError(f"{self.name}:{block.line}: {type(error).__name__}: {error}") from error

    def _do(self, block: Block) -> None:
        if block.language == "python":
            self._python(block)
        elif block.language in SHELL:
            self._shell(block)
        elif block.language == "output":
            self.outputs.append((block, self.printed.getvalue()))
            self.printed = io.StringIO()
        elif block.language == "json":
            json.loads(block.text)
        elif block.language == "toml":
            tomllib.loads(block.text)
        elif block.language not in PROSE:
            raise ValueError(f"a block in {block.language!r}: nobody knows how to test it (see tests/docs/blocks.py)")

    def _python(self, block: Block) -> None:
        if block.order == "parse":
            ast.parse(block.text)
            return
        if block.order.startswith("file "):
            Path(block.order.removeprefix("file ")).write_text(block.text, encoding="utf-8")
        padded = "\n" * (block.line - 1) + block.text  # tracebacks show the line of the page
        with contextlib.redirect_stdout(self.printed):
            exec(compile(padded, self.name, "exec"), self.names)

    def _shell(self, block: Block) -> None:
        for command in commands.lines(block.text):
            if block.order == "parse":
                commands.parse(command)
            else:
                with contextlib.redirect_stdout(self.printed):
                    commands.run(command, block.added)


def with_outputs(text: str, wrong: list[tuple[Block, str]]) -> str:
    """The page with what really came out in those output blocks."""
    lines = text.splitlines(keepends=True)
    for block, real in reversed(wrong):  # from the bottom, so that the lines above keep their numbers
        start = block.line - 1
        lines[start : start + block.text.count("\n")] = [real.rstrip() + "\n"]
    return "".join(lines)
