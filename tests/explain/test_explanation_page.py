"""``deddqn explain``: data, tables and page; drawn again from the data; alive in a real browser."""

import csv
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from markupsafe import escape
from PIL import Image

from deddqn.cli import main
from deddqn.explain import (
    ExplanationError,
    Request,
    draw_page,
    explain,
    findings,
    read_explanation,
    write_explanation,
    write_page,
)
from deddqn.explain.explanation_tables import LONG, SHOWN
from deddqn.policies import save_softmax
from deddqn.policies.softmax import weights_of
from tests.explain.rigged import best_are_refined
from tests.report import browser, hostile
from tests.report.test_report import Balance

SETTINGS = {"problems": ("cec2005:F1/d10", "cec2005:F6/d10"), "repeats": 6, "budget": 600, "population_size": 20}
ARGUMENTS = ["--problems", *SETTINGS["problems"], "--repeats", "2", "--budget", "300", "--population-size", "20"]


@pytest.fixture(scope="module")
def explained():
    return explain(Request(policy="ddqn-r2", **SETTINGS))


@pytest.fixture(scope="module")
def page(explained, tmp_path_factory):
    return write_page(explained, tmp_path_factory.mktemp("explained"))


def test_progress_is_told_step_by_step():
    request, told = Request(policy="softmax", **{**SETTINGS, "repeats": 1}), []
    explain(request, told.append)
    assert len(told) == request.steps == 2 * (1 + 1 + 4 + 3)
    assert "own shares of softmax on cec2005:F6/d10" in told


def test_the_data_come_back_as_they_were(explained, tmp_path):
    first = write_explanation(explained, tmp_path / "a").read_bytes()
    again = write_explanation(read_explanation(tmp_path / "a"), tmp_path / "b").read_bytes()
    assert first == again
    assert json.loads(first)["policy"] == "ddqn-r2"


def test_the_page_is_drawn_again_from_the_data(page):
    before = {path.name: path.read_bytes() for path in page.parent.iterdir()}
    for path in page.parent.iterdir():
        if path.name != "explanation.json":
            path.unlink()
    assert draw_page(page.parent) == page
    assert {path.name: path.read_bytes() for path in page.parent.iterdir()} == before


def test_the_page_is_well_formed_and_self_contained(page):
    text, parser = page.read_text(), Balance()
    parser.feed(text)
    assert parser.open == []
    assert len(parser.ids) == len(set(parser.ids))
    for link in parser.links:
        assert link.startswith(("#", "data:")) or (page.parent / link).is_file()
        assert not link.startswith("#") or link[1:] in parser.ids
    assert "http" not in re.sub(r"xmlns=\S+", "", text)


def test_the_page_says_everything(page):
    text = page.read_text()
    for words in (
        "What ddqn-r2 does, and why",
        "2 problems x 6 runs x 600 evaluations, population 20, seed 0",
        "than its own shares played at random",
        "Against always ",
        "mean improvement (36-51)",
        "budget since the last new best",
        "Gaps between the best and the second of the Q-values",
        "deddqn explain ddqn-r2 --problems cec2005:F1/d10 cec2005:F6/d10 --repeats 6",
    ):
        assert words in text, words


def test_tables_lie_beside_the_page(page, explained):
    for make in (*SHOWN, *LONG):
        table = make(explained)
        with open(page.parent / f"{table.name}.csv", newline="") as file:
            rows = list(csv.reader(file))
        assert len(rows) == 1 + len(table.rows) > 1, table.name
    shares = [row for row in SHOWN[2](explained).rows if row[1] == "whole run"]
    assert [sum(row[2:]) for row in shares] == pytest.approx([1.0, 1.0])


def test_the_guide_names_the_files_of_all_tables(explained):
    guide = (Path(__file__).parents[2] / "docs" / "guide" / "explain.md").read_text()
    assert [name for make in (*SHOWN, *LONG) if f"`{(name := make(explained).name)}.csv`" not in guide] == []


def test_a_policy_without_values_says_what_cannot_be_shown(tmp_path):
    found = explain(Request(policy="pm-adapss", **{**SETTINGS, "repeats": 2}))
    assert found.importance == () and found.valued == "" and found.summaries[0].gaps is None
    text = write_page(found, tmp_path).read_text()
    assert text.count("This cannot be shown: &#39;pm-adapss&#39; chooses by the rewards of its operators so far") == 2
    assert "no difference can be significant" in text
    assert any(sentence.startswith("Not shown:") for sentence in findings(found))


def test_a_policy_file_of_another_portfolio(tmp_path):
    policy = best_are_refined()
    save_softmax(tmp_path / "mine.safetensors", weights_of(policy), name="mine", portfolio=policy.portfolio)
    found = explain(Request(policy=str(tmp_path / "mine.safetensors"), **SETTINGS))
    assert found.operators == ("rand-to-best/2", "curr-to-rand/1")
    changed = {row.group: row.changed for row in found.importance}
    assert changed["rank"] > 0.1 and changed["success"] == changed["dimension"] == 0.0
    assert found.comparisons[0].tally.wins == 2
    assert "The state matters on 2 of 2 problems" in findings(found)[0]


def test_without_controls(tmp_path):
    found = explain(Request(policy="softmax", control=False, **SETTINGS))
    assert found.comparisons == ()
    text = write_page(found, tmp_path).read_text()
    assert "The controls were not run" in text and "--no-control" in text


@pytest.mark.parametrize("name", hostile.NAMES)
def test_names_cannot_put_markup_into_the_page(name, explained, tmp_path):
    """Of policies, strategies and problems: a policy file and its folder come from elsewhere."""
    named = replace(
        explained,
        policy=name,
        source=name,
        operators=(name, *explained.operators[1:]),
        summaries=tuple(replace(summary, problem=name) for summary in explained.summaries),
        comparisons=tuple(replace(c, policy=name) for c in explained.comparisons),
        importance=tuple(replace(row, group=name, meaning=name) for row in explained.importance),
        errors={method: dict.fromkeys([name], found["cec2005:F1/d10"]) for method, found in explained.errors.items()},
        fixed_of={name: name},
        fixed_overall=name,
    )
    named = replace(named, errors={**named.errors, name: named.errors["ddqn-r2"]}, comparisons=_about(named, name))
    text = write_page(named, tmp_path / "out").read_text()
    assert text.count(escape(name)) > 20
    assert name not in text
    assert hostile.injected(text) == []


def _about(found, problem):
    """The comparisons as if all had been made on this problem."""
    return tuple(
        replace(c, results=tuple(replace(row, problem=problem) for row in c.results)) for c in found.comparisons
    )


def test_runs_without_a_decision_can_be_explained(tmp_path):
    found = explain(Request(policy="ddqn-r2", problems="cec2005:F1/d10", repeats=1, budget=20, population_size=20))
    assert "There is nothing to show" in write_page(found, tmp_path).read_text()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "holds no explanation"),
        ("{", "is not an explanation of this version"),
        ("[]", "is not an explanation of this version"),
        ('{"format": "deddqn-explanation-9"}', "is not an explanation of this version"),
        ('{"format": "deddqn-explanation-2", "operators": []}', "is not an explanation of this version"),
    ],
)
def test_damaged_data_are_refused(tmp_path, content, message):
    if content is not None:
        (tmp_path / "explanation.json").write_text(content)
    with pytest.raises(ExplanationError, match=message):
        draw_page(tmp_path)
    assert not (tmp_path / "index.html").exists()


def test_the_command(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["explain", "softmax", *ARGUMENTS]) == 0
    out = capsys.readouterr().out
    assert "own shares played at random" in out.replace("\n", " ")
    assert "open out/explain/softmax/index.html" in out
    assert main(["explain", "--redraw", "out/explain/softmax"]) == 0
    assert "open out/explain/softmax/index.html" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["explain"], "policy must be given"),
        (["explain", "sofmax"], "did you mean 'softmax'?"),
        (["explain", "random", "--problems", "cec2005:F1/d11"], "dimension must be one of 2, 10, 30, 50, got 11"),
        (["explain", "random", "--repeats", "0"], "repeats must be at least 1, got 0"),
        (["explain", "random", "--states", "0"], "states must be at least 1, got 0"),
        (["explain", "random", "--population-size", "3"], "population_size must be at least 6"),
        (["explain", "gone.safetensors"], "no policy file at gone.safetensors"),
        (["explain", "random", "--redraw", "x"], "leave out the policy 'random'"),
        (["explain", "--redraw", "x"], "x holds no explanation"),
    ],
)
def test_bad_commands_say_what_is_wrong(arguments, message, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    assert message in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.fixture(scope="module")
def chromium():
    found, reason = browser.find()
    if found is None:
        pytest.skip(reason)
    return found


def test_no_errors_in_a_real_browser(chromium, page):
    text, messages = browser.dom(chromium, page)
    assert messages == []
    assert 'data-ready="yes"' in text
    assert "data-errors" not in text


@pytest.mark.parametrize(("width", "height"), [(1280, 1600), (500, 1600)])
def test_the_page_paints_and_fits_its_width(chromium, page, tmp_path, width, height):
    target = tmp_path / "page.png"
    browser.run(chromium, page.as_uri(), f"--window-size={width},{height}", f"--screenshot={target}")
    with Image.open(target) as summary:
        assert summary.width == width
        assert len(summary.convert("RGB").getcolors(2**24)) > 50
        edge = summary.convert("RGB").crop((width - 3, 0, width, height))
        assert len(edge.getcolors(2**24)) < 40  # nothing is cut off by the right edge
