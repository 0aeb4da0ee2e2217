"""Numbers of results belong to the weights that are shipped."""

import pytest

from deddqn.policies.files import read_policy_file
from deddqn.policies.registry import SHIPPED
from tests.docs.blocks import ROOT
from tools.docs.stamps import STAMP, check_stamps, shipped_hashes, weights_hash

RESULTS = sorted((ROOT / "docs" / "results").glob("*.md"))


@pytest.mark.parametrize(
    "page", [page for page in RESULTS if STAMP.search(page.read_text())], ids=lambda page: page.stem
)
def test_numbers_are_of_the_shipped_weights(page):
    check_stamps(page.name, page.read_text())


def test_pages_with_numbers_of_shipped_networks_are_stamped():
    stamped = {page.stem for page in RESULTS if STAMP.search(page.read_text())}
    assert stamped >= {"paper", "test-set", "training-set", "bbob"}


def test_other_weights_fail():
    name, found = next(iter(shipped_hashes().items()))
    check_stamps("page", f"<!-- weights: {name} {found} -->")
    with pytest.raises(ValueError, match=f"page: its numbers are of {name} 000000000000"):
        check_stamps("page", f"<!-- weights: {name} 000000000000 -->")
    tensors, _ = read_policy_file(SHIPPED / f"{name}.safetensors")
    first = next(iter(tensors))
    assert weights_hash(tensors) != weights_hash({**tensors, first: tensors[first] + 1e-3})
