"""The generated pages: complete, and right about what they say."""

from __future__ import annotations

import json
import re
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
import tyro

pytest.importorskip("torch")
pytest.importorskip("gymnasium")

from deddqn.baselines import baseline_names
from deddqn.cli.train import Options, settings_of
from deddqn.policies import policy_names, registry, save_softmax
from deddqn.policies.files import read_policy_file
from deddqn.policies.registry import SHIPPED
from deddqn.training.config import PRESETS, TrainingConfig
from deddqn.training.policy_search.config import PolicySearchConfig
from tests.docs import commands
from tests.docs.blocks import ROOT, blocks
from tools.docs import api, cards, methods, performance
from tools.docs.extension import adapt, all_pages, write_pages

WEIGHTS = sorted(SHIPPED.glob("*.safetensors"))


@pytest.fixture(scope="module")
def made() -> dict[str, str]:
    return all_pages()


def test_every_method_has_a_page(made: dict[str, str]) -> None:
    pages = {f"methods/{name}.md" for name in [*policy_names(), *baseline_names()]}
    assert pages <= set(made)
    assert all(f"]({name}.md)" in made["methods/index.md"] for name in policy_names())


@pytest.mark.parametrize(
    "module",
    [
        *("deddqn", "deddqn.policies", "deddqn.problems", "deddqn.engine", "deddqn.baselines", "deddqn.experiments"),
        *("deddqn.explain", "deddqn.animation", "deddqn.analysis.statistics"),
    ],
)
def test_every_public_name_is_in_the_reference(module: str, made: dict[str, str]) -> None:
    text = "\n".join(text for path, text in made.items() if path.startswith("api/"))
    for name in import_module(module).__all__:
        path = api.public_names()[id(getattr(import_module(module), name))]
        assert re.search(rf":: {re.escape(path)}$", text, flags=re.MULTILINE), f"{module}.{name} is not documented"


def test_commands_of_generated_pages_are_understood(made: dict[str, str]) -> None:
    seen = 0
    for path, text in made.items():
        if path.startswith("methods/"):
            for block in (block for block in blocks(text) if block.language == "sh"):
                for words in commands.lines(block.text):
                    commands.parse(words)
                    seen += 1
    assert seen > 2 * len(policy_names())


@pytest.mark.parametrize("path", WEIGHTS, ids=lambda path: path.stem)
def test_cards_of_shipped_policies(path: Path) -> None:
    text = cards.card(path)
    provenance = read_policy_file(path)[1]["provenance"]
    assert all(problem in text for problem in provenance["problems"])
    for heading in ("### Learning curve", "### Command", "### Settings", "### Weights"):
        assert heading in text
    assert "<polyline" in text and f"| seed | `{provenance['config']['seed']}` |" in text
    for name, (paper, here) in provenance.get("deviations", {}).items():
        assert f"| `{name}` | `{json.dumps(here)}` | `{json.dumps(paper)}` |" in text


def test_the_card_of_a_softmax_policy_has_a_column_per_input() -> None:
    for path in WEIGHTS:
        tensors, facts = read_policy_file(path)
        if facts["kind"] == "softmax":
            rows = cards.card(path).partition("| operator |")[2].splitlines()
            table = [rows[0].count("|"), *(row.count("|") - 2 for row in rows[2:] if row.startswith("| "))]
            assert table == [tensors["weights"].shape[1]] * (
                1 + len(facts["portfolio"]) + ("prescreening_gate" in tensors)
            )


@pytest.mark.parametrize("path", WEIGHTS, ids=lambda path: path.stem)
def test_the_command_of_a_card_makes_its_settings(path: Path) -> None:
    provenance = read_policy_file(path)[1]["provenance"]
    if "command" in provenance:  # a search that was made with other inputs, at the commit that its command names
        assert provenance["command"] in cards.card(path) and provenance["commit"] in provenance["command"]
        return
    config = provenance["config"]
    text = cards.command(cards.shortest_settings(config), "out/x")
    (words,) = commands.lines(blocks(text)[-1].text)
    if words[0] == "deddqn":
        settings = settings_of(tyro.cli(Options, args=words[2:]))
    else:
        settings = json.loads(blocks(text)[0].text)
    again = cards.settings_kind(config).from_json(settings).to_json()
    left_out = {*cards.NOT_LEARNED_FROM, *(set(again) - set(config)), *(set(config) - set(again))}
    assert {k: v for k, v in again.items() if k not in left_out} == {
        k: v for k, v in config.items() if k not in left_out
    }


def test_portfolios_become_a_file_of_settings() -> None:
    config = TrainingConfig(portfolio=(("rand/1", 0.9, 0.5),)).to_json()
    text = cards.command({"hidden": [8, 8], **cards.shortest_settings(config)}, "out/x")
    assert json.loads(blocks(text)[0].text)["portfolio"] == [["rand/1", 0.9, 0.5]]


def test_settings_become_options() -> None:
    config = PolicySearchConfig(sigma=0.5, repeats=3).to_json()
    settings = cards.shortest_settings(config)
    assert settings == {"preset": "softmax", "sigma": 0.5, "repeats": 3}
    assert "deddqn train --preset softmax --repeats 3 --sigma 0.5" in cards.command(settings, "out/x")


@pytest.mark.parametrize("name", PRESETS)
def test_the_nearest_preset_is_found(name: str) -> None:
    config = TrainingConfig(**{**PRESETS[name], "gamma": 0.5}).to_json()
    assert cards.shortest_settings(config) == {"preset": name, "gamma": 0.5}


@pytest.mark.parametrize(
    ("returns", "said"),
    [([1.0, 3.0, 2.0], "the cycles of the training are 1, 3, 2."), ([1.0] * 19 + [3.0], "a spike of a flat curve")],
)
def test_a_card_says_how_far_the_best_cycle_stands_out(returns: list[float], said: str) -> None:
    curve = [[float(cycle), mean] for cycle, mean in enumerate(returns)]
    assert said in cards._spike({"kept": "best", "best_cycle": 1, "best_return": 3.0, "curve": curve})


def test_a_new_file_gets_its_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save_softmax(tmp_path / "fresh.safetensors", np.zeros((4, 8)), name="fresh", provenance={"remark": "by hand"})
    for module in (registry, methods):
        monkeypatch.setattr(module, "SHIPPED", tmp_path)
    text = methods.pages()["methods/fresh.md"]
    assert "| commit | not recorded |" in text and "| remark | by hand |" in text and "## Model card" in text


def test_pages_are_written_once_and_removed_when_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tools.docs.extension.all_pages", lambda: {"a.md": "1", "b/c.md": "2"})
    (tmp_path / "old.md").write_text("old")
    write_pages(tmp_path)
    stamp = (tmp_path / "a.md").stat().st_mtime_ns
    write_pages(tmp_path)
    assert sorted(path.name for path in tmp_path.rglob("*.md")) == ["a.md", "c.md"]
    assert (tmp_path / "a.md").stat().st_mtime_ns == stamp


def test_links_out_of_the_pages_lead_to_generated_ones() -> None:
    source = ["[examples](../../examples) and [changes](../../CHANGELOG.md)"]
    adapt(None, "guide/minimize", source)
    assert source == ["[examples](/generated/examples.md) and [changes](/generated/changelog.md)"]


def test_links_of_the_root_lead_to_pages(made: dict[str, str]) -> None:
    assert "](changelog.md)" in made["contributing.md"] and "](../project/glossary.md)" in made["contributing.md"]


def test_the_performance_page_shows_the_results_beside_it() -> None:
    results = json.loads(performance.KEPT.read_text(encoding="utf-8"))
    page = performance.PAGE.read_text(encoding="utf-8")
    assert performance.with_table(page, results) == page, "run: python -m tools.docs.performance"


def test_the_performance_table_by_hand() -> None:
    bar = {"what": "w", "measured": 1234.5, "bar": 1000.0, "unit": "s", "smaller_is_better": True, "peer": "p"}
    results = {"machine": {"python": "3", "cores": 2}, "bars": [{"benchmark": "engine", **bar}, bar]}
    text = performance.table(results)
    assert text.startswith("Measured on 2 cores with python 3.\n\n### engine\n")
    assert text.count("| w | **1,234** s | at most 1,000 | missed | p |") == 2


def test_how_to_cite_agrees_with_the_citation_file() -> None:
    import deddqn

    file = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    paper, software = [b.text for b in blocks((ROOT / "docs/project/cite.md").read_text()) if b.language == "bibtex"]
    assert re.search(r"doi: (\S+)", file)[1] in paper
    assert re.search(r'^title: "(.*)"', file, flags=re.MULTILINE)[1] in software
    assert f"version: {deddqn.__version__}" in file and f"{{{deddqn.__version__}}}" in software
