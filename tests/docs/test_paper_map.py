"""The map of the paper has no holes: every item is cited in the code and in a test, and nothing else is cited."""

from __future__ import annotations

from pathlib import Path

import pytest

from deddqn.features.layout import TABLE_1
from tools.docs.paper_items import ITEMS, Item
from tools.docs.paper_map import ROOT, Citation, citations, covers, page, places_of, unknown

SOURCES, TESTS = citations(ROOT, "src/deddqn"), citations(ROOT, "tests")


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.label)
def test_every_item_has_a_place_and_a_test(item: Item) -> None:
    assert places_of(item, SOURCES), f"no docstring or comment of the package cites {item.label}"
    assert places_of(item, TESTS), f"no test cites {item.label}"


def test_only_items_of_the_list_are_cited() -> None:
    assert unknown(SOURCES + TESTS) == []


def test_the_list_has_all_rows_and_lines() -> None:
    rows = [row for item in ITEMS if item.part == "Table 1" and item.first for row in range(item.first, item.last + 1)]
    assert rows == list(range(1, TABLE_1[-1].rows[1] + 1))
    lines = {n for item in ITEMS if item.part == "Algorithm 1" and item.first for n in range(item.first, item.last + 1)}
    assert lines == set(range(2, 24)) - {8}  # 1 sets F, NP and CR; 8 is the loop over the population; 24 counts


def test_citations_are_read_as_they_are_written(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src/a.py").write_text(
        '"""Table 1 rows 7-11 and 13."""\n'
        "text = 'Table 9'  # rows 20-35\n\n\n"
        "def f():\n"
        '    """Algorithm 2 line 7; OM_2..OM_3, R2."""\n'
        "    return 1  # Kingma and Ba, Algorithm 1 line 3\n"
    )
    found = {(c.part, c.first, c.last, c.place) for c in citations(tmp_path, "src")}
    assert found == {
        ("Table 1", 7, 11, ""),
        ("Table 1", 13, 13, ""),
        ("Table 1", 20, 35, ""),
        ("Algorithm 2", 7, 7, "f"),
        ("OM_2", 0, 0, "f"),
        ("OM_3", 0, 0, "f"),
        ("R2", 0, 0, "f"),
    }


def test_a_whole_part_is_not_its_rows() -> None:
    rows, whole = Item("Table 1", 20, 35, ""), Item("Table 1", 0, 0, "")
    assert covers(Citation("Table 1", 30, 40, "", ""), rows)
    assert not covers(Citation("Table 1", 36, 51, "", ""), rows)
    assert not covers(Citation("Table 1", 0, 0, "", ""), rows)
    assert covers(Citation("Table 1", 0, 0, "", ""), whole)


def test_the_page_names_files_and_tests() -> None:
    row = next(line for line in page().splitlines() if "**Algorithm 1 line 15**" in line)
    assert "`training/dqn/replay_buffer.py`: ReplayBuffer.add" in row and "`training/test_algorithm_1.py`:" in row
