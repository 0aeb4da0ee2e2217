"""Every command and code block of README, CONTRIBUTING and docs/ runs, and prints what the page says it prints.

``DEDDQN_UPDATE_DOCS=1 pytest tests/docs`` writes what really came out into the pages instead of failing.
"""

from __future__ import annotations

import os
import re
import shlex
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

from deddqn.de.mutation import STRATEGIES
from deddqn.policies import registry
from tests.docs import commands
from tests.docs.blocks import ROOT, PageError, Reader, blocks, inline_commands, pages, with_outputs

NEEDS = {
    "README.md": ["matplotlib", "pyarrow"],
    "docs/guide/bbob.md": ["ioh", "cocoex", "cocopp", "cma", "pyarrow"],
    "docs/guide/distributed.md": ["ray", "pyarrow"],
    "docs/guide/compare.md": ["matplotlib", "pyarrow"],
    "docs/guide/explain.md": ["matplotlib", "pyarrow"],
    "docs/guide/extended.md": ["torch"],
    "docs/guide/foreign-policies.md": ["torch", "onnx", "pyarrow"],
    "docs/guide/gymnasium.md": ["gymnasium", "stable_baselines3"],
    "docs/guide/minimize.md": ["matplotlib"],
    "docs/guide/training.md": ["torch"],
    "docs/research/negative-results.md": ["torch"],
    "docs/tutorials/compare.md": ["matplotlib", "pyarrow"],
    "docs/tutorials/environment.md": ["gymnasium"],
    "docs/tutorials/first.md": ["matplotlib"],
    "docs/tutorials/policy.md": ["pyarrow"],
    "docs/tutorials/problem.md": ["pyarrow"],
    "docs/tutorials/train.md": ["torch", "pyarrow"],
}
"""Optional packages of a page; the development environment has all of them."""

MADE = {
    "README.md": ["run.png", "out/demo/run.png"],
    "docs/guide/bbob.md": ["out/logged/logs/ioh", "out/logged/logs/coco"],
    "docs/guide/compare.md": ["out/small/report/index.html", "out/own-method", "out/own-policy", "out/own-problem"],
    "docs/guide/explain.md": ["out/explain/softmax/index.html", "out/search.gif", "out/own/index.html"],
    "docs/guide/foreign-policies.md": ["out/own-policies/plan.json", "from-onnx.safetensors"],
    "docs/guide/minimize.md": ["search.npz", "run.png", "result.json"],
    "docs/guide/training.md": ["out/softmax/softmax.safetensors", "out/grid/grid.json"],
}
"""Files that must be there when a page has been read."""

NAMES = [path.relative_to(ROOT).as_posix() for path in pages()]
every_page = pytest.mark.parametrize("name", NAMES)

FUNCTIONS = """
def function(x):
    return float((x**2).sum())


def training(params):
    return float(abs(params["layers"] - 3))
"""


def skip_without(name: str) -> None:
    """Skip a page whose optional packages are not here; importing some of them takes seconds."""
    for package in NEEDS.get(name, []):
        if find_spec(package) is None:
            pytest.skip(f"{name} needs {package}")


@every_page
def test_blocks_run(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    skip_without(name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setattr(registry, "_FACTORIES", dict(registry._FACTORIES))  # pages may register policies
    (tmp_path / "mymodule.py").write_text(FUNCTIONS)
    (tmp_path / "space.toml").write_text('[layers]\ntype = "int"\nlow = 1\nhigh = 8\n')
    page = ROOT / name
    reader = Reader(name, page.read_text(encoding="utf-8"))
    reader.read()
    assert [file for file in MADE.get(name, []) if not (tmp_path / file).exists()] == []
    wrong = reader.wrong_outputs()
    if wrong and os.environ.get("DEDDQN_UPDATE_DOCS"):
        page.write_text(with_outputs(reader.text, wrong), encoding="utf-8")
        pytest.skip(f"{name} now shows what came out")
    for block, real in wrong:
        pytest.fail(f"{name}:{block.line} shows\n{block.text}\nbut what came out is\n{real}", pytrace=False)


@every_page
def test_commands_in_the_text_exist(name: str) -> None:
    skip_without(name)
    for command in inline_commands((ROOT / name).read_text(encoding="utf-8")):
        commands.mention(shlex.split(command))


@every_page
def test_files_in_the_text_exist(name: str) -> None:
    """A file of the repository or of the package between back quotes, as `tests/engine` or `policies/fixed.py`."""
    spans = re.findall(r"`([a-z_]+/[\w./-]*)`", (ROOT / name).read_text(encoding="utf-8"))
    named = [span for span in spans if not span.startswith("out/") and span not in STRATEGIES]
    assert [file for file in named if not ((ROOT / file).exists() or (ROOT / "src/deddqn" / file).exists())] == []


@every_page
def test_pictures_and_links_exist(name: str) -> None:
    page = ROOT / name
    links = re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8"))
    files = [link.partition("#")[0] for link in links if not link.startswith(("http", "#"))]
    assert [link for link in files if "generated/" not in link and not (page.parent / link).exists()] == []


def test_there_is_something_to_run() -> None:
    found = {name: len(blocks((ROOT / name).read_text(encoding="utf-8"))) for name in NAMES}
    assert found["README.md"] >= 3 and found["docs/guide/minimize.md"] >= 10 and found["docs/guide/compare.md"] >= 6


def test_the_first_example_gives_a_good_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    first = next(block for block in blocks((ROOT / "README.md").read_text()) if block.language == "python")
    reader = Reader("README.md", f"```python\n{first.text}```\n")
    reader.read()
    assert reader.names["result"].fun < 1e-2  # type: ignore[attr-defined]
    assert (tmp_path / "run.png").stat().st_size > 10_000


class TestTheRunner:
    """A page with a mistake fails, and says where."""

    @pytest.mark.parametrize(
        ("block", "message"),
        [
            ("```python\n1 / 0\n```", "page:2: ZeroDivisionError"),
            ("```sh\ndeddqn minimise cec2005:F1/d10\n```", "page:2: ValueError: there is no command 'minimise'"),
            ("```sh\ndeddqn minimize cec2005:F1/d10 --max-fun 3\n```", "is refused by its parser"),
            ("```sh\ndeddqn minimize cec2005:F1/d11\n```", "ended with status 2"),
            ("<!-- test: parse -->\n```sh\ndeddqn train --presett x --out y\n```", "page:3: .*refused by its parser"),
            ("```sh\nmake tea\n```", r"no target \['tea'\]"),
            ("```sh\npip install 'deddqn[tea]'\n```", "cannot be installed"),
            ("```sh\npython -m benchmarks tea\n```", r"no benchmark \['tea'\]"),
            ("```sh\npython -m deddqn.training a.json --output b\n```", "does not know"),
            ("```sh\npython examples/tea.py\n```", "no file"),
            ("```sh\npython -m tea\n```", "no module 'tea' to run"),
            ("```sh\npython -m deddqn.policies\n```", "no module 'deddqn.policies' to run"),
            ("```sh\nrm -rf tea\n```", "nobody knows how to test 'rm'"),
            ("```sh\nray start --heat\n```", r"does not know \['--heat'\]"),
            ("```sh\nsrun --ntasks=2 ray symmetric-run --address a:1 -- deddqn compare --oout x\n```", "by its parser"),
            ("```cobol\n```", "nobody knows how to test it"),
            ("```json\n{,}\n```", "JSONDecodeError"),
        ],
    )
    def test_mistakes(self, block: str, message: str) -> None:
        with pytest.raises(PageError, match=message):
            Reader("page", block).read()

    def test_outputs(self) -> None:
        text = (
            "```python\nprint('a', 1.5)\n```\n```output\na 2.5\n```\n```python\nprint('b')\n```\n```output\n...\n```\n"
        )
        reader = Reader("page", text)
        reader.read()
        wrong = reader.wrong_outputs()
        assert [(block.text, real) for block, real in wrong] == [("a 2.5\n", "a 1.5\n")]
        assert with_outputs(text, wrong) == text.replace("2.5", "1.5")

    @pytest.mark.parametrize(
        ("command", "small"),
        [
            ("train --preset softmax-x --out x", ["--problems", "--generations"]),
            ("train --preset=softmax --out x", ["--problems", "--generations"]),
            ("train --preset paper-r2 --out softmax", ["--problems", "--cycles"]),
            ("minimize cec2005:F1/d10", []),
        ],
    )
    def test_long_commands_become_small(self, command: str, small: list[str]) -> None:
        added = commands.smaller(command.split())
        assert [option for option in ("--problems", "--runs", "--generations", "--cycles") if option in added] == small
        commands.parse(["deddqn", *command.split(), *added])

    def test_options_are_added(self, capsys: pytest.CaptureFixture[str]) -> None:
        page = "<!-- test: with --maxfun 150 -->\n```sh\ndeddqn minimize cec2005:F9/d10\n```\n"
        reader = Reader("page", page)
        reader.read()
        assert "150" in reader.printed.getvalue()


@pytest.mark.parametrize(
    "field",
    re.findall(r"`(\w+)`", (ROOT / "docs/guide/minimize.md").read_text().split("| field")[1].split("\n\n")[0]),
)
def test_fields_of_the_result_exist(field: str) -> None:
    import deddqn

    result = deddqn.minimize(lambda x: 0.0, [(0, 1)], maxfun=100, history=True, rng=1)
    assert field in result or field in result.history or field in ("inf", "ValueError", "True")


def named_options(command: str) -> list[tuple[str, str]]:
    """The options that the page of a command names between back quotes."""
    text = (ROOT / "docs" / "guide" / f"{command}.md").read_text()
    return [(command, option) for option in sorted(set(re.findall(r"`--([a-z-]+)`", text)))]


@pytest.mark.parametrize(("command", "option"), [*named_options("compare"), *named_options("explain")])
def test_named_options_exist(command: str, option: str) -> None:
    known = import_module(f"deddqn.cli.{command}").Options.__dataclass_fields__
    assert option.removeprefix("no-").replace("-", "_") in known
