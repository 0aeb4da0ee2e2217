"""The report: self-contained, complete, small; and alive in a real browser."""

import re
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser

import numpy as np
import pytest
from markupsafe import escape
from PIL import Image

from deddqn.analysis.comparison import Analysis
from deddqn.analysis.curves import convergence_panels
from deddqn.analysis.result_tables import ALL
from deddqn.experiments import Store, StoreError, compare, plan_experiment
from deddqn.experiments.results import Run, failed, job_columns
from deddqn.problems import Problem
from deddqn.report import charts, write_report
from deddqn.report.drawing import Area, Drawing, Group, Line, Text
from deddqn.report.figures import Key, Sheet, sheets_of
from deddqn.report.scales import Scale, fitting, tick_label
from tests.experiments.methods_for_tests import PROBLEMS, Failing
from tests.report import browser, hostile

VOID = {"meta", "link", "br", "input", "path", "circle", "rect"}


@pytest.fixture(scope="module")
def page(paper_folder):
    return write_report(paper_folder, figures=False)


def test_values_of_either_sign_are_shown_as_they_are(tmp_path):
    """Without an optimum there are values instead of errors; without Random there is nothing to compare costs with."""
    problem = Problem.from_function(lambda x: float((x**2).sum()) - 20.0, [(-5, 5)] * 3, name="open")
    compare(["de1", "de2"], [problem], runs=2, budget=300, out=tmp_path)
    text = write_report(tmp_path, figures=False).read_text()
    assert re.search(r"\bnan\b", text) is None and "DE1: " in text
    (panel,) = convergence_panels(Analysis.of_folder(tmp_path))
    shapes = charts.curve_chart(panel, ("de1", "de2")).shapes
    ticks = [float(shape.content) for shape in shapes if isinstance(shape, Text) and shape.anchor == "end"]
    assert len(ticks) > 2 and np.diff(ticks, n=2) == pytest.approx(0.0)  # a linear axis
    assert min(ticks) < 0.0


class Balance(HTMLParser):
    """Complains about tags that do not match."""

    def __init__(self):
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.ids += [given["id"]] if "id" in given else []
        self.links += [given[key] for key in ("href", "src") if key in given]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        pass

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag


def test_the_page_is_well_formed_self_contained_and_small(page):
    text = page.read_text()
    parser = Balance()
    parser.feed(text)
    assert parser.open == []
    assert len(parser.ids) == len(set(parser.ids))
    for link in parser.links:
        assert link.startswith(("#", "data:")) or (page.parent / link).is_file()
        assert not link.startswith("#") or link[1:] in parser.ids
    assert "http" not in re.sub(r"xmlns=\S+", "", text)
    assert len(text) < 8e6


def test_the_page_says_everything(page):
    text = page.read_text()
    for words in (
        "13 methods x 10 problems x 25 runs x 10000 evaluations, seed 0",
        "deddqn compare --preset paper --runs 25 --budget 10000 --seed 0",
        "What of the paper reproduces",
        "paper = initial population",
        "does not hold",
        "critical difference",
        "As the paper&#39;s Fig. 1",
        "Iman-Davenport",
    ):
        assert words in text, words


def test_tables_lie_beside_the_page(page):
    for make in ALL:
        name = make.__name__.removesuffix("_table").replace("matrix", "results")
        name = {"verdicts": "reproduction", "counts": "verdicts"}.get(name, name)
        for ending in ("csv", "md", "tex"):
            assert (page.parent / f"{name}.{ending}").stat().st_size > 0


def test_figures_can_be_drawn(paper_folder, tmp_path):
    sheets = sheets_of(Analysis.of_folder(paper_folder))
    assert set(sheets) == {"boxes-fig1", "boxes", "convergence", "ecdf", "strategies", "ranks", "cost"}
    for name in ("boxes-fig1", "ranks"):
        sheets[name].draw().savefig(tmp_path / f"{name}.png")
        assert Image.open(tmp_path / f"{name}.png").width > 400


def test_figures_and_pages_say_the_same(paper_folder):
    """Both come from one drawing: the words of a figure are those of its drawings, its captions and its legend."""
    for name in ("boxes-fig1", "convergence", "ranks", "cost"):
        sheet = sheets_of(Analysis.of_folder(paper_folder))[name]
        page = [text for _, drawing in sheet.panels for text in re.findall(r"<text[^>]*>([^<]*)<", drawing.__html__())]
        others = [*(caption for caption, _ in sheet.panels), *(key.name for key in sheet.legend)]
        found = [text.get_text() for text in sheet.draw().axes[0].texts]
        assert sorted(found) == sorted([*map(unescape, page), *others])


def test_a_drawing_by_hand():
    line = Line([(1, 2), (3, 4)], "#112233", width=2, dash="5 3", kind="line")
    band = Area([(0, 0), (1, 0), (1, 1)], "#445566", hidden=True)
    drawing = Drawing(10, 20, [Group([band, line], "a < b", "m&m"), Text(1, 2, "$x$ & y", "end")], 'a "chart"')
    assert drawing.__html__() == (
        '<svg viewBox="0 0 10 20" role="img" aria-label="a &quot;chart&quot;" style="max-width:16px">'
        '<g class="s" data-m="m&amp;m"><title>a &lt; b</title>'
        '<path class="band" fill="#445566" d="M0.0 0.0L1.0 0.0L1.0 1.0Z"/>'
        '<path class="line" stroke="#112233" stroke-width="2" stroke-dasharray="5 3" d="M1.0 2.0L3.0 4.0"/></g>'
        '<text x="1.0" y="2.0" class="tick" text-anchor="end">$x$ &amp; y</text></svg>'
    )
    axes = Sheet([("", drawing)], columns=1, legend=[Key("one", "#112233")]).draw().axes[0]
    assert len(axes.patches) == 2  # the line and the swatch; the band is for the page
    assert "$x$ & y" in [text.get_text() for text in axes.texts]


def test_a_small_comparison_with_failures_reports_them(tmp_path):
    compare([Failing(), "de1", "random"], PROBLEMS, runs=2, budget=250, out=tmp_path, workers=1)
    text = write_report(tmp_path).read_text()
    assert "2 runs failed or were flagged" in text
    assert "ArithmeticError: I cannot do this one" in text
    assert (tmp_path / "report" / "figures" / "boxes.pdf").stat().st_size > 0


@pytest.mark.parametrize("name", hostile.NAMES)
def test_names_cannot_put_markup_into_the_page(name, tmp_path):
    """Names of methods, problems and strategies, notes of runs and the folder come from elsewhere."""
    problem = Problem.from_function(lambda x: float((x**2).sum()), [(-5, 5)] * 3, name=name)
    plan = replace(plan_experiment(["de1", "random"], [problem], runs=2, budget=300).plan, methods=(name, "random"))
    store = Store(tmp_path / "experiment")
    store.create()
    store.adopt(plan)
    marks = [1, 100, 300]
    chosen = {"operators": [name, "rand/1"], "strategy_counts": [50, 50, 20, 80]}
    rows = [
        Run(**job_columns(job), best_value=1.0, error=1.0, optimum=0.0, evaluations=300, checkpoints=marks)
        for job in plan.jobs
    ]
    store.append([replace(row, best=[3.0, 2.0, 1.0], cpu_seconds=1.0, **chosen) for row in rows[1:]])
    store.append([failed(plan.jobs[0], name, name)])
    text = write_report(store.folder, figures=False, note=name, out=tmp_path / "report").read_text()
    assert text.count(escape(name)) > 20
    assert name not in text
    assert hostile.injected(text) == []


def test_nothing_to_report_says_so(tmp_path):
    with pytest.raises(StoreError, match="holds no experiment"):
        write_report(tmp_path)


def test_scales_by_hand():
    assert Scale(0.0, 10.0, 100.0, 200.0)(5.0) == 150.0
    assert Scale(1.0, 100.0, 0.0, 10.0, log=True)(10.0) == pytest.approx(5.0)
    assert Scale(0.0, 10.0, 0.0, 1.0).ticks() == [0, 2, 4, 6, 8, 10]
    assert Scale(1.0, 1e4, 0.0, 1.0, log=True).ticks() == pytest.approx([1, 10, 100, 1000, 1e4])
    assert fitting([1.0, 2.0], 0, 1).log is False
    assert fitting([1.0, 200.0], 0, 1).log is True
    assert fitting([0.0, 200.0], 0, 1).low == pytest.approx(1e-8 / 1.3)
    assert fitting([-5.0, -1.0], 0, 1).log is False
    mixed = fitting([-1000.0, 50.0], 0, 1)  # no errors: the optimum is unknown
    assert mixed.log is False and mixed.low < -1000.0 and mixed.high > 50.0
    assert fitting([-1e-12, 50.0], 0, 1).log is True  # errors, one of them rounded below 0
    assert [tick_label(v) for v in (0, 0.5, 200, 1e5, 1e-9)] == ["0", "0.5", "200", "1e5", "1e-9"]


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


def first_cells(text: str, table: str) -> list[list[str]]:
    """The visible rows of a table of the page."""
    part = text.split(f'<div class="table" id="{table}"')[1].split("</table>")[0].split("<tbody>")[1]
    shown = [row for row in part.split("<tr")[1:] if not row.startswith(' hidden=""')]
    return [[re.sub(r"<[^>]+>", "", cell) for cell in re.findall(r"<td.*?</td>", row)] for row in shown]


def test_tables_sort_and_filter_in_a_real_browser(chromium, page):
    plain, _ = browser.dom(chromium, page)
    rows = first_cells(plain, "cells")
    assert len(rows) == 130
    text, messages = browser.dom(chromium, page, "#cells?sort=-3&filter=F9-10")
    assert messages == []
    found = first_cells(text, "cells")
    assert len(found) == 13
    assert {row[0] for row in found} == {"F9-10"}
    means = [float(row[3]) for row in found]
    assert means == sorted(means, reverse=True)
    assert sorted(map(tuple, found)) == sorted(tuple(row) for row in rows if row[0] == "F9-10")
    assert 'aria-sort="descending"' in text
    assert "13 of 130 rows" in text


def test_methods_can_be_hidden_in_a_real_browser(chromium, page):
    text, _ = browser.dom(chromium, page, "#curves?hide=de1,de2")
    assert 'aria-pressed="false" data-toggle="de1"' in text
    assert re.search(r'class="s off" data-m="de1"', text)
    assert not re.search(r'class="s off" data-m="de3"', text)


@pytest.mark.parametrize(("width", "height"), [(1280, 1600), (500, 1600)])
def test_the_page_paints_and_fits_its_width(chromium, page, tmp_path, width, height):
    target = tmp_path / "page.png"
    browser.run(chromium, page.as_uri(), f"--window-size={width},{height}", f"--screenshot={target}")
    with Image.open(target) as picture:
        assert picture.width == width
        assert len(picture.convert("RGB").getcolors(2**24)) > 50
        edge = picture.convert("RGB").crop((width - 3, 0, width, height))
        assert len(edge.getcolors(2**24)) < 40  # nothing is cut off by the right edge
