"""Table 1 as data: no hole, no overlap, and the same places as the hand cases and the reference use."""

from __future__ import annotations

import pytest

from deddqn.features import TABLE_1, feature_names, n_features, signed_mask
from deddqn.features.layout import AT, HISTORY_BLOCKS, LANDSCAPE, METRICS
from tests.reference.hand_cases import HISTORY_GROUPS, SINGLE_ROWS, block_slice


def test_the_rows_are_1_to_99_without_hole_or_overlap() -> None:
    rows = [row for block in TABLE_1 for row in range(block.rows[0], block.rows[1] + 1)]
    assert rows == list(range(1, 100))


def test_landscape_features_stand_where_the_paper_has_them() -> None:
    assert LANDSCAPE == 19
    assert sorted(AT.values()) == sorted(first - 1 for first, _ in SINGLE_ROWS.values())


@pytest.mark.parametrize("n_ops", [1, 4, 12])
def test_everything_follows_from_the_table(n_ops: int) -> None:
    assert n_features(n_ops) == 19 + 20 * n_ops == len(feature_names(n_ops)) == len(signed_mask(n_ops))
    assert len(set(feature_names(n_ops))) == n_features(n_ops)
    names = feature_names(n_ops)
    for number, (ours, theirs) in enumerate(zip(HISTORY_BLOCKS, HISTORY_GROUPS, strict=True)):
        first = LANDSCAPE + number * METRICS * n_ops
        assert block_slice(theirs, n_ops).start == first
        assert names[first] == f"{ours}[OM_1, op 0]"
        assert names[first + METRICS * n_ops - 1] == f"{ours}[OM_4, op {n_ops - 1}]"


def test_only_donor_fitness_and_best_change_may_be_negative() -> None:
    mask = signed_mask(4)
    assert [row for row, signed in enumerate(mask, 1) if signed] == [*range(13, 18), *range(52, 68)]
