"""The mean ranks that the page of the test set states are those of the means that it prints."""

from __future__ import annotations

import numpy as np

from tools.docs.test_set_ranks import BEFORE, DEFAULT, PAGE, PROBLEMS, mean_ranks, printed_means, printed_tables


def test_the_page_states_what_its_means_give() -> None:
    text = PAGE.read_text(encoding="utf-8")
    means = printed_means(text)
    assert len(means) == 24 and all(len(row) == PROBLEMS for row in means.values())
    instead = mean_ranks({name: row for name, row in means.items() if name != BEFORE})
    beside = mean_ranks(means)
    words = " ".join(text.split())
    assert next(iter(instead)) == DEFAULT
    assert f"mean rank of {instead[DEFAULT]:.2f} (IPOP-CMA-ES {instead['ipop-cmaes']:.2f})" in words
    assert list(beside)[:2] == [DEFAULT, BEFORE]
    assert f"it is first ({beside[DEFAULT]:.2f}), `{BEFORE}` second ({beside[BEFORE]:.2f}" in words


def test_the_ranks_of_the_tables_are_those_of_their_means() -> None:
    tables = printed_tables(PAGE.read_text(encoding="utf-8"))
    assert [len(table) for table in tables] == [23, 14]
    for table in tables:
        ranks = mean_ranks({name: row[1:] for name, row in table.items()})
        for name, row in table.items():
            np.testing.assert_allclose(row[0], ranks[name], rtol=0.0, atol=1e-9, err_msg=name)
        assert [row[0] for row in table.values()] == sorted(row[0] for row in table.values())


def test_equal_means_share_their_ranks() -> None:
    ranks = mean_ranks({"a": [1.0, 2.0], "b": [1.0, 1.0], "c": [3.0, 3.0]})
    assert list(ranks) == ["b", "a", "c"]
    np.testing.assert_allclose(list(ranks.values()), [1.25, 1.75, 3.0])
